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

test('permissions of the administrator for functions and actions are reported, and those of other roles are not', () => {
  const permissions = [{ role: 'reader' }, { role: 'admin' }];
  const source = {
    name: 'main',
    kind: 'postgres',
    configuration: {},
    tables: [],
    functions: [{ function: { schema: 'public', name: 'search' }, permissions }],
  };
  const action = { name: 'login', definition: { handler: 'http://example.org' }, permissions };
  const metadata = { ...emptyMetadata, sources: [source], actions: [action] };
  const entries = unenforcedIn(metadata as never, { namingConvention: 'default' } as never);
  expect(entries.map(({ key }) => key)).toEqual([
    'function_permission/main/public/search/admin',
    'action_permission/login/admin',
  ]);
  for (const { reason } of entries) expect(reason).toContain('the role admin has every permission');
});

test('an inherited role that has the name of the administrator is reported', () => {
  const inherited_roles = ['admin', 'editor'].map((role_name) => ({ role_name, role_set: ['reader'] }));
  const entries = unenforcedIn({ ...emptyMetadata, inherited_roles }, {} as never);
  expect(entries.map(({ key, reason }) => [key, reason])).toEqual([
    ['inherited_role/admin', expect.stringContaining('nothing restricts the role admin')],
  ]);
});
