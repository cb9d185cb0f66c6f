/** Tests the query of a page of rows: what it asks for, and the values that texts mean. */
import { expect, test } from 'vitest';
import { asCsv, formulasIn } from './page/data-export.js';
import { operandOf, PAGE_ROWS, pageRowsOf, problemOf, rowsQuery } from './page/data-query.js';

const scalar = (name: string) => ({ kind: 'SCALAR', name, ofType: null });
const list = (name: string) => ({ kind: 'LIST', name: null, ofType: scalar(name) });
const directions = { asc: 'asc', desc: 'desc' };
const COLUMNS = [
  { name: 'id', operators: [{ name: '_eq', type: scalar('Int') }], directions },
  { name: 'title', operators: [{ name: '_like', type: scalar('String') }], directions },
];
const BOOKS = {
  name: 'books',
  isList: true,
  orderArgument: 'order_by',
  args: new Map([
    ['where', 'book_bool_exp'],
    ['order_by', '[book_order_by!]'],
    ['limit', 'Int'],
    ['offset', 'Int'],
  ]),
};
const NOTHING = { filters: [], order: null, page: 0 };

test('a page is one query with a limit, without a count', () => {
  const { question, rowsIn } = rowsQuery({ table: BOOKS, columns: COLUMNS, keys: [], ...NOTHING });
  expect(question).toEqual({
    query: 'query Rows($limit: Int) { books(limit: $limit) { id title } }',
    variables: { limit: PAGE_ROWS },
  });
  expect(rowsIn({ books: [{ id: 1 }] })).toEqual([{ id: 1 }]);
});

test('filters, order and later pages are variables', () => {
  const filters = [
    { column: 'id', operator: '_eq', text: '1' },
    { column: 'title', operator: '_like', text: '1' },
    { column: 'owner', operator: '_eq', text: 'not offered' },
  ];
  const order = { column: 'id', direction: 'desc' };
  const { question } = rowsQuery({ table: BOOKS, columns: COLUMNS, keys: [], filters, order, page: 2 });
  expect(question.variables).toEqual({
    where: { _and: [{ id: { _eq: 1 } }, { title: { _like: '1' } }] },
    order_by: [{ id: 'desc' }],
    limit: 50,
    offset: 100,
  });
  expect(question.query).toContain('$order_by: [book_order_by!]');
});

test('pages are in the order of the key, after the order that is chosen', () => {
  const keys = ['id', 'hidden'];
  const asked = (order: { column: string; direction: string } | null) =>
    rowsQuery({ table: BOOKS, columns: COLUMNS, keys, filters: [], order, page: 1 }).question.variables[
      'order_by'
    ];
  expect(asked(null)).toEqual([{ id: 'asc' }]);
  expect(asked({ column: 'title', direction: 'desc' })).toEqual([{ title: 'desc' }, { id: 'asc' }]);
  expect(asked({ column: 'id', direction: 'desc' })).toEqual([{ id: 'desc' }]);
});

test('related rows are reached by the key of a row', () => {
  const byKey = { name: 'author_by_pk', args: new Map([['id', 'Int!']]) };
  const through = { byKey, key: { id: 7 }, field: BOOKS };
  const { question, rowsIn } = rowsQuery({ table: BOOKS, columns: COLUMNS, keys: [], through, ...NOTHING });
  expect(question).toEqual({
    query:
      'query Rows($key_id: Int!, $limit: Int) { author_by_pk(id: $key_id) { books(limit: $limit) { id title } } }',
    variables: { key_id: 7, limit: 50 },
  });
  expect(rowsIn({ author_by_pk: null })).toEqual([]);
});

test('the root fields of a namespace, and related rows, are selected in it', () => {
  const shop = { ...BOOKS, namespace: 'shop' };
  const own = rowsQuery({ table: shop, columns: COLUMNS, keys: [], ...NOTHING });
  expect(own.question.query).toBe('query Rows($limit: Int) { shop { books(limit: $limit) { id title } } }');
  expect(own.rowsIn({ shop: { books: [{ id: 1 }] } })).toEqual([{ id: 1 }]);
  const byKey = { name: 'author_by_pk', namespace: 'shop', args: new Map([['id', 'Int!']]) };
  const through = { byKey, key: { id: 7 }, field: BOOKS };
  const related = rowsQuery({ table: shop, columns: COLUMNS, keys: [], through, ...NOTHING });
  expect(related.question.query).toContain('{ shop { author_by_pk(id: $key_id) { books(limit: $limit)');
  expect(related.rowsIn({ shop: { author_by_pk: { books: [{ id: 2 }] } } })).toEqual([{ id: 2 }]);
});

test('the directions of an order are those of the schema', () => {
  const upper = COLUMNS.map((column) => ({ ...column, directions: { asc: 'ASC', desc: 'DESC' } }));
  const order = { column: 'id', direction: 'desc' };
  const { question } = rowsQuery({ table: BOOKS, columns: upper, keys: [], filters: [], order, page: 0 });
  expect(question.variables['order_by']).toEqual([{ id: 'DESC' }]);
});

