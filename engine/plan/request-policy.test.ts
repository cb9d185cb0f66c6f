/** What a role may not ask whatever its permissions: closed introspection, too deep, too many nodes, not on the list. */

import { parse } from 'graphql';
import { expect, test } from 'vitest';
import { cpuMilliseconds } from '../../testing/cpu-time.ts';
import { parseMetadata } from '../metadata/parse.ts';
import { resolveRequestPolicies } from '../resolve/request-policy.ts';
import { roleSchema } from '../schema/role-schemas.ts';
import { prepareDocument } from './document.ts';
import { isAllowed } from './request-policy.ts';
import { errorOf, MODEL } from './testing/ask.ts';

const restrictedBy = (parts: Readonly<Record<string, unknown>>, enableAllowlist = false) => {
  const metadata = parseMetadata({ version: 3, sources: [], ...parts });
  const model = { ...MODEL, requestPolicies: resolveRequestPolicies(metadata, enableAllowlist) };
  return (text: string, role = 'reader') =>
    errorOf(() => prepareDocument(roleSchema(model, role, false), text, null));
};
const depth = (most: number) => restrictedBy({ api_limits: { depth_limit: { global: most } } });
const nodes = (most: number) => restrictedBy({ api_limits: { node_limit: { global: most } } });
const INTROSPECTION = '{ __schema { types { fields { type { ofType { name } } } } } }';
const DEEP = '{ author { articles { author { name } } } }';
const exceeds = (of: string) => expect.stringContaining(`$: ${of} limit exceeded`);

test('depth counts the levels of fields that have a selection', () => {
  expect(depth(3)(DEEP)).toBe('no error');
  expect(depth(2)(DEEP)).toBe('$: depth limit exceeded: the operation is 3 levels deep, the limit is 2');
});

test('a fragment adds the levels that are in it, and none of its own', () => {
  const spread =
    '{ author { articles { ...A } } } fragment A on article { ... on article { author { id } } }';
  expect(depth(3)(spread)).toBe('no error');
  expect(depth(2)(spread)).toEqual(exceeds('depth'));
});

test('nodes are the fields that have a selection, wherever and however often they are asked for', () => {
  const text =
    '{ author { id articles { id title } } article { ...A } } fragment A on article { author { id } }';
  expect(nodes(4)(text)).toBe('no error');
  expect(nodes(3)(text)).toBe('$: node limit exceeded: the operation has 4 nodes, the limit is 3');
  expect(nodes(2)('{ a: author { id } b: author { id } c: author { id } }')).toEqual(exceeds('node'));
});

test('fragments in fragments are measured in time that grows with the text alone', () => {
  const doubled = Array.from(
    { length: 60 },
    (_, i) => `fragment F${i} on author { ...F${i + 1} ...F${i + 1} }`,
  );
  const text = `{ author { ...F0 } } ${doubled.join(' ')} fragment F60 on author { articles { id } }`;
  const took = cpuMilliseconds(() => expect(nodes(10)(text)).toEqual(exceeds('node')));
  expect(took).toBeLessThan(1000);
});

test('introspection has no depth, what stands beside it has', () => {
  expect(depth(1)(INTROSPECTION)).toBe('no error');
  expect(depth(1)(DEEP.replace('{', '{ __schema { queryType { name } }'))).toEqual(exceeds('depth'));
});

test('the administrator has no limits', () => {
  const refuse = restrictedBy({
    api_limits: { depth_limit: { global: 0 }, node_limit: { global: 0 } },
    graphql_schema_introspection: { disabled_for_roles: ['admin'] },
  });
  expect([refuse(DEEP, 'admin'), refuse(INTROSPECTION, 'admin')]).toEqual(['no error', 'no error']);
  expect(refuse(DEEP)).toEqual(exceeds('depth'));
});

