/** Tests singular and plural: each noun in both forms, from both forms. */
import { expect, test } from 'vitest';
import { plural, singular } from './english.ts';

const NOUNS: readonly (readonly [singular: string, plural: string])[] = [
  ['address', 'addresses'],
  ['alias', 'aliases'],
  ['analysis', 'analyses'],
  ['Artist', 'Artists'],
  ['author', 'authors'],
  ['batch', 'batches'],
  ['box', 'boxes'],
  ['bus', 'buses'],
  ['Category', 'Categories'],
  ['CHILD', 'CHILDREN'],
  ['cache', 'caches'],
  ['day', 'days'],
  ['equipment', 'equipment'],
  ['house', 'houses'],
  ['match', 'matches'],
  ['movie', 'movies'],
  ['Person', 'People'],
  ['photo', 'photos'],
  ['purchase', 'purchases'],
  ['series', 'series'],
  ['shelf', 'shelves'],
  ['status', 'statuses'],
  ['tax', 'taxes'],
];

test.each(NOUNS)('%s and %s are one noun', (one, many) => {
  expect([singular(one), singular(many), plural(one), plural(many)]).toEqual([one, one, many, many]);
});
