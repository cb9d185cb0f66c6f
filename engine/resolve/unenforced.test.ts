/** Tests declarations without effect. Not here: permissions and limits, each with a request (end-to-end/restrictions.test.ts). */
import { expect, test } from 'vitest';
import { emptyMetadata } from '../metadata/schema/metadata.ts';
import { unenforcedIn } from './unenforced.ts';

const found = (queries: readonly { name: string; query: string }[]) => {
  const query_collections = [{ name: 'app', definition: { queries: [...queries] } }];
  return unenforcedIn({ ...emptyMetadata, query_collections }, {} as never);
};

test('a collection whose documents are GraphQL is not reported', () => {
  expect(found([{ name: 'a', query: 'query A { author { id } }' }])).toEqual([]);
});

test('a collection names each document that is not GraphQL, once', () => {
  const [entry, ...others] = found([
    { name: 'fits', query: '{ author { id } }' },
    { name: 'open', query: '{ author { id }' },
    { name: 'empty', query: ' ' },
  ]);
  expect(others).toEqual([]);
  expect(entry).toMatchObject({ key: 'query_collection/app', type: 'query_collection' });
  expect(entry!.reason).toMatch(
    /^the query open is not GraphQL \(Syntax Error: .*\); the query empty is not GraphQL/,
  );
  expect(entry!.reason).not.toContain('fits');
});