test('introspection that is closed to a role is refused in every form, and __typename is not', () => {
  const refuse = restrictedBy({ graphql_schema_introspection: { disabled_for_roles: ['reader'] } });
  const forms = [
    INTROSPECTION,
    '{ __type(name: "author") { name } }',
    '{ author { id } x: __type(name: "author") { name } }',
    '{ ...Q } fragment Q on query_root { ... { __schema { queryType { name } } } }',
    'query ($yes: Boolean!) { __schema @include(if: $yes) { queryType { name } } }',
  ];
  for (const text of forms) {
    expect(refuse(text), text).toBe('$: introspection is disabled for role: "reader"');
    expect(refuse(text, 'admin'), text).toBe('no error');
  }
  expect(refuse('{ __typename author { __typename id } }')).toBe('no error');
});

test('a role that no permission names has the policy of its name all the same', () => {
  const refuse = restrictedBy({ graphql_schema_introspection: { disabled_for_roles: ['nobody'] } });
  expect(refuse(INTROSPECTION, 'somebody')).toBe('no error');
  expect(refuse(INTROSPECTION, 'nobody')).toBe('$: introspection is disabled for role: "nobody"');
});

test('what is not on the allow list is refused before it tells anything about the schema', () => {
  const refuse = restrictedBy(
    {
      query_collections: [
        { name: 'c', definition: { queries: [{ name: 'q', query: '{ author { id } }' }] } },
      ],
      allowlist: [{ collection: 'c' }],
    },
    true,
  );
  expect(refuse('{ author { __typename id } }')).toBe('no error');
  for (const text of ['{ author { name } }', '{ no_such_field }', INTROSPECTION])
    expect(refuse(text)).toBe('$: query is not allowed');
  expect(refuse('{ author { name } }', 'admin')).toBe('no error');
});

const holding = (...queries: readonly string[]) => [
  { name: 'c', definition: { queries: queries.map((query, i) => ({ name: `q${i}`, query })) } },
];
const isSame = (asked: string, held: string) => isAllowed(parse(asked), holding(held));

test('how a document is written does not matter', () => {
  expect(isSame('query{a(x:1,y:2){b,c}}', '# held\nquery {\n  a(x: 1 y: 2) { b c }\n}')).toBe(true);
  expect(isSame('{ a(x: """b""") { c } }', '{ a(x: "b") { c } }')).toBe(true);
});

test('__typename does not matter on either side, wherever it stands', () => {
  expect(isSame('{ __typename a { b __typename } }', '{ a { b } }')).toBe(true);
  expect(isSame('{ a { b } }', '{ a { t: __typename b } }')).toBe(true);
});

test.each([
  ['the order of fields', '{ a { c b } }', '{ a { b c } }'],
  ['a field more', '{ a { b c } }', '{ a { b } }'],
  ['a field less', '{ a { b } }', '{ a { b c } }'],
  ['an alias', '{ a { x: b } }', '{ a { b } }'],
  ['the value of an argument', '{ a(x: 2) { b } }', '{ a(x: 1) { b } }'],
  ['the name of the operation', 'query A { a { b } }', 'query B { a { b } }'],
  ['the kind of operation', 'subscription { a { b } }', '{ a { b } }'],
  ['a fragment', '{ a { ...F } } fragment F on a { b }', '{ a { b } }'],
  ['what is in a fragment', '{ a { ...F } } fragment F on a { c }', '{ a { ...F } } fragment F on a { b }'],
  ['another operation beside it', 'query A { a { b } } query B { c }', 'query A { a { b } }'],
])('%s matters', (_, asked, held) => {
  expect(isSame(asked, held)).toBe(false);
});

test('any document of any collection is allowed, and without collections none', () => {
  const collections = [...holding('{ a }'), ...holding('{ b }', '{ c }')];
  expect(isAllowed(parse('{ c }'), collections)).toBe(true);
  expect(isAllowed(parse('{ d }'), collections)).toBe(false);
  expect(isAllowed(parse('{ a }'), [])).toBe(false);
});

test('a text that is no GraphQL allows nothing and spoils nothing', () => {
  expect(isAllowed(parse('{ a }'), holding('not graphql {', '{ a }'))).toBe(true);
});
