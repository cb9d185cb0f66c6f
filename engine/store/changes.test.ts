/** What is stored of changes: little, never other than what was saved, and no longer than it is needed. */
import { readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import { editsBetween } from '../metadata/diff.ts';
import { putObject, removeObject } from '../metadata/edit.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import { finish } from '../metadata/steps.ts';
import type { StoredDocument } from './document.ts';
import { Store } from './store.ts';

let database: TestDatabase;
let pools: Database[];

beforeEach(async () => {
  database = await createDatabase();
  pools = [];
});
afterEach(async () => {
  await Promise.all(pools.map((pool) => pool.close()));
  await database.drop();
});

async function open(metadataRevisions?: number): Promise<Store> {
  const pool = openDatabase(database.url, { maxConnections: 3 });
  pools.push(pool);
  const store = new Store(pool, metadataRevisions);
  await store.migrate();
  return store;
}

const collection = (name: string, queries = 1) => {
  const text = (i: number) => ({ name: `q${i}`, query: `{ ${name}_${i} }` });
  const definition = { name, definition: { queries: Array.from({ length: queries }, (_, i) => text(i)) } };
  return { key: `query_collection/${name}`, kind: 'query_collection', parent: null, definition } as const;
};
const LARGE: Metadata = Array.from({ length: 500 }, (_, i) => collection(`c${i}`, 5)).reduce(
  putObject,
  emptyMetadata,
);

/** As an admin operation saves: the document and what has changed. */
async function save(store: Store, before: StoredDocument, metadata: Metadata): Promise<StoredDocument> {
  const edits = finish(editsBetween(before.document, metadata));
  const draft = { metadata, ...(edits ? { edits } : {}) };
  const versions = await store.save(draft, before.versions.resource);
  return { ...before, versions, document: metadata };
}

const rows = async (of: string) =>
  (await database.sql(`select count(*)::int as rows from pergola.${of}`))[0]!['rows'] as number;
const documents = () =>
  database.sql(
    `select resource_version::int as version from pergola.whole where part = 'document' order by 1`,
  );

test('a small change of a large document stores little, and the changed document is loaded', async () => {
  const store = await open();
  const large = await save(store, await store.load(), LARGE);
  const after = await save(store, large, putObject(LARGE, collection('c7', 2)));
  expect(await documents()).toEqual([{ version: 1 }, { version: large.versions.resource }]);
  const [change] = await database.sql(
    'select bytes from pergola.change order by resource_version desc limit 1',
  );
  expect(change!['bytes']).toBeLessThan(300);
  const loaded = await (await open()).load();
  expect(JSON.stringify(loaded.document)).toBe(JSON.stringify(after.document));
  expect(loaded.versions).toEqual(after.versions);
});

test('a patch of a large operator state stores little', async () => {
  const store = await open();
  const entries = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, { n: i }]));
  await store.save({ catalogStates: { operator: { objects: entries } } }, 1);
  const patches = [{ objects: { k3: { n: -1 } } }, { objects: { k4: null, k9999: { n: 1 } } }];
  const operator = { objects: { ...entries, k3: { n: -1 }, k4: undefined, k9999: { n: 1 } } };
  await store.save({ catalogStates: { operator }, operatorPatches: patches }, 2);
  const [change] = await database.sql('select bytes from pergola.change where resource_version = 3');
  expect(change!['bytes']).toBeLessThan(100);
  expect(JSON.stringify((await store.load()).catalogStates.operator)).toBe(JSON.stringify(operator));
});

test('loading with a cached document reads only the changes, and unchanged parts keep their identity', async () => {
  const store = await open();
  const known = await save(store, await store.load(), LARGE);
  let latest = await save(
    store,
    known,
    removeObject(putObject(LARGE, collection('new')), 'query_collection/c1'),
  );
  latest = await save(store, latest, putObject(latest.document, collection('c2', 3)));
  const followed = await (await open()).load(known);
  expect(JSON.stringify(followed.document)).toBe(JSON.stringify(latest.document));
  const collections = followed.document.query_collections!;
  expect(collections[0]).toBe(LARGE.query_collections![0]);
  expect(collections[100]).toBe(LARGE.query_collections![101]);
  expect((await store.load(followed)).document).toBe(followed.document);
});

test('loading reads everything if a full copy was written since, or changes were deleted', async () => {
  const store = await open(1);
  const first = await save(store, await store.load(), LARGE);
  const reversed = { ...LARGE, query_collections: LARGE.query_collections!.toReversed() };
  const second = await save(store, first, reversed);
  expect(JSON.stringify((await store.load(first)).document)).toBe(JSON.stringify(reversed));
  const third = await save(store, second, putObject(reversed, collection('c3', 3)));
  await store.compact(third);
  expect(await rows('change')).toBe(0);
  expect(JSON.stringify((await store.load(second)).document)).toBe(JSON.stringify(third.document));
});

