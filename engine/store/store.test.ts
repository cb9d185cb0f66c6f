import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import { readableFrom } from './migrate.ts';
import { Store } from './store.ts';

const database = testDatabase();
let pools: Database[] = [];

afterAll(() => Promise.all(pools.map((pool) => pool.close())));

const open = (): Store => {
  const pool = openDatabase(database.url, { maxConnections: 3 });
  pools = [...pools, pool];
  return new Store(pool);
};

const withCollection = (name: string): Metadata => ({
  ...emptyMetadata,
  query_collections: [{ name, definition: { queries: [] } }],
});

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('migrations', () => {
  beforeEach(() => database.sql('drop schema if exists pergola cascade'));

  test('create the schema once and have nothing to do the second time', async () => {
    const store = open();
    expect(await store.migrate()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await store.migrate()).toEqual([]);
    expect(await database.sql('select version, name from pergola.migration')).toEqual([
      { version: 1, name: 'metadata' },
      { version: 2, name: 'revision' },
      { version: 3, name: 'action-call' },
      { version: 4, name: 'intent' },
      { version: 5, name: 'scheduled-event' },
      { version: 6, name: 'change' },
      { version: 7, name: 'value' },
      { version: 8, name: 'declared-event' },
      { version: 9, name: 'usage' },
      { version: 10, name: 'action-call-interruption' },
      { version: 11, name: 'readable-from' },
    ]);
  });

  test('of replicas that start together are applied by one of them', async () => {
    const applied = await Promise.all([open(), open(), open()].map((store) => store.migrate()));
    expect(applied.flat()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    expect(await database.sql('select count(*)::int as rows from pergola.metadata')).toEqual([{ rows: 1 }]);
  });

  test('refuse a database that a newer engine has migrated', async () => {
    await open().migrate();
    await database.sql(`insert into pergola.migration (version, name) values (99, 'future')`);
    const error = await rejection(open().migrate());
    expect(error).toMatchObject({ kind: 'unsupportedCatalogVersion', message: 'unsupported version : 99' });
  });

  test('accept a newer database that is marked as readable from here, and refuse one that is not', async () => {
    await open().migrate();
    const insert = (version: number, mark: number) =>
      database.sql(
        `insert into pergola.migration (version, name, readable_from) values (${version}, 'x', ${mark})`,
      );
    await insert(98, 11);
    expect(await open().migrate()).toEqual([]);
    expect((await open().load()).document).toEqual(emptyMetadata);
    await insert(99, 98);
    expect(await rejection(open().migrate())).toMatchObject({ message: 'unsupported version : 99' });
  });

  test('after the eleventh say from which earlier one their tables are readable', () => {
    expect(readableFrom('-- Adds a table.\n-- Readable from: 11\ncreate table x ()')).toBe(11);
    const folder = new URL('./migrations/', import.meta.url);
    const unmarked = readdirSync(folder).filter((name) => {
      const version = Number.parseInt(name, 10);
      const mark = readableFrom(readFileSync(new URL(name, folder), 'utf8')) ?? version;
      return version > 11 && mark >= version;
    });
    expect(unmarked).toEqual([]);
  });
});

describe('the stored document', () => {
  let store: Store;

  beforeEach(async () => {
    await database.sql('drop schema if exists pergola cascade');
    store = open();
    await store.migrate();
  });

  test('is empty at version 1 and keeps its identity', async () => {
    const stored = await store.load();
    expect(stored.document).toEqual(emptyMetadata);
    expect(stored.versions).toEqual({ resource: 1, catalog: 1, state: 1, values: 1 });
    await store.save({ touchResource: true }, 1);
    expect((await open().load()).id).toBe(stored.id);
  });

  test('is changed by a save that names its version', async () => {
    expect(await store.save({ metadata: withCollection('a') }, 1)).toMatchObject({ resource: 2 });
    expect((await store.load()).document).toEqual(withCollection('a'));
  });

  test('is not changed by a save that names another version', async () => {
    await store.save({ metadata: withCollection('a') }, 1);
    const error = await rejection(store.save({ metadata: withCollection('b') }, 1));
    expect(error).toBeInstanceOf(EngineError);
    expect(error).toMatchObject({
      status: 409,
      message: 'metadata resource version referenced (1) did not match current version',
    });
    expect((await store.load()).document).toEqual(withCollection('a'));
  });

  test('has the write of exactly one of two stores that save concurrently', async () => {
    for (let round = 1; round <= 10; round++) {
      const version = (await store.load()).versions.resource;
      const results = await Promise.all(
        ['a', 'b'].map((name) =>
          rejection(open().save({ metadata: withCollection(`${name}${round}`) }, version)),
        ),
      );
      const losers = results.filter((result) => result instanceof EngineError);
      expect(losers).toMatchObject([{ kind: 'conflict' }]);
      const winner = results[0] === undefined ? 'a' : 'b';
      const stored = await store.load();
      expect(stored.document).toEqual(withCollection(`${winner}${round}`));
      expect(stored.versions.resource).toBe(version + 1);
    }
  });

  test('keeps text as written: key order, big numbers, any character', async () => {
    const written = { zebra: 1, apple: '\u0000 \u{1f600}', number: 1e21 };
    await store.save({ catalogStates: { operator: written } }, 1);
    const { catalogStates } = await store.load();
    expect(JSON.stringify(catalogStates.operator)).toBe(JSON.stringify(written));
  });

  test('increments its version for the operator’s ledger but not for the states of other clients', async () => {
    expect(await store.save({ catalogStates: { cli: { a: 1 }, console: { b: 1 } } }, 1)).toEqual({
      resource: 1,
      catalog: 1,
      state: 2,
      values: 1,
    });
    expect(await store.save({ catalogStates: { operator: { c: 1 } } }, 1)).toMatchObject({ resource: 2 });
    expect((await store.load()).catalogStates).toEqual({
      cli: { a: 1 },
      console: { b: 1 },
      operator: { c: 1 },
    });
  });

  test('is saved together with commits in other databases or not at all', async () => {
    const failure = new Error('the other database cannot commit');
    const commit = () => Promise.reject(failure);
    const failed = store.saveWithForeignCommit({ metadata: withCollection('a') }, 1, {
      transactions: [],
      commit,
    });
    expect(await rejection(failed)).toBe(failure);
    expect((await store.load()).versions.resource).toBe(1);
  });
});
