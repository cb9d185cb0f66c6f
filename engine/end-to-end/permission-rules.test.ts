/** Tests the grammar of permission rules end to end: which rows each form lets a role see. How a rule is parsed:
 *  resolve/bool-exp.test.ts. Reference: docs/reference/behaviour/operators.md. */
import { beforeAll, expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';

const SCHEMA = `
  create schema other;
  create table other.member (person_id int, team int);
  create table team (id int primary key, lead_id int);
  create table person (
    id int primary key, name text, team_id int references team, buddy_id int, tags text[], meta jsonb);
  insert into team values (1, 1), (2, 3);
  insert into other.member values (1, 2), (2, 2);
  insert into person values
    (1, 'Ada', 1, 1, '{a,b}', '{"k": 1, "own": "1"}'), (2, 'Bo', 1, 3, '{b}', '{"l": 2}'), (3, null, 2, null, null, null);
  create function initial(p person) returns text language sql stable as $$ select left(p.name, 1) $$;
  create function mates(p person) returns setof person language sql stable as
    $$ select * from person where team_id = p.team_id $$;
`;
const HEADERS = {
  'x-engine-user-id': '1',
  'x-engine-ids': '{2,3}',
  'x-engine-keys': '{k,nope}',
  'x-engine-tags': '{b}',
  'x-engine-tag': 'b',
  'x-engine-json': '{"k": 1}',
};

const admin = (type: string, args: object) => engine.admin<{ error?: string; code?: string }>(type, args);
const role = { table: 'person', role: 'user' };
const permit = (filter: unknown) =>
  admin('pg_create_select_permission', { ...role, permission: { columns: ['id'], filter } });

const { engine } = testWorld(SCHEMA);

beforeAll(async () => {
  const computed = (name: string) => ({ table: 'person', name, definition: { function: name } });
  const steps: [string, object][] = [
    ['pg_track_table', { table: { schema: 'other', name: 'member' } }],
    ['pg_track_table', { table: 'team' }],
    ['pg_track_table', { table: 'person' }],
    [
      'pg_create_object_relationship',
      { table: 'person', name: 'team', using: { foreign_key_constraint_on: 'team_id' } },
    ],
    [
      'pg_create_array_relationship',
      {
        table: 'team',
        name: 'people',
        using: { foreign_key_constraint_on: { table: 'person', column: 'team_id' } },
      },
    ],
    ['pg_add_computed_field', computed('initial')],
    ['pg_add_computed_field', computed('mates')],
  ];
  for (const [type, args] of steps) expect(await admin(type, args)).toMatchObject({ status: 200 });
});

const MEMBER = { schema: 'other', name: 'member' };

test.each<[string, unknown, number[]]>([
  ['nothing restricts', {}, [1, 2, 3]],
  ['a bare value', { id: 1 }, [1]],
  ['a bare variable, in any case', { id: 'x-ENGINE-User-ID' }, [1]],
  ['a list of operations', { id: [{ _gt: 1 }, { $lt: 3 }] }, [2]],
  ['aliases', { _and: [{ id: { $ne: 2 } }, { id: { _ne: 3 } }] }, [1]],
  ['one object where a list belongs', { $or: { id: 1, name: 'Bo' } }, []],
  ['no alternative', { _or: [] }, []],
  ['no condition', { _and: [] }, [1, 2, 3]],
  ['not', { $not: { name: { _like: 'A%' } } }, [2]],
  ['a list that a variable holds', { id: { _in: 'X-Engine-Ids' } }, [2, 3]],
  ['out of it', { id: { $nin: 'X-Engine-Ids' } }, [1]],
  ['variables in a list', { id: { _in: ['X-Engine-User-Id', 3] } }, [1, 3]],
  ['keys that a variable holds', { meta: { _has_keys_any: 'X-Engine-Keys' } }, [1]],
  ['all of them', { meta: { $has_keys_all: 'X-Engine-Keys' } }, []],
  ['json that a variable holds', { meta: { _contains: 'X-Engine-Json' } }, [1]],
  ['an array that a variable holds', { tags: { _eq: 'X-Engine-Tags' } }, [2]],
  ['an array with a variable in it', { tags: { _eq: ['a', 'X-Engine-Tag'] } }, [1]],
  ['null', { name: { _is_null: true } }, [3]],
  ['equal to null is nothing', { name: { _eq: null } }, []],
  ['a column of the row', { id: { _ceq: 'buddy_id' } }, [1]],
  ['in a list', { id: { $cne: ['buddy_id'] } }, [2]],
  ['a related row', { team: { lead_id: { _eq: 'X-Engine-User-Id' } } }, [1, 2]],
  ['of which a column is the root’s', { team: { lead_id: { _ceq: ['$', 'id'] } } }, [1, 3]],
  ['and back again', { team: { people: { id: { _cgt: ['$', 'id'] } } } }, [1]],
  ['another schema', { _exists: { _table: MEMBER, _where: { person_id: 'X-Engine-User-Id' } } }, [1, 2, 3]],
  [
    'with the root’s column',
    { _exists: { _table: MEMBER, _where: { person_id: { _ceq: ['$', 'id'] } } } },
    [1, 2],
  ],
  ['a computed value', { initial: { _eq: 'B' } }, [2]],
  ['a computed row, with the root’s column', { mates: { id: { _clt: ['$', 'id'] } } }, [2]],
])('%s', async (_, filter, ids) => {
  expect(await permit(filter)).toMatchObject({ status: 200 });
  const asked = '{ person(order_by: {id: asc}) { id } }';
  const { data, errors } = await engine.graphql(asked, { role: 'user', headers: HEADERS });
  await admin('pg_drop_select_permission', role);
  expect(errors).toBeUndefined();
  expect(data).toEqual({ person: ids.map((id) => ({ id })) });
});

test('a missing variable is an error, and no row is returned', async () => {
  await permit({ id: 'X-Engine-Other-Id' });
  const answer = await engine.graphql('{ person { id } }', { role: 'user', headers: HEADERS });
  await admin('pg_drop_select_permission', role);
  expect(answer).toEqual({
    errors: [
      {
        message: 'missing session variable: "x-engine-other-id"',
        extensions: { code: 'not-found', path: '$' },
      },
    ],
  });
});

test.each([
  ['an operator nobody knows', { id: { _equals: 1 } }],
  ['a field nobody knows', { nope: 1 }],
  ['an operator of other types', { id: { _like: 'x' } }],
  ['columns of different types', { id: { _ceq: 'name' } }],
  ['a table that is not tracked', { _exists: { _table: 'ghost', _where: {} } }],
])('%s is refused', async (_, filter) => {
  expect(await permit(filter)).toMatchObject({ status: 400 });
});
