/** Tests conditions of a request that raise an error on a row the role does not see: each answer is the same whether
 *  such rows exist or not. The row filter uses a relationship, which Postgres evaluates last if it may. */
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { openSession } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

/** In hidden rows, `code` contains no number and `amount` is zero. */
const SCHEMA = `
  create table team (id int primary key, name text not null);
  create table member (team_id int references team, user_id int, primary key (team_id, user_id));
  create table document (id int primary key, team_id int not null references team, code text not null, amount int not null,
    place box, note text);
  create index on document (team_id);
  create function document_number(d document) returns int language sql immutable as $$ select d.code::int $$;
  create function document_share(d document, whole int default 100) returns int language plpgsql immutable cost 0.0001
    as $$ begin return whole / d.amount; end $$;
  create function document_peers(d document) returns setof document language sql stable
    as $$ select * from document where id = 100 / d.amount $$;
  create function shares(first int) returns setof document language sql stable
    as $$ select id, team_id, code, 100 / amount, place, note from document where id >= first $$;
  create view share as select id, team_id, code::int as number, 100 / amount as share from document;
  insert into team values (1, 'ours'), (2, 'theirs');
  insert into member values (1, 1), (2, 2);`;

const VISIBLE = `insert into document select i, 1, (i % 7)::text, i, null, 'n' from generate_series(1, 20) i;`;
const HIDDEN = `insert into document select i, 2, 'classified' || i, 0, null, 'n' from generate_series(101, 400) i;`;

const isMember = { members: { user_id: { _eq: 'X-Engine-User-Id' } } };
const FILTER = { team: isMember };
const COLUMNS = ['id', 'team_id', 'code', 'amount', 'place', 'note'];
const select = (filter: object, columns: readonly string[] = COLUMNS, more = {}) => ({
  columns,
  filter,
  allow_aggregations: true,
  ...more,
});
const permission = (filter: object) => ({ columns: ['note', 'code', 'amount'], filter, check: null });
const byKey = (name: string, column: string, table: string) => ({
  name,
  using: { foreign_key_constraint_on: table === '' ? column : { table, column } },
});
const computed = ['number', 'share'];

const reader = (role: string, columns = COLUMNS) => ({
  role,
  permission: select(FILTER, columns, { computed_fields: computed }),
});

const metadataOn = (url: string) => ({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: url } },
      tables: [
        {
          table: 'team',
          array_relationships: [
            byKey('members', 'team_id', 'member'),
            byKey('documents', 'team_id', 'document'),
          ],
          select_permissions: ['one', 'other', 'outsider'].map((role) => ({
            role,
            permission: select(role === 'outsider' ? {} : isMember, ['id', 'name']),
          })),
        },
        { table: 'member' },
        {
          table: 'document',
          object_relationships: [byKey('team', 'team_id', '')],
          computed_fields: ['number', 'share', 'peers'].map((name) => ({
            name,
            definition: { function: `document_${name}` },
          })),
          select_permissions: [reader('one'), reader('other', ['id', 'amount']), reader('outsider')],
          insert_permissions: [
            { role: 'one', permission: { columns: [...COLUMNS], check: { team_id: { _eq: 1 } } } },
          ],
          update_permissions: [{ role: 'one', permission: permission(FILTER) }],
          delete_permissions: [{ role: 'one', permission: { filter: FILTER } }],
        },
        {
          table: 'share',
          object_relationships: [
            {
              name: 'team',
              using: { manual_configuration: { remote_table: 'team', column_mapping: { team_id: 'id' } } },
            },
          ],
          select_permissions: ['one', 'other', 'outsider'].map((role) => ({
            role,
            permission: select(FILTER, ['id', 'number', 'share']),
          })),
        },
      ],
      functions: [{ function: 'shares' }],
      logical_models: [
        {
          name: 'coded',
          fields: ['id', 'team_id', 'code'].map((name) => ({ name, type: 'integer' })),
          select_permissions: ['one', 'other', 'outsider'].map((role) => ({
            role,
            permission: { columns: '*', filter: { team_id: { _eq: 1 } } },
          })),
        },
      ],
      native_queries: [
        {
          root_field_name: 'coded',
          arguments: {},
          code: 'select id, team_id, code from document',
          returns: 'coded',
        },
      ],
    },
  ],
  inherited_roles: [{ role_name: 'both', role_set: ['one', 'other'] }],
});

const { database, engine } = testWorld(SCHEMA, () => ({ experimentalFeatures: ['group_by'] }));

beforeAll(async () => {
  await engine.must('replace_metadata', metadataOn(database.url));
});

/** Outdated statistics make Postgres evaluate the filter last. */
const reset = (isHidden: boolean) =>
  database.sql(`truncate document; ${VISIBLE} ${isHidden ? HIDDEN : ''} analyze document`);

type Answer = { readonly data?: object; readonly errors?: object };

