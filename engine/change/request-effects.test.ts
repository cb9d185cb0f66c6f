/** Tests what a draft changes for requests: pairs of documents, and random allow lists, whose changes are compared with the check of each request.
 *  Through the admin API: effects.test.ts. */
import { parse } from 'graphql';
import { describe, expect, test } from 'vitest';
import { randomBits } from '../../testing/random-bits.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import { isAllowed } from '../plan/request-policy.ts';
import type { ResolvedRemoteSchema } from '../resolve/model/remote-schema.ts';
import { requestPolicyOf, resolveRequestPolicies } from '../resolve/request-policy.ts';
import { resolveEndpoints } from '../resolve/rest-endpoint.ts';
import { type Requested, requestChanges } from './request-effects.ts';

const requestedOf = (metadata: Partial<Metadata>, isEnforced = true): Requested => {
  const whole = { ...emptyMetadata, ...metadata };
  return {
    requestPolicies: resolveRequestPolicies(whole, isEnforced),
    routes: resolveEndpoints(whole, () => {}),
    sources: new Map(),
    remoteSchemas: new Map(),
  };
};
const changes = (before: Partial<Metadata>, after: Partial<Metadata>) =>
  requestChanges(requestedOf(before), requestedOf(after));

const collection = (name: string, queries: Readonly<Record<string, string>>) => ({
  name,
  definition: { queries: Object.entries(queries).map(([query, text]) => ({ name: query, query: text })) },
});
const listed = (...names: readonly string[]) => names.map((name) => ({ collection: name }));
const listedFor = (name: string, ...roles: string[]) => ({
  collection: name,
  scope: { global: false, roles } as const,
});

const A = collection('a', { one: '{ one { id } }', two: '{ two { id } }' });

describe('the allow list', () => {
  const runs = (before: Partial<Metadata>, after: Partial<Metadata>) =>
    changes(before, after).map(({ role, except = [], change, operation, on }) => {
      expect(operation).toBe('run');
      return `${[role ?? 'every role', ...except.map((one) => `but ${one}`)].join(' ')}: ${change} ${on}`;
    });

  test('a collection that is added or removed', () => {
    const [without, withA] = [{ query_collections: [A] }, { query_collections: [A], allowlist: listed('a') }];
    expect(runs(without, withA)).toEqual(['every role: granted a.one', 'every role: granted a.two']);
    expect(runs(withA, without)).toEqual(['every role: revoked a.one', 'every role: revoked a.two']);
    // What the engine does not enforce changes nothing.
    expect(requestChanges(requestedOf(without, false), requestedOf(withA, false))).toEqual([]);
  });

  test('a collection for single roles', () => {
    const forReader = { query_collections: [A], allowlist: [listedFor('a', 'reader')] };
    expect(runs({ query_collections: [A] }, forReader)).toEqual([
      'reader: granted a.one',
      'reader: granted a.two',
    ]);
    expect(runs({ query_collections: [A], allowlist: listed('a') }, forReader)).toEqual([
      'every role but reader: revoked a.one',
      'every role but reader: revoked a.two',
    ]);
  });

  test('a query that is added, removed or changed, and one that another collection allows as well', () => {
    const of = (...collections: readonly ReturnType<typeof collection>[]) => ({
      query_collections: [...collections],
      allowlist: listed('a', 'b'),
    });
    const more = collection('a', { one: '{ one { id } }', two: '{ two { id } }', three: '{ three }' });
    expect(runs(of(A), of(more))).toEqual(['every role: granted a.three']);
    expect(runs(of(more), of(A))).toEqual(['every role: revoked a.three']);
    const again = collection('b', { other: '{ three }' });
    expect(runs(of(more, again), of(A, again))).toEqual([]);
    const changed = collection('a', { one: '{ one { id title } }', two: '{ two { id } }' });
    expect(changes(of(A), of(changed))).toEqual([
      {
        key: 'query_collection/a',
        role: null,
        on: 'a.one',
        operation: 'run',
        change: 'changed',
        verdict: 'other',
        parts: [{ name: 'query', verdict: 'other', before: '{one{id}}', after: '{one{id title}}' }],
      },
    ]);
    // What documents are compared without.
    const same = collection('a', { one: '{ one { __typename id } } # note', two: '{two{id}}' });
    expect(runs(of(A), of(same))).toEqual([]);
  });

  test('what changes says for random lists is what the check of a request says', () => {
    const bits = randomBits(20_251_125);
    const random = (below: number) => bits() % below;
    const texts = ['{ p }', '{ q }', '{ r { id } }', '{ s(x: 1) }'];
    const pick = () => texts[random(texts.length)]!;
    const document = () => {
      const query_collections = ['c', 'd'].map((name) =>
        collection(name, Object.fromEntries(Array.from({ length: random(4) }, (_, i) => [`q${i}`, pick()]))),
      );
      const scopes = [
        (name: string) => [{ collection: name }],
        (name: string) => [listedFor(name, ...['x', 'y'].slice(random(2)))],
        () => [],
      ];
      return { query_collections, allowlist: ['c', 'd'].flatMap((name) => scopes[random(3)]!(name)) };
    };
    let count = 0;
    for (let i = 0; i < 400; i++) {
      const [before, after] = [document(), document()];
      const found = changes(before, after);
      count += found.length;
      const textOf = (metadata: typeof before, on: string) => {
        const [from, name] = on.split('.');
        const { definition } = metadata.query_collections.find((one) => one.name === from)!;
        return definition.queries.find((one) => one.name === name)!.query;
      };
      for (const role of ['x', 'y', 'z']) {
        const own = found.filter(
          (one) => one.role === role || (one.role === null && !one.except?.includes(role)),
        );
        const lost = own.flatMap(({ change, on }) => (change === 'granted' ? [] : [textOf(before, on)]));
        const gained = own.flatMap(({ change, on }) => (change === 'revoked' ? [] : [textOf(after, on)]));
        for (const text of texts) {
          const [was, is] = [before, after].map((metadata) =>
            isAllowed(parse(text), requestPolicyOf(requestedOf(metadata), role).allowed!),
          );
          const said = { before, after, role, text };
          expect({ ...said, lost: lost.includes(text), gained: gained.includes(text) }).toEqual({
            ...said,
            lost: was && !is,
            gained: is && !was,
          });
        }
      }
    }
    expect(count).toBeGreaterThan(400);
  });
});

