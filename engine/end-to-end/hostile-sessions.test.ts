/** Tests hostile text in sessions (claims of a token, a webhook's answer), in the URL of an endpoint, in names of
 *  orders, in arguments of native queries and in keys that join another database. No statement contains it, nothing
 *  fails unexpectedly, and each session sees its own rows only. */
import { createHmac, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GraphqlAnswer, startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { jwtSecret } from '../config/jwt-secret.ts';
import type { Log } from '../observe/sinks.ts';
import { Choices } from '../oracle/testing/choices.ts';
import { hostileText } from '../oracle/testing/hostile.ts';

/** A random marker, so that finding it proves that the text was copied. */
const MARKER = `m${randomBytes(6).toString('hex')}`;
const KEY = randomBytes(32).toString('hex');
const TEXTS = [...new Set(Array.from({ length: 99 }, (_, i) => hostileText(new Choices([i]), MARKER)))];
/** The texts that Postgres can store, also in JSON. */
const STORED = TEXTS.filter((text) => !text.includes('\0') && text.isWellFormed());

const database = testDatabase();
const elsewhere = testDatabase();
let engine: TestEngine;
let hooked: TestEngine;
let webhook: Server;
let answered = '';
let statements: string[] = [];

const log: Log = {
  observe: (observation) => {
    if (observation.kind === 'operation finished')
      statements.push(...(observation.plan?.statements ?? []).map(({ text }) => text));
  },
  flush: () => {},
};

beforeAll(async () => {
  await database.sql(`create table note (id int primary key, owner text unique, n int);
    create function mine(session json) returns setof note language sql stable
      as $$ select * from note where owner = session ->> 'x-engine-user-id' $$;`);
  await elsewhere.sql('create table label (owner text primary key)');
  await database.sql(
    'insert into note (id, owner) select id, owner from unnest($1::text[]) with ordinality as t (owner, id)',
    [STORED],
  );
  await elsewhere.sql('insert into label select unnest($1::text[])', [STORED]);
  webhook = createServer((_, response) => response.end(answered));
  await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
  const settings = { databaseUrl: database.url, env: { ELSEWHERE: elsewhere.url }, log };
  const secret = { type: 'HS256', key: KEY, claims_namespace: 'claims' };
  engine = await startTestEngine({ ...settings, jwtSecret: jwtSecret.parse(JSON.stringify(secret)) });
  await build();
  const { port } = webhook.address() as AddressInfo;
  hooked = await startTestEngine({ ...settings, authHook: `http://127.0.0.1:${port}/` });
});
afterAll(async () => {
  await engine?.close();
  await hooked?.close();
  webhook?.close();
});

async function build(): Promise<void> {
  const select = (role: string, filter: object) => ({
    type: 'pg_create_select_permission',
    args: { table: 'note', role, permission: { columns: '*', filter } },
  });
  const configuration = { connection_info: { database_url: { from_env: 'ELSEWHERE' } } };
  const field_mapping = { owner: 'owner' };
  const to_source = { source: 'elsewhere', table: 'label', relationship_type: 'array', field_mapping };
  const code = 'select id, owner from note where owner = {{owner}}';
  const query = 'query ($owner: String!) { note(where: {owner: {_eq: $owner}}) { id } }';
  const queries = [{ name: 'by_owner', query }];
  await engine.must('pg_track_table', { table: 'note' });
  await engine.must('pg_add_source', { name: 'elsewhere', configuration });
  await engine.must('bulk', [
    { type: 'pg_track_table', args: { source: 'elsewhere', table: 'label' } },
    select('user', { owner: 'X-Engine-User-Id' }),
    select('numbered', { n: { _lte: 'X-Engine-User-Id' } }),
    select('several', { owner: { _in: 'X-Engine-User-Id' } }),
    {
      type: 'pg_track_function',
      args: { function: 'mine', configuration: { session_argument: 'session' } },
    },
    {
      type: 'pg_create_remote_relationship',
      args: { table: 'note', name: 'labels', definition: { to_source } },
    },
    {
      type: 'pg_track_logical_model',
      args: {
        name: 'found',
        fields: [
          { name: 'id', type: 'integer' },
          { name: 'owner', type: 'text' },
        ],
      },
    },
    {
      type: 'pg_track_native_query',
      args: { root_field_name: 'owned', code, returns: 'found', arguments: { owner: { type: 'text' } } },
    },
    { type: 'create_query_collection', args: { name: 'stored', definition: { queries } } },
    {
      type: 'create_rest_endpoint',
      args: {
        name: 'by owner',
        url: 'notes/:owner',
        methods: ['GET'],
        definition: { query: { collection_name: 'stored', query_name: 'by_owner' } },
      },
    },
  ]);
}

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
function tokenOf(claims: object, key = KEY, alg = 'HS256'): string {
  const signed = `${encoded({ alg, typ: 'JWT' })}.${encoded({ claims })}`;
  return `${signed}.${alg === 'none' ? '' : createHmac('sha256', key).update(signed).digest('base64url')}`;
}
const claimsOf = (text: string, role = 'user') => ({
  'x-engine-allowed-roles': [role],
  'x-engine-default-role': role,
  'x-engine-user-id': text,
  [`x-engine-${text}`]: text,
});
const bearing = (token: string) => ({ role: null, headers: { authorization: `Bearer ${token}` } });

/** Checks that no statement since the last call contains the marker. */
function expectCleanStatements(): void {
  expect(statements.filter((text) => text.includes(MARKER))).toEqual([]);
  statements = [];
}

function expectForeseen(answer: GraphqlAnswer<unknown>, about: string): void {
  for (const { extensions } of answer.errors ?? []) {
    expect(extensions, about).toMatchObject({ code: expect.any(String), path: expect.stringMatching(/^\$/) });
    expect(extensions.code, about).not.toBe('unexpected');
  }
}

type Owned = { readonly owner: string };
const OWN = '{ note { owner } mine { owner } }';

/** Checks that the answer has the row of the owner and no other, or an error if no row can belong to it. */
function expectOwn(answer: GraphqlAnswer<{ note: Owned[]; mine: Owned[] }>, text: string): void {
  expectForeseen(answer, text);
  const own = [{ owner: text }];
  if (STORED.includes(text)) expect(answer, text).toEqual({ data: { note: own, mine: own } });
  else expect(answer.data, text).toBeUndefined();
}

test('the user in a token sees its own rows, whatever its name is', async () => {
  for (const text of TEXTS) expectOwn(await engine.graphql(OWN, bearing(tokenOf(claimsOf(text)))), text);
  expect(statements.length).toBeGreaterThan(0);
  expectCleanStatements();
});

test('claims that are not numbers or arrays are refused with the error of Postgres', async () => {
  for (const role of ['numbered', 'several']) {
    for (const text of TEXTS) {
      const answer = await engine.graphql('{ note { id } }', bearing(tokenOf(claimsOf(text, role))));
      expectForeseen(answer, text);
      if (role === 'numbered') expect(answer.errors?.[0]?.extensions.code, text).toBe('data-exception');
    }
  }
  expectCleanStatements();
});

test('forged tokens and roles that were not granted send nothing to the database', async () => {
  for (const text of TEXTS) {
    const [head, , signature] = tokenOf(claimsOf('somebody')).split('.');
    const forged = [
      tokenOf(claimsOf(text), 'another key'),
      tokenOf(claimsOf(text), KEY, 'none'),
      `${head}.${encoded({ claims: claimsOf(text) })}.${signature}`,
      `${head}.${Buffer.from(text).toString('base64url')}.${signature}`,
    ];
    for (const token of forged) {
      const answer = await engine.graphql(OWN, bearing(token));
      expect(answer.errors?.[0]?.extensions.code, text).toBe('invalid-jwt');
      expect(answer.data).toBeUndefined();
    }
    const claims = { ...claimsOf('somebody'), 'x-engine-default-role': text };
    const answer = await engine.graphql(OWN, bearing(tokenOf(claims)));
    expect(answer.errors?.[0]?.extensions.code, text).toMatch(/access-denied|jwt-invalid-claims/);
  }
  expect(statements).toEqual([]);
});

test('the user that a webhook returns sees its own rows, too', async () => {
  for (const text of TEXTS) {
    answered = JSON.stringify({ 'X-Engine-Role': 'user', 'X-Engine-User-Id': text });
    expectOwn(await hooked.graphql(OWN, { role: null }), text);
  }
  expectCleanStatements();
});

test('a variable of an endpoint is a value, in its path and in the query string', async () => {
  for (const text of TEXTS) {
    const part = encodeURIComponent(text.toWellFormed());
    for (const url of [`notes/${part}`, `notes/x?owner=${part}&${part}=1`]) {
      const response = await engine.fetch(`/api/rest/${url}`);
      const body = (await response.json()) as { note?: unknown[] };
      expect(response.status, `${url} ${JSON.stringify(body)}`).toBeLessThan(500);
      const found = STORED.includes(text) && !url.includes('?') ? 1 : 0;
      expect(body.note?.length ?? 0, url).toBe(found);
    }
  }
  expectCleanStatements();
});

test('names in orders are those of the schema, or are refused before there is a statement', async () => {
  const query =
    'query ($o: [note_order_by!], $d: [note_select_column!]) { note(order_by: $o, distinct_on: $d) { id } }';
  for (const text of TEXTS) {
    for (const variables of [{ o: { [text]: 'asc' } }, { o: { id: text } }, { d: [text] }]) {
      const { errors } = await engine.graphql(query, { variables });
      expect(errors?.[0]?.extensions.code, text).toBe('validation-failed');
    }
  }
  expect(statements).toEqual([]);
});

test('arguments of native queries are values', async () => {
  for (const text of TEXTS) {
    const query = 'query ($owner: String!) { owned(args: {owner: $owner}) { owner } }';
    const answer = await engine.graphql(query, { variables: { owner: text } });
    expectForeseen(answer, text);
    if (STORED.includes(text)) expect(answer.data, text).toEqual({ owned: [{ owner: text }] });
  }
  expectCleanStatements();
});

test('keys that join another database are values', async () => {
  const { data } = await engine.graphql<{ note: (Owned & { labels: Owned[] })[] }>(
    '{ note { owner labels { owner } } }',
  );
  expect(data?.note).toHaveLength(STORED.length);
  for (const { owner, labels } of data!.note) expect(labels).toEqual([{ owner }]);
  expectCleanStatements();
});
