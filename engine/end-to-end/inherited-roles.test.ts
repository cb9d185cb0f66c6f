/** Tests inherited roles end to end: they see the rows of any parent, and cells only if a parent that grants the
 *  column shows the row; no request reveals a masked cell. Also tests inherited permissions to write. */
import { beforeAll, describe, expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';

const SCHEMA = `
  create table team (id int primary key, name text not null);
  create table person (
    id int primary key, name text not null, salary double precision not null, boss_id int references person, team_id int references team,
    badge text);
  insert into team values (1, 'red'), (2, 'blue');
  insert into person values (1, 'Ada', 100, null, 1, 'a'), (2, 'Bo', 200, 1, 1, 'b'), (3, 'Cy', 300, 1, 2, 'c');
  create function yearly(p person) returns int language sql stable as $$ select (p.salary * 12)::int $$;
  create function people() returns setof person language sql stable as $$ select * from person $$;
  create function pay_rise() returns setof person language sql volatile as
    $$ update person set salary = salary + 1 where id = 1 returning * $$;
`;

const OWN = { id: 'X-Engine-User-Id' };
const AS_ADA = { role: 'staff', headers: { 'x-engine-user-id': '1' } };

const admin = (type: string, args: object) => engine.admin<{ error?: string }>(type, args);
const must = async (type: string, args: object) => {
  expect((await admin(type, args)).body).toEqual({ message: 'success' });
};
const permit = (kind: string, table: string, role: string, permission: object) =>
  must(`pg_create_${kind}_permission`, { table, role, permission });
const ask = async (query: string, as: object = AS_ADA) => {
  const { data, errors } = await engine.graphql(query, as);
  expect(errors).toBeUndefined();
  return data!;
};
const errorOf = async (query: string, as: object = AS_ADA) =>
  (await engine.graphql(query, as)).errors?.[0]?.message;

const { database, engine } = testWorld(SCHEMA, () => ({ experimentalFeatures: ['group_by'] }));

beforeAll(async () => {
  await must('pg_track_table', { table: 'team' });
  await must('pg_track_table', { table: 'person' });
  const toBoss = { foreign_key_constraint_on: 'boss_id' };
  const toReports = { foreign_key_constraint_on: { table: 'person', column: 'boss_id' } };
  await must('pg_create_object_relationship', { table: 'person', name: 'boss', using: toBoss });
  await must('pg_create_array_relationship', { table: 'person', name: 'reports', using: toReports });
  await must('pg_add_computed_field', {
    table: 'person',
    name: 'yearly',
    definition: { function: 'yearly' },
  });
  await must('pg_track_function', { function: 'people' });
  await must('pg_track_function', { function: 'pay_rise' });
  await permit('select', 'person', 'anyone', {
    columns: ['id', 'name', 'boss_id'],
    filter: {},
    limit: 2,
    allow_aggregations: true,
    query_root_fields: ['select', 'select_aggregate'],
  });
  await permit('select', 'person', 'self', {
    columns: ['id', 'name', 'salary'],
    computed_fields: ['yearly'],
    filter: OWN,
    limit: 5,
    query_root_fields: ['select', 'select_by_pk'],
  });
  await permit('select', 'team', 'coach', { columns: '*', filter: { id: 1 } });
  await must('add_inherited_role', { role_name: 'staff', role_set: ['anyone', 'self', 'coach'] });
});

describe('an inherited role reads', () => {
  test('the rows of any parent, with the cells of the parents that show the row', async () => {
    expect(await ask('{ person(order_by: {id: asc}) { id name salary yearly } team { name } }')).toEqual({
      person: [
        { id: 1, name: 'Ada', salary: 100, yearly: 1200 },
        { id: 2, name: 'Bo', salary: null, yearly: null },
        { id: 3, name: 'Cy', salary: null, yearly: null },
      ],
      team: [{ name: 'red' }],
    });
  });

  test('no columns that no parent grants', async () => {
    const unknown = "field 'badge' not found in type: 'person";
    expect(await errorOf('{ person { badge } }')).toBe(`${unknown}'`);
    expect(await errorOf('{ person(where: {badge: {_eq: "b"}}) { id } }')).toBe(`${unknown}_bool_exp'`);
    expect(await errorOf('{ person(order_by: {badge: asc}) { id } }')).toBe(`${unknown}_order_by'`);
  });

  test('null in columns that are never null, and the schema says so', async () => {
    const fields = '{ __type(name: "person") { fields { name type { kind } } } }';
    const kinds = async (role: string) => {
      const { __type } = await ask(fields, { role });
      const listed = (__type as { fields: { name: string; type: { kind: string } }[] }).fields;
      return Object.fromEntries(listed.map(({ name, type }) => [name, type.kind]));
    };
    expect(await kinds('staff')).toMatchObject({ id: 'NON_NULL', name: 'NON_NULL', salary: 'SCALAR' });
    expect(await kinds('self')).toMatchObject({ salary: 'NON_NULL' });
  });

  test('as many rows as the most generous parent allows', async () => {
    const counted =
      '{ person_aggregate { aggregate { count } } person { id } person_by_pk(id: 1) { salary } }';
    expect(await ask(counted)).toEqual({
      person_aggregate: { aggregate: { count: 3 } },
      person: [{ id: 1 }, { id: 2 }, { id: 3 }],
      person_by_pk: { salary: 100 },
    });
    expect(await ask('{ person { id } }', { role: 'anyone' })).toEqual({ person: [{ id: 1 }, { id: 2 }] });
    expect(await errorOf('{ person_by_pk(id: 1) { id } }', { role: 'anyone' })).toContain('not found');
    expect(await errorOf('{ person_aggregate { aggregate { count } } }', { role: 'self' })).toContain(
      'not found',
    );
  });

  test('the same through a role that inherits only from it', async () => {
    await must('add_inherited_role', { role_name: 'temp', role_set: ['staff', 'coach'] });
    const as = { ...AS_ADA, role: 'temp' };
    expect(await ask('{ person(order_by: {id: asc}) { salary } }', as)).toEqual({
      person: [{ salary: 100 }, { salary: null }, { salary: null }],
    });
    await must('drop_inherited_role', { role_name: 'temp' });
    expect(await errorOf('{ person { id } }', as)).toBe("field 'person' not found in type: 'query_root'");
  });
});

describe('a masked cell counts as null', () => {
  const ids = (...list: number[]) => list.map((id) => ({ id }));
  const inOrder = 'order_by: {id: asc}';

  test.each([
    ['is equal to nothing', '{salary: {_eq: 200}}', []],
    ['nor different from it', '{_not: {salary: {_eq: 200}}}', [1]],
    ['is greater than nothing', '{salary: {_gt: 0}}', [1]],
    ['is in no list', '{salary: {_in: [100, 200, 300]}}', [1]],
    ['is out of no list', '{salary: {_nin: [5]}}', [1]],
    ['is null', '{salary: {_is_null: true}}', [2, 3]],
    ['is not not null', '{salary: {_is_null: false}}', [1]],
    ['as a computed field', '{yearly: {_gte: 2400}}', []],
    ['of a related row', '{boss: {salary: {_eq: 100}}}', [2, 3]],
    ['of many related rows', '{reports: {salary: {_gt: 0}}}', []],
    ['in an aggregate', '{reports_aggregate: {max: {arguments: salary, predicate: {_gt: 0}}}}', []],
    ['in a count', '{reports_aggregate: {count: {arguments: [salary], predicate: {_gt: 0}}}}', []],
  ])('in a condition: it %s', async (_, where, expected) => {
    expect(await ask(`{ person(where: ${where}, ${inOrder}) { id } }`)).toEqual({ person: ids(...expected) });
  });

  test.each([
    ['{salary: desc_nulls_last}, {id: asc}', [1, 2, 3]],
    ['{salary: desc}, {id: asc}', [2, 3, 1]],
    ['{yearly: desc_nulls_last}, {id: asc}', [1, 2, 3]],
    ['{reports_aggregate: {max: {salary: desc_nulls_last}}}, {id: desc}', [3, 2, 1]],
  ])('in an order: %s', async (orderBy, expected) => {
    expect(await ask(`{ person(order_by: [${orderBy}]) { id } }`)).toEqual({ person: ids(...expected) });
    const boss = await ask(`{ person(limit: 3, order_by: [${orderBy}]) { id boss { id } } }`);
    expect(boss['person']).toMatchObject(ids(...expected));
  });

  test('in the order of a related row', async () => {
    const as = { ...AS_ADA, headers: { 'x-engine-user-id': '2' } };
    const asked = '{ person(order_by: [{boss: {salary: desc_nulls_last}}, {id: desc}]) { id } }';
    expect(await ask(asked, as)).toEqual({ person: ids(3, 2, 1) });
  });

  test('among distinct rows: all masked ones are one', async () => {
    const distinct = (rest: string) => ask(`{ person(distinct_on: [salary] ${rest}) { id } }`);
    expect(await distinct(', order_by: [{salary: asc}, {id: desc}]')).toEqual({ person: ids(1, 3) });
    expect((await distinct(''))['person']).toHaveLength(2);
  });

  test('in aggregates, also of function calls', async () => {
    const aggregate = `{ aggregate {
      count rich: count(columns: [salary]) kinds: count(columns: [salary], distinct: true)
      sum { salary yearly } max { salary } min { salary } avg { salary } } }`;
    const expected = {
      aggregate: {
        ...{ count: 3, rich: 1, kinds: 1, sum: { salary: 100, yearly: 1200 } },
        ...{ max: { salary: 100 }, min: { salary: 100 }, avg: { salary: 100 } },
      },
    };
    expect(await ask(`{ person_aggregate ${aggregate} people_aggregate ${aggregate} }`)).toEqual({
      person_aggregate: expected,
      people_aggregate: expected,
    });
    expect(await ask('{ people(order_by: {id: asc}) { salary } }')).toEqual({
      people: [{ salary: 100 }, { salary: null }, { salary: null }],
    });
  });

  test('among groups: all masked ones are one', async () => {
    const groups = `{ person_group_by(keys: [salary], order_by: [{keys: {salary: asc}}]) {
      keys { salary } aggregate { count max { salary } } } }`;
    expect(await ask(groups)).toEqual({
      person_group_by: [
        { keys: { salary: 100 }, aggregate: { count: 1, max: { salary: 100 } } },
        { keys: { salary: null }, aggregate: { count: 2, max: { salary: null } } },
      ],
    });
    const rich = '{max: {arguments: salary, predicate: {_gt: 150}}}';
    expect(await ask(`{ person_group_by(keys: [name], having: ${rich}) { keys { name } } }`)).toEqual({
      person_group_by: [],
    });
  });

  test('among groups, where a computed field decides what is masked', async () => {
    await permit('select', 'person', 'auditor', {
      columns: ['id', 'salary', 'team_id'],
      computed_fields: ['yearly'],
      filter: { yearly: { _gt: 2400 } },
      allow_aggregations: true,
    });
    await must('add_inherited_role', { role_name: 'board', role_set: ['anyone', 'auditor'] });
    const groups = `{ person_group_by(keys: [salary, team_id], where: {yearly: {_is_null: true}}, order_by: [{keys: {salary: asc}}]) {
      keys { salary team_id } aggregate { count } }
      all: person_group_by(keys: [salary], order_by: [{keys: {salary: asc}}]) { keys { salary } aggregate { sum { yearly } } } }`;
    expect(await ask(groups, { role: 'board' })).toEqual({
      person_group_by: [{ keys: { salary: null, team_id: null }, aggregate: { count: 2 } }],
      all: [
        { keys: { salary: 300 }, aggregate: { sum: { yearly: 3600 } } },
        { keys: { salary: null }, aggregate: { sum: { yearly: null } } },
      ],
    });
    await must('drop_inherited_role', { role_name: 'board' });
    await must('pg_drop_select_permission', { table: 'person', role: 'auditor' });
  });

  test('in the key of a row', async () => {
    await permit('select', 'team', 'guest', { columns: ['name'], filter: {} });
    await must('add_inherited_role', { role_name: 'visitor', role_set: ['guest', 'coach'] });
    const asked = '{ one: team_by_pk(id: 1) { id name } two: team_by_pk(id: 2) { name } team { id name } }';
    expect(await ask(asked, { role: 'visitor' })).toEqual({
      one: { id: 1, name: 'red' },
      two: null,
      team: [
        { id: 1, name: 'red' },
        { id: null, name: 'blue' },
      ],
    });
  });
});

describe('an inherited role writes', () => {
  const mine = { columns: ['salary', 'name'], filter: OWN, check: {} };
  const others = { columns: ['name', 'salary'], filter: {}, check: {} };

  test('what its parents agree on; masked cells stay masked in the answer', async () => {
    await permit('update', 'person', 'anyone', others);
    const update =
      'mutation { update_person(where: {salary: {_eq: 200}}, _set: {name: "x"}) { affected_rows } }';
    expect(await ask(update)).toEqual({ update_person: { affected_rows: 0 } });
    const answer =
      'mutation { update_person(where: {id: {_lt: 3}}, _inc: {salary: 0}) { returning { id salary } } }';
    expect(await ask(answer)).toEqual({
      update_person: {
        returning: [
          { id: 1, salary: 100 },
          { id: 2, salary: null },
        ],
      },
    });
    await permit('update', 'person', 'self', { ...others, columns: ['salary', 'name'] });
    expect(await ask(update)).toEqual({ update_person: { affected_rows: 0 } });
    await must('pg_drop_update_permission', { table: 'person', role: 'self' });
  });

  test('nothing if they differ, which is reported and refuses no operation', async () => {
    await permit('update', 'person', 'self', mine);
    const { body } = await engine.admin('get_inconsistent_metadata', {});
    expect(body).toEqual({
      is_consistent: false,
      inconsistent_objects: [
        {
          type: 'inherited role permission inconsistency',
          name: 'staff',
          reason:
            "Could not inherit permission for the role 'staff' for the entity: " +
            "'update permission, table: person, source: 'default''",
          entity: { permission_type: 'update', source: 'default', table: 'person' },
        },
      ],
    });
    expect(await errorOf('mutation { update_person(where: {}, _set: {name: "x"}) { affected_rows } }')).toBe(
      'no mutations exist',
    );
    await must('drop_inconsistent_metadata', {});
    const exported = await engine.admin<{ inherited_roles: object[] }>('export_metadata', {});
    expect(exported.body.inherited_roles).toContainEqual(expect.objectContaining({ role_name: 'staff' }));
    const refused = await engine.admin('replace_metadata', { metadata: exported.body }, { version: 2 });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: 'cannot continue due to inconsistent metadata', code: 'unexpected', path: '$.args' },
    });
  });

  test('what its own permission says, whatever the parents', async () => {
    await permit('update', 'person', 'staff', { columns: ['name'], filter: { id: 3 } });
    const update = 'mutation { update_person(where: {}, _set: {name: "Cy"}) { affected_rows } }';
    expect(await ask(update)).toEqual({ update_person: { affected_rows: 1 } });
    expect(await errorOf('mutation { update_person(where: {}, _set: {salary: 1}) { affected_rows } }')).toBe(
      "field 'salary' not found in type: 'person_set_input'",
    );
    await must('pg_drop_update_permission', { table: 'person', role: 'staff' });
    await must('pg_drop_update_permission', { table: 'person', role: 'self' });
    await must('pg_drop_update_permission', { table: 'person', role: 'anyone' });
  });

  test('through a function that any parent may call', async () => {
    expect(await errorOf('mutation { pay_rise { id } }')).toBe('no mutations exist');
    await must('pg_create_function_permission', { function: 'pay_rise', role: 'coach' });
    expect(await ask('mutation { pay_rise { id salary } }')).toEqual({ pay_rise: [{ id: 1, salary: 101 }] });
    expect(await errorOf('mutation { pay_rise { id } }', { role: 'self' })).toBe('no mutations exist');
    await database.sql('update person set salary = 100 where id = 1');
  });
});