describe('REST endpoints', () => {
  const endpoint = (given: object = {}) => ({
    name: 'articles',
    url: 'articles/:id',
    methods: ['GET' as const],
    definition: { query: { collection_name: 'a', query_name: 'one' } },
    ...given,
  });
  const of = (text: string, ...rest_endpoints: readonly ReturnType<typeof endpoint>[]) => ({
    query_collections: [collection('a', { one: text })],
    rest_endpoints: [...rest_endpoints],
  });
  const ONE = 'query ($id: Int!) { one(id: $id) { id } }';

  test('that are added or removed, or lose their query', () => {
    const [withIt, without] = [of(ONE, endpoint()), of(ONE)];
    const granted = {
      key: 'rest_endpoint/articles',
      role: null,
      on: 'articles',
      operation: 'request',
      change: 'granted',
      verdict: 'wider',
      parts: [],
    };
    expect(changes(without, withIt)).toEqual([granted]);
    expect(changes(withIt, without)).toMatchObject([
      { on: 'articles', change: 'revoked', verdict: 'narrower' },
    ]);
    expect(changes(withIt, { rest_endpoints: [endpoint()] })).toMatchObject([{ change: 'revoked' }]);
    expect(changes(withIt, withIt)).toEqual([]);
  });

  test.each([
    [{ url: 'article/:id' }, ONE, 'other', 'url', 'articles/:id', 'article/:id'],
    [{ methods: ['GET' as const, 'POST' as const] }, ONE, 'wider', 'methods', 'GET', 'GET, POST'],
    [{ methods: ['POST' as const] }, ONE, 'other', 'methods', 'GET', 'POST'],
    [
      {},
      'query ($id: Int!) { one(id: $id) { id title } }',
      'wider',
      'query',
      'query($id:Int!){one(id:$id){id}}',
      'query($id:Int!){one(id:$id){id title}}',
    ],
  ] as const)('%j with %s is %s', (given, text, verdict, name, before, after) => {
    expect(changes(of(ONE, endpoint()), of(text, endpoint(given)))).toMatchObject([
      {
        on: 'articles',
        operation: 'request',
        change: 'changed',
        verdict,
        parts: [{ name, verdict, before, after }],
      },
    ]);
  });

  test('a comment, and the order of methods, change nothing', () => {
    const two = endpoint({ methods: ['GET', 'POST'] });
    const other = endpoint({ methods: ['POST', 'GET'], comment: 'new' });
    expect(changes(of(ONE, two), of(ONE, other))).toEqual([]);
  });
});

