/** Tests that the schema that is built in steps is the library's, and that a role's schema is built once. */
import { type GraphQLNamedType, type GraphQLObjectType, isAbstractType } from 'graphql';
import { expect, test } from 'vitest';
import { finish } from '../metadata/steps.ts';
import type { Model } from '../resolve/model/model.ts';
import { AUTHORS, resolveTables } from '../resolve/testing/small-world.ts';
import { hasRoleSchema, roleSchema, roleSchemaSteps } from './role-schemas.ts';

const permission = { columns: ['id', 'name'], filter: {} };
const articles = {
  name: 'articles',
  using: {
    foreign_key_constraint_on: { table: { schema: 'public', name: 'article' }, columns: ['author_id'] },
  },
};
const newModel = (): Model =>
  resolveTables(
    {
      author: { array_relationships: [articles], select_permissions: [{ role: 'reader', permission }] },
      article: {},
    },
    AUTHORS,
  ).model;
const model = newModel();

test.for([
  ['admin', false],
  ['admin', true],
  ['reader', false],
  ['nobody', false],
] as const)('the types of %s are those that the library reaches (Relay: %s)', ([role, isRelay]) => {
  const { schema, reachedSchema } = roleSchema(model, role, false, isRelay);
  const [library, ours] = [schema(), finish(reachedSchema())];
  const names = Object.keys(library.getTypeMap()).sort();
  expect([...ours.types.keys()].sort()).toEqual(names);
  const possible = (from: Pick<typeof library, 'getPossibleTypes'>, type: GraphQLNamedType | undefined) =>
    isAbstractType(type) ? from.getPossibleTypes(type).map(({ name }) => name) : [];
  for (const name of names) {
    const [theirs, own] = [library.getType(name), ours.types.get(name)];
    expect(possible(ours, own).toSorted()).toEqual(possible(library, theirs).toSorted());
  }
  expect(ours.getMutationType()?.name).toBe(library.getMutationType()?.name);
});

test('finding the types keeps none of their fields, which are built again when they are read', () => {
  const { types } = finish(roleSchema(newModel(), 'admin', false).reachedSchema());
  const own = [...types.values()].filter(({ name }) => !name.startsWith('__'));
  const kept = own.filter((type) => typeof (type as { _fields?: unknown })._fields === 'object');
  expect(kept).toEqual([]);
  const author = types.get('author') as GraphQLObjectType;
  expect(Object.keys(author.getFields())).toContain('id');
});

test('each type is a step', () => {
  const { schema, reachedSchema } = roleSchema(newModel(), 'admin', false);
  const steps = reachedSchema();
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThanOrEqual(Object.keys(schema().getTypeMap()).length);
});

test('requests that need the same schema have one, also when one of them cannot wait', () => {
  const key = [newModel(), 'reader', false] as const;
  const [one, two] = [roleSchemaSteps(...key), roleSchemaSteps(...key)];
  one.next();
  two.next();
  expect(hasRoleSchema(...key)).toBe(false);
  const atOnce = roleSchema(...key);
  expect(hasRoleSchema(...key)).toBe(true);
  expect(finish(one)).toBe(atOnce);
  expect(finish(two)).toBe(atOnce);
});

test('introspections in a row share the types, until memory is collected', () => {
  const { reachedSchema } = roleSchema(newModel(), 'reader', false);
  expect(finish(reachedSchema())).toBe(finish(reachedSchema()));
});
