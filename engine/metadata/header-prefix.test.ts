/** Tests session variables with another prefix, in documents and messages. */
import { expect, test } from 'vitest';
import { canonicalPrefix, fromWire, textToWire, toWire } from './header-prefix.ts';

const permission = (variable: string) => ({
  role: 'user',
  permission: {
    columns: ['id'],
    filter: { _or: [{ owner: { _eq: variable } }, { team: { _in: [variable] } }] },
  },
});

test('values of filters, checks and presets are renamed, in any case', () => {
  expect(fromWire(permission('X-Other-User-Id'), 'x-other-')).toEqual(permission('X-Engine-User-Id'));
  expect(fromWire({ check: { a: { _eq: 'x-other-id' } }, set: { b: 'X-OTHER-ID' } }, 'x-other-')).toEqual({
    check: { a: { _eq: 'x-engine-id' } },
    set: { b: 'X-Engine-ID' },
  });
});

test('rewriting out and in returns the same document', () => {
  const inside = permission('X-Engine-User-Id');
  expect(fromWire(toWire(inside, 'x-other-'), 'x-other-')).toEqual(inside);
});

test('strings elsewhere, and strings without the prefix, are unchanged', () => {
  const document = { comment: 'x-other-user-id', sql: 'X-Other-', filter: { a: { _eq: 'not x-other-id' } } };
  expect(fromWire(document, 'x-other-')).toEqual(document);
});

test('with the default prefix documents are not even copied', () => {
  const document = permission('X-Engine-User-Id');
  expect(fromWire(document, 'x-engine-')).toBe(document);
});

test('messages have the prefix of the wire', () => {
  expect(textToWire('missing session variable: "x-engine-id"', 'x-other-')).toBe(
    'missing session variable: "x-other-id"',
  );
  expect(textToWire('X-Engine-User-Id should be an integer', 'x-other-')).toBe(
    'X-Other-User-Id should be an integer',
  );
});

const sdl = (variable: string, other = 'x-other-id') => `
  "a description of ${other} and @preset(value: 1)"
  type Query {
    """ ${other} """
    messages(
      # @preset(value: "${other}")
      user: Int @preset(value: "${variable}")
      of: In @preset (value: {name: "${variable}", list: ["${variable}", "text x-other-id"]}, static: false)
      text: String = "${other}"
      fixed: String @preset(value: "a \\"${other}")
    ): [Message] @deprecated(reason: "${other}")
  }`;
const remotePermission = (variable: string) => ({ role: 'user', definition: { schema: sdl(variable) } });

test('session variables of presets in a schema definition are renamed, other texts are not', () => {
  const given = remotePermission('X-Other-User-Id');
  expect(fromWire(given, 'x-other-')).toEqual(remotePermission('X-Engine-User-Id'));
  expect(toWire(fromWire(given, 'x-other-'), 'x-other-')).toEqual(given);
});

test.each([
  'type Query { a: Int @preset(value: "x-other-',
  '@preset(((',
  ') @preset "x-other-id"',
  '"""@preset(',
])('text that is no schema definition is kept: %s', (schema) => {
  expect(fromWire({ definition: { schema } }, 'x-other-')).toEqual({ definition: { schema } });
});

test('a long schema definition is rewritten in linear time', () => {
  const schema = `type Query { ${'a(b: Int @preset(value: "x-other-b")): Int '.repeat(20_000)} }`;
  const began = performance.now();
  fromWire({ schema }, 'x-other-');
  fromWire({ schema: '"'.repeat(200_000) + 'preset' }, 'x-other-');
  expect(performance.now() - began).toBeLessThan(2000);
});

test('both prefixes, in any capitals, have one canonical spelling', () => {
  const spellings = ['X-Other-User-Id', 'X-Engine-User-Id', 'X-OTHER-User-Id', 'X-ENGINE-User-Id'];
  for (const build of [permission, remotePermission]) {
    const [first, ...others] = spellings.map((variable) => canonicalPrefix(build(variable), 'x-other-'));
    expect(first).toEqual(build('X-Engine-User-Id'));
    for (const other of others) expect(other).toEqual(first);
    expect(canonicalPrefix(first, 'x-other-')).toEqual(first);
    expect(fromWire(toWire(first, 'x-other-'), 'x-other-')).toEqual(first);
  }
});
