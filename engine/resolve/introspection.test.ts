import { buildSchema, introspectionFromSchema } from 'graphql';
import { expect, test } from 'vitest';
import { readIntrospection } from './introspection.ts';

type Json = Record<string, unknown>;
const SDL = `
  interface Character { id(old: Int): ID! name: String! }
  type Droid implements Character { id(old: Int): ID! name: String! task(hard: Boolean = true): [Task!]! }
  type Human implements Character { id(old: Int): ID! name: String! }
  union Found = Human | Droid
  enum Task { TALK FIGHT @deprecated(reason: "no") }
  input Near { x: Int! = 3 }
  scalar Moment
  type Query { hero(near: Near): Character search: Found at: Moment }`;

/** The introspection, changed: `change` is given each type by name. */
function introspected(change: (type: (name: string) => Json) => void = () => {}): unknown {
  const data = structuredClone(introspectionFromSchema(buildSchema(SDL))) as unknown as {
    __schema: { types: Json[] };
  };
  change((name) => data.__schema.types.find((type) => type['name'] === name)!);
  return data;
}
const read = (change?: Parameters<typeof introspected>[0]) => readIntrospection(introspected(change));
const fieldOf = (type: Json, name: string) =>
  (type['fields'] as Json[]).find((field) => field['name'] === name)!;
const argument = (name: string, type: Json) => ({ name, type, description: null, defaultValue: null });
const REQUIRED = { kind: 'NON_NULL', ofType: { kind: 'SCALAR', name: 'Int' } };

test('types, fields, arguments and values, without those of introspection', () => {
  const { types, roots } = read();
  expect(roots).toEqual({ query: 'Query', mutation: null, subscription: null });
  expect([...types.keys()].filter((name) => name.startsWith('__'))).toEqual([]);
  expect(types.get('Droid')).toMatchObject({
    kind: 'object',
    interfaces: ['Character'],
    fields: [
      {},
      {},
      { name: 'task', type: '[Task!]!', arguments: [{ name: 'hard', type: 'Boolean', default: 'true' }] },
    ],
  });
  expect(types.get('Found')).toMatchObject({ kind: 'union', members: ['Human', 'Droid'] });
  expect(types.get('Task')).toMatchObject({
    values: [
      { name: 'TALK', deprecation: null },
      { name: 'FIGHT', deprecation: 'no' },
    ],
  });
  expect(types.get('Near')).toMatchObject({
    kind: 'input',
    fields: [{ name: 'x', type: 'Int!', default: '3' }],
  });
});

test.each<[string, Parameters<typeof introspected>[0]]>([
  [
    "List of fields cannot be empty for interface 'Character'",
    (type) => Object.assign(type('Character'), { fields: [] }),
  ],
  [
    "Could not find interface 'Nobody' implemented by Object type 'Droid'",
    (type) => Object.assign((type('Droid')['interfaces'] as Json[])[0]!, { name: 'Nobody' }),
  ],
  [
    `Interface field 'Character'."id" expected, but 'Droid' does not provide it`,
    (type) => Object.assign(type('Droid'), { fields: (type('Droid')['fields'] as Json[]).slice(1) }),
  ],
  [
    `The type of Object field 'Droid'."id" (String!) is not the same type/sub type of Interface field 'Character'."id" (ID!)`,
    (type) =>
      Object.assign(fieldOf(type('Droid'), 'id'), {
        type: { kind: 'NON_NULL', ofType: { kind: 'SCALAR', name: 'String' } },
      }),
  ],
  [
    `Interface field argument 'Character'."id"("old":) required, but Object field 'Droid'."id" does not provide it`,
    (type) => Object.assign(fieldOf(type('Droid'), 'id'), { args: [] }),
  ],
  [
    `Interface field argument 'Character'."id"("old":) expects type Int, but 'Droid'."id"("old":) has type Int!`,
    (type) => Object.assign(fieldOf(type('Droid'), 'id'), { args: [argument('old', REQUIRED)] }),
  ],
  [
    `Object field argument 'Droid'."id"("extra":) is of required type Int!, but is not provided by Interface field 'Character'."id"`,
    (type) => (fieldOf(type('Droid'), 'id')['args'] as Json[]).push(argument('extra', REQUIRED)),
  ],
  [
    "List of member types cannot be empty for union type 'Found'",
    (type) => Object.assign(type('Found'), { possibleTypes: [] }),
  ],
  [
    "Could not find type 'Nobody', which is defined as a member type of Union 'Found'",
    (type) => Object.assign(type('Found'), { possibleTypes: [{ name: 'Nobody' }] }),
  ],
  [
    "Union type 'Found' can only include object types. It cannot include 'Character'",
    (type) => Object.assign(type('Found'), { possibleTypes: [{ name: 'Character' }] }),
  ],
  [
    `Could not find type with name "Nothing", which 'Query' refers to`,
    (type) => Object.assign(fieldOf(type('Query'), 'at'), { type: { kind: 'SCALAR', name: 'Nothing' } }),
  ],
])('%s', (text, change) => {
  expect(() => read(change)).toThrow(text);
});

test('what is no introspection is refused in its place', () => {
  const wrapped = introspected((type) => {
    Object.assign(type('Found'), { possibleTypes: [{ kind: 'NON_NULL', name: null }] });
  }) as { __schema: { types: Json[] } };
  const place = wrapped.__schema.types.findIndex(({ name }) => name === 'Found');
  expect(() => readIntrospection(wrapped)).toThrow(
    `Error in $.types[${place}].possibleTypes[0].name: parsing Name failed, expected String, but encountered Null`,
  );
  for (const nonsense of [
    null,
    1,
    [],
    {},
    { __schema: 1 },
    { __schema: { types: 1 } },
    { __schema: { types: [{}] } },
  ]) {
    expect(() => readIntrospection(nonsense)).toThrow();
  }
});
