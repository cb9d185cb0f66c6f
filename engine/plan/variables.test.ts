/** Values of variables: which are taken, where the others are reported, and what shape a plan is kept by. */

import { expect, test } from 'vitest';
import { numberFrom } from '../json/number.ts';
import { planRequest } from './plan.ts';
import { errorOf, prepare, refusal } from './testing/ask.ts';
import { coerceVariables } from './variables.ts';

/** The shape once a plan has been made: that is when the engine knows which values matter. */
function shapeOf(text: string, variables: Readonly<Record<string, unknown>>): string {
  const document = prepare(text);
  const { dependencies } = planRequest(document, coerceVariables(document, variables));
  return coerceVariables(document, variables, dependencies).shape;
}

const BY_ID = 'query ($id: Int) { author(where: { id: { _eq: $id } }) { id } }';
const WHERE = 'query ($w: author_bool_exp) { author(where: $w) { id } }';
const ORDER = 'query ($o: [author_order_by!]) { author(order_by: $o) { id } }';

test('scalars differ in presence only', () => {
  expect(shapeOf(BY_ID, { id: 1 })).toBe(shapeOf(BY_ID, { id: 2 }));
  const optional = 'query ($n: Int) { author(limit: $n) { id } }';
  const shapes = [shapeOf(optional, {}), shapeOf(optional, { n: null }), shapeOf(optional, { n: 1 })];
  expect(new Set(shapes).size).toBe(3);
});

test('lists of scalars are one value, however long', () => {
  const text = 'query ($ids: [Int!]) { author(where: { id: { _in: $ids } }) { id } }';
  expect(shapeOf(text, { ids: [1] })).toBe(shapeOf(text, { ids: [] }));
  expect(shapeOf(text, { ids: 1 })).not.toBe(shapeOf(text, { ids: [1] }));
});

test('an array is one value, however long, and so is a list of arrays', () => {
  const tags = 'query ($t: [String!]) { author(where: { tags: { _eq: $t } }) { id } }';
  expect(shapeOf(tags, { t: ['a', 'b'] })).toBe(shapeOf(tags, { t: [] }));
  expect(shapeOf(tags, { t: '{a}' })).toBe(shapeOf(tags, { t: '{b,c}' }));
  const among = 'query ($t: [[String!]!]) { author(where: { tags: { _in: $t } }) { id } }';
  expect(shapeOf(among, { t: [['a'], '{b}'] })).toBe(shapeOf(among, { t: [] }));
  const whole = (tags: unknown) => shapeOf(WHERE, { w: { tags: { _in: tags } } });
  expect(whole([['a'], ['b', 'c']])).toBe(whole([[]]));
});

test.each([
  ['a list of scalars', 'query ($v: [Int!]) { author(where: { id: { _in: $v } }) { id } }', () => 1],
  [
    'a list of conditions',
    'query ($v: [author_bool_exp!]) { author(where: { _or: $v }) { id } }',
    () => ({}),
  ],
])('%s is long from twenty thousand values on', (_, text, item) => {
  const isLong = (length: number) =>
    coerceVariables(prepare(text), { v: Array.from({ length }, item) }).isLong ?? false;
  expect([isLong(100), isLong(20_000)]).toEqual([false, true]);
});

test('inside an object the keys and the lengths of lists of objects matter, values do not', () => {
  expect(shapeOf(WHERE, { w: { id: { _eq: 1 } } })).toBe(shapeOf(WHERE, { w: { id: { _eq: 2 } } }));
  const different = [
    { id: { _eq: 1 } },
    { id: { _gt: 1 } },
    { _or: [] },
    { _or: [{ id: { _eq: 1 } }] },
    { _or: [{ id: { _eq: 1 } }, { id: { _eq: 1 } }] },
    { id: { _is_null: true } },
    { id: { _is_null: false } },
  ];
  expect(new Set(different.map((w) => shapeOf(WHERE, { w }))).size).toBe(different.length);
});

test('what is printed into the statement is part of the shape', () => {
  const limit = 'query ($n: Int) { author(limit: $n) { id } }';
  expect(shapeOf(limit, { n: 1 })).not.toBe(shapeOf(limit, { n: 2 }));
  expect(shapeOf(ORDER, { o: [{ id: 'asc' }] })).not.toBe(shapeOf(ORDER, { o: [{ id: 'desc' }] }));
  expect(shapeOf(ORDER, { o: [{ id: 'asc', name: 'asc' }] })).not.toBe(
    shapeOf(ORDER, { o: [{ name: 'asc', id: 'asc' }] }),
  );
  const include = 'query ($b: Boolean!) { author { id @include(if: $b) name } }';
  expect(shapeOf(include, { b: true })).not.toBe(shapeOf(include, { b: false }));
  const json = 'query ($x: jsonb) { author(where: { meta: { _contains: { a: $x } } }) { id } }';
  expect(shapeOf(json, { x: 1 })).not.toBe(shapeOf(json, { x: 2 }));
});

