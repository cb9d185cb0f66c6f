/** `explain_access` with conditions that are one clause (`_exists`, other relationships, functions, rows of another source), and with options
 *  of the engine that change what applies: --strict-writes, --header-prefix.
 *  Not here: verdicts on random permissions (explain-access.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
const elsewhere = testDatabase();
let engine: TestEngine;

const SCHEMA = `
  create table team (id int primary key, name text, parent_id int references team);
  create table task (id int primary key, team_id int references team, points int, doubled int generated always as (points * 2) stored);
  create table label (id int primary key, task_id int references task, name text);
  create function urgency(task) returns int language sql stable as 'select 100 / $1.points';
  create function stamp() returns trigger language plpgsql as 'begin new.points := 7; return new; end';
  create trigger stamp_task before insert on task for each row execute function stamp();
  insert into team values (1, 'root', null), (2, 'leaf', 1);
  insert into task (id, team_id, points) values (1, 2, 5), (2, 1, 1);
  alter table task disable trigger stamp_task;
  insert into task (id, team_id, points) values (3, null, 0);
  alter table task enable trigger stamp_task;
  update task set points = 5 where id = 1;
  update task set points = 1 where id = 2;
  insert into label values (1, 1, 'red');
`;

const select = (role: string, filter: object) => ({ role, permission: { columns: ['id'], filter } });

const TASK = {
  table: 'task',
  object_relationships: [{ name: 'team', using: { foreign_key_constraint_on: 'team_id' } }],
  array_relationships: [
    { name: 'labels', using: { foreign_key_constraint_on: { table: 'label', column: 'task_id' } } },
  ],
  computed_fields: [{ name: 'urgency', definition: { function: 'urgency' } }],
  remote_relationships: [
    {
      name: 'grants',
      definition: {
        to_source: {
          source: 'other',
          table: 'access',
          relationship_type: 'array',
          field_mapping: { id: 'task_id' },
        },
      },
    },
  ],
  select_permissions: [
    select('exists', {
      _exists: {
        _table: 'label',
        _where: { task_id: { _ceq: ['$', 'id'] }, name: { _eq: 'X-Other-Label' } },
      },
    }),
    select('labels', { labels: { name: { _eq: 'red' } } }),
    select('urgent', { urgency: { _gt: 10, _lt: 50 } }),
    select('ancestor', { team: { parent: { name: { _eq: 'root' } } } }),
    select('granted', { grants: { reader: { _eq: 'X-Other-User-Id' } } }),
    select('writer', { points: { _gt: 1 } }),
    select('many', { _or: Array.from({ length: 600 }, (_, i) => ({ points: { _eq: `X-Other-V${i}` } })) }),
  ],
  insert_permissions: [
    { role: 'writer', permission: { columns: '*', check: { points: { _gt: 5 }, doubled: { _gt: 1 } } } },
  ],
  update_permissions: [
    { role: 'writer', permission: { columns: ['points'], filter: { id: { _gt: 0 } }, check: {} } },
  ],
};

beforeAll(async () => {
  await database.sql(SCHEMA);
  await elsewhere.sql(
    'create table access (task_id int, reader text); insert into access values (1, $$ada$$), (2, $$bob$$)',
  );
  engine = await startTestEngine({
    databaseUrl: database.url,
    strictWrites: true,
    headerPrefix: 'x-other-',
  });
  const { body } = await engine.admin<{ sources: { configuration: object }[] }>('export_metadata', {});
  const sources = [
    {
      name: 'default',
      kind: 'postgres',
      configuration: body.sources[0]!.configuration,
      tables: [
        TASK,
        { table: 'label' },
        {
          table: 'team',
          object_relationships: [{ name: 'parent', using: { foreign_key_constraint_on: 'parent_id' } }],
        },
      ],
    },
    {
      name: 'other',
      kind: 'postgres',
      configuration: { connection_info: { database_url: elsewhere.url } },
      tables: [{ table: 'access' }],
    },
  ];
  const replaced = await engine.admin(
    'replace_metadata',
    { metadata: { version: 3, sources } },
    { version: 2 },
  );
  expect(replaced).toMatchObject({ status: 200, body: { is_consistent: true } });
}, 180_000);
afterAll(() => engine?.close());

type Answer = {
  readonly verdict: string;
  readonly reasons: readonly { readonly message: string; readonly path?: string }[];
  readonly permissions: readonly { readonly operation: string; readonly filter: object }[];
  readonly notes?: readonly string[];
};

async function explain(role: string, id: number, more: object = {}): Promise<Answer> {
  const args = { table: 'task', role, key: { id }, ...more };
  return engine.must<Answer>('pg_explain_access', args);
}

/** Returns whether a query of the role returns the row. */
async function reads(role: string, id: number, headers: Readonly<Record<string, string>> = {}) {
  const query = `{ task(where: {id: {_eq: ${id}}}) { id } }`;
  const { data, errors } = await engine.graphql<{ task: object[] }>(query, { role, headers });
  return errors ? 'refused' : data!.task.length === 1 ? 'visible' : 'hidden';
}

