/** The schemas of operators, read from a real Postgres: those of extensions, of pairs of types, and none that a role has planted. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { introspect } from './introspect.ts';
import { operatorSchema } from './operators.ts';
import { arrayOf, builtinType, type PgType } from './types.ts';

const database = testDatabase();
let types: ReadonlyMap<string, PgType>;
const role = `planter_${process.pid}_${Date.now()}`;

beforeAll(async () => {
  await database.sql(`
    create schema ext; create schema other; create schema planted;
    create extension citext schema ext; create extension ltree schema ext; create extension isn schema ext;
    create extension hstore schema other;
    create domain folded as ext.citext;
    create type mood as enum ('sad', 'glad'); create type pair as (a int, b ext.citext);
    create type span as range (subtype = ext.citext);
    -- Two types of our own: one with an equality, and one that a cast makes the first.
    create type ext.code;
    create function ext.code_in(cstring) returns ext.code language internal immutable strict as 'int4in';
    create function ext.code_out(ext.code) returns cstring language internal immutable strict as 'int4out';
    create type ext.code (input = ext.code_in, output = ext.code_out, like = int4);
    create function other.code_eq(ext.code, ext.code) returns bool language internal immutable strict as 'int4eq';
    create operator other.= (leftarg = ext.code, rightarg = ext.code, function = other.code_eq);
    create type ext.label;
    create function ext.label_in(cstring) returns ext.label language internal immutable strict as 'int4in';
    create function ext.label_out(ext.label) returns cstring language internal immutable strict as 'int4out';
    create type ext.label (input = ext.label_in, output = ext.label_out, like = int4);
    create cast (ext.label as ext.code) without function as implicit;
    create cast (int4 as ext.label) without function as implicit;
    create role ${role}; grant usage on schema ext to ${role}; grant usage, create on schema planted to ${role};
    set role ${role};
    create function planted.yes(ext.citext, text) returns bool language sql as 'select true';
    create function planted.yes(ext.citext, ext.citext) returns bool language sql as 'select true';
    create function planted.yes(varchar, varchar) returns bool language sql as 'select true';
    create operator planted.= (leftarg = ext.citext, rightarg = text, function = planted.yes);
    create operator planted.= (leftarg = ext.citext, rightarg = ext.citext, function = planted.yes);
    create operator planted.= (leftarg = varchar, rightarg = varchar, function = planted.yes);
    reset role;`);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  ({ types } = await introspect(client).finally(() => client.end()));
});
afterAll(async () => {
  await database.sql(`drop owned by ${role}; drop role ${role}`);
});

const type = (name: string, schema = 'ext') => types.get(JSON.stringify([schema, name]))!;
const text = builtinType('text');

test('operators of an extension are in its schema, for domains over its types too', () => {
  expect(operatorSchema(type('citext'))).toBe('ext');
  expect(operatorSchema(type('ltree'))).toBe('ext');
  expect(operatorSchema(type('hstore', 'other'))).toBe('other');
  expect(operatorSchema(type('folded', 'public'))).toBe('ext');
  expect(operatorSchema(type('folded', 'public'), type('citext'))).toBe('ext');
});

test('two types that an extension compares with each other have an operator in its schema, in both directions', () => {
  expect(operatorSchema(type('isbn13'), type('ean13'))).toBe('ext');
  expect(operatorSchema(type('ean13'), type('isbn13'))).toBe('ext');
});

test('an operator may be in another schema than its type, and belong to the type that a cast leads to', () => {
  expect(operatorSchema(type('code'))).toBe('other');
  expect(operatorSchema(type('label'))).toBe('other');
  expect(operatorSchema(type('label'), type('code'))).toBe('other');
  expect(operatorSchema(type('code'), type('label'))).toBe('other');
});

test('operators of pg_catalog stay bare: those of its own types, enums, arrays, rows, ranges, and of citext with text', () => {
  const others = [type('mood', 'public'), type('span', 'public'), arrayOf(type('citext')), text];
  for (const other of [...others, builtinType('varchar'), builtinType('int8')]) {
    expect(operatorSchema(other), other.name).toBeNull();
  }
  expect(operatorSchema(type('citext'), text)).toBeNull();
  expect(operatorSchema(text, type('citext'))).toBeNull();
  expect(operatorSchema(type('ltree'), type('citext'))).toBeNull();
});

test('an operator that the owner of the type has not created does not count', () => {
  const schemas = [...types.values()].flatMap(({ operators = {} }) => Object.values(operators));
  expect(schemas).not.toContain('planted');
});
