/** Aggregates: which rows, which values, and orders by them. The reader may aggregate articles, ten published at a time. */
import { expect, test } from 'vitest';
import type { AggregateField, QueryRoot } from './query-types.ts';
import { planOf, prepare, refusal, selectOf } from './testing/ask.ts';
import { coerceVariables } from './variables.ts';

type Query = Extract<QueryRoot, { kind: 'aggregate' }>;

function aggregateOf(text: string, variables: Record<string, unknown> | null = null, role = 'admin'): Query {
  const [root] = planOf(text, variables, role).roots;
  if (root?.kind !== 'database' || root.query.kind !== 'aggregate') throw new Error('not an aggregate');
  return root.query;
}

function valuesOf(text: string, variables: Record<string, unknown> | null = null) {
  const [field] = aggregateOf(
    `query ($distinct: Boolean, $columns: [article_select_column!]) {
    article_aggregate { aggregate { ${text} } }
    _: article_aggregate { aggregate { count(distinct: $distinct, columns: $columns) } }
  }`,
    variables,
  ).output;
  return (field as Extract<AggregateField, { kind: 'values' }>).members;
}

test('the role’s filter counts for everything, its limit for nodes only', () => {
  const both = (argument: string) => {
    const text = `{ article_aggregate${argument} { aggregate { count } nodes { id } } }`;
    const { select, output } = aggregateOf(text, null, 'reader');
    expect(select.where).toMatchObject({ kind: 'compare', left: { column: 'is_published' } });
    return [select.limit, ...output.flatMap((field) => (field.kind === 'nodes' ? [field.limit] : []))];
  };
  expect(both('')).toEqual([null, 10]);
  expect(both('(limit: 3)')).toEqual([3, 3]);
  expect(both('(limit: 30)')).toEqual([30, 10]);
});

test('the arguments of rows choose what is aggregated', () => {
  const { select } = aggregateOf(
    '{ article_aggregate(where: { id: { _gt: 1 } }, order_by: { title: desc }, offset: 2, distinct_on: title) { aggregate { count } } }',
  );
  expect(select).toMatchObject({
    where: { kind: 'compare', operator: '_gt' },
    orderBy: [{ column: 'title', direction: 'desc' }],
    distinctOn: ['title'],
    offset: '2',
  });
});

test('count takes columns and distinct, by value', () => {
  const count = (columns: string[], isDistinct: boolean) => [
    { kind: 'value', alias: 'count', value: { kind: 'count', columns, isDistinct } },
  ];
  expect(valuesOf('count')).toEqual(count([], false));
  expect(valuesOf('count(columns: [])')).toEqual(count([], false));
  expect(valuesOf('count(columns: title, distinct: true)')).toEqual(count(['title'], true));
  const given = { distinct: true, columns: ['id', 'title'] };
  expect(valuesOf('count(columns: $columns, distinct: $distinct)', given)).toEqual(
    count(['id', 'title'], true),
  );
});

test('variables that change the statement are part of the shape', () => {
  const text =
    'query ($d: Boolean, $c: [article_select_column!]) { article_aggregate { aggregate { count(distinct: $d, columns: $c) } } }';
  const shape = (variables: Record<string, unknown>) => coerceVariables(prepare(text), variables).shape;
  expect(shape({ d: true })).not.toBe(shape({ d: false }));
  expect(shape({ c: ['id'] })).not.toBe(shape({ c: ['title'] }));
});

test('fields of one name merge, aliases stay apart', () => {
  const members = valuesOf('max { id } max { title id } greatest: max { id }');
  expect(members).toMatchObject([
    { alias: 'max', members: [{ alias: 'id' }, { alias: 'title', value: { fn: 'max', column: 'title' } }] },
    { alias: 'greatest', members: [{ alias: 'id' }] },
  ]);
});

test('names that are not there are refused where they stand', () => {
  const refused = (inner: string) => refusal(`{ article_aggregate { aggregate { ${inner} } } }`);
  expect(refused('max { is_published }')).toBe(
    "$.selectionSet.article_aggregate.selectionSet.aggregate.selectionSet.max.selectionSet.is_published: field 'is_published' not found in type: 'article_max_fields'",
  );
  expect(refused('median { id }')).toMatch(/field 'median' not found in type: 'article_aggregate_fields'/);
  expect(refused('count(columns: [nothing])')).toMatch(
    /\.count\.args\.columns\[0\]: expected one of the values \[.*\] for type 'article_select_column', but found 'nothing'/,
  );
});

test('rows are ordered by values over related rows the role may see', () => {
  const order = (given: string, role: string) =>
    selectOf(`{ author(order_by: ${given}) { id } }`, null, role).orderBy;
  expect(
    order('{ articles_aggregate: { count: desc, max: { id: asc, title: desc } } }', 'admin'),
  ).toMatchObject([
    { aggregate: { value: { kind: 'count' } }, direction: 'desc' },
    { aggregate: { value: { fn: 'max', column: 'id' } }, direction: 'asc' },
    { aggregate: { value: { fn: 'max', column: 'title' } }, direction: 'desc' },
  ]);
  expect(order('{ articles_aggregate: { count: asc } }', 'reader')).toMatchObject([
    { aggregate: { filter: { kind: 'compare', left: { column: 'is_published' } } } },
  ]);
  expect(order('{ articles_aggregate: null }', 'admin')).toEqual([]);
});

test('distinct columns do not begin an order by aggregates', () => {
  expect(
    refusal('{ author(distinct_on: id, order_by: { articles_aggregate: { count: asc } }) { id } }'),
  ).toMatch(/"distinct_on" columns must match initial "order_by" columns/);
});