test.each([
  [scalar('Int'), '5', 5],
  [scalar('Int'), 'five', 'five'],
  [scalar('bigint'), '9007199254740993', '9007199254740993'],
  [scalar('numeric'), '1.50', '1.50'],
  [scalar('String'), '5', '5'],
  [scalar('Boolean'), 'false', false],
  [scalar('jsonb'), '{"a": [1]}', { a: [1] }],
  [list('Int'), '1, 2', [1, 2]],
  [list('String'), '["a,b"]', ['a,b']],
])('for %o, %s means %o', (type, text, operand) => {
  expect(operandOf(type, text)).toEqual(operand);
});

test('CSV has quotation marks where a value needs them', () => {
  expect(
    asCsv(
      ['a', 'b'],
      [
        { a: 'x,"y"', b: { c: 1 } },
        { a: null, b: 'two\nlines' },
      ],
    ),
  ).toBe('a,b\r\n"x,""y""","{""c"":1}"\r\n,"two\nlines"\r\n');
});

test.each([
  [null, ''],
  ['', '""'],
  ['=1+1', "'=1+1"],
  ['@home, alone', `"'@home, alone"`],
  ['-5', '-5'],
  [-5, '-5'],
  ['+', "'+"],
])('CSV has %j as %s', (value, text) => {
  expect(asCsv(['a'], [{ a: value }])).toBe(`a\r\n${text}\r\n`);
});

test.each([
  ['{"a": 1}', true],
  ['"red"', true],
  ['null', true],
  ['{"a": 1', false],
  ['red', false],
  ['', false],
])('JSON filters are JSON: %s', (text, isJson) => {
  const operators = [{ name: '_contains', type: scalar('jsonb') }];
  const columns = [{ name: 'meta', operators, directions: undefined }];
  const problem = problemOf([{ column: 'meta', operator: '_contains', text }], columns);
  expect(problem).toBe(isJson ? '' : `${text} is no JSON. Text has quotation marks: "red".`);
});

test.each([
  ['["a", "b"]', ''],
  ['1, "b"', ''],
  ['["a"', 'is no JSON'],
  ['1, b', 'is no JSON'],
])('lists of JSON are JSON: %s', (text, problem) => {
  const columns = [
    { name: 'meta', operators: [{ name: '_in', type: list('jsonb') }], directions: undefined },
  ];
  expect(problemOf([{ column: 'meta', operator: '_in', text }], columns)).toContain(problem);
});

test.each([
  ['_eq', 'dark', ''],
  ['_eq', '', ' is none of the values: dark, light.'],
  ['_in', 'dark, light', ''],
  ['_in', '["dark", "red"]', 'red is none of the values: dark, light.'],
])('an enum has the values of the schema: %s %s', (operator, text, problem) => {
  const type = {
    kind: 'ENUM',
    name: 'tone_enum',
    ofType: null,
    enumValues: [{ name: 'dark' }, { name: 'light' }],
  };
  const operators = [
    { name: '_eq', type },
    { name: '_in', type: { kind: 'LIST', name: null, ofType: type } },
  ];
  const columns = [{ name: 'tone', operators, directions: undefined }];
  expect(problemOf([{ column: 'tone', operator, text }], columns)).toBe(problem);
});

test('a filter that the role does not have is no filter that is left out', () => {
  expect(problemOf([{ column: 'owner', operator: '_eq', text: '1' }], COLUMNS)).toContain(
    'cannot filter by owner',
  );
  expect(problemOf([{ column: 'id', operator: '_like', text: '1' }], COLUMNS)).toContain('with _like');
  expect(problemOf([{ column: 'id', operator: '_eq', text: '1' }], COLUMNS)).toBe('');
});

test('a page has no more rows than the role gets in a request', () => {
  expect([null, undefined, 10, 500].map(pageRowsOf)).toEqual([50, 50, 10, 50]);
  const view = { table: BOOKS, columns: COLUMNS, keys: [], ...NOTHING, page: 2, pageRows: 10 };
  expect(rowsQuery(view).question.variables).toEqual({ limit: 10, offset: 20 });
});

test('texts that CSV changes are counted', () => {
  const rows = [{ phone: '+41 1', name: '=1+1', price: '-1.50', note: '{"a": "=1"}' }, { phone: null }];
  expect(formulasIn(['phone', 'name', 'price', 'note'], rows)).toBe(2);
  expect(formulasIn(['price'], rows)).toBe(0);
});

test.each([
  ['a, b', ['a', 'b']],
  ['["a", "b"]', ['a', 'b']],
  ['{a,b}', ['a', 'b']],
  ['{a', ['{a']],
])('a list of texts: %s', (text, expected) => {
  expect(operandOf(list('String'), text)).toEqual(expected);
});
