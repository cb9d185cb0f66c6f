/** Twins of fragment.ts: what may become text, and that values never do. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arrayOf, builtinType } from '../catalog/types.ts';
import type { Leaf } from '../resolve/predicate.ts';
import {
  comma,
  compile,
  compileForMany,
  id,
  integer,
  join,
  literal,
  param,
  qualified,
  sql,
} from './fragment.ts';

const int4 = builtinType('int4');
const constant = (value: string): Leaf => ({ kind: 'constant', value, type: int4 });

describe('identifiers', () => {
  test('are quoted, and a quote inside is doubled', () => {
    expect(compile(id('a"; drop table "b')).text).toBe('"a""; drop table ""b"');
  });

  test('are qualified by their schema', () => {
    expect(compile(qualified({ schema: 'Sales', name: 'order' })).text).toBe('"Sales"."order"');
  });

  test('cannot contain a zero byte', () => {
    expect(() => id('a\0b')).toThrow(RangeError);
  });
});

test('a statement for many takes a list for each parameter, and says whose row is whose', () => {
  const statement = sql`select ${param(constant('1'))} + ${param(constant('2'))} * ${param(constant('1'))}`;
  expect(compileForMany(statement)).toBe(
    'select "each"."turn", "answer".* from ' +
      'unnest($1::text[], $2::text[]) with ordinality as "each"("1", "2", "turn") left join lateral (' +
      'select "each"."1"::"pg_catalog"."int4" + "each"."2"::"pg_catalog"."int4" * "each"."1"::"pg_catalog"."int4"' +
      ') "answer" on true',
  );
});

describe('parameters', () => {
  test('are numbered in order and cast to their type', () => {
    const statement = compile(sql`select ${param(constant('1'))}, ${param(constant('2'))}`);
    expect(statement.text).toBe('select $1::"pg_catalog"."int4", $2::"pg_catalog"."int4"');
    expect(statement.parameters).toEqual([constant('1'), constant('2')]);
  });

  test('share a number when they are the same leaf', () => {
    const statement = compile(sql`${param(constant('1'))} ${param(constant('1'))}`);
    expect(statement.text).toBe('$1::"pg_catalog"."int4" $1::"pg_catalog"."int4"');
    expect(statement.parameters).toHaveLength(1);
  });

  test('of GeoJSON are converted one by one, and null stays null', () => {
    const geometry = { ...builtinType('geometry'), schema: 'gis' };
    const { text } = compile(param({ kind: 'constant', value: null, type: arrayOf(geometry) }));
    expect(text).toBe(
      'case when $1::text[] is not null then array(select "gis"."st_geomfromgeojson"("given"::text)::"gis"."geometry" ' +
        'from unnest($1::text[]) "given") end',
    );
  });

  test('do not share a number when only their types differ', () => {
    const text: Leaf = { kind: 'constant', value: '1', type: builtinType('text') };
    expect(compile(sql`${param(constant('1'))} ${param(text)}`).parameters).toHaveLength(2);
  });

  const TYPES = [int4, builtinType('text'), arrayOf(int4), { ...int4, schema: 'other' }];
  const path = fc.array(fc.constantFrom('a', 'b', 'a"', 1, 2), { minLength: 1, maxLength: 3 });
  const pattern = fc.constantFrom({}, { pattern: 'like' as const }, { pattern: 'regex' as const });
  const leaf: fc.Arbitrary<Leaf> = fc.letrec<{ leaf: Leaf }>((tie) => ({
    leaf: fc.oneof(
      { maxDepth: 2 },
      fc
        .tuple(fc.record({ path, type: fc.constantFrom(...TYPES) }), pattern)
        .map(([given, more]) => ({ kind: 'variable', ...given, ...more }) as const),
      fc.record({
        kind: fc.constant('inserted' as const),
        step: fc.nat(2),
        kept: fc.nat(2),
        type: fc.constantFrom(...TYPES),
      }),
      fc.record({
        kind: fc.constant('constant' as const),
        value: fc.constantFrom('1', 'a', null),
        type: fc.constantFrom(...TYPES),
      }),
      fc.record({
        kind: fc.constant('list' as const),
        items: fc.array(tie('leaf'), { maxLength: 2 }),
        type: fc.constantFrom(...TYPES),
      }),
    ),
  })).leaf;

  test('share a number exactly when they are equal, whatever their kinds', () => {
    fc.assert(
      fc.property(leaf, leaf, (one, other) => {
        const { parameters } = compile(sql`${param(one)} ${param(structuredClone(other))}`);
        expect(parameters.length === 1).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
      { numRuns: 2_000 },
    );
  });

  test('of array types are cast to the element followed by brackets', () => {
    const leaf: Leaf = { kind: 'constant', value: ['1'], type: arrayOf(int4) };
    expect(compile(param(leaf)).text).toBe('$1::"pg_catalog"."int4"[]');
  });
});

describe('printed values', () => {
  test.each(['0', '20', '9223372036854775807', 7])('the non-negative integer %s is printed', (value) => {
    expect(compile(integer(value)).text).toBe(String(value));
  });

  test.each(['-1', '1.5', '1e3', '', ' 1', '1;', '0x10', '99999999999999999999', Number.NaN])(
    '%s is no such integer and refused',
    (value) => {
      expect(() => integer(value)).toThrow(RangeError);
    },
  );

  test('a literal doubles its quotes', () => {
    expect(compile(literal(`it's`)).text).toBe(`'it''s'`);
  });

  test.each(['a\\b', 'a\0b'])('a literal with a backslash or a zero byte is refused', (text) => {
    expect(() => literal(text)).toThrow(RangeError);
  });
});

test('join puts the separator between, not around', () => {
  expect(compile(join([id('a'), id('b'), id('c')], comma)).text).toBe('"a", "b", "c"');
  expect(compile(join([], comma)).text).toBe('');
});

test('whatever names and values are, placeholders and parameters match and no value is text', () => {
  const name = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !text.includes('\0'));
  const value = fc.string().map((text) => `«${text}»`);
  fc.assert(
    fc.property(fc.array(fc.record({ name, value })), (pairs) => {
      const terms = pairs.map((pair) => sql`${id(pair.name)} = ${param(constant(pair.value))}`);
      const { text, parameters } = compile(sql`where ${join(terms, sql` and `)}`);
      const outside = text.replaceAll(/"(?:[^"]|"")*"/g, '');
      const numbers = [...outside.matchAll(/\$(\d+)/g)].map((match) => Number(match[1]));
      expect(new Set(numbers)).toEqual(new Set(parameters.map((_, i) => i + 1)));
      expect(outside).not.toContain('«');
      expect(outside.replaceAll(/where|and|\$\d+|::|[=. ]/g, '')).toBe('');
    }),
  );
});