test('after many changes compaction is due, after which no change is kept', async () => {
  const store = await open(0);
  let latest = await save(store, await store.load(), LARGE);
  for (let i = 0; i < 200; i++) {
    expect(store.needsCompaction).toBe(false);
    latest = await save(store, latest, putObject(latest.document, collection('c1', i % 3)));
  }
  latest = await save(store, latest, putObject(latest.document, collection('c1', 4)));
  expect(store.needsCompaction).toBe(true);
  // Somebody else may have been faster.
  const newer = await save(await open(0), latest, putObject(latest.document, collection('c2', 4)));
  await store.compact(latest);
  expect(store.needsCompaction).toBe(false);
  expect([await rows('change'), await rows('whole')]).toEqual([1, 2]);
  expect(JSON.stringify((await store.load()).document)).toBe(JSON.stringify(newer.document));
});

test('every kept revision is the document of its version, across changes, compaction and pruning', async () => {
  const kept = 7;
  const store = await open(kept);
  let latest = await save(store, await store.load(), LARGE);
  const said = new Map([[1, JSON.stringify(emptyMetadata)]]);
  said.set(latest.versions.resource, JSON.stringify(latest.document));
  for (let i = 0; i < 60; i++) {
    const { query_collections: all = [] } = latest.document;
    const next =
      i % 17 === 5
        ? { ...latest.document, query_collections: all.toReversed() }
        : i % 3 === 0
          ? removeObject(latest.document, `query_collection/c${i}`)
          : putObject(latest.document, collection(`c${(i * 7) % 90}`, i % 4));
    latest = await save(store, latest, next);
    said.set(latest.versions.resource, JSON.stringify(latest.document));
    if (i % 11 === 4) await store.compact(latest);
    if (i % 5 !== 0) continue;
    const listed = await store.revisions(100);
    expect(listed.map(({ resourceVersion }) => resourceVersion)).toEqual(
      [...said.keys()].toReversed().slice(0, kept),
    );
    for (const { resourceVersion } of listed) {
      expect(JSON.stringify(await store.revision(resourceVersion))).toBe(said.get(resourceVersion));
    }
  }
  expect(await rows('whole')).toBeLessThan(10);
});

test('the write of an intent is applied by the engine that completes it', async () => {
  const store = await open();
  const large = await save(store, await store.load(), LARGE);
  const metadata = putObject(LARGE, collection('c5', 3));
  const draft = {
    metadata,
    edits: finish(editsBetween(LARGE, metadata))!,
    operatorPatches: [{ a: 1 }],
    catalogStates: { operator: { a: 1 } },
  };
  const transactions = [{ source: { name: 's' } as never, xid: '1' }];
  const commit = async () => {
    const [intent] = await database.sql(
      'select length(draft::text) as length, draft, resource_version, transactions from pergola.intent',
    );
    expect(intent!['length']).toBeLessThan(500);
    await database.sql('create table kept as select * from pergola.intent');
    throw new Error('the engine has ended');
  };
  await expect(
    store.saveWithForeignCommit(draft, large.versions.resource, { transactions, commit }),
  ).rejects.toThrow();
  await database.sql('delete from pergola.intent; insert into pergola.intent select * from kept');
  await store.completeIntents(async () => 'committed', []);
  const { document: stored, catalogStates } = await store.load();
  expect(JSON.stringify([stored, catalogStates.operator])).toBe(JSON.stringify([metadata, { a: 1 }]));
});

test('migration keeps the document, the ledger and the revisions, and an older engine cannot write afterwards', async () => {
  const folder = new URL('./migrations/', import.meta.url);
  const files = readdirSync(folder).sort().slice(0, 5);
  await database.sql(`create schema pergola;
    create table pergola.migration (version integer primary key, name text not null, applied_at timestamptz default now())`);
  for (const [i, file] of files.entries()) {
    await database.sql(readFileSync(new URL(file, folder), 'utf8'));
    await database.sql('insert into pergola.migration (version, name) values ($1, $2)', [i + 1, file]);
  }
  const older = JSON.stringify(putObject(emptyMetadata, collection('older')));
  const newer = JSON.stringify(putObject(emptyMetadata, collection('newer')));
  await database.sql(`insert into pergola.metadata (id, resource_version, metadata, operator_state)
    values (gen_random_uuid(), 9, '${newer}', '{"n": 1.0}');
    insert into pergola.revision (resource_version, author, operations, metadata)
    values (5, 'ada', '{}', '${older}'), (8, 'ada', '{}', '${newer}')`);
  const store = await open();
  const { document, catalogStates, versions } = await store.load();
  expect(JSON.stringify([document, catalogStates.operator, versions.resource])).toBe(
    `[${newer},{"n":1.0},9]`,
  );
  expect(JSON.stringify([await store.revision(5), await store.revision(8)])).toBe(`[${older},${newer}]`);
  const before = [
    'select metadata::text, operator_state::text from pergola.metadata',
    'update pergola.metadata set resource_version = resource_version + 1, metadata = coalesce(null, metadata)',
    `update pergola.metadata set operator_state = '{}'`,
    'insert into pergola.revision (resource_version, metadata) select resource_version, metadata from pergola.metadata',
  ];
  for (const statement of before) await expect(database.sql(statement)).rejects.toThrow('does not exist');
});
