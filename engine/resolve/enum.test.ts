/** What an enum table must look like, how it is told when it does not, and which columns are of its enum. */
import { expect, test } from 'vitest';
import type { Table } from '../metadata/schema/table.ts';
import { catalogOf, resolveTables, tableIn, withRows } from './testing/small-world.ts';

const color = { is_enum: true };

const reasonsFor = (columns: Parameters<typeof tableIn>[1], rest?: Parameters<typeof tableIn>[2]) =>
  resolveTables({ color }, withRows(catalogOf(tableIn('color', columns, rest)), { color: ['red'] })).reasons;

test('a text key, with or without a text comment, makes an enum', () => {
  expect(reasonsFor({ value: 'text!' }, { primaryKey: ['value'] })).toEqual([]);
  expect(reasonsFor({ value: 'text!', comment: 'text' }, { primaryKey: ['value'] })).toEqual([]);
});

test('one reason is told in a sentence', () => {
  expect(reasonsFor({ value: 'text!' })).toEqual([
    'Inconsistent object: the table "color" cannot be used as an enum because ' +
      'the table must have a primary key',
  ]);
  expect(reasonsFor({ value: 'text!', n: 'float8' }, { primaryKey: ['value'] })[0]).toContain(
    'the table’s comment column ("n") must have type "text", not type "double precision"',
  );
});

test('several reasons are told as a list', () => {
  const columns = { id: 'int4!', name: 'text!', hex: 'text', rank: 'text' };
  expect(reasonsFor(columns, { primaryKey: ['id'] })).toEqual([
    'Inconsistent object: the table "color" cannot be used as an enum for the following reasons:\n' +
      '  • the table’s primary key ("id") must have type "text", not type "integer"\n' +
      '  • the table must have exactly one primary key and optionally one comment column, ' +
      'not 4 columns (hex, id, name, rank)\n',
  ]);
});

test('a key over several columns is refused', () => {
  expect(reasonsFor({ b: 'text!', a: 'text!' }, { primaryKey: ['b', 'a'] })[0]).toContain(
    'the table’s primary key must not span multiple columns ("a", "b")',
  );
});

const colors = tableIn('color', { value: 'text!' }, { primaryKey: ['value'] });
const reasonsOfRows = (...rows: readonly string[]) =>
  resolveTables({ color }, withRows(catalogOf(colors), { color: rows })).reasons[0];

test('a table without rows, or whose rows are not known, is no enum', () => {
  expect(reasonsOfRows()).toContain('because the table must have at least one row');
  expect(resolveTables({ color }, catalogOf(colors)).reasons[0]).toContain('rows may not be read');
});

test('values must be names GraphQL can spell', () => {
  expect(reasonsOfRows('red', 'dark-red')).toBe(
    'Inconsistent object: the table "color" cannot be used as an enum because ' +
      'the value "dark-red" is not a valid GraphQL enum value name',
  );
  expect(reasonsOfRows('true', '1st')).toContain(
    'the values "1st" and "true" are not valid GraphQL enum value names',
  );
  expect(reasonsOfRows('null', 'a b', '')).toContain('the values "", "a b", and "null" are not valid');
});

const painting = tableIn(
  'painting',
  { id: 'int4!', main: 'text!', second: 'text', title: 'text', alias: 'text' },
  {
    primaryKey: ['id'],
    foreignKeys: [
      [['main'], 'color', ['value']],
      [['second'], 'color', ['value']],
      [['title', 'alias'], 'color', ['value', 'value']],
    ],
  },
);
const gallery = withRows(catalogOf(colors, painting), { color: [['red', 'warm'], 'blue'] });

