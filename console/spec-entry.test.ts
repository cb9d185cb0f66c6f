/** Tests the texts of the form of Change: they may be written as the documents write them, and a text that cannot be read is no part of the resource. */
import { expect, test } from 'vitest';
import { textsIn, UNREADABLE, valueIn } from './page/spec-entry.js';
import { entered, unreadableIn } from './page/spec-value.js';

test.each([
  ['JSON', '{"owner": {"_eq": "X-Engine-User-Id"}}', { owner: { _eq: 'X-Engine-User-Id' } }],
  ['YAML in brackets', '{owner: {_eq: X-Engine-User-Id}}', { owner: { _eq: 'X-Engine-User-Id' } }],
  ['YAML in lines', 'owner:\n  _eq: X-Engine-User-Id', { owner: { _eq: 'X-Engine-User-Id' } }],
  ['a date, which is text', '{born: {_gt: 2020-01-01}}', { born: { _gt: '2020-01-01' } }],
  ['nothing', ' ', undefined],
  ['half an object', '{owner: ', UNREADABLE],
  ['a word', 'owner', UNREADABLE],
  ['a list', '[1]', UNREADABLE],
])('an object: %s', (_, text, value) => {
  expect(valueIn({ type: 'object' }, text)).toEqual(value);
});

test('a value that may be anything', () => {
  expect(['1', 'true', 'word', '[a]'].map((text) => valueIn({}, text))).toEqual([1, true, 'word', ['a']]);
});

test.each([
  ['id\n\n title \n', ['id', 'title']],
  ['*', ['*']],
  ['["*"]', ['*']],
  ['[id, title]', ['id', 'title']],
  ['[id', ['[id']],
  ['', []],
])('a list of texts: %j', (text, list) => {
  expect(textsIn(text)).toEqual(list);
});

test('a text that cannot be read is named, and the resource has no earlier value in its place', () => {
  const filter = { type: 'object' };
  const list = { type: 'array', items: { type: 'object', properties: { filter } } };
  const schema = { type: 'object', properties: { filter, list } };
  const written = { filter: UNREADABLE, list: [{ filter: {} }, { filter: UNREADABLE }] };
  expect(entered(schema, written)).toEqual({ list: [{ filter: {} }, {}] });
  expect(unreadableIn(schema, written)).toEqual([
    'spec.filter cannot be read',
    'spec.list[1].filter cannot be read',
  ]);
});
