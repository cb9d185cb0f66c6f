/** Text in a URL or a form as the value a variable's type asks for. */
import { expect, test } from 'vitest';
import { prepare } from './testing/ask.ts';
import { valueOfTexts } from './text-variables.ts';

/** A variable of every kind, where it is used. */
const DOCUMENT = prepare(`query (
  $int: Int, $big: bigint, $exact: numeric, $on: Boolean, $flag: Boolean!, $name: String, $must: String!, $key: uuid,
  $doc: jsonb, $list: [Int!], $where: author_bool_exp!, $order: order_by
) {
  everything(where: {
    id: { _eq: $big }, exact: { _eq: $exact }, is_on: { _eq: $on }, key: { _eq: $key }, doc: { _eq: $doc } }
  ) { id @include(if: $flag) }
  author(
    limit: $int, where: { _and: [$where, { name: { _eq: $name } }, { name: { _neq: $must } }, { id: { _in: $list } }] }
    order_by: { id: $order }
  ) { id }
}`);

const read = (name: string, ...texts: readonly string[]) =>
  valueOfTexts(texts, DOCUMENT.variables.get(name)!, JSON.parse);

test.each<[string, string, unknown]>([
  ['int', '10', 10],
  ['int', '-1.5e3', -1500],
  ['int', 'ten', 'ten'],
  ['int', '0x10', '0x10'],
  ['int', '01', '01'],
  ['exact', '1.5', 1.5],
  ['big', '12', 12],
  ['on', 'true', true],
  ['on', 'False', false],
  ['on', '', true],
  ['on', 'yes', 'yes'],
  ['flag', '', true],
  ['name', '10', '10'],
  ['name', 'true', 'true'],
  ['must', '', ''],
  ['key', 'not a uuid', 'not a uuid'],
  ['order', 'asc', 'asc'],
  ['doc', '{"a":[1]}', { a: [1] }],
  ['doc', '{"a"', '{"a"'],
  ['where', '{"id":{"_eq":1}}', { id: { _eq: 1 } }],
  ['list', '7', [7]],
  ['list', '[7, 8]', [7, 8]],
  ['list', '[7', '[7'],
])('$%s=%s', (name, text, value) => {
  expect(read(name, text)).toEqual(value);
});

test('what is empty is not given, where null is allowed', () => {
  expect(['int', 'key', 'big', 'doc', 'name'].map((name) => read(name, ''))).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('a name given several times is a list', () => {
  expect(read('list', '7', '8')).toEqual([7, 8]);
});

test('also where the type is none, so that the check of the variables names it', () => {
  expect(read('int', '7', '8')).toEqual([7, 8]);
});

test('what must be given is, empty or not, and the check says what it is', () => {
  expect(read('where', '')).toBe('');
});
