/** Tests query tags: statements that name the request they belong to, as Postgres sees them, and sources with tags
 *  disabled. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { tagged } from '../sql/query-tags.ts';

const database = testDatabase();
let engine: TestEngine;

beforeAll(async () => {
  await database.sql(`
    create table note (id serial primary key, text text);
    create view asked as select current_query() as text;`);
  engine = await startTestEngine({ databaseUrl: database.url });
  await engine.admin('pg_track_table', { table: 'asked' });
  await engine.admin('pg_track_table', { table: 'note' });
});
afterAll(() => engine?.close());

async function statementOf(query: string, operationName?: string): Promise<string> {
  const { data, errors } = await engine.graphql<Record<string, { text: string }[]>>(query, {
    ...(operationName ? { operationName } : {}),
  });
  expect(errors).toBeUndefined();
  return data![Object.keys(data!)[0]!]![0]!.text;
}

const tags = (settings: object) => engine.admin('set_query_tags', { source_name: 'default', ...settings });

test('without settings a statement has no tag', async () => {
  expect(await statementOf('query Look { asked { text } }')).not.toContain('/*');
});

test('the standard format follows the statement: field, operation and a digest of the query', async () => {
  await tags({});
  expect(await statementOf('query Look { seen: asked { text } }')).toMatch(
    / \/\* field_name=seen,operation_name=Look,parameterized_query_hash=[\w-]{32} \*\/$/,
  );
  expect(await statementOf('{ asked { text } }')).toMatch(
    / \/\* field_name=asked,parameterized_query_hash=[\w-]{32} \*\/$/,
  );
});

test('the comment may come first, or have the format of sqlcommenter', async () => {
  await tags({ format: 'standard_prepended' });
  expect(await statementOf('query Look { asked { text } }')).toMatch(
    /^\/\* field_name=asked,operation_name=Look,/,
  );
  await tags({ format: 'sqlcommenter' });
  expect(await statementOf('query Look { asked { text } }')).toMatch(
    / \/\*field_name='asked',operation_name='Look',parameterized_query_hash='[\w-]{32}'\*\/$/,
  );
});

test('a query has the same statement at every request, whatever its values', async () => {
  await tags({});
  const query = 'query Look($t: String) { asked(where: {text: {_neq: $t}}) { text } }';
  const texts = new Set<string>();
  for (const t of ['one', "*/ select 'two'", 'three']) {
    const { data } = await engine.graphql<{ asked: { text: string }[] }>(query, { variables: { t } });
    texts.add(data!.asked[0]!.text);
  }
  expect(texts.size).toBe(1);
});

test('mutations and their steps work with tags, and disabled tags are absent', async () => {
  const { data } = await engine.graphql(
    'mutation Add { insert_note(objects: [{text: "a"}]) { affected_rows } }',
  );
  expect(data).toEqual({ insert_note: { affected_rows: 1 } });
  await tags({ disabled: true });
  expect(await statementOf('query Look { asked { text } }')).not.toContain('/*');
});

test('text that is no name is refused rather than written into a comment', () => {
  const tag = { fields: ['a'], operation: 'x */ drop', digest: 'd' };
  expect(() => tagged('select 1', {}, tag)).toThrow(RangeError);
});
