/** Documents of the reference that are not refused: custom types that declare scalars of GraphQL, and update permissions without columns.
 *  Rule: docs/reference/behaviour/actions.md, docs/reference/behaviour/permissions.md. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { GRAPHQL_SCALARS } from '../resolve/custom-type.ts';
import { graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  const filter = { owner: { _eq: 'X-Engine-User-Id' } };
  const select = { columns: ['id', 'seen'], filter };
  world = await startWorld({
    sql: `create table note (id int primary key, owner text not null, seen boolean not null default false);
      insert into note (id, owner) values (1, 'ann'), (2, 'bob')`,
    tables: ['note'],
    operations: [
      ['pg_create_select_permission', { table: 'note', role: 'presets', permission: select }],
      ['pg_create_select_permission', { table: 'note', role: 'nothing', permission: select }],
      [
        'pg_create_update_permission',
        { table: 'note', role: 'presets', permission: { columns: [], filter, set: { seen: true } } },
      ],
      [
        'pg_create_update_permission',
        { table: 'note', role: 'nothing', permission: { columns: [], filter } },
      ],
    ],
  });
});
afterAll(() => world?.close());

test('scalars of GraphQL may be declared, each alone and all together', async () => {
  const declare = (scalars: readonly string[]) => ({
    scalars: scalars.map((name) => ({ name, description: 'ours' })),
    objects: [{ name: 'Answer', fields: [...GRAPHQL_SCALARS].map((type) => ({ name: `a${type}`, type })) }],
  });
  for (const scalars of [...[...GRAPHQL_SCALARS].map((name) => [name]), [...GRAPHQL_SCALARS]]) {
    const declared = declare(scalars);
    expect(await world.engine.admin('set_custom_types', declared)).toMatchObject({ status: 200 });
    const definition = {
      type: 'query',
      handler: 'http://127.0.0.1:1/',
      arguments: [...GRAPHQL_SCALARS].map((type) => ({ name: `a${type}`, type })),
      output_type: 'Answer',
    };
    expect(await world.engine.admin('create_action', { name: 'ours', definition })).toMatchObject({
      status: 200,
    });
    const { body } = await world.engine.admin('export_metadata', {});
    expect((body as { custom_types: unknown }).custom_types).toEqual(declared);
    const query = '{ __type(name: "Answer") { fields { name type { kind name } } } }';
    expect(await graphqlOutcome(world.engine, query)).toEqual({
      data: {
        __type: {
          fields: [...GRAPHQL_SCALARS]
            .toSorted()
            .map((name) => ({ name: `a${name}`, type: { kind: 'SCALAR', name } })),
        },
      },
    });
    expect(await world.engine.admin('drop_action', { name: 'ours' })).toMatchObject({ status: 200 });
  }
});

test('another type may not have the name of a scalar of GraphQL', async () => {
  const objects = [{ name: 'String', fields: [{ name: 'a', type: 'Int' }] }];
  expect(await world.engine.admin('set_custom_types', { objects })).toMatchObject({ status: 400 });
});

const as = (role: string) => ({ headers: { 'x-engine-role': role, 'x-engine-user-id': 'ann' } });

test('an update permission without columns has its root fields', async () => {
  const query = '{ __type(name: "mutation_root") { fields { name } } }';
  for (const role of ['presets', 'nothing']) {
    const outcome = await graphqlOutcome(world.engine, query, as(role));
    expect(outcome).toEqual({
      data: {
        __type: {
          fields: ['update_note', 'update_note_by_pk', 'update_note_many'].map((name) => ({ name })),
        },
      },
    });
  }
});

test('it writes its presets, to rows of its filter only', async () => {
  const query = 'mutation { update_note(where: {}) { affected_rows returning { id seen } } }';
  expect(await graphqlOutcome(world.engine, query, as('presets'))).toEqual({
    data: { update_note: { affected_rows: 1, returning: [{ id: 1, seen: true }] } },
  });
  const hidden = 'mutation { update_note_by_pk(pk_columns: {id: 2}) { id } }';
  expect(await graphqlOutcome(world.engine, hidden, as('presets'))).toEqual({
    data: { update_note_by_pk: null },
  });
  const rows = await world.database.sql('select id from note where seen order by id');
  expect(rows).toEqual([{ id: 1 }]);
});

test('without presets there is nothing to write, and no column can be named', async () => {
  const query = 'mutation { update_note(where: {}) { affected_rows } }';
  expect(await graphqlOutcome(world.engine, query, as('nothing'))).toMatchObject({
    code: 'validation-failed',
  });
  const set = 'mutation { update_note(where: {}, _set: {seen: true}) { affected_rows } }';
  expect(await graphqlOutcome(world.engine, set, as('nothing'))).toMatchObject({ code: 'validation-failed' });
});