describe('a role cannot inherit', () => {
  const add = async (role_name: string, role_set: string[]) =>
    (await admin('add_inherited_role', { role_name, role_set })).body;

  test('from itself, or in a cycle', async () => {
    expect(await add('me', ['self', 'me'])).toEqual({
      error: 'an inherited role name cannot be in the role combination',
      code: 'invalid-params',
      path: '$.args',
    });
    await must('add_inherited_role', { role_name: 'b', role_set: ['staff'] });
    await must('add_inherited_role', { role_name: 'a', role_set: ['self', 'b'] });
    expect(await add('b', ['staff', 'a'])).toEqual({
      error: 'found cycle(s) in roles: ["a","b","a"]',
      code: 'cyclic-dependency',
      path: '$.args',
    });
    await must('drop_inherited_role', { role_name: 'a' });
    await must('drop_inherited_role', { role_name: 'b' });
  });

  test('from an unknown role, or from the administrator', async () => {
    expect(await add('ghost', ['self', 'nobody', 'admin'])).toMatchObject({
      error:
        'Inconsistent object: the following parent role(s) are not found: nobody, admin ' +
        'which are required to construct the inherited role: ghost',
      code: 'invalid-configuration',
    });
    expect(await errorOf('{ person { id } }', { role: 'ghost' })).toContain('not found');
  });

  test('after its parents are dropped', async () => {
    expect((await admin('drop_inherited_role', { role_name: 'ghost' })).body).toEqual({
      error: '"ghost" inherited role doesn\'t exist',
      code: 'not-exists',
      path: '$.args',
    });
  });
});