test('columns that refer to it by themselves are of the enum, its own column is not', () => {
  const { table, reasons } = resolveTables({ color, painting: {} }, gallery);
  expect(reasons).toEqual([]);
  const types = table('painting').columns.map((column) => column.enum?.typeName ?? null);
  expect(types).toEqual([null, 'color_enum', 'color_enum', null, null]);
  expect(table('painting').columnByName.get('main')!.enum!.values).toEqual([
    { name: 'red', value: 'red', description: 'warm' },
    { name: 'blue', value: 'blue', description: null },
  ]);
  expect(table('color').columns[0]!.enum).toBeUndefined();
});

test('without the flag, or where the enum does not resolve, the column is text', () => {
  const plain = resolveTables({ color: {}, painting: {} }, gallery).table('painting');
  expect(plain.columns[1]).toMatchObject({ scalar: { name: 'String' } });
  const broken = withRows(gallery, { color: ['no good'] });
  const text = resolveTables({ color, painting: {} }, broken).table('painting');
  expect(text.columns[1]!.enum).toBeUndefined();
});

test('the type is called like the table is', () => {
  const named = { is_enum: true, configuration: { custom_name: 'shade' } };
  const { table } = resolveTables({ color: named, painting: {} }, gallery, {
    type_names: { prefix: 'Art_', suffix: '_v1' },
  });
  expect(table('painting').columns[1]!.enum).toMatchObject({
    typeName: 'Art_shade_enum_v1',
    comparisonName: 'Art_shade_enum_comparison_exp_v1',
  });
});

test('a convention that spells values in capitals must keep them apart', () => {
  const camel = { naming_convention: 'graphql-default' } as const;
  const { table } = resolveTables({ color, painting: {} }, gallery, camel);
  expect(table('painting').columns[1]!).toMatchObject({ json: 'capitals', enum: { typeName: 'ColorEnum' } });
  const alike = withRows(gallery, { color: ['red', 'Red'] });
  expect(resolveTables({ color, painting: {} }, alike, camel).reasons[0]).toContain(
    'the values "red", "Red" are all spelled "RED"',
  );
});

test('a column that refers to two enums is refused', () => {
  const shade = tableIn('shade', { value: 'text!' }, { primaryKey: ['value'] });
  const both = tableIn(
    'both',
    { c: 'text' },
    {
      foreignKeys: [
        [['c'], 'color', ['value']],
        [['c'], 'shade', ['value']],
      ],
    },
  );
  const catalog = withRows(catalogOf(colors, shade, both), { color: ['red'], shade: ['red'] });
  expect(resolveTables({ color, shade: color, both: {} }, catalog).reasons).toEqual([
    'Inconsistent object: column "c" of table "both" references multiple enum tables',
  ]);
});

const permission = (rule: object): Partial<Table> => ({
  select_permissions: [{ role: 'user', permission: { columns: '*', filter: rule } }] as never,
});

test('a rule compares such a column with values of the enum, or with what a session says', () => {
  const reasonFor = (rule: object) =>
    resolveTables({ color, painting: permission(rule) }, gallery).reasons[0] ?? null;
  expect(reasonFor({ main: { _eq: 'red' }, second: { _in: ['red', 'X-Engine-Color'] } })).toBeNull();
  expect(reasonFor({ main: 'X-Engine-Color' })).toBeNull();
  expect(reasonFor({ main: { _like: 'r%' } })).toBeNull();
  expect(reasonFor({ main: { _ceq: 'title' } })).toBeNull();
  const message = 'expected one of the values "blue", "red" for type "color_enum", given "green"';
  expect(reasonFor({ main: { _neq: 'green' } })).toContain(message);
  expect(reasonFor({ main: { _nin: ['red', 'green'] } })).toContain(message);
  expect(reasonFor({ main: 'green' })).toContain(message);
});

test('a preset is a value of the enum', () => {
  const insert = (main: string): Partial<Table> => ({
    insert_permissions: [{ role: 'user', permission: { check: {}, columns: '*', set: { main } } }] as never,
  });
  expect(resolveTables({ color, painting: insert('red') }, gallery).reasons).toEqual([]);
  expect(resolveTables({ color, painting: insert('green') }, gallery).reasons[0]).toContain('given "green"');
});
