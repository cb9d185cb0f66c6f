/** Tests the words of identifiers, the style of a table, and names for what GraphQL cannot spell. */
import { expect, test } from 'vitest';
import { graphqlName, spell, styleOf, wordsOf } from './words.ts';

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
  ['upper', ['AUTHOR_ID', 'NAME'], 'HOME_TEAM'],
  ['snake', ['name', 'id'], 'home_team'],
] as const)('%s is the style of %j', (style, names, spelled) => {
  expect(styleOf(names)).toBe(style);
  expect(spell(['Home', 'team'], style)).toBe(spelled);
});

test.each([
  ['name', 'name'],
  ['2nd', '_2nd'],
  ['a b-c', 'a_b_c'],
  ['__type', 'type'],
  ['таблица', 'other'],
])('GraphQL spells %s as %s', (name, expected) => {
  expect(graphqlName(name, 'other')).toBe(expected);
});
