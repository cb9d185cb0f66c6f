/** What the texts say is in parse.test.ts; here, that no schema uses a word nobody obeys. */
import { expect, test } from 'vitest';
import { OBJECTS } from './objects.ts';
import { OPERATIONS } from './operations.ts';
import { Metadata } from './schema/metadata.ts';
import { Type } from './schema/type.ts';
import { validate } from './validate.ts';
import { asJsonSchema, type JsonSchema } from './walk-schema.ts';

/** Judged by validate.ts, seen to by normal form, or said to people. */
const WORDS = new Set([
  ...['anyOf', 'type', 'const', 'required', 'properties', 'patternProperties', 'items'],
  ...[
    'maxLength',
    'minLength',
    'pattern',
    'maximum',
    'minimum',
    'minItems',
    'maxItems',
    'maxProperties',
    'minProperties',
  ],
  ...['additionalProperties', 'title', 'description'],
]);

function wordsOf(schema: JsonSchema): readonly string[] {
  const inner = [
    ...(schema.anyOf ?? []),
    ...(schema.items ? [schema.items] : []),
    ...Object.values(schema.properties ?? {}),
    ...Object.values(schema.patternProperties ?? {}),
  ];
  return [...Object.keys(schema), ...inner.flatMap(wordsOf)];
}

test('every word of every schema is one that is obeyed', () => {
  const schemas = [Metadata, ...Object.values(OBJECTS), ...Object.values(OPERATIONS)].map((row) =>
    'schema' in row ? row.schema : 'args' in row ? row.args : row,
  );
  const used = new Set(schemas.flatMap((schema) => wordsOf(asJsonSchema(schema))));
  expect([...used].filter((word) => !WORDS.has(word))).toEqual([]);
});

test('no schema has a regular expression for the keys of a record', () => {
  const text = JSON.stringify(Metadata);
  expect(new Set(text.match(/"patternProperties":\{"[^"]*"/g))).toEqual(
    new Set(['"patternProperties":{"^.*$"']),
  );
});

const Pet = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 3 }),
  age: Type.Optional(Type.Integer({ minimum: 0, maximum: 30 })),
  toys: Type.Optional(Type.Array(Type.Object({ name: Type.String() }), { minItems: 1 })),
  owner: Type.Optional(Type.Union([Type.Literal('nobody'), Type.Object({ id: Type.Integer() })])),
});
const refused = (value: unknown) => () => validate(asJsonSchema(Pet), value);

test('an object that fits is accepted', () => {
  expect(refused({ name: '🐕🐕🐕', age: 0, toys: [{ name: '' }], owner: { id: 1 } })).not.toThrow();
});

test.each([
  [{ age: 1 }, 'key "name" not found', []],
  [{ name: '' }, 'empty string not allowed', ['name']],
  [{ name: 'Rex!' }, 'expected at most 3 characters, but encountered 4', ['name']],
  [{ name: 'Rex', age: 1.5 }, 'expected an integer, but encountered 1.5', ['age']],
  [{ name: 'Rex', age: -1 }, 'unexpected negative value', ['age']],
  [{ name: 'Rex', age: 31 }, 'expected at most 30', ['age']],
  [{ name: 'Rex', toys: [] }, 'empty list not allowed', ['toys']],
  [
    { name: 'Rex', toys: [{ name: 1 }] },
    'parsing Text failed, expected String, but encountered Number',
    ['toys', 0, 'name'],
  ],
  [
    { name: 'Rex', owner: { id: 'a' } },
    'parsing Int failed, expected Number, but encountered String',
    ['owner', 'id'],
  ],
  [{ name: 'Rex', owner: 1 }, 'expected "nobody" or Object, but encountered Number', ['owner']],
])('%j is refused: %s', (value, message, path) => {
  expect(refused(value)).toThrow(expect.objectContaining({ message, path }));
});

test('what is wrong with an object comes before what is wrong inside it', () => {
  const value = { name: 'Rex', toys: [{ name: 1 }, 'ball'], owner: 1 };
  expect(refused(value)).toThrow(expect.objectContaining({ path: ['owner'] }));
  const { owner: _, ...rest } = value;
  expect(refused(rest)).toThrow(expect.objectContaining({ path: ['toys', 1] }));
});
