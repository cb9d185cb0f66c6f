/** Tests that the subgraphs of several engines compose, as the administrator and as a role see them: without errors, and with the entities and root
 *  fields of each in the supergraph. Reference: docs/guides/federation.md. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../database.ts';
import { startTestEngine, type TestEngine } from '../engine.ts';

/** The types that all engines use, so that each subgraph defines what belongs to them. */
const COLUMNS = `n numeric, big bigint, at timestamptz, day date, span interval, data jsonb, doc json, tags text[], ids uuid[],
  price money, ratio float8, done bool, code char(3), bits bytea`;

type World = {
  readonly database: TestDatabase;
  readonly engine: TestEngine;
  readonly close: () => Promise<void>;
};

async function start(name: string, own: string, options: object = {}): Promise<World> {
  const database = await createDatabase();
  await database.sql(`${own}
    create table ${name} (id uuid primary key, label text, ${COLUMNS});
    create table ${name}_part (${name}_id uuid references ${name}, position int, ${COLUMNS}, primary key (${name}_id, position));
    create function find_${name}(part text) returns setof ${name} language sql stable as $$ select * from ${name} where label ~ part $$;
    create function label_of(row_of ${name}) returns text language sql stable as $$ select upper(row_of.label) $$;`);
  const engine = await startTestEngine({
    databaseUrl: database.url,
    enableApolloFederation: true,
    ...options,
  });
  for (const table of [name, `${name}_part`]) {
    await engine.must('pg_track_table', { table, apollo_federation_config: { enable: 'v1' } });
    const permission = { columns: '*', filter: {}, allow_aggregations: true };
    await engine.must('pg_create_select_permission', { table, role: 'user', permission });
    await engine.must('pg_create_insert_permission', {
      table,
      role: 'user',
      permission: { columns: '*', check: {} },
    });
    await engine.must('pg_create_update_permission', {
      table,
      role: 'user',
      permission: { columns: '*', filter: {}, check: {} },
    });
  }
  const using = { foreign_key_constraint_on: { table: `${name}_part`, columns: [`${name}_id`] } };
  await engine.must('pg_create_array_relationship', { table: name, name: 'parts', using });
  await engine.must('pg_create_object_relationship', {
    table: `${name}_part`,
    name: 'whole',
    using: { foreign_key_constraint_on: `${name}_id` },
  });
  await engine.must('pg_track_function', { function: `find_${name}` });
  await engine.must('pg_add_computed_field', {
    table: name,
    name: 'upper_label',
    definition: { function: 'label_of' },
  });
  const close = async () => {
    await engine.close();
    await database.drop();
  };
  return { database, engine, close };
}

let worlds: readonly (readonly [string, World])[];
beforeAll(async () => {
  worlds = [
    [
      'books',
      await start('book', "create type genre as enum ('novel'); create table shelf (id int primary key);"),
    ],
    ['films', await start('film', '')],
    // Its types and enums are named otherwise.
    [
      'songs',
      await start('song', '', {
        experimentalFeatures: ['naming_convention'],
        defaultNamingConvention: 'graphql-default',
      }),
    ],
  ];
});
afterAll(async () => {
  for (const [, world] of worlds ?? []) await world.close();
});

async function compose(subgraphs: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
  const program = join(import.meta.dirname, 'composition.mjs');
  const child = spawn(process.execPath, [program], {
    cwd: import.meta.dirname,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(JSON.stringify(subgraphs));
  return JSON.parse((await text(child.stdout)).trim().split('\n').at(-1)!);
}

/** The types with keys, their subgraphs and keys. Nothing else is defined twice, or composition fails. */
const ENTITIES = [
  ['book', 'BOOKS', 'id'],
  ['book_part', 'BOOKS', 'book_id position'],
  ['film', 'FILMS', 'id'],
  ['film_part', 'FILMS', 'film_id position'],
  ['Song', 'SONGS', 'id'],
  ['SongPart', 'SONGS', 'songId position'],
];

test.each(['admin', 'user'])('subgraphs of several engines compose, as %s', async (role) => {
  const sdls = await Promise.all(
    worlds.map(async ([name, { engine }]) => {
      const { data } = await engine.graphql<{ _service: { sdl: string } }>('{ _service { sdl } }', { role });
      return [name, data!._service.sdl] as const;
    }),
  );
  const result = await compose(Object.fromEntries(sdls));
  expect(result).toEqual({ errors: [], entities: ENTITIES, roots: expect.anything() });
  const { Query: queries, Mutation: mutations } = result['roots'] as Record<string, string[]>;
  expect(queries).toEqual(expect.arrayContaining(['book', 'film_part_by_pk', 'find_film', 'songByPk']));
  expect(mutations).toEqual(expect.arrayContaining(['insert_book', 'update_film_part_many', 'insertSong']));
});
