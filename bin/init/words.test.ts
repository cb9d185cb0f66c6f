/** Tests the words of identifiers, the style of a table, and names for what GraphQL cannot spell. */
import { expect, test } from 'vitest';
import { freeName, graphqlName, spell, styleOf, wordsOf } from './words.ts';

test.each([
  ['author_id', ['author', 'id']],
  ['AuthorId', ['Author', 'Id']],
  ['HTTPServerURL', ['HTTP', 'Server', 'URL']],
  ['line2_text', ['line2', 'text']],
  ['order no.', ['order', 'no']],
  ['café_id', ['cafe', 'id']],
])('%s has the words %j', (name, words) => {
  expect(wordsOf(name)).toEqual(words);
});

test.each([
  ['snake', ['author_id', 'name'], 'home_team'],
  ['camel', ['authorId', 'name', 'id'], 'homeTeam'],
  ['pascal', ['AuthorId', 'Name', 'ID'], 'HomeTeam'],
  ['pascal', ['ID', 'Name'], 'HomeTeam'],
  ['pascal', ['Unit price', 'Country Of Origin'], 'HomeTeam'],
  ['upper', ['AUTHOR_ID', 'NAME'], 'HOME_TEAM'],
  ['title', ['Author_Id', 'Name', 'ID'], 'Home_Team'],
  ['snake', ['name', 'id'], 'home_team'],
] as const)('%s is the style of %j', (style, names, spelled) => {
  expect(styleOf(names)).toBe(style);
  expect(spell(['Home', 'team'], style)).toBe(spelled);
});

test.each([
  [['id', 'name'], 'camel', 'camel'],
  [['id', 'name'], 'pascal', 'camel'],
  [['id', 'name'], 'upper', 'snake'],
  [['ID', 'NAME'], 'snake', 'upper'],
  [['ID', 'NAME'], 'pascal', 'pascal'],
  [['A', 'B'], 'camel', 'camel'],
  [['author_id'], 'camel', 'snake'],
] as const)('the style of %j beside %s is %s', (names, otherwise, style) => {
  expect(styleOf(names, otherwise)).toBe(style);
});

test.each([
  ['name', 'name'],
  ['2nd', '_2nd'],
  ['2nd choice', '_2nd_choice'],
  ['a b-c', 'a_b_c'],
  ['Product Details', 'ProductDetails'],
  ['Weight (kg)', 'WeightKg'],
  ['Straße', 'Strasse'],
  ['__type', 'type'],
  ['таблица', 'other'],
])('GraphQL spells %s as %s', (name, expected) => {
  expect(graphqlName(name, 'other')).toBe(expected);
});

test.each([
  ['order', 'order_2'],
  ['Order', 'Order2'],
  ['ORDER', 'ORDER_2'],
  ['orderItem', 'orderItem2'],
])('the second %s is %s', (name, expected) => {
  expect(freeName(name, new Set([name]))).toBe(expected);
});
