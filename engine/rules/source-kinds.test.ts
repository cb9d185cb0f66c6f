/** Tests the kinds of sources: relatives of Postgres are served as Postgres and exported as given, others are refused.
 *  Reference: docs/reference/behaviour/metadata.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test.each(['mssql', 'bigquery', 'mysql', 'dataconnector', 'Postgres', '', 5])(
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
