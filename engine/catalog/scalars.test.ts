/** Scalars: names and capabilities by type, and their JSON form against a real Postgres for every built-in type. */
import { beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { SCALARS, scalarOf } from './scalars.ts';
import { arrayOf, builtinType, type PgType } from './types.ts';

const typeIn = (schema: string, name: string, kind: PgType['kind']): PgType => ({
  ...builtinType(name),
  schema,
  kind,
});

test('a built-in type has the scalar of its row', () => {
  expect(scalarOf(builtinType('int4'))).toBe(SCALARS['int4']);
  expect(scalarOf(builtinType('char')).name).toBe('character');
  expect(scalarOf(builtinType('varchar')).name).toBe('String');
});

test('an extension’s type has its row in whatever schema it lives', () => {
  expect(scalarOf(typeIn('extensions', 'citext', 'base')).family).toBe('text');
});

test('a domain is read as what it stands for', () => {
  const domain = { ...typeIn('public', 'positive', 'domain'), base: builtinType('int8') };
  expect(scalarOf(domain)).toBe(SCALARS['int8']);
});

test('an array is of its elements, and has the SQL name of them where it has to have one', () => {
  const scalar = scalarOf(arrayOf(builtinType('int4')));
  expect([scalar.name, scalar.family, scalar.json]).toEqual(['_integer', 'array', 'quoted']);
  expect(scalar.element).toBe(SCALARS['int4']);
  const names = ['text', 'varchar', 'bool', 'int8'].map((name) => scalarOf(arrayOf(builtinType(name))).name);
  expect(names).toEqual(['_text', '_varchar', '_boolean', '_bigint']);
});

test('an enum is an implicit scalar, even when it is called like a built-in type', () => {
  expect(scalarOf(typeIn('public', 'mood', 'enum'))).toMatchObject({ name: 'mood', family: 'other' });
  expect(scalarOf(typeIn('public', 'date', 'enum')).name).toBe('public_date');
  expect(scalarOf(typeIn('public', 'Int', 'enum')).name).toBe('public_Int');
  expect(scalarOf(typeIn('public', 'constructor', 'enum')).name).toBe('constructor');
});

test('a scalar always has a name GraphQL can spell', () => {
  expect(scalarOf(typeIn('public', 'order status', 'enum')).name).toBe('pg_order_status');
  expect(scalarOf(arrayOf(typeIn('public', '_x', 'enum'))).name).toBe('pg___x');
  expect(scalarOf(typeIn('public', '1st', 'enum')).name).toBe('pg_1st');
});

const database = testDatabase();
beforeAll(async () => {
  await database.sql(
    'create extension citext; create extension ltree; create extension hstore;' +
      " create type mood as enum ('gl\"ad'); create type pair as (x int, y text); create domain small as int2",
  );
});

/** Awkward values of each type, among them those JSON has no word for. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  int2: ['-32768', '0'],
  int4: ['2147483647'],
  int8: ['9223372036854775807'],
  float4: ['1.5', 'NaN', 'Infinity', '-Infinity', '1e38'],
  float8: ['0.1', 'NaN', 'Infinity', '-Infinity', '1e308', '-0'],
  numeric: ['1.50', 'NaN', '1e400'],
  money: ['1234.56'],
  bool: ['t', 'f'],
  text: ['a"b\\c\n\t\u0001é', ''],
  varchar: ['a"b'],
  bpchar: ['a  '],
  char: ['"'],
  name: ['a"b'],
  citext: ['A"b'],
  uuid: ['00000000-0000-0000-0000-000000000001'],
  date: ['2024-02-29', 'infinity', '0044-03-15 BC'],
  time: ['23:59:59.999'],
  timetz: ['23:59:59+02'],
  timestamp: ['2024-02-29 12:00:00', '-infinity'],
  timestamptz: ['2024-02-29 12:00:00+02', 'infinity'],
  interval: ['1 year -3 days'],
  json: ['{"a" : [1, null]}', '"x"', 'null'],
  jsonb: ['{"a" : [1, null]}', '1'],
  bytea: ['\\x00ff'],
  inet: ['10.0.0.1/8'],
  cidr: ['10.0.0.0/8'],
  macaddr: ['08:00:2b:01:02:03'],
  macaddr8: ['08:00:2b:01:02:03:04:05'],
  bit: ['1'],
  varbit: ['101'],
  oid: ['4294967295'],
  xid: ['4294967295'],
  xml: ['<a b="c"/>'],
  jsonpath: ['$."a"[*]'],
  point: ['(1,2)'],
  line: ['{1,2,3}'],
  lseg: ['[(1,2),(3,4)]'],
  box: ['(3,4),(1,2)'],
  path: ['[(1,2),(3,4)]'],
  polygon: ['((1,2),(3,4))'],
  circle: ['<(1,2),3>'],
  tsvector: ["'a':1 'b\"'"],
  tsquery: ["'a' & 'b'"],
  ltree: ['a.b'],
  lquery: ['a.*'],
  ltxtquery: ['a & b'],
  mood: ['gl"ad'],
  pair: ['(1,"a""b")'],
  small: ['3'],
  hstore: ['a=>"1\\"2"'],
  int4range: ['[1,2)', 'empty'],
  _text: ['{"a\\"b",NULL,"c,d"}', '{{a,b},{c,d}}'],
  _int4: ['{1,2}'],
  _float8: ['{NaN,1}'],
  _jsonb: ['{"{\\"a\\": 1}"}'],
};
/** Need PostGIS, which the embedded Postgres lacks. */
const WITHOUT_DATABASE = ['geometry', 'geography', 'raster'];

test('every row of SCALARS is tried', () => {
  const missing = Object.keys(SCALARS).filter((name) => !(name in VALUES));
  expect(missing).toEqual(WITHOUT_DATABASE);
});

test.for(Object.keys(VALUES))('every value of %s leaves as valid JSON', async (name) => {
  const form = (SCALARS[name] ?? SCALARS['text']!).json;
  const type = name.startsWith('_') ? `${name.slice(1)}[]` : `"${name}"`;
  for (const value of VALUES[name]!) {
    const expression = form === 'bare' ? `($1::${type})::text` : `to_json($1::${type})::text`;
    const [row] = await database.sql(
      `select ${expression} as json, to_json(($1::${type})::text)::text as text`,
      [value],
    );
    expect(() => JSON.parse(row!['json'] as string), `${value} as ${form}`).not.toThrow();
    // The stringified form exists for every type too.
    expect(typeof JSON.parse(row!['text'] as string)).toBe('string');
  }
});

test.for(Object.keys(SCALARS).filter((name) => !WITHOUT_DATABASE.includes(name)))(
  'Postgres compares values of %s as the row says',
  async (name) => {
    const [value] = VALUES[name]!;
    const compares = async (operator: string) => {
      const statement = `select $1::"${name}" ${operator} $1::"${name}"`;
      return database.sql(statement, [value]).then(
        () => true,
        ({ code }: { code: string }) => {
          expect(code, statement).toBe('42883');
          return false;
        },
      );
    };
    const isEquated = await compares('=');
    const isOrdered = isEquated && (await compares('<'));
    expect(SCALARS[name]!.comparison).toBe(isOrdered ? 'order' : isEquated ? 'equality' : 'none');
  },
);
