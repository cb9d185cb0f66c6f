/** Tests what each expectation accepts, and what it says about a response that differs. */
import { parseJson } from '@pergola/engine/metadata';
import { describe, expect, test } from 'vitest';
import type { TestResponse } from '../ports/permission-test.ts';
import { differencesFrom, summaryFrom } from './expectation.ts';

type Row = Readonly<Record<string, unknown>>;

const data = (text: string): TestResponse => ({ data: parseJson(text), errors: [] });
const DENIED: TestResponse = {
  data: null,
  errors: [{ code: 'validation-failed', message: "field 'cost' not found", path: '$.selectionSet.cost' }],
};

describe('data', () => {
  test('is the whole response; the order of lists counts, that of fields does not', () => {
    const response = data('{"book": [{"id": 1, "title": "A"}, {"id": 2, "title": "B"}]}');
    const rows = [
      { title: 'A', id: 1 },
      { id: 2, title: 'B' },
    ];
    expect(differencesFrom({ data: { book: rows } }, response)).toEqual([]);
    expect(differencesFrom({ data: { book: rows.toReversed() } }, response)).toEqual([
      'data.book[0].id: expected 2, received 1',
      'data.book[0].title: expected "B", received "A"',
      'data.book[1].title: expected "A", received "B"',
      'data.book[1].id: expected 1, received 2',
    ]);
    expect(differencesFrom({ data: { book: [] } }, response)).toEqual([
      'data.book: expected [], received [{"id":1,"title":"A"},{"id":2,"title":"B"}]',
    ]);
    expect(differencesFrom({ data: {} }, data('{"book": null}'))).toEqual([
      'data.book: expected nothing, received null',
    ]);
    expect(differencesFrom({ data: { book: null } }, data('{}'))).toEqual([
      'data.book: expected null, received nothing',
    ]);
  });

  test('compares numbers by value, and long ones by their text', () => {
    const response = data('{"price": 12.50, "id": 9007199254740993}');
    expect(
      differencesFrom({ data: parseJson('{"price": 12.5, "id": 9007199254740993}') as Row }, response),
    ).toEqual([]);
    expect(
      differencesFrom({ data: parseJson('{"price": 12.51, "id": 9007199254740992}') as Row }, response),
    ).toEqual([
      'data.price: expected 12.51, received 12.50',
      'data.id: expected 9007199254740992, received 9007199254740993',
    ]);
    expect(differencesFrom({ data: { price: '1' } }, data('{"price": 1}'))).toHaveLength(1);
  });

  test('does not fit an error', () => {
    expect(differencesFrom({ data: {} }, DENIED)).toEqual([
      "expected data, received the error validation-failed: field 'cost' not found at $.selectionSet.cost",
    ]);
  });
});

describe('rows', () => {
  const response = data(
    '{"author": [{"name": "A", "books": [{"id": 1, "title": "x"}]}, {"name": "B", "books": [{"id": 2, "title": "y"}]}], "one": {"id": 5}, "none": null}',
  );
  const rows = (item: object, path = 'author.books') =>
    differencesFrom({ rows: [{ path, ...item }] }, response);

  test('count, contains and excludes look at the rows of all items of a path', () => {
    expect(rows({ count: 2, contains: [{ id: 2 }], excludes: [{ id: 3 }] })).toEqual([]);
    expect(rows({ count: 1 })).toEqual([
      'author.books: expected 1 row, received 2 rows: [{"id":1,"title":"x"},{"id":2,"title":"y"}]',
    ]);
    expect(rows({ contains: [{ id: 1, title: 'y' }] })).toEqual([
      'author.books: expected a row with {"id":1,"title":"y"}, received [{"id":1,"title":"x"},{"id":2,"title":"y"}]',
    ]);
    expect(rows({ excludes: [{ title: 'y' }] })).toEqual([
      'author.books: expected no row with {"title":"y"}, received {"id":2,"title":"y"}',
    ]);
    expect(rows({ contains: [{ isbn: null }] })).toHaveLength(1);
  });

  test('equal takes any order, all fields, and rows as often as they occur', () => {
    const both = [
      { id: 2, title: 'y' },
      { title: 'x', id: 1 },
    ];
    expect(rows({ equal: both })).toEqual([]);
    expect(rows({ equal: [both[0], both[0]] })).toEqual([
      'author.books: expected the row {"id":2,"title":"y"}, which is missing',
      'author.books: received the row {"id":1,"title":"x"}, which is not expected',
    ]);
    expect(rows({ equal: [{ id: 1 }, { id: 2 }] })).toHaveLength(4);
  });

  test('an object is one row, null is none, and a path that leads to no rows differs', () => {
    expect(rows({ count: 1, equal: [{ id: 5 }] }, 'one')).toEqual([]);
    expect(rows({ count: 0, excludes: [{ id: 5 }] }, 'none')).toEqual([]);
    expect(rows({ count: 0 }, 'author.missing')).toHaveLength(1);
    expect(rows({ count: 0 }, 'one.id')).toEqual([
      expect.stringMatching(/^one.id: expected rows, received data/),
    ]);
  });
});

