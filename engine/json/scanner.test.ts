import '../../testing/seed.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { JsonScanner, NotJson } from './scanner.ts';

/** Null where it is JSON, else why not. */
function problemOf(text: string | Buffer): string | null {
  try {
    const scanner = new JsonScanner(Buffer.from(text as string));
    scanner.skip();
    scanner.end();
    return null;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    return error.message;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('every JSON text is JSON, however it is spaced', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom('', ' ', '\n\t\r '), (text, space) => {
      expect(problemOf(space + text + space)).toBeNull();
    }),
    { numRuns: 500 },
  );
});

test('what JSON.parse refuses is refused, wherever it was damaged', () => {
  const damaged = fc.tuple(
    fc.json(),
    fc.nat(),
    fc.constantFrom('', '"', '{', ']', ',', '\\', '0', 'e', '\u0001', 'nul'),
  );
  fc.assert(
    fc.property(damaged, ([text, place, piece]) => {
      const at = place % (text.length + 1);
      const broken = text.slice(0, at) + piece + text.slice(at + 1);
      // Half of a surrogate pair cannot be written as UTF-8, so it never arrives.
      fc.pre(broken.isWellFormed());
      expect(problemOf(broken) === null).toBe(isJson(broken));
    }),
    { numRuns: 2000 },
  );
});

test.each([
  '',
  '{',
  '[1,]',
  '{"a":1,}',
  '{a:1}',
  '01',
  '1.',
  '-',
  '+1',
  '"\\x"',
  '"\\u12"',
  '"\n"',
  'nulL',
  'NaN',
  '1 2',
  '"',
])('%j is no JSON', (text) => {
  expect(problemOf(text)).not.toBeNull();
});

test('what is no UTF-8 is refused', () => {
  expect(problemOf(Buffer.from([0x22, 0xff, 0x22]))).toBe('it is not UTF-8');
});

test('a value too deep for the stack is refused', () => {
  expect(problemOf('['.repeat(1_000_000))).toBe('it is nested too deeply');
  expect(problemOf('['.repeat(900) + ']'.repeat(900))).toBeNull();
});

test('members are told with their keys and where their values are', () => {
  const text = ' {"a": [1, "}"], "b\\u0020\\"c": {"d": null} } ';
  const scanner = new JsonScanner(Buffer.from(text));
  const found: Record<string, string> = {};
  scanner.members((key) => {
    scanner.peek();
    const start = scanner.at;
    scanner.skip();
    found[key] = text.slice(start, scanner.at);
  });
  scanner.end();
  expect(found).toEqual({ a: '[1, "}"]', 'b "c': '{"d": null}' });
});

test('the keys of many objects are those of JSON.parse, however often and in whatever form they come', () => {
  const keys = fc.array(
    fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.constantFrom('id', 'name', 'Aa', 'BB')),
  );
  fc.assert(
    fc.property(fc.array(keys), fc.boolean(), (lists, isEscaped) => {
      const print = (key: string) =>
        isEscaped
          ? `"${[...key].map((c) => (c.length === 1 ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c)).join('')}"`
          : JSON.stringify(key);
      const text = `[${lists.map((list) => `{${list.map((key) => `${print(key)}: 1`).join()}}`).join()}]`;
      const scanner = new JsonScanner(Buffer.from(text));
      const found: string[] = [];
      scanner.items(() =>
        scanner.members((key) => {
          found.push(key);
          scanner.skip();
        }),
      );
      expect(found).toEqual(lists.flat().map((key) => JSON.parse(print(key)) as string));
    }),
  );
});