async function post(path: string, body: unknown, role: string): Promise<Answer> {
  const headers = { 'x-engine-role': role, 'x-engine-user-id': role === 'outsider' ? '9' : '1' };
  const response = await engine.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Answer;
}

/** Sends the same requests first without hidden rows and then with them, and returns the answers, which must be equal. */
async function alike(path: string, bodies: readonly unknown[], role: string): Promise<readonly Answer[]> {
  const answers: Answer[][] = [];
  for (const isHidden of [false, true]) {
    await reset(isHidden);
    answers.push(await inOrder(bodies, (body) => post(path, body, role)));
  }
  const [without, having] = answers;
  expect(having).toEqual(without);
  return without!;
}

async function inOrder<T, U>(items: readonly T[], body: (item: T) => Promise<U>): Promise<U[]> {
  const done: U[] = [];
  for (const item of items) done.push(await body(item));
  return done;
}

const errorsOf = (answers: readonly Answer[]) => answers.flatMap(({ errors }) => errors ?? []);

const BY_ID = 'order_by: {id: asc}';

/** Conditions that raise an error on hidden rows and on no visible one. */
const CONDITIONS = {
  'a computed field': '{number: {_eq: 3}}',
  'a computed field with an argument': '{share: {args: {whole: 200}, _gt: 20}}',
  'a computed field that is null': '{number: {_is_null: false}}',
  'a computed field in a disjunction': '{_or: [{id: {_eq: 4}}, {number: {_eq: 5}}]}',
  'a computed field in a negation': '{_not: {_and: [{number: {_eq: 5}}]}}',
  'a computed field beside a column': '{amount: {_gt: 3}, number: {_in: [1, 2]}}',
  'a computed field that returns rows': '{peers: {id: {_gt: 0}}}',
  'a computed field of a related row': '{team: {documents: {number: {_eq: 3}}}}',
  'a computed field of counted rows':
    '{team: {documents_aggregate: {count: {filter: {number: {_eq: 3}}, predicate: {_gt: 0}}}}}',
} as const;

const WAYS = {
  rows: (where) => `{ document(where: ${where}, ${BY_ID}) { id } }`,
  'the first rows': (where) => `{ document(where: ${where}, ${BY_ID}, limit: 2, offset: 1) { id number } }`,
  'distinct rows': (where) =>
    `{ document(where: ${where}, distinct_on: amount, order_by: {amount: asc}) { id } }`,
  'rows in the order of a computed field': (where) =>
    `{ document(where: ${where}, order_by: [{number: asc}, {id: asc}]) { id number } }`,
  'an aggregate': (where) => `{ document_aggregate(where: ${where}) { aggregate { count max { amount } } } }`,
  groups: (where) =>
    `{ document_group_by(keys: amount, where: ${where}, order_by: {keys: {amount: asc}}) { keys { amount } aggregate { count } } }`,
  'related rows': (where) =>
    `{ team(where: {id: {_gt: 0}}, ${BY_ID}) { documents(where: ${where}, ${BY_ID}) { id } } }`,
  'rows by related rows': (where) => `{ team(where: {documents: ${where}}, ${BY_ID}) { id } }`,
  'an aggregate of related rows': (where) =>
    `{ team(${BY_ID}) { documents_aggregate(where: ${where}) { aggregate { count } } } }`,
  'rows of a function': (where) => `{ shares(args: {first: 0}, where: ${where}, ${BY_ID}) { id } }`,
} as const satisfies Record<string, (where: string) => string>;

const ROLES = ['one', 'both', 'outsider'];
const requests = (query: (where: string) => string) =>
  Object.values(CONDITIONS).map((where) => ({ query: query(where) }));

describe.each(ROLES)('as %s', (role) => {
  test.each(Object.entries(WAYS))('%s', async (_way, query) => {
    expect(errorsOf(await alike('/v1/graphql', requests(query), role))).toEqual([]);
  });

  test.each([
    ['a column of a view', `{ share(where: {share: {_gt: 5}}, ${BY_ID}) { id } }`],
    ['a column of a view, cast', `{ share(where: {number: {_eq: 3}}, ${BY_ID}) { id } }`],
    ['a column of a native query', `{ coded(where: {code: {_eq: 3}}, ${BY_ID}) { id } }`],
    ['an order through a view', '{ share(order_by: [{share: asc}, {id: asc}], limit: 3) { id } }'],
    ['a pattern that ends in its escape', String.raw`{ document(where: {code: {_like: "cl\\"}}) { id } }`],
    ['a regular expression', `{ document(where: {code: {_regex: "^[12]$"}}, ${BY_ID}) { id } }`],
  ])('%s', async (_name, query) => {
    await alike('/v1/graphql', [{ query }], role);
  });
});

test('a regular expression does not reveal hidden rows to a role without rows', async () => {
  const query = 'query ($p: String) { document(where: {note: {_regex: $p}}) { id } }';
  await database.sql('truncate document; analyze');
  const ask = (p: string) => post('/v1/graphql', { query, variables: { p } }, 'outsider');
  // A statement is prepared with its values at first, and without them from the sixth time on.
  for (let time = 0; time < 8; time++) await ask('n');
  const empty = await ask('(');
  await reset(true);
  expect(await ask('(')).toEqual(empty);
});