describe('error', () => {
  test('is not that of a request which the allow list refuses, unless its message is named', () => {
    const refused: TestResponse = {
      data: null,
      errors: [{ code: 'validation-failed', message: 'query is not allowed', path: '$' }],
    };
    for (const error of [{}, { code: 'validation-failed' }, { path: '$' }]) {
      const [difference] = differencesFrom({ error }, refused);
      expect(difference).toContain('received the error validation-failed: query is not allowed at $');
    }
    expect(differencesFrom({ error: { message: 'query is not allowed' } }, refused)).toEqual([]);
  });

  test('names code, a part of the message and the path; without them any error fits', () => {
    expect(differencesFrom({ error: {} }, DENIED)).toEqual([]);
    const all = { code: 'validation-failed', message: "'cost'", path: '$.selectionSet.cost' };
    expect(differencesFrom({ error: all }, DENIED)).toEqual([]);
    for (const wrong of [{ code: 'permission-error' }, { message: 'price' }, { path: '$' }]) {
      expect(differencesFrom({ error: { ...all, ...wrong } }, DENIED)).toHaveLength(1);
    }
  });

  test('does not fit data', () => {
    expect(differencesFrom({ error: { code: 'validation-failed', path: '$' } }, data('{"a": [1]}'))).toEqual([
      'expected an error with the code validation-failed and the path $, received data {"a":[1]}',
    ]);
  });
});

test('many differences are cut', () => {
  const excludes = [{}];
  const rows = JSON.stringify(Array.from({ length: 30 }, (_, id) => ({ id })));
  const found = differencesFrom({ rows: [{ path: 'a', excludes }] }, data(`{"a": ${rows}}`));
  expect([found.length, found.at(-1)]).toEqual([11, 'and 20 more']);
});

test('the summary says where a response differs, and contains no value of it', () => {
  const response = data('{"note": [{"id": 7, "body": "secret"}], "one": null}');
  const summary = (expected: Parameters<typeof summaryFrom>[0]) => summaryFrom(expected, response);
  expect(summary({ rows: [{ path: 'note', count: 1 }] })).toBeUndefined();
  expect(
    summary({
      rows: [
        { path: 'one', count: 1 },
        { path: 'note', excludes: [{ id: 7 }] },
      ],
    }),
  ).toBe('the response differs at one, note');
  expect(summary({ data: { note: [] }, rows: [{ path: 'note', count: 1 }] })).toBe(
    'the response differs at data',
  );
  expect(summary({ error: {} })).toBe('expected an error, received data');
  expect(summaryFrom({ error: { code: 'permission-error' } }, DENIED)).toBe(
    'expected another error than validation-failed',
  );
  expect(summaryFrom({ data: {} }, DENIED)).toBe('expected data, received the error validation-failed');
});
