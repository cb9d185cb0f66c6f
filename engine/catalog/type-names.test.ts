import { expect, test } from 'vitest';
import { qualifiedKey } from '../metadata/schema/common.ts';
import { typeByName } from './type-names.ts';
import { arrayOf, builtinType, type PgType } from './types.ts';

const colour: PgType = { schema: 'shop', name: 'colour', kind: 'enum', element: null, base: null };
const twins = ['a', 'b'].map((schema): PgType => ({ ...colour, schema, name: 'twin' }));
const builtin = ['int4', 'varchar', 'timestamptz', 'text', 'bpchar', 'char'].map(builtinType);
const types = new Map([...builtin, colour, ...twins].map((type) => [qualifiedKey(type), type]));
const find = (text: string) => typeByName(text, { types });

test('types are known by the names of SQL and by their own', () => {
  expect(find('integer')).toEqual(builtinType('int4'));
  expect(find('int4')).toEqual(builtinType('int4'));
  expect(find('character varying(20)')).toEqual(builtinType('varchar'));
  expect(find('Timestamp (3)  with time zone')).toEqual(builtinType('timestamptz'));
  expect(find('char')).toEqual(builtinType('bpchar'));
});

test('brackets make an array, however many', () => {
  expect(find('text[]')).toEqual(arrayOf(builtinType('text')));
  expect(find('text [3][]')).toEqual(arrayOf(builtinType('text')));
});

test('a type of another schema is found with its schema, or without when there is only one', () => {
  expect(find('shop.colour')).toEqual(colour);
  expect(find('"shop"."colour"')).toEqual(colour);
  expect(find('colour')).toEqual(colour);
  expect(find('twin')).toBeUndefined();
  expect(find('b.twin')).toEqual(twins[1]);
});

test('what the database does not have is no type', () => {
  expect(find('money_bag')).toBeUndefined();
  expect(find('')).toBeUndefined();
  expect(find('shop.missing')).toBeUndefined();
});