describe('pages', () => {
  const page = (after: string) =>
    `{ document_connection(first: 2, order_by: [{number: asc}, {id: asc}]${after}) { edges { cursor node { amount } } pageInfo { hasPreviousPage hasNextPage } } }`;

  test.each(['one', 'both'])('as %s, a cursor of a computed field', async (role) => {
    type Page = { data: { document_connection: { edges: { cursor: string }[] } } };
    const [first] = (await alike('/v1beta1/relay', [{ query: page('') }], role)) as [Page];
    const { cursor } = first.data.document_connection.edges[1]!;
    const [second] = await alike('/v1beta1/relay', [{ query: page(`, after: "${cursor}"`) }], role);
    expect(second).toMatchObject({ data: { document_connection: { pageInfo: { hasPreviousPage: true } } } });
  });

  test('a page where a computed field', async () => {
    const query = '{ document_connection(where: {number: {_eq: 3}}) { edges { node { amount } } } }';
    expect(errorsOf(await alike('/v1beta1/relay', [{ query }], 'one'))).toEqual([]);
  });
});

describe('writes', () => {
  test.each([
    [
      'update',
      (where: string) => `mutation { update_document(where: ${where}, _set: {note: "m"}) { affected_rows } }`,
    ],
    ['delete', (where: string) => `mutation { delete_document(where: ${where}) { affected_rows } }`],
  ])('%s', async (_name, query) => {
    expect(errorsOf(await alike('/v1/graphql', requests(query), 'one'))).toEqual([]);
  });

  test('an upsert of a hidden row where a computed field', async () => {
    const upsert = (id: number) => `mutation { insert_document(
      objects: [{id: ${id}, team_id: 1, code: "1", amount: 1}],
      on_conflict: {constraint: document_pkey, update_columns: [note], where: {number: {_eq: 1}}}) { affected_rows } }`;
    await reset(true);
    // A conflict that does nothing reveals that the key exists; the values of the row stay hidden.
    expect(await post('/v1/graphql', { query: upsert(101) }, 'one')).toEqual({
      data: { insert_document: { affected_rows: 0 } },
    });
  });
});

test.each([
  ['select', { table: 'document', columns: ['id'], where: { number: 3 }, order_by: 'id' }],
  ['count', { table: 'document', where: { number: { $gt: 2 } } }],
  ['update', { table: 'document', $set: { note: 'm' }, where: { number: 3 } }],
  ['delete', { table: 'document', where: { share: { $gt: 20 } } }],
])('%s of the admin API', async (type, args) => {
  const [answer] = await alike('/v1/query', [{ type, args }], 'one');
  expect(answer).not.toHaveProperty('error');
});

test('a stream where a computed field', async () => {
  await reset(true);
  const socket = await openSession(engine, { 'x-engine-role': 'one', 'x-engine-user-id': '1' });
  onTestFinished(() => socket.socket.terminate());
  const query = `subscription { document_stream(cursor: {initial_value: {id: 0}}, batch_size: 2, where: {number: {_eq: 3}}) { id } }`;
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  expect(await socket.next()).toMatchObject({
    payload: { data: { document_stream: [{ id: 3 }, { id: 10 }] } },
  });
});

describe('messages', () => {
  const query = 'query ($n: Int) { document(where: {number: {_eq: $n}}) { id } }';
  const bad = "insert into document values (50, 1, 'secret', 0)";

  test('only administrators see the value that makes a statement fail', async () => {
    await reset(false);
    await database.sql(bad);
    const asRole = await post('/v1/graphql', { query, variables: { n: 3 } }, 'one');
    expect(asRole.errors).toEqual([
      {
        message: 'invalid input syntax for type integer',
        extensions: { path: '$', code: 'data-exception' },
      },
    ]);
    const asAdmin = await post('/v1/graphql', { query, variables: { n: 3 } }, 'admin');
    expect(asAdmin.errors).toMatchObject([{ message: 'invalid input syntax for type integer: "secret"' }]);
    const rows = { type: 'select', args: { table: 'document', columns: ['id'], where: { number: 3 } } };
    expect(JSON.stringify(await post('/v1/query', rows, 'one'))).not.toContain('secret');
  });

  test("a role sees Postgres's message about its own values", async () => {
    await reset(true);
    const ask = async (text: string) => (await post('/v1/graphql', { query: text }, 'one')).errors;
    const increase = 'mutation { update_document(where: {}, _inc: {amount: 2147483647}) { affected_rows } }';
    expect(await ask(increase)).toMatchObject([{ message: 'integer out of range' }]);
    const at = '{ document(where: {place: {_eq: "nowhere"}}) { id } }';
    expect(await ask(at)).toMatchObject([{ message: 'invalid input syntax for type box: "nowhere"' }]);
  });
});
