/** `explain_access`: verdicts, the clauses that decide, and refusals, through admin requests on a real database. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

let engine: AdminTestEngine;

const SELECT = {
  columns: ['id', 'title', 'owner_id'],
  filter: {
    _or: [
      { owner_id: { _eq: 'X-Engine-User-Id' } },
      { _and: [{ published: { _eq: true } }, { owner: { team: { _eq: 'X-Engine-Team' } } }] },
    ],
  },
};

beforeAll(async () => {
  engine = await startTestEngine();
  await engine.must(
    op('run_sql', {
      sql: `create table owner (id int primary key, team text);
            create table article (id int primary key, owner_id int references owner, title text,
              published boolean not null default false, secret text, size int generated always as (length(title)) stored);
            create view headline as select title from article group by 1;
            insert into owner values (1, 'red'), (2, null);
            insert into article (id, owner_id, title, published) values
              (1, 1, 'a', true), (2, 2, 'b', true), (3, null, 'c', false), (4, 1, 'd', false)`,
    }),
  );
  const permission = (type: string, role: string, rule: object, table = 'article') =>
    op(`create_${type}_permission`, { table, role, permission: rule });
  await engine.must(
    op('bulk', [
      op('track_table', 'owner'),
      op('track_table', 'article'),
      op('track_table', 'headline'),
      op('create_object_relationship', {
        table: 'article',
        name: 'owner',
        using: { foreign_key_constraint_on: 'owner_id' },
      }),
      permission('select', 'member', SELECT),
      permission('select', 'auditor', {
        columns: ['id', 'secret'],
        filter: { published: { _eq: true } },
        limit: 5,
      }),
      permission('insert', 'member', {
        columns: ['id', 'title'],
        set: { owner_id: 'X-Engine-User-Id' },
        check: { title: { _neq: 'spam' }, owner: { team: { _is_null: false } } },
      }),
      permission('insert', 'drafter', { columns: ['id', 'title'], check: { published: { _eq: false } } }),
      permission('update', 'member', {
        columns: ['title', 'owner_id'],
        filter: { owner_id: { _eq: 'X-Engine-User-Id' } },
        check: { owner_id: { _eq: 'X-Engine-User-Id' } },
      }),
      permission('delete', 'member', { filter: { _not: { published: { _eq: true } } } }),
      permission('insert', 'server', { columns: '*', check: {}, backend_only: true }),
    ]),
  );
  const inherit = { role_name: 'both', role_set: ['member', 'auditor'] };
  const { status } = await engine.metadata(op('add_inherited_role', inherit));
  expect(status).toBe(200);
}, 180_000);
afterAll(() => engine.close());

type Answer = {
  readonly verdict: string;
  readonly reasons: readonly { readonly kind: string; readonly message: string; readonly path?: string }[];
  readonly [key: string]: unknown;
};

async function explain(args: object): Promise<Answer> {
  const { status, body } = await engine.metadata(
    op('pg_explain_access', { table: 'article', role: 'member', ...args }),
  );
  expect({ status, body }).toMatchObject({ status: 200 });
  return body as Answer;
}

const USER = { 'X-Engine-User-Id': '1', 'x-engine-team': 'blue' };
const messagesOf = ({ reasons }: Answer) => reasons.map(({ message }) => message);

test('a row that the filter admits is visible, with the columns that the role sees', async () => {
  const answer = await explain({ key: { id: 1 }, session_variables: USER });
  expect(answer).toMatchObject({ verdict: 'visible', reasons: [] });
  const verdicts = (answer['columns'] as { column: string; verdict: string }[]).map(
    ({ column, verdict }) => `${column} ${verdict}`,
  );
  expect(verdicts).toEqual([
    'id visible',
    'owner_id visible',
    'title visible',
    'published not_permitted',
    'secret not_permitted',
    'size not_permitted',
  ]);
});

test('a hidden row names each clause that must change, with the values it compares', async () => {
  const answer = await explain({ key: { id: 2 }, session_variables: USER });
  expect(answer).toMatchObject({ verdict: 'hidden' });
  expect(answer.reasons).toEqual([
    {
      kind: 'filter',
      role: 'member',
      path: 'filter._or[0].owner_id._eq',
      message:
        'select permission of role "member": {"owner_id":{"_eq":"X-Engine-User-Id"}} is false: owner_id is "2", ' +
        'x-engine-user-id is "1"',
    },
    {
      kind: 'filter',
      role: 'member',
      path: 'filter._or[1]._and[1].owner.team._eq',
      message:
        'select permission of role "member": {"team":{"_eq":"X-Engine-Team"}} is false: team is null, x-engine-team is "blue"',
    },
  ]);
});

test('every clause has its truth', async () => {
  const answer = await explain({ key: { id: 3 }, session_variables: USER });
  expect(answer['permissions']).toMatchObject([
    {
      role: 'member',
      filter: {
        path: 'filter._or',
        holds: null,
        clauses: [
          { path: 'filter._or[0].owner_id._eq', holds: null, value: null, is_decisive: true },
          {
            holds: false,
            clauses: [
              { clause: { published: { _eq: true } }, holds: false, value: 'false', is_decisive: true },
              {
                path: 'filter._or[1]._and[1].owner',
                holds: false,
                has_related_row: false,
                is_decisive: true,
              },
            ],
          },
        ],
      },
    },
  ]);
  expect(messagesOf(answer)).toContainEqual(expect.stringContaining('there is no related row'));
});

test('a session variable that is not set refuses the request', async () => {
  const answer = await explain({ key: { id: 1 }, session_variables: { 'x-engine-user-id': '1' } });
  expect(answer).toMatchObject({
    verdict: 'refused',
    reasons: [
      {
        kind: 'variable_not_set',
        message: 'session variable x-engine-team is not set, and a permission needs it',
      },
    ],
  });
  expect(JSON.stringify(answer['permissions'])).toContain('{"name":"x-engine-team","value":null}');
});

test('a value of a session variable that its type does not have is an error of its clause alone', async () => {
  const answer = await explain({ key: { id: 1 }, session_variables: { ...USER, 'x-engine-user-id': 'me' } });
  expect(answer).toMatchObject({ verdict: 'refused', reasons: [{ kind: 'error' }] });
  expect(messagesOf(answer)[0]).toContain('invalid input syntax for type integer');
  expect(JSON.stringify(answer['permissions'])).toMatch(/"published":\{"_eq":true\}\},"holds":true/);
});

test('a row that does not exist is no hidden row', async () => {
  const answer = await explain({ key: { id: 99 }, session_variables: USER });
  expect(answer).toMatchObject({ verdict: 'no_row', reasons: [{ kind: 'no_row' }] });
});

test('a role without a permission is refused, and so is a column', async () => {
  expect(await explain({ role: 'nobody', key: { id: 1 } })).toMatchObject({
    verdict: 'refused',
    reasons: [{ message: 'role "nobody" has no select permission on article' }],
  });
  const columns = ['title', 'secret'];
  expect(await explain({ key: { id: 1 }, columns, session_variables: USER })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'column_not_permitted', message: 'role "member" may not select column "secret"' }],
  });
});

test('the administrator sees every row', async () => {
  expect(await explain({ role: 'admin', key: { id: 3 } })).toMatchObject({
    verdict: 'visible',
    permissions: [],
  });
});

test('an inherited role sees a row when one of its parents does, and columns of that parent', async () => {
  const answer = await explain({ role: 'both', key: { id: 2 }, session_variables: USER });
  expect(answer).toMatchObject({ verdict: 'visible' });
  expect(answer['permissions']).toMatchObject([
    { role: 'member', filter: { holds: false } },
    { role: 'auditor', filter: { holds: true }, limit: 5 },
  ]);
  expect(answer['columns']).toMatchObject([
    { column: 'id', verdict: 'visible', roles: ['auditor'] },
    { column: 'owner_id', verdict: 'masked', roles: ['member'] },
    { column: 'title', verdict: 'masked' },
    { column: 'published', verdict: 'not_permitted', roles: [] },
    { column: 'secret', verdict: 'visible' },
    { column: 'size', verdict: 'not_permitted' },
  ]);
});

test('an insert is judged by its check on the values and presets, and writes nothing', async () => {
  const insert = (values: object, more: object = {}) =>
    explain({ operation: 'insert', values, session_variables: USER, ...more });
  expect(await insert({ id: 9, title: 'x' })).toMatchObject({
    verdict: 'allowed',
    presets: [{ column: 'owner_id', variable: 'x-engine-user-id', value: '1' }],
  });
  expect(await insert({ id: 9, title: 'spam' })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'check', path: 'check.title._neq' }],
  });
  expect(await insert({ id: 9, title: 'x', owner_id: 2 })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'preset_column' }],
  });
  expect(await insert({ id: 9, secret: 'x' })).toMatchObject({ reasons: [{ kind: 'column_not_permitted' }] });
  expect(await insert({ id: 9, title: 'x' }, { session_variables: {} })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'variable_not_set' }],
  });
  expect(await engine.database.sql('select count(*) from article')).toEqual([{ count: '4' }]);
});

test('a check on a default is undecided, because only the write gives the value', async () => {
  const drafter = { role: 'drafter', operation: 'insert' };
  const answer = await explain({ ...drafter, values: { id: 9, title: 'x' } });
  expect(answer).toMatchObject({ verdict: 'undecided', reasons: [{ path: 'check.published._eq' }] });
  expect(messagesOf(answer)[0]).toContain('published is not known before the write');
});

test('an update needs the filter before and the check after', async () => {
  const update = (key: object, values: object) =>
    explain({ operation: 'update', key, values, session_variables: USER });
  expect(await update({ id: 1 }, { title: 'z' })).toMatchObject({ verdict: 'allowed' });
  expect(await update({ id: 2 }, { title: 'z' })).toMatchObject({
    verdict: 'hidden',
    reasons: [{ kind: 'filter', path: 'filter.owner_id._eq' }],
  });
  expect(await update({ id: 1 }, { owner_id: 2 })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'check', path: 'check.owner_id._eq' }],
  });
  expect(await engine.database.sql('select owner_id, title from article where id = 1')).toEqual([
    { owner_id: 1, title: 'a' },
  ]);
});

test('a delete is judged by its filter; a negated clause decides when it holds', async () => {
  expect(await explain({ operation: 'delete', key: { id: 4 } })).toMatchObject({ verdict: 'allowed' });
  expect(await explain({ operation: 'delete', key: { id: 1 } })).toMatchObject({
    verdict: 'hidden',
    reasons: [{ path: 'filter._not.published._eq' }],
  });
});

test('a backend_only permission needs its session variable', async () => {
  const insert = { role: 'server', operation: 'insert', values: { id: 9 } };
  expect(await explain(insert)).toMatchObject({ verdict: 'refused', reasons: [{ kind: 'backend_only' }] });
  const session_variables = { 'x-engine-use-backend-only-permissions': 'true' };
  expect(await explain({ ...insert, session_variables })).toMatchObject({ verdict: 'allowed' });
});

const MISTAKES: readonly [string, object, string][] = [
  ['no key', {}, 'the key of the row is missing; the primary key of the table is id'],
  [
    'a key that several rows have',
    { key: { owner_id: 1 } },
    'several rows have this key; give the primary key',
  ],
  ['a key of no column', { key: { nope: 1 } }, 'column "nope" does not exist'],
  ['a key that is null', { key: { id: null } }, 'a key has no null'],
  ['a column that does not exist', { key: { id: 1 }, columns: ['nope'] }, 'column "nope" does not exist'],
  [
    'an insert with a key',
    { operation: 'insert', key: { id: 1 }, values: {} },
    'an insert has no key; give the columns in values',
  ],
  [
    'a delete with values',
    { operation: 'delete', key: { id: 1 }, values: { title: 'x' } },
    'a delete takes no values',
  ],
  ['a table that is not tracked', { table: 'nope', key: { id: 1 } }, 'table "nope" is not tracked'],
  [
    'a variable without the prefix',
    { key: { id: 1 }, session_variables: { 'user-id': '1' } },
    '"user-id" is no session variable; their names begin with "x-engine-"',
  ],
  [
    'the admin secret as a variable',
    { key: { id: 1 }, session_variables: { 'x-engine-admin-secret': 'hush' } },
    '"x-engine-admin-secret" is no session variable',
  ],
];

test.each(MISTAKES)('%s is refused', async (_, args, message) => {
  const { status, body } = await engine.metadata(
    op('pg_explain_access', { table: 'article', role: 'member', ...args }),
  );
  expect({ status, body }).toMatchObject({ status: 400, body: { error: message } });
  expect(JSON.stringify(body)).not.toContain('hush');
});

test('a key that the type does not have is refused with the message of the database', async () => {
  const args = { table: 'article', role: 'admin', key: { id: 'abc' } };
  const { status, body } = await engine.metadata(op('pg_explain_access', args));
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toMatch(/integer|Int/i);
});

test('only administrators may ask', async () => {
  const request = op('explain_access', { table: 'article', role: 'member', key: { id: 1 } });
  for (const body of [request, op('bulk', [request])]) {
    const refused = await engine.send(body, '/v1/query', 'member');
    expect(refused).toMatchObject({ status: 400, body: { code: 'access-denied' } });
    expect(JSON.stringify(refused.body)).not.toContain('owner_id');
  }
});
