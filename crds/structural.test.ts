/** The projection: what it makes of each word, and what it refuses before an API server would. */
import { Type } from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { structural } from './structural.ts';

const Text = Type.String({ maxLength: 10 });
const project = (schema: object) => structural(schema, { path: 'Thing.spec' });

test('an object keeps fields and what is required of them, and loses the word that closes it', () => {
  const schema = Type.Object(
    { a: Text, b: Type.Optional(Type.Integer({ minimum: 0 })) },
    { additionalProperties: false },
  );
  expect(project(schema)).toEqual({
    type: 'object',
    required: ['a'],
    properties: {
      a: { type: 'string', maxLength: 10 },
      b: { type: 'integer', format: 'int64', minimum: 0 },
    },
  });
});

test('an object that may be empty is replaced as a whole, and one that needs a field, a spec or an item is not', () => {
  const rule = { rule: 'has(self.a)', message: 'say it', holds: (value: object) => 'a' in value };
  const schema = Type.Object({
    free: Type.Object({ a: Type.Optional(Text) }),
    needs: Type.Object({ a: Text }),
    ruled: { ...Type.Object({ a: Type.Optional(Text) }), 'x-kubernetes-validations': [rule] },
  });
  const { properties, ...whole } = project(schema) as { properties: Record<string, Record<string, unknown>> };
  const typesOf = Object.entries(properties).map(([name, inner]) => [name, inner['x-kubernetes-map-type']]);
  expect(Object.fromEntries(typesOf)).toEqual({ free: 'atomic', needs: undefined, ruled: undefined });
  expect(project(Type.Object({ a: Type.Optional(Text) }))).not.toHaveProperty('x-kubernetes-map-type');
  expect(whole).not.toHaveProperty('x-kubernetes-map-type');
  const status = structural(schema, { path: 'Thing.status', allowsDefault: true });
  expect(JSON.stringify(status)).not.toContain('atomic');
});

test('a record is an object with additional properties', () => {
  expect(project(Type.Record(Type.String(), Text, { maxProperties: 3 }))).toEqual({
    type: 'object',
    'x-kubernetes-map-type': 'atomic',
    maxProperties: 3,
    additionalProperties: { type: 'string', maxLength: 10 },
  });
});

test('constants, alone or in a union, are an enum', () => {
  expect(project(Type.Literal('a'))).toEqual({ type: 'string', enum: ['a'] });
  expect(project(Type.Union([Type.Literal('a'), Type.Literal('b')]))).toEqual({
    type: 'string',
    enum: ['a', 'b'],
  });
});

test('a union with null is nullable', () => {
  expect(project(Type.Union([Text, Type.Null()]))).toEqual({ type: 'string', maxLength: 10, nullable: true });
});

test('an open object keeps everything, and says nothing else', () => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, additionalProperties: true };
  expect(project(open)).toEqual({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true });
});

test('of a rule only what an API server knows is kept, and it comes last', () => {
  const rule = { rule: 'self.a != ""', message: 'say it', holds: () => true };
  const projected = project({ ...Type.Object({ a: Text }), 'x-kubernetes-validations': [rule] });
  expect(projected['x-kubernetes-validations']).toEqual([{ rule: 'self.a != ""', message: 'say it' }]);
  expect(Object.keys(projected).at(-1)).toBe('x-kubernetes-validations');
});

test('a status may have a birth value', () => {
  const schema = Type.Object({ n: Type.Optional(Type.Integer()) }, { default: { n: -1 } });
  expect(structural(schema, { path: 'Thing.status', allowsDefault: true })['default']).toEqual({ n: -1 });
});

const list = (items: object, words: object = {}) => ({ type: 'array', maxItems: 2, items, ...words });
const MAP = { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] };

test.each([
  ['a default in a spec', Type.Object({ a: Type.Boolean({ default: true }) }), 'Thing.spec.a: a default'],
  ['a value without type', Type.Object({ a: Type.Unknown() }), 'Thing.spec.a: a value needs one type'],
  ['a union of types', Type.Union([Text, Type.Boolean()]), 'a union is of constants of one type'],
  [
    'a union of unlike constants',
    Type.Union([Type.Literal('a'), Type.Literal(1)]),
    'a union is of constants',
  ],
  ['a reference', { $ref: '#/definitions/a' }, '"$ref" has no place'],
  ['unique items', { ...list(Text), uniqueItems: true }, '"uniqueItems" has no place'],
  ['text without bound', Type.Object({ a: Type.String() }), 'Thing.spec.a: a string needs maxLength'],
  ['a record without bound', Type.Record(Type.String(), Text), 'a record needs maxProperties'],
  ['a list without bound', Type.Array(Text), 'a list needs maxItems'],
  ['a list that does not say how it is merged', list(Text), 'a map with keys; any other is atomic'],
  [
    'a list of objects that is replaced whole',
    list(Type.Object({}), { 'x-kubernetes-list-type': 'atomic' }),
    'a map',
  ],
  [
    'a key that items may lack',
    list(Type.Object({ name: Type.Optional(Text) }), MAP),
    'the key name of a list',
  ],
  [
    'an object that is open without saying so',
    Type.Object({}, { additionalProperties: true }),
    'must say so',
  ],
])('%s is refused, with its path', (_, schema, message) => {
  expect(() => project(schema)).toThrow(message);
});
