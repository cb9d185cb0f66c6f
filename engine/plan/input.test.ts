/** Arguments as they reach a plan: literals by type, variables as leaves, nulls refused. */
import { expect, test } from 'vitest';
import type { Predicate } from '../resolve/predicate.ts';
import { refusal, selectOf } from './testing/ask.ts';

/** The right side of the only comparison. */
function operand(where: string, declared = '', variables: Readonly<Record<string, unknown>> | null = null) {
  const { where: predicate } = selectOf(
    `query ${declared} { everything(where: ${where}) { id } }`,
    variables,
  );
  if (predicate.kind !== 'compare') throw new Error(`a ${(predicate as Predicate).kind}`);
  const { right } = predicate;
  return right.kind === 'constant' ? right.value : right;
}

test('literals become the text Postgres reads', () => {
  expect(operand('{ id: { _eq: 9007199254740993 } }')).toBe('9007199254740993');
  expect(operand('{ id: { _eq: "9007199254740993" } }')).toBe('9007199254740993');
  expect(operand('{ ratio: { _eq: 1.50 } }')).toBe('1.50');
  expect(operand('{ exact: { _eq: 1e400 } }')).toBe('1e400');
  expect(operand('{ is_on: { _eq: false } }')).toBe('false');
  expect(operand('{ key: { _eq: "0b2f1b1e-0000-4000-8000-000000000000" } }')).toMatch(/^0b2f/);
  expect(operand('{ doc: { _eq: { a: [1, true, null, "x"], b: {} } } }')).toBe(
    '{"a":[1,true,null,"x"],"b":{}}',
  );
  expect(operand('{ doc: { _eq: "text" } }')).toBe('"text"');
});

test('scalars without a row take anything', () => {
  expect(operand('{ shape: { _eq: "10.0.0.1" } }')).toBe('10.0.0.1');
  expect(operand('{ numbers: { _eq: [1, 2] } }')).toEqual(['1', '2']);
  expect(operand('{ numbers: { _eq: "{1,2}" } }')).toBe('{1,2}');
});

test('a list of literals is one array, with variables among them a list of leaves', () => {
  expect(operand('{ id: { _in: [1, 2] } }')).toEqual(['1', '2']);
  expect(operand('{ id: { _in: 7 } }')).toEqual(['7']);
  expect(operand('{ id: { _in: [] } }')).toEqual([]);
  const mixed = operand('{ id: { _in: [1, $x] } }', '($x: bigint!)', { x: 2 });
  expect(mixed).toMatchObject({
    kind: 'list',
    items: [
      { kind: 'constant', value: '1' },
      { kind: 'variable', path: ['x'] },
    ],
  });
});

test('a variable is a leaf that names where its value will be', () => {
  expect(operand('{ id: { _eq: $x } }', '($x: bigint)', { x: 2 })).toMatchObject({
    kind: 'variable',
    path: ['x'],
    type: { name: 'int8' },
  });
  expect(operand('$w', '($w: everything_bool_exp!)', { w: { _and: [{ id: { _gt: 1 } }] } })).toMatchObject({
    path: ['w', '_and', 0, 'id', '_gt'],
  });
  expect(operand('{ id: { _in: $x } }', '($x: [bigint!])', { x: [2, 3] })).toMatchObject({
    kind: 'variable',
    path: ['x'],
    type: { element: { name: 'int8' } },
  });
});

test('the wrong kind of literal is told by its place, type and kind', () => {
  const wrong = (where: string) => refusal(`{ everything(where: ${where}) { id } }`);
  expect(wrong('{ ratio: { _eq: true } }')).toBe(
    '$.selectionSet.everything.args.where.ratio._eq: parsing Float expected for input type: PGFloat failed, expected Number, but encountered Boolean',
  );
  expect(wrong('{ key: { _eq: 5 } }')).toMatch(
    /parsing UUID failed, expected String, but encountered Number/,
  );
  expect(wrong('{ is_on: { _eq: 1.5 } }')).toMatch(/parsing Bool failed, expected Boolean/);
  expect(wrong('{ is_on: { _is_null: yes } }')).toMatch(/expected a boolean .* but found an enum value/);
  expect(wrong('{ id: 5 }')).toMatch(
    /expected an object for type 'bigint_comparison_exp', but found an integer/,
  );
  expect(wrong('[{ id: { _eq: 1 } }]')).toMatch(
    /expected an object for type 'everything_bool_exp', but found a list/,
  );
  expect(refusal('{ author(where: { id: { _eq: 2147483648 } }) { id } }')).toMatch(
    /The value 2.147483648e9 lies outside the bounds/,
  );
  expect(refusal('{ author(where: { id: { _eq: -2147483648 } }) { id } }')).toBe('no error');
});

test('null is no part of a condition, nor is a variable that was not given', () => {
  const wrong = (where: string) => refusal(`{ everything(where: ${where}) { id } }`);
  expect(wrong('{ id: { _eq: null } }')).toMatch(/_eq: unexpected null value for type 'bigint'/);
  expect(wrong('{ id: { _is_null: null } }')).toMatch(
    /expected a boolean for type 'Boolean', but found null/,
  );
  expect(wrong('{ _not: null }')).toMatch(/_not: expected an object for type 'everything_bool_exp'/);
  expect(wrong('{ _or: null }')).toMatch(/_or: expected a list, but found null/);
  const absent = 'query ($x: bigint) { everything(where: { id: { _eq: $x } }) { id } }';
  expect(refusal(absent)).toMatch(/_eq: unexpected null value for type 'bigint'/);
});

test('null stands for leaving out where an argument is optional', () => {
  expect(
    selectOf('{ author(where: null, limit: null, offset: null, order_by: null, distinct_on: null) { id } }'),
  ).toMatchObject({
    where: { kind: 'true' },
    limit: null,
    offset: null,
    orderBy: [],
    distinctOn: [],
  });
});
