/** Orders and distinct columns. */
import { expect, test } from 'vitest';
import { refusal, selectOf } from './testing/ask.ts';

const orderOf = (order: string, role = 'admin') =>
  selectOf(`{ article(order_by: ${order}) { id } }`, null, role).orderBy.map(
    ({ path, column, direction, nulls }) =>
      [...path.map(({ join }) => join.table.name), column, direction, nulls].join(' '),
  );

test('six directions; nulls are last going up and first going down', () => {
  expect(orderOf('[{ id: asc }, { title: desc }]')).toEqual(['id asc last', 'title desc first']);
  expect(orderOf('[{ id: asc_nulls_first }, { title: asc_nulls_last }]')).toEqual([
    'id asc first',
    'title asc last',
  ]);
  expect(orderOf('[{ id: desc_nulls_first }, { title: desc_nulls_last }]')).toEqual([
    'id desc first',
    'title desc last',
  ]);
});

test('one object is a list of one, and its keys keep their order', () => {
  expect(orderOf('{ title: asc, id: desc }')).toEqual(['title asc last', 'id desc first']);
});

test('an object relationship is followed, with what the role may see of the other table', () => {
  expect(orderOf('{ author: { name: asc } }')).toEqual(['author name asc last']);
  const text = '{ author(order_by: { name: asc }) { articles(order_by: [{ author: { id: asc } }]) { id } } }';
  const [articles] = selectOf(text, null, 'reader').fields;
  expect(articles).toMatchObject({
    select: { orderBy: [{ column: 'id', path: [{ filter: { kind: 'true' } }] }] },
  });
});

test('an array relationship orders nothing', () => {
  expect(refusal('{ author(order_by: { articles: { id: asc } }) { id } }')).toMatch(
    /field 'articles' not found in type: 'author_order_by'/,
  );
});

test('an unknown direction is refused with those there are', () => {
  expect(refusal('{ article(order_by: { id: up }) { id } }')).toMatch(
    /order_by\[0\]\.id: expected one of the values \['asc', 'asc_nulls_first', .*'\] for type 'order_by', but found 'up'/,
  );
  expect(refusal('{ article(order_by: { id: "asc" }) { id } }')).toMatch(
    /expected an enum value for type 'order_by', but found a string/,
  );
});

test('distinct columns must be what the order begins with', () => {
  const distinct = (args: string) => refusal(`{ article(${args}) { id } }`);
  const leading = '$.selectionSet.article.args: "distinct_on" columns must match initial "order_by" columns';
  expect(distinct('distinct_on: id')).toBe('no error');
  expect(
    distinct('distinct_on: [id, title], order_by: [{ title: asc }, { id: asc }, { author_id: asc }]'),
  ).toBe('no error');
  expect(distinct('distinct_on: id, order_by: { title: asc }')).toBe(leading);
  expect(distinct('distinct_on: [id, title], order_by: [{ id: asc }, { author_id: asc }]')).toBe(leading);
  expect(distinct('distinct_on: id, order_by: { author: { id: asc } }')).toBe(leading);
});

test('a column given twice is distinct once', () => {
  expect(selectOf('{ article(distinct_on: [id, id]) { id } }').distinctOn).toEqual(['id']);
});
