/** Tests the kinds of sources: relatives of Postgres are served as Postgres and exported as given, others are refused.
 *  Reference: docs/reference/behaviour/metadata.md. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { SOURCE_KINDS } from '../metadata/schema/source.ts';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: 'create table note (id int primary key); insert into note values (1)',
    tables: [],
  });
});
afterAll(() => world?.close());

const SUCCESS = { data: { message: 'success' } };
const perform = (type: string, args: object) => adminOutcome(world.engine, type, args);
const configuration = () => ({ connection_info: { database_url: world.database.url } });
const exported = async () =>
  (await perform('export_metadata', {})) as { data: { sources: { name: string; kind: string }[] } };
const kindOf = async (name: string) =>
  (await exported()).data.sources.find((source) => source.name === name)?.kind;

test.each(Object.entries(SOURCE_KINDS))(
  '%s: operations have the kind in their name',
  async (kind, { prefix }) => {
    const source = `of_${kind}`;
    expect(await perform(`${prefix}_add_source`, { name: source, configuration: configuration() })).toEqual(
      SUCCESS,
    );
    expect(await kindOf(source)).toBe(kind);
    const table = { source, table: 'note', configuration: { custom_name: `note_${kind}` } };
    expect(await perform(`${prefix}_track_table`, table)).toEqual(SUCCESS);
    expect(await graphqlOutcome(world.engine, `{ note_${kind} { id } }`)).toEqual({
      data: { [`note_${kind}`]: [{ id: 1 }] },
    });
    const sql = { source, sql: 'select 1 as one' };
    expect(await adminOutcome(world.engine, `${prefix}_run_sql`, sql, { endpoint: '/v2/query' })).toEqual({
      data: { result_type: 'TuplesOk', result: [['one'], ['1']] },
    });
    expect(await perform(`${prefix}_track_table`, { source })).toMatchObject({
      code: 'parse-failed',
      path: '$',
    });
    expect(await perform(`${prefix}_drop_source`, { name: source, cascade: true })).toEqual(SUCCESS);
  },
);

test.each([
  ...Object.keys(SOURCE_KINDS).map((kind) => [kind, kind] as const),
  ['pg', 'postgres'] as const,
  [undefined, 'postgres'] as const,
])('a document with the kind %s is exported with %s', async (kind, expected) => {
  const { sources, ...rest } = (await exported()).data;
  const other = { name: 'other', kind, configuration: configuration(), tables: [] };
  const kept = sources.filter(({ name }) => name !== 'other');
  expect(await perform('replace_metadata', { ...rest, sources: [...kept, other] })).toEqual(SUCCESS);
  expect(await kindOf('other')).toBe(expected);
});

test.each(['', 5])(
  'a document with the kind %j is refused at its path, and nothing changes',
  async (kind) => {
    const before = await exported();
    const { sources, ...rest } = before.data;
    const foreign = { name: 'foreign', kind, configuration: {}, tables: [] };
    const outcome = await perform('replace_metadata', { ...rest, sources: [...sources, foreign] });
    expect(outcome).toMatchObject({ code: 'parse-failed', path: `$.args.sources[${sources.length}].kind` });
    expect(await exported()).toEqual(before);
  },
);

describe.each(['mssql', 'bigquery', 'mysql', 'agent_of_ours'])('a source of the kind %s', (kind) => {
  const foreign = {
    name: 'foreign',
    kind,
    configuration: { connection_info: { connection_string: { from_env: 'X' } }, value: null },
    tables: [
      { table: { schema: 'dbo', name: 'a' }, select_permissions: [] },
      { table: { dataset: 'b', name: 'a' } },
      { table: ['a'] },
    ],
    functions: [],
    unknown: [1],
  };
  const listed = {
    type: 'source',
    name: 'source foreign',
    reason: `Inconsistent object: sources of the kind "${kind}" are not supported`,
  };
  const replace = async (allowed: boolean) => {
    const { sources, ...rest } = (await exported()).data;
    const kept = sources.filter(({ name }) => name !== 'foreign');
    const metadata = { ...rest, sources: [foreign, ...kept] };
    return world.engine.admin(
      'replace_metadata',
      { metadata, allow_inconsistent_metadata: allowed },
      { version: 2 },
    );
  };
  const inconsistent = async () => (await world.engine.admin('get_inconsistent_metadata', {})).body;

  test('is inconsistent, refused unless that is allowed, and exported as it was given', async () => {
    expect(await replace(false)).toMatchObject({ status: 400 });
    expect(await replace(true)).toMatchObject({
      status: 200,
      body: { is_consistent: false, inconsistent_objects: [listed] },
    });
    expect((await exported()).data.sources[0]).toEqual(foreign);
    expect(await inconsistent()).toMatchObject({ inconsistent_objects: [listed] });
  });

  test('hinders no other source, outlives a restart, and can be dropped', async () => {
    await replace(true);
    const tracked = { table: 'note', configuration: { custom_name: 'here' } };
    expect(await perform('pg_track_table', tracked)).toEqual(SUCCESS);
    expect(await graphqlOutcome(world.engine, '{ here { id } }')).toEqual({ data: { here: [{ id: 1 }] } });
    for (const names of ['note rename to renamed', 'renamed rename to note']) {
      const sql = { source: 'default', sql: `alter table ${names}` };
      expect(await adminOutcome(world.engine, 'run_sql', sql, { endpoint: '/v2/query' })).toMatchObject({
        data: {},
      });
    }
    expect((await exported()).data.sources[0]).toEqual(foreign);
    const second = await startTestEngine({ databaseUrl: world.database.url });
    expect(await graphqlOutcome(second, '{ here { id } }')).toEqual({ data: { here: [{ id: 1 }] } });
    expect(await adminOutcome(second, 'export_metadata', {})).toEqual(await exported());
    await second.close();
    expect(await perform('pg_untrack_table', { table: 'note' })).toEqual(SUCCESS);
    const refused = { code: 'not-supported', message: `sources of the kind "${kind}" are not supported` };
    expect(await perform('pg_track_table', { source: 'foreign', table: 'note' })).toMatchObject(refused);
    expect(await perform('rename_source', { name: 'default', new_name: 'renamed' })).toEqual(SUCCESS);
    expect(await perform('rename_source', { name: 'renamed', new_name: 'default' })).toEqual(SUCCESS);
    expect(await perform('pg_drop_source', { name: 'foreign' })).toEqual(SUCCESS);
    await replace(true);
    expect(await perform('drop_inconsistent_metadata', {})).toEqual(SUCCESS);
    expect(await inconsistent()).toMatchObject({ is_consistent: true });
    expect(await kindOf('foreign')).toBeUndefined();
  });
});

test('the paths of errors in other sources are those of the document', async () => {
  const { sources, ...rest } = (await exported()).data;
  const metadata = {
    ...rest,
    sources: [
      { name: 'x', kind: 'mssql' },
      { ...sources.find(({ name }) => name === 'default'), tables: [{}] },
    ],
  };
  const outcome = await world.engine.admin(
    'replace_metadata',
    { metadata, allow_inconsistent_metadata: true },
    { version: 2 },
  );
  expect(outcome.body).toMatchObject({ path: '$.args.metadata.sources[1].tables[0]' });
});

test.each(['mssql', 'bigquery', 'mysql', 'dataconnector'])(
  '%s: operations are refused by name',
  async (kind) => {
    for (const operation of ['add_source', 'track_table']) {
      expect(await perform(`${kind}_${operation}`, {})).toEqual({
        code: 'not-supported',
        path: '$.type',
        message: `sources of the kind "${kind}" are not supported`,
      });
    }
  },
);