describe('limits', () => {
  const limits = (...given: readonly (readonly [before: object, after: object])[]) =>
    given.flatMap(([before, after]) =>
      changes({ api_limits: before } as never, { api_limits: after } as never).map(
        ({ role, except, verdict, parts }) =>
          [
            role ?? 'every role',
            except ?? [],
            verdict,
            ...parts.map((one) => `${one.name}: ${one.before} → ${one.after}`),
          ] as const,
      ),
    );

  test.each([
    [{}, { depth_limit: { global: 5 } }, 'narrower', 'depth: no limit → 5'],
    [{ node_limit: { global: 5 } }, { node_limit: { global: 6 } }, 'wider', 'nodes: 5 → 6'],
    [
      { batch_limit: { global: 5 } },
      { batch_limit: { global: 5 }, disabled: true },
      'wider',
      'batch: 5 → no limit',
    ],
    [{ time_limit: { global: 5 } }, { time_limit: { global: 4 } }, 'narrower', 'time: 5 s → 4 s'],
    [
      { rate_limit: { global: { max_reqs_per_min: 5 } } },
      { rate_limit: { global: { max_reqs_per_min: 5, unique_params: 'IP' } } },
      'other',
      'rate_by: role → address',
    ],
    [{}, { rate_limit: { global: { max_reqs_per_min: 9 } } }, 'narrower', 'rate: no limit → 9 a minute'],
    [{}, { response_limit: { global: 9 } }, 'narrower', 'response: no limit → 9 bytes'],
  ] as const)('%j → %j is %s', (before, after, verdict, part) => {
    expect(limits([before, after])).toEqual([['every role', [], verdict, part]]);
  });

  test('of single roles leave the others, and those that have their own', () => {
    const own = { depth_limit: { global: 5, per_role: { partner: 8 } } };
    expect(limits([{ depth_limit: { global: 5 } }, own])).toEqual([['partner', [], 'wider', 'depth: 5 → 8']]);
    expect(limits([own, { depth_limit: { global: 4, per_role: { partner: 8 } } }])).toEqual([
      ['every role', ['partner'], 'narrower', 'depth: 5 → 4'],
    ]);
  });

  test('introspection of roles', () => {
    const closed = (...disabled_for_roles: string[]) => ({
      graphql_schema_introspection: { disabled_for_roles },
    });
    expect(changes(closed('a'), closed('b'))).toMatchObject([
      { key: 'introspection', role: 'a', verdict: 'wider', parts: [{ before: 'no', after: 'yes' }] },
      { key: 'introspection', role: 'b', verdict: 'narrower', parts: [{ before: 'yes', after: 'no' }] },
    ]);
  });
});

test('a remote schema that every role sees as a whole, or no longer', () => {
  const remote = (permissions: ResolvedRemoteSchema['permissions']): Requested => {
    const billing = { name: 'billing', permissions } as unknown as ResolvedRemoteSchema;
    return { ...requestedOf({}), remoteSchemas: new Map([['billing', billing]]) };
  };
  const [open, closed] = [remote(null), remote(new Map())];
  const call = { key: 'remote_schema/billing', role: null, on: 'billing', operation: 'call', parts: [] };
  const granted = { ...call, change: 'granted', verdict: 'wider' };
  expect(requestChanges(requestedOf({}), open)).toEqual([granted]);
  expect(requestChanges(closed, open)).toEqual([granted]);
  expect(requestChanges(open, closed)).toEqual([{ ...call, change: 'revoked', verdict: 'narrower' }]);
  expect(requestChanges(requestedOf({}), closed)).toEqual([]);
  expect(requestChanges(open, open)).toEqual([]);
});
