/** Whom the request policies in a document concern, and in what measure. */
import { expect, test } from 'vitest';
import { parseMetadata } from '../metadata/parse.ts';
import { requestPolicyOf, resolveRequestPolicies } from './request-policy.ts';

const policiesOf = (parts: Readonly<Record<string, unknown>>, enableAllowlist = false) => {
  const requestPolicies = resolveRequestPolicies(
    parseMetadata({ version: 3, sources: [], ...parts }),
    enableAllowlist,
  );
  return (role: string) => requestPolicyOf({ requestPolicies }, role);
};
const limits = {
  depth_limit: { global: 5, per_role: { user: 7 } },
  time_limit: { global: 2 },
  batch_limit: { per_role: { user: 1 } },
};

test('a role has its own limit, any other role the one for everybody, the administrator none', () => {
  const of = policiesOf({ api_limits: limits });
  expect([of('user').mostDepth, of('guest').mostDepth, of('admin').mostDepth]).toEqual([7, 5, null]);
  expect([of('user').timeLimitMs, of('guest').timeLimitMs, of('admin').timeLimitMs]).toEqual([
    2000,
    2000,
    null,
  ]);
  expect([of('user').mostInBatch, of('guest').mostInBatch]).toEqual([1, null]);
});

test('a role may be called like what every object has', () => {
  expect(policiesOf({ api_limits: limits })('constructor').mostDepth).toBe(5);
});

test('the limit of responses of a role takes precedence over the global one, and both over the option', () => {
  const metadata = { api_limits: { response_limit: { global: 5, per_role: { user: 7 } } } };
  const of = (parts: object, role: string) => {
    const whole = { sources: [], ...parts } as never;
    const requestPolicies = resolveRequestPolicies(whole, false, { defaultResponseBytes: 9 });
    const { mostResponseBytes, defaultResponseBytes } = requestPolicyOf({ requestPolicies }, role);
    return mostResponseBytes ?? defaultResponseBytes;
  };
  expect(['user', 'guest', 'admin'].map((role) => of(metadata, role))).toEqual([7, 5, null]);
  expect(['user', 'guest', 'admin'].map((role) => of({}, role))).toEqual([9, 9, null]);
});

test('limits that are switched off do not hold', () => {
  expect(policiesOf({ api_limits: { ...limits, disabled: true } })('user')).toMatchObject({
    mostDepth: null,
    timeLimitMs: null,
    mostInBatch: null,
  });
});

test('callers are told apart by role alone, by address in either spelling, or by session variables', () => {
  const rate = (unique_params: unknown) =>
    policiesOf({ api_limits: { rate_limit: { global: { max_reqs_per_min: 3, unique_params } } } })('user')
      .rate;
  expect(rate(null)).toEqual({ mostPerMinute: 3, by: [] });
  expect([rate('IP')?.by, rate('ip')?.by]).toEqual(['address', 'address']);
  expect(rate(['X-Engine-User-Id'])?.by).toEqual(['x-engine-user-id']);
});

test('introspection is closed to the roles that are named, and to no other', () => {
  const of = policiesOf({ graphql_schema_introspection: { disabled_for_roles: ['user', 'admin'] } });
  expect([of('user').mayIntrospect, of('guest').mayIntrospect, of('admin').mayIntrospect]).toEqual([
    false,
    true,
    true,
  ]);
});

const collection = (name: string) => ({ name, definition: { queries: [{ name: 'q', query: '{ a }' }] } });
const listed = {
  query_collections: [collection('open'), collection('closed'), collection('unlisted')],
  allowlist: [
    { collection: 'open' },
    { collection: 'closed', scope: { global: false, roles: ['user'] } },
    { collection: 'gone' },
  ],
};

test('a collection on the allow list is allowed to everybody or to the roles of its scope', () => {
  const of = policiesOf(listed, true);
  const names = (role: string) => of(role).allowed?.map(({ name }) => name);
  expect(names('user')).toEqual(['open', 'closed']);
  expect(names('guest')).toEqual(['open']);
  expect(names('admin')).toBeUndefined();
});

test('an allow list that is not enforced allows everything', () => {
  expect(policiesOf(listed)('guest').allowed).toBeNull();
});