const LABEL = { 'x-other-label': 'red' };
const ADA = { 'x-other-user-id': 'ada' };

test.each([
  ['exists', 1, LABEL, 'visible'],
  ['exists', 2, LABEL, 'hidden'],
  ['labels', 1, {}, 'visible'],
  ['labels', 2, {}, 'hidden'],
  ['urgent', 1, {}, 'visible'],
  ['urgent', 2, {}, 'hidden'],
  ['urgent', 3, {}, 'refused'],
  ['ancestor', 1, {}, 'visible'],
  ['ancestor', 2, {}, 'hidden'],
  ['ancestor', 3, {}, 'hidden'],
  ['granted', 1, ADA, 'visible'],
  ['granted', 2, ADA, 'hidden'],
  ['granted', 1, {}, 'refused'],
])('%s: task %i with %o is %s, as a query says', async (role, id, session_variables, verdict) => {
  expect(await explain(role, id, { session_variables })).toMatchObject({ verdict });
  expect(await reads(role, id, session_variables as Record<string, string>)).toBe(verdict);
});

test('names of session variables have the prefix of the engine, in messages and in clauses', async () => {
  const hidden = await explain('exists', 2, { session_variables: LABEL });
  expect(hidden.reasons[0]?.message).toContain('x-other-label is "red"');
  expect(JSON.stringify(hidden)).not.toMatch(/x-engine/i);
  const unset = await explain('granted', 1);
  expect(unset.reasons).toMatchObject([
    { message: 'session variable x-other-user-id is not set, and a permission needs it' },
  ]);
  expect(JSON.stringify(unset)).not.toMatch(/x-engine/i);
});

test('a value of a function that raises is the error of its clause', async () => {
  const { reasons, permissions } = await explain('urgent', 3);
  expect(reasons).toMatchObject([{ message: 'division by zero' }]);
  expect(JSON.stringify(permissions)).toContain('"error":"division by zero"');
});

test('after an error at most 500 clauses are evaluated by themselves', async () => {
  const variables = Array.from({ length: 600 }, (_, i) => [`x-other-v${i}`, i === 599 ? 'x' : String(i)]);
  const answer = await explain('many', 1, { session_variables: Object.fromEntries(variables) });
  expect(answer).toMatchObject({ verdict: 'refused' });
  const text = JSON.stringify(answer.permissions);
  expect(text).toContain('"holds":true');
  // 601 clauses without the one for the whole, and the 500th statement is the 498th of the alternatives.
  expect(text.split('the permissions have too many clauses').length - 1).toBe(600 - 498);
});

test('each relationship on the way is a clause, and the first without a row decides', async () => {
  const path = async (id: number) => (await explain('ancestor', id)).reasons.map((reason) => reason.path);
  expect(await path(2)).toEqual(['filter.team.parent']);
  expect(await path(3)).toEqual(['filter.team']);
});

test('with --strict-writes an update needs the select permission too', async () => {
  const update = { operation: 'update', values: { points: 9 } };
  const hidden = await explain('writer', 2, update);
  expect(hidden).toMatchObject({ verdict: 'hidden', reasons: [{ path: 'filter.points._gt' }] });
  expect(hidden.permissions.map(({ operation }) => operation)).toEqual(['update', 'select']);
  expect(await explain('writer', 1, update)).toMatchObject({ verdict: 'allowed' });
  const mutation = (id: number) =>
    `mutation { update_task_by_pk(pk_columns: {id: ${id}}, _set: {points: 5}) { id } }`;
  const { data } = await engine.graphql(mutation(2), { role: 'writer' });
  expect(data).toEqual({ update_task_by_pk: null });
});

test('triggers that run before a write, and generated columns, are named', async () => {
  const insert = { operation: 'insert', key: undefined, values: { id: 9, points: 6 } };
  const { verdict, reasons, notes } = await explain('writer', 9, insert);
  expect(verdict).toBe('undecided');
  expect(reasons).toMatchObject([{ path: 'check.doubled._gt' }]);
  expect(notes).toContainEqual(
    'trigger "stamp_task" runs before the write and may change the row: the check is then of the changed row',
  );
  const refused = await explain('writer', 9, { ...insert, values: { id: 9, points: 1 } });
  expect(refused).toMatchObject({
    verdict: 'refused',
    reasons: [{ path: 'check.points._gt' }, { path: 'check.doubled._gt' }],
  });
  const update = await explain('writer', 1, { operation: 'update', values: { points: 9 } });
  expect(JSON.stringify(update.notes)).not.toContain('stamp_task');
});
