/** The way into a remote schema: how it is read, and what does not fit a schema. */

import { buildSchema, introspectionFromSchema } from 'graphql';
import { expect, test } from 'vitest';
import { readIntrospection } from './introspection.ts';
import type { JoinKey } from './model/table.ts';
import { readSteps, stepsProblem } from './remote-step.ts';

const SCHEMA = readIntrospection(
  introspectionFromSchema(
    buildSchema(`
      scalar Any
      enum Kind { A B }
      input Where { id: Number any: Any }
      input Number { eq: Int }
      type User { id: Int posts(first: Int!): [String] }
      type Query {
        user(id: Int! kind: Kind): User
        users(ids: [Int!], where: Where, name: String, factor: Float, any: Any): [User]
      }`),
  ),
);

const KEYS = new Map(
  Object.entries({ id: 'Int', name: 'String', price: 'numeric', ids: ['Int'] }).map(
    ([key, name]): [string, JoinKey] => {
      const scalar = Array.isArray(name)
        ? { name: '_int4', element: { name: name[0], element: null } }
        : { name, element: null };
      return [key, { kind: 'column', column: { scalar, json: 'bare' } } as unknown as JoinKey];
    },
  ),
);

function problem(field: object): string | null {
  const { steps, used } = readSteps(field as Record<string, unknown>, new Set(KEYS.keys()));
  return stepsProblem(
    steps,
    SCHEMA,
    used.map((name) => KEYS.get(name)!),
  );
}
const ofUsers = (given: object) => problem({ users: { arguments: given } });

test('only the keys that occur are joined by', () => {
  const written = { users: { arguments: { where: { id: { eq: '$id' } }, ids: ['$id', 3], name: 'x' } } };
  expect(readSteps(written, new Set(['name', 'id'])).used).toEqual(['id']);
});

test.each([
  [{ user: { arguments: { id: '$id' } } }],
  [{ user: { arguments: { id: 3, kind: 'A' }, field: { posts: { arguments: { first: 2 } } } } }],
  [{ users: { arguments: { ids: '$id' } } }],
  [{ users: { arguments: { ids: '$ids', any: '$ids', where: { any: { of: '$ids' } } } } }],
  [{ users: { arguments: { ids: ['$id', 1], where: { id: { eq: '$id' }, any: { deep: ['$name'] } } } } }],
  [{ users: { arguments: { any: ['$id', { a: '$name' }], factor: '$price', name: '$name' } } }],
  // What it does not give, the client does.
  [{ user: { arguments: {} } }],
])('%j fits', (field) => {
  expect(problem(field)).toBeNull();
});

test('what does not fit is told', () => {
  expect(problem({ nobody: { arguments: {} } })).toBe('the field "nobody" is not there');
  expect(ofUsers({ id: '$id' })).toBe('the field "users" has no argument "id"');
  expect(ofUsers({ where: { id: { gt: '$id' } } })).toBe('the type "Number" has no field "gt"');
  expect(ofUsers({ where: { id: { eq: ['$id'] } } })).toBe('"eq" is of type Int, which is no list');
  expect(ofUsers({ where: '$id' })).toBe('"where" is of type Where, which takes no such value');
  expect(ofUsers({ ids: ['$name'] })).toBe('"ids" is of type Int!, which takes no such value');
  expect(ofUsers({ name: '$ids' })).toBe('"name" is of type String, which is no list');
  expect(ofUsers({ name: { a: 1 } })).toBe('"name" is of type String, which is no input object');
  expect(problem({ user: { arguments: { id: 'abc' } } })).toBe(
    '"id" is of type Int!, which takes no such value',
  );
  expect(problem({ user: { arguments: { id: 1, kind: 'C' } } })).toBe(
    '"kind" is of type Kind, which takes no such value',
  );
  const further = { field: { posts: { arguments: {} } } };
  expect(problem({ user: { arguments: {}, ...further } })).toBe('the field "user" needs the argument "id"');
  expect(problem({ users: { arguments: {}, ...further } })).toBe(
    'the field "users" is a list, of which no field can be taken',
  );
});

test('what is no way at all is refused', () => {
  for (const field of [
    {},
    { a: {}, b: {} },
    { user: { arguments: [] } },
    { user: { arguments: { id: '$nothing' } } },
  ]) {
    expect(() => problem(field)).toThrow();
  }
});
