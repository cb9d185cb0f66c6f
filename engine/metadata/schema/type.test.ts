/** Our builders beside the library's whose types they borrow: the same JSON, and the same key order. */
import Library from 'typebox';
import { expect, test } from 'vitest';
import { Type } from './type.ts';

/** One expression per builder and option that a schema uses, over whichever builders. */
const EXPRESSIONS: readonly ((type: typeof Type) => object)[] = [
  (type) => type.String(),
  (type) => type.String({ minLength: 1, pattern: '^a$' }),
  (type) => type.Integer({ minimum: 0 }),
  (type) => type.Boolean(),
  (type) => type.Null(),
  (type) => type.Unknown(),
  (type) => type.Literal('http'),
  (type) => type.Literal(1),
  (type) => type.Array(type.String(), { minItems: 1 }),
  (type) => type.Union([type.Literal('*'), type.Null()], { title: 'Choice' }),
  (type) => type.Unsafe({ type: 'object', additionalProperties: true }),
  (type) => type.Record(type.String(), type.Unknown()),
  (type) => type.Record(type.String({ minLength: 1 }), type.Integer(), { minProperties: 1 }),
  (type) => type.Record(type.String({ pattern: '^a$' }), type.Integer()),
  (type) => type.Object({}),
  (type) => type.Object({ a: type.Integer(), b: type.Optional(type.String()) }),
  (type) => type.Object({ a: type.Optional(type.Boolean()) }, { additionalProperties: false, title: 'A' }),
  (type) => type.Object({ a: type.Optional(type.Optional(type.Object({ b: type.Null() }))) }),
];

test.each(EXPRESSIONS)('%s is the JSON Schema of TypeBox', (expression) => {
  expect(JSON.stringify(expression(Type))).toBe(JSON.stringify(expression(Library)));
});

test('an optional twin shares its properties with the schema it was made of, and leaves that one required', () => {
  const inner = Type.Object({ a: Type.Integer() });
  const twin = Type.Optional(inner);
  expect(twin.properties).toBe(inner.properties);
  expect(JSON.stringify(Type.Object({ inner, twin }))).toContain('"required":["inner"]');
});
