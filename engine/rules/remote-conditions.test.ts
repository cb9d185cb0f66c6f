/** Permissions whose rule reads a table of another source: operators × what the rows there are × reads and writes. Each expectation is
 *  the same rule over a copy of the table in the same source. Rule: docs/reference/behaviour/permissions.md, "Remote relationships". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const MEMBERS = `create table member (id int primary key, name text, plan text, age int);
  insert into member values (1, 'Ada', 'gold', 36), (2, 'Bo', 'free', 20), (3, 'Cy', null, null), (4, 'Di "x", {y}', 'gold', 50);`;

/** Rules on a member, by their name. */
const RULES: Readonly<Record<string, object>> = {
  eq: { plan: { _eq: 'gold' } },
  neq: { plan: { _neq: 'gold' } },
  gt: { age: { _gt: 20 } },
  gte: { age: { _gte: 20 } },
  lt: { age: { _lt: 36 } },
  lte: { age: { _lte: 36 } },
  in: { name: { _in: ['Ada', 'Cy'] } },
  nin: { name: { _nin: ['Ada', 'Cy'] } },
  like: { name: { _like: '%i%' } },
  nlike: { name: { _nlike: '%i%' } },
  is_null: { plan: { _is_null: true } },
  several: { plan: { _eq: 'gold' }, age: { _gt: 40 } },
  either: { _or: [{ plan: { _eq: 'free' } }, { age: { _is_null: true } }] },
  all: {},
  none: { id: { _eq: 99 } },
  session: { plan: { _eq: 'X-Engine-Plan' } },
  sessions: { id: { _in: 'X-Engine-Ids' } },
};
const SHAPES: Readonly<Record<string, (rule: object) => object>> = {
  is: (rule) => rule,
  is_not: (rule) => ({ _not: rule }),
};

/** The columns that join, by the ends of the names of relationships. */
const MAPPINGS = { '': { member_id: 'id' }, _pair: { member_id: 'id', member_name: 'name' } };

const HEADERS = { 'x-engine-plan': 'gold', 'x-engine-ids': '{2,4}' };

const other = testDatabase();
let world: RuleWorld;
beforeAll(async () => {
  await other.sql(MEMBERS);
  const permissions = Object.entries(RULES).flatMap(([name, rule]) =>
    Object.entries(SHAPES).flatMap(([shape, around]) =>
      ['far', 'near', 'far_pair', 'near_pair'].flatMap((relationship) => {
        const role = `${relationship}_${shape}_${name}`;
        const filter = around({ [relationship]: rule });
        return [
          ['pg_create_select_permission', { table: 'note', role, permission: { columns: ['id'], filter } }],
          ['pg_create_update_permission', { table: 'note', role, permission: { columns: ['text'], filter } }],
        ] as const;
      }),
    ),
  );
  world = await startWorld({
    sql: `${MEMBERS} create table note (id int primary key, member_id int, text text, member_name varchar);
      insert into note values (1, 1, 'a', 'Ada'), (2, 2, 'b', 'Bo'), (3, 3, 'c', 'Ada'), (4, 4, 'd', 'Di "x", {y}'),
        (5, null, 'e', 'Ada'), (6, 77, 'f', 'Ada'), (7, 1, 'g', null), (8, null, 'h', null);`,
    tables: ['note', 'member'],
    options: { env: { OTHER: other.url } },
    operations: [
      [
        'pg_add_source',
        { name: 'other', configuration: { connection_info: { database_url: { from_env: 'OTHER' } } } },
      ],
      ['pg_track_table', { source: 'other', table: 'member', configuration: { custom_name: 'far_member' } }],
      ...Object.entries(MAPPINGS).flatMap(([suffix, mapping]) => [
        [
          'pg_create_remote_relationship',
          {
            table: 'note',
            name: `far${suffix}`,
            definition: {
              to_source: {
                source: 'other',
                table: 'member',
                relationship_type: 'object',
                field_mapping: mapping,
              },
            },
          },
        ] as const,
        [
          'pg_create_object_relationship',
          {
            table: 'note',
            name: `near${suffix}`,
            using: { manual_configuration: { remote_table: 'member', column_mapping: mapping } },
          },
        ] as const,
      ]),
      ...permissions,
    ],
  });
});
afterAll(() => world?.close());

const READ = '{ note(order_by: { id: asc }) { id } }';
const ask = (query: string, role: string) => graphqlOutcome(world.engine, query, { role, headers: HEADERS });

describe.each(Object.keys(SHAPES))('a rule that %s true of a row of another source', (shape) => {
  test.each(Object.keys(RULES).flatMap((name) => Object.keys(MAPPINGS).map((pair) => [name, pair] as const)))(
    '%s%s: the same rows are read and written as with a table of this source',
    async (name, pair) => {
      const [far, near] = await Promise.all(
        ['far', 'near'].map((each) => ask(READ, `${each}${pair}_${shape}_${name}`)),
      );
      expect(far).toHaveProperty('data.note');
      expect(far).toEqual(near);
      const update = `mutation { update_note(where: {}, _set: { text: "new" }) { affected_rows } }`;
      const written = await Promise.all(
        ['far', 'near'].map((each) => ask(update, `${each}${pair}_${shape}_${name}`)),
      );
      expect(written[0]).toHaveProperty('data.update_note.affected_rows');
      expect(written[0]).toEqual(written[1]);
    },
  );
});

test('rows of the other source are read when the request runs', async () => {
  const rows = async () => ((await ask(READ, 'far_is_eq')) as { data: { note: unknown[] } }).data.note.length;
  const before = await rows();
  await other.sql(`update member set plan = 'gold' where id = 2`);
  expect(await rows()).toBe(before + 1);
  await other.sql(`update member set plan = 'free' where id = 2`);
});

test('such a role reads nothing of the other source, and has no subscriptions', async () => {
  expect(await ask('{ far_member { id } }', 'far_is_eq')).toMatchObject({
    message: "field 'far_member' not found in type: 'query_root'",
  });
  expect(await ask('{ note { far { id } } }', 'far_is_eq')).toMatchObject({
    message: "field 'far' not found in type: 'note'",
  });
  const socket = await openSocket(world.engine.url, 'graphql-transport-ws', {
    'x-engine-admin-secret': world.engine.adminSecret,
    'x-engine-role': 'far_is_eq',
  });
  socket.send({ type: 'connection_init' });
  expect(await socket.next()).toMatchObject({ type: 'connection_ack' });
  socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { note { id } }' } });
  expect(JSON.stringify(await socket.next())).toContain('not-supported');
  socket.close();
});

test.each([
  ['a column that is missing', { far: { nope: { _eq: 1 } } }],
  ['a second level', { far: { near: {} } }],
  ['an operator that is missing', { far: { plan: { _nope: 1 } } }],
])('a rule with %s is refused', async (_, filter) => {
  const { status, body } = await world.engine.admin<{ code: string }>('pg_create_select_permission', {
    table: 'note',
    role: 'wrong',
    permission: { columns: ['id'], filter },
  });
  expect([status, body.code]).toEqual([400, 'invalid-configuration']);
});
