/** A relationship cannot have the name of another field of its table: `already-exists`, whether it is new or renamed. Nor can another field have
 *  the name of its aggregate. The cases are generated from the fields of a table and the operations that name one, on both endpoints.
 *  Rule: docs/reference/behaviour/relationships.md, "Errors". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const SQL = `
  create table owner (id int primary key, name text);
  create table note (id int primary key, owner_id int references owner, owner_name text);
  create function upper_name(o owner) returns text language sql stable as $$ select upper(o.name) $$;
  create function label(n note) returns text language sql stable as $$ select n.owner_name $$;
`;
const using = { foreign_key_constraint_on: 'owner_id' };
const definition = {
  to_source: {
    source: 'default',
    table: 'owner',
    relationship_type: 'object',
    field_mapping: { owner_id: 'id' },
  },
};
const manual = { manual_configuration: { remote_table: 'owner', column_mapping: { owner_id: 'id' } } };

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({
    sql: SQL,
    tables: ['owner', 'note'],
    operations: [
      ['pg_create_object_relationship', { table: 'note', name: 'owner', using }],
      ['pg_create_array_relationship', { table: 'note', name: 'owners', using: manual }],
      ['pg_create_remote_relationship', { table: 'note', name: 'far', definition }],
      ['pg_add_computed_field', { table: 'note', name: 'label', definition: { function: 'label' } }],
    ],
  });
});
afterAll(() => world.close());

const TAKEN = ['owner_name', 'owner', 'owners', 'far', 'label'] as const;
const exists = (name: string) => `field with name "${name}" already exists in table "note"`;
const OPERATIONS = [
  ['create_object_relationship', (name: string) => ({ name, using }), exists],
  ['create_array_relationship', (name: string) => ({ name, using: manual }), exists],
  ['create_remote_relationship', (name: string) => ({ name, definition }), exists],
  [
    'rename_relationship',
    (name: string) => ({ name: name === 'owner' ? 'owners' : 'owner', new_name: name }),
    (name: string) =>
      `cannot rename relationship "${name === 'owner' ? 'owners' : 'owner'}" to "${name}" in table "note" as a column/relationship with the name already exists`,
  ],
] as const;
const cases = OPERATIONS.flatMap(([type, args, message]) =>
  TAKEN.map((name) => [type, name, args(name), message(name)] as const),
);

/** Fields that the name of an aggregate conflicts with, as an operation that creates one. */
const array = (name: string) => [
  'pg_create_array_relationship',
  {
    table: 'owner',
    name,
    using: { manual_configuration: { remote_table: 'note', column_mapping: { id: 'owner_id' } } },
  },
];
const remote = (name: string, relationship_type = 'array') => [
  'pg_create_remote_relationship',
  {
    table: 'owner',
    name,
    definition: {
      to_source: { source: 'default', table: 'note', relationship_type, field_mapping: { id: 'owner_id' } },
    },
  },
];
const object = [
  'pg_create_object_relationship',
  {
    table: 'owner',
    name: 'x_aggregate',
    using: { manual_configuration: { remote_table: 'note', column_mapping: { id: 'id' } } },
  },
];
const computed = [
  'pg_add_computed_field',
  { table: 'owner', name: 'x_aggregate', definition: { function: 'upper_name' } },
];
const column = [
  'pg_set_table_customization',
  { table: 'owner', configuration: { column_config: { name: { custom_name: 'x_aggregate' } } } },
];
const AGGREGATES = [
  ['array relationship', array('x')],
  ['remote array relationship', remote('x')],
] as const;
const OTHERS = [
  ['column', column],
  ['object relationship', object],
  ['array relationship', array('x_aggregate')],
  ['computed field', computed],
  ['remote relationship', remote('x_aggregate', 'object')],
] as const;
const pairs = AGGREGATES.flatMap(([kind, aggregated]) =>
  OTHERS.map(([other, named]) => [kind, other, aggregated, named] as const),
);

describe.each(pairs)('the aggregate of a %s and a %s of its name', (_kind, _other, aggregated, named) => {
  test.each([
    ['in this order', aggregated, named],
    ['the other way round', named, aggregated],
  ])('%s', async (_order, first, second) => {
    const { engine } = world;
    const { body: before } = await engine.admin('export_metadata', {});
    const perform = ([type, args]: readonly unknown[]) => adminOutcome(engine, type as string, args);
    expect(await perform(first)).toEqual({ data: { message: 'success' } });
    expect(await perform(second)).toMatchObject({
      code: expect.stringMatching(/^(invalid-configuration|unexpected)$/),
    });
    const replaced = await engine.admin('replace_metadata', before);
    expect(replaced.status).toBe(200);
  });
});

test('without a conflict an aggregate is a field', async () => {
  const { engine } = world;
  const { body: before } = await engine.admin('export_metadata', {});
  for (const [type, args] of [array('x'), remote('y')]) await adminOutcome(engine, type as string, args);
  const { data } = await engine.graphql<{ __type: { fields: { name: string }[] } }>(
    '{ __type(name: "owner") { fields { name } } }',
  );
  expect(data?.__type.fields.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['x', 'x_aggregate', 'y', 'y_aggregate']),
  );
  await engine.admin('replace_metadata', before);
});

describe.each(cases)('%s with the name %s', (type, _name, args, message) => {
  const refusal = { code: 'already-exists', path: '$.args' };
  test('on /v1/metadata', async () => {
    const outcome = await adminOutcome(world.engine, `pg_${type}`, { table: 'note', ...args });
    expect(outcome).toEqual({ ...refusal, message });
  });
  test('on /v1/query', async () => {
    const outcome = await adminOutcome(
      world.engine,
      type,
      { table: 'note', ...args },
      { endpoint: '/v1/query' },
    );
    expect(outcome).toEqual({ ...refusal, message: 'column/relationship of table note already exists' });
  });
});
