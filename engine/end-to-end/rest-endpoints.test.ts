/** Tests REST endpoints and stored queries through the admin API: what is refused, how they follow changes, what
 *  becomes inconsistent.
 *  Not here: requests to endpoints (http/rest.test.ts). Reference: docs/reference/behaviour/metadata-api.md;
 *  docs/reference/behaviour/errors.md. */
import { expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';

const { database, engine } = testWorld();

const SUCCESS = { status: 200, body: { message: 'success' } };
const edit = (type: string, args: unknown) => engine.admin(type, args);
const reach = async (url: string) => (await engine.fetch(`/api/rest/${url}`)).status;

const endpoint = (name: string, url: string, query: string) => ({
  name,
  url,
  methods: ['GET'],
  definition: { query: { collection_name: 'stored', query_name: query } },
});

/** Creates a table with a collection of two queries and an endpoint for one of them. */
async function begin(): Promise<void> {
  await database.sql('drop table if exists note; create table note (id int primary key, text text)');
  const stored = {
    name: 'stored',
    definition: {
      queries: [
        { name: 'ids', query: '{ note { id } }' },
        { name: 'texts', query: '{ note { text } }' },
      ],
    },
  };
  expect(await edit('clear_metadata', {})).toEqual(SUCCESS);
  expect(await edit('reload_metadata', {})).toMatchObject({ status: 200 });
  expect(await edit('pg_track_table', { table: 'note' })).toEqual(SUCCESS);
  expect(await edit('create_query_collection', stored)).toEqual(SUCCESS);
  expect(await edit('create_rest_endpoint', endpoint('notes', 'notes', 'texts'))).toEqual(SUCCESS);
}

async function inconsistencies(): Promise<unknown> {
  const { body } = await engine.admin<{ inconsistent_objects: unknown }>('get_inconsistent_metadata', {});
  return body.inconsistent_objects;
}

test('an endpoint has a unique name, and can be dropped once', async () => {
  await begin();
  expect(await edit('create_rest_endpoint', endpoint('notes', 'other', 'ids'))).toMatchObject({
    status: 400,
    body: { error: 'Endpoint with name: notes already exists', code: 'already-exists', path: '$.args' },
  });
  expect(await edit('drop_rest_endpoint', { name: 'notes' })).toEqual(SUCCESS);
  expect(await edit('drop_rest_endpoint', { name: 'notes' })).toMatchObject({
    status: 400,
    body: { error: 'endpoint with name: notes does not exist', code: 'not-exists', path: '$.args' },
  });
});

test.each([
  ['notes', 'ids', 'Ambiguous URL paths: notes, notes'],
  [':any', 'ids', 'Ambiguous URL paths: :any, notes'],
  ['a//b', 'ids', 'Empty segments or unnamed variables are not allowed: a//b'],
  [
    'a',
    'x',
    'Inconsistent object: in endpoint new: query with name "x" does not exist in collection "stored"',
  ],
])(
  'an endpoint %s of query %s is refused, on either endpoint of the admin API',
  async (url, query, error) => {
    await begin();
    for (const path of ['/v1/query', '/v1/metadata'] as const) {
      const args = endpoint('new', url, query);
      expect(await engine.admin('create_rest_endpoint', args, { endpoint: path })).toMatchObject({
        status: 400,
        body: {
          error,
          code: 'invalid-configuration',
          path: '$.args',
          internal: [{ type: 'rest_endpoint', name: 'rest_endpoint new' }],
        },
      });
    }
    expect(await reach('notes')).toBe(200);
  },
);

test('a collection in use is dropped with cascade only, and a query in use is never dropped', async () => {
  await begin();
  const query = { collection_name: 'stored', query_name: 'texts' };
  expect(await edit('drop_query_from_collection', query)).toMatchObject({
    status: 400,
    body: { error: 'query with name "texts" in collection "stored" is used by rest endpoint "notes"' },
  });
  expect(await edit('drop_query_from_collection', { ...query, query_name: 'ids' })).toEqual(SUCCESS);
  const collection = { collection: 'stored', cascade: false };
  expect(await edit('drop_query_collection', collection)).toMatchObject({
    status: 400,
    body: { code: 'dependency-error' },
  });
  expect(await reach('notes')).toBe(200);
  expect(await edit('drop_query_collection', { ...collection, cascade: true })).toEqual(SUCCESS);
  expect(await reach('notes')).toBe(404);
});

test('an endpoint follows its renamed collection', async () => {
  await begin();
  expect(await edit('rename_query_collection', { name: 'stored', new_name: 'kept' })).toEqual(SUCCESS);
  expect(await reach('notes')).toBe(200);
});

const REASON =
  'Inconsistent object: In query collection "stored" the query "texts" is invalid with the following error(s): ' +
  "\"$.note.text: field 'text' not found in object 'note'\". " +
  'This query is being used in the following REST endpoint(s): "notes"';
const BROKEN = {
  definition: { name: 'texts', query: '{ note { text } }' },
  reason: REASON,
  name: 'query_collections texts in stored',
  type: 'query_collections',
};

test('a change that would break a stored query is refused', async () => {
  await begin();
  await edit('drop_query_from_collection', { collection_name: 'stored', query_name: 'ids' });
  expect(await edit('pg_untrack_table', { table: 'note' })).toMatchObject({
    status: 500,
    body: {
      path: '$.args',
      error: 'cannot continue due to newly found inconsistent metadata',
      code: 'unexpected',
      internal: [{ type: 'query_collections', name: 'query_collections texts in stored' }],
    },
  });
  const added = { collection_name: 'stored', query_name: 'bad', query: '{ nothing { id } }' };
  expect(await edit('add_query_to_collection', added)).toMatchObject({ status: 500 });
  expect(await reach('notes')).toBe(200);
});

test('a query that no longer fits is inconsistent, answers with the reason, and works again with the column', async () => {
  await begin();
  await database.sql('alter table note drop column text');
  await edit('reload_metadata', {});
  expect(await inconsistencies()).toEqual([BROKEN]);
  const response = await engine.fetch('/api/rest/notes');
  expect([response.status, await response.json()]).toMatchObject([
    400,
    { error: "field 'text' not found in type: 'note'" },
  ]);
  await database.sql('alter table note add column text text');
  await edit('reload_metadata', {});
  expect(await inconsistencies()).toEqual([]);
  expect(await reach('notes')).toBe(200);
});

test('dropping inconsistent metadata drops the query and its endpoint, not the collection', async () => {
  await begin();
  await database.sql('alter table note drop column text');
  await edit('reload_metadata', {});
  expect(await edit('drop_inconsistent_metadata', {})).toEqual(SUCCESS);
  const { body } = await engine.admin<Record<string, unknown>>('export_metadata', {});
  expect(body['query_collections']).toEqual([
    { name: 'stored', definition: { queries: [{ name: 'ids', query: '{ note { id } }' }] } },
  ]);
  expect(body['rest_endpoints'] ?? []).toEqual([]);
});

test('run_sql with cascade drops the query that used a column', async () => {
  await begin();
  const sql = 'alter table note drop column text';
  expect(await edit('run_sql', { sql })).toMatchObject({ status: 400, body: { code: 'dependency-error' } });
  expect(await edit('run_sql', { sql, cascade: true })).toMatchObject({ status: 200 });
  expect(await inconsistencies()).toEqual([]);
  expect(await reach('notes')).toBe(404);
});
