/** How fields are collected and merged. */
import { expect, test } from 'vitest';
import type { Field } from './query-types.ts';
import { planOf, refusal, selectOf } from './testing/ask.ts';

const names = (fields: readonly Field[]): unknown[] =>
  fields.map((field) => ('select' in field ? [field.alias, names(field.select.fields)] : field.alias));

test('fields of one response name are merged where the first stands', () => {
  const { fields } = selectOf('{ author { id articles { id } name id articles { title id } } }');
  expect(names(fields)).toEqual(['id', ['articles', ['id', 'title']], 'name']);
});

test('roots are merged like any field', () => {
  expect(planOf('{ author { id } ...F } fragment F on query_root { author { name } }').roots).toHaveLength(1);
});

test('different fields or arguments under one name are refused', () => {
  expect(refusal('{ author { x: id x: name } }')).toBe(
    "$.selectionSet.author.selectionSet: selection of both 'id' and 'name' specify the same response name, 'x'",
  );
  expect(refusal('{ author { articles(limit: 1) { id } articles { id } } }')).toBe(
    "$.selectionSet.author.selectionSet: inconsistent arguments between multiple selections of field 'articles'",
  );
  expect(
    refusal(
      '{ author(where: { id: { _gt: 1, _lt: 2 } }) { id } author(where: { id: { _lt: 2, _gt: 1 } }) { id } }',
    ),
  ).toBe('no error');
  expect(
    refusal('{ author { articles(limit: 1, offset: 2) { id } articles(offset: 2, limit: 1) { id } } }'),
  ).toBe('no error');
});

test('a great many equal fields are merged in linear time', () => {
  const started = performance.now();
  planOf(`{ author { ${'id '.repeat(50_000)} } }`);
  expect(performance.now() - started).toBeLessThan(15_000);
});

test('include and skip decide, whichever way they are told', () => {
  const text =
    'query ($yes: Boolean!) { author { id @include(if: $yes) name @skip(if: $yes) meta @skip(if: false) } }';
  expect(names(selectOf(text, { yes: true }).fields)).toEqual(['id', 'meta']);
  expect(names(selectOf(text, { yes: false }).fields)).toEqual(['name', 'meta']);
});

test('a skipped fragment takes its fields along', () => {
  const text =
    '{ author { ... @skip(if: true) { id } ...F @include(if: false) name } } fragment F on author { meta }';
  expect(names(selectOf(text).fields)).toEqual(['name']);
});

test('a condition that is missing or no Boolean is refused', () => {
  expect(refusal('{ author { id @include } }')).toMatch(/missing required field 'if'/);
  expect(refusal('{ author { id @skip(if: "x") } }')).toMatch(
    /expected a boolean for type 'Boolean', but found a string/,
  );
});

test('__typename is a constant at every level', () => {
  const { roots } = planOf('{ __typename author { __typename } }');
  expect(roots[0]).toEqual({ kind: 'local', alias: '__typename', json: '"query_root"' });
  expect(selectOf('{ author { t: __typename } }').fields).toEqual([
    { kind: 'constant', alias: 't', json: '"author"' },
  ]);
});