test('a value cannot pretend to be another shape', () => {
  const text = `query ($x: jsonb, $y: jsonb) {
    author(where: { meta: { _contains: { a: $x, b: $y } } }) { id }
  }`;
  expect(shapeOf(text, { x: 'a";"b', y: 'c' })).not.toBe(shapeOf(text, { x: 'a', y: 'b";"c' }));
});

test('an error in a value is reported where the variable is used', () => {
  expect(refusal(BY_ID, { id: true })).toBe(
    '$.selectionSet.author.args.where.id._eq: parsing Integer expected for input type: PGInteger failed, expected Number, but encountered Boolean',
  );
  expect(refusal(WHERE, { w: { nope: {} } })).toBe(
    "$.selectionSet.author.args.where.nope: field 'nope' not found in type: 'author_bool_exp'",
  );
  expect(refusal(ORDER, { o: [{ id: 'asc' }, { id: 'up' }] })).toMatch(
    /^\$\.selectionSet\.author\.args\.order_by\[1\]\.id: expected one of the values .* but found 'up'$/,
  );
  expect(
    refusal('query ($ids: [Int!]) { author(where: { id: { _in: $ids } }) { id } }', { ids: [1, null] }),
  ).toBe("$.selectionSet.author.args.where.id._in[1]: unexpected null value for type 'Int'");
});

test('an item of a list is judged as a single value is', () => {
  const values = [
    1,
    -1,
    -0,
    1.5,
    2 ** 31,
    -(2 ** 31),
    numberFrom('1.0'),
    numberFrom('1e99'),
    'x',
    '',
    true,
    null,
    [],
    [1],
    {},
  ];
  for (const [column, type] of [
    ['id', 'Int'],
    ['name', 'String'],
    ['meta', 'jsonb'],
  ] as const) {
    for (const value of values) {
      const where = (operator: string) => `author(where: { ${column}: { ${operator}: $v } }) { id }`;
      const single = refusal(`query ($v: ${type}!) { ${where('_eq')} }`, { v: value });
      const many = refusal(`query ($v: [${type}!]!) { ${where('_in')} }`, { v: [value] });
      if (value === null) expect(many).not.toBe('no error');
      else
        expect(many.replace('_in[0]', '_eq').replace('_in', '_eq'), `${type} ${JSON.stringify(value)}`).toBe(
          single,
        );
    }
  }
});

test('missing, null and surplus variables are told apart', () => {
  const required = 'query ($id: Int!) { author_by_pk(id: $id) { id } }';
  expect(refusal(required)).toBe('$: expecting a value for non-nullable variable: "id"');
  expect(refusal(required, { id: null })).toBe('$: null value found for non-nullable type: "Int!"');
  expect(refusal('{ author { id } }', { a: 1, b: 2 })).toBe(
    '$: unexpected variables in variableValues: a, b',
  );
});

test('a default stands in for a variable that is absent, not for one that is null', () => {
  const text = 'query ($n: Int = 5) { author(limit: $n) { id } }';
  const document = prepare(text);
  expect(coerceVariables(document, {}).values).toEqual({ n: 5 });
  expect(coerceVariables(document, { n: null }).values).toEqual({ n: null });
  expect(refusal('query ($n: Int! = 5) { author(limit: $n) { id } }', { n: null })).toMatch(
    /null value found/,
  );
  expect(refusal('query ($n: Int = "x") { author(limit: $n) { id } }')).toMatch(/found a string/);
});

test('a variable named like a member of every object is absent when it is absent', () => {
  const text =
    'query ($constructor: Int, $__proto__: Int) { author(limit: $constructor, offset: $__proto__) { id } }';
  expect(refusal(text)).toBe('no error');
  expect(coerceVariables(prepare(text), {}).shape).toBe('-;-;');
});

test('deeply nested values are refused', () => {
  let w: object = {};
  for (let i = 0; i < 5000; i++) w = { _not: w };
  expect(errorOf(() => coerceVariables(prepare(WHERE), { w }))).toMatch(/nested too deeply/);
});

test('a request of a few scalars is checked in microseconds', () => {
  const document = prepare(
    'query ($a: Int, $b: String, $c: [Int!]) { author(where: { id: { _eq: $a, _in: $c }, name: { _eq: $b } }) { id } }',
  );
  const given = { a: 1, b: 'x', c: [1, 2] };
  for (let i = 0; i < 20_000; i++) coerceVariables(document, given);
  const started = process.cpuUsage();
  for (let i = 0; i < 20_000; i++) coerceVariables(document, given);
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 20_000).toBeLessThan(50);
});
