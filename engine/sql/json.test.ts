/** Twins of json.ts: every value leaves Postgres as valid JSON, whatever is in it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { arrayOf, builtinType } from '../catalog/types.ts';
import { type Database, openDatabase } from '../database/pool.ts';
import type { Field } from '../plan/query-types.ts';
import { compile, sql } from './fragment.ts';
import { columnJson, concatenate, expression, jsonObject, nullIf, type Piece, text } from './json.ts';
import { asc, column, constant, rows, select, textType } from './testing/build.ts';
import { runPlan } from './testing/run.ts';

const printed = (field: Extract<Field, { kind: 'column' }>) =>
  compile(concatenate(columnJson(field, 't'))).text;
const type = builtinType;

describe('the text of', () => {
  test('an integer is its own', () => {
    expect(printed(column('n', type('int4'), 'bare'))).toBe('"t"."n"::text');
  });

  test('a nullable column is guarded, because one null makes a concatenation null', () => {
    expect(printed(column('n', type('int4'), 'bare', { isNullable: true }))).toBe(
      `coalesce("t"."n"::text, 'null')`,
    );
  });

  test('a string goes through to_json', () => {
    expect(printed(column('s', textType, 'quoted'))).toBe('to_json("t"."s")::text');
  });

  test('a uuid needs no escaping', () => {
    expect(printed(column('u', type('uuid'), 'quoted'))).toBe(`'"' || "t"."u"::text || '"'`);
  });

  test('neighbouring constants are one', () => {
    const object = jsonObject([
      { key: 'a', value: [text('1')] },
      { key: 'b', value: [expression(sql`"t"."x"::text`)] },
    ]);
    expect(compile(concatenate(object)).text).toBe(`'{"a":1,"b":' || "t"."x"::text || '}'`);
  });

  test('constants beside a choice are part of its branches, down to the innermost', () => {
    const city = jsonObject([{ key: 'name', value: [expression(sql`"c"."name"::text`)] }]);
    const address = jsonObject([{ key: 'city', value: [nullIf(sql`"c"."id" is null`, city)] }]);
    const object = jsonObject([{ key: 'address', value: [nullIf(sql`"a"."id" is null`, address)] }]);
    expect(compile(concatenate(object)).text).toBe(
      `case when "a"."id" is null then '{"address":null}' else ` +
        `case when "c"."id" is null then '{"address":{"city":null}}' else ` +
        `'{"address":{"city":{"name":' || "c"."name"::text || '}}}' end end`,
    );
  });

  test('a long constant is not repeated in each of the choices before it', () => {
    const nested = (depth: number): Piece[] =>
      depth === 0 ? [text('1')] : jsonObject([{ key: 'a', value: [nullIf(sql`true`, nested(depth - 1))] }]);
    const long = text('x'.repeat(10_000));
    expect(compile(concatenate([...nested(100), long])).text.length).toBeLessThan(60_000);
  });

  test('a lone constant has a type, which an aggregate over it needs', () => {
    expect(compile(concatenate([text('{}')])).text).toBe(`'{}'::text`);
  });
});

describe('Postgres prints', () => {
  const source = testDatabase();
  let database: Database;

  beforeAll(async () => {
    await source.sql(`
      create table odd (
        "quote ""column""" text, s text, n numeric, f4 float4, f8 float8, b bool, u uuid, j json, jb jsonb,
        ts timestamptz, d date, i interval, a text[], na bigint[], by bytea, c char(3), big bigint);
      insert into odd values
        ('x', E'"\\\\\\n\\t\\u0001 é 📚 </script>', 'NaN', 'NaN', 'Infinity', true,
         '2f1b2f1e-0000-4000-8000-000000000001', E'{"k": [1,\\n2]}', '{"k": "\\""}',
         '2024-01-02T03:04:05.678Z', '2024-02-29', '1 day 02:00', array['a"b', null, 'c,d'],
         array[1, null], '\\x00ff', 'ab', 9007199254740993),
        (null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null),
        ('', '', -1234567890123456789012345678901234.5, 1e-7, 1e300, false,
         '2f1b2f1e-0000-4000-8000-000000000002', 'null', '"s"', 'infinity', '0044-03-15 BC', '0',
         '{}', '{}', '', '', 0)`);
    database = openDatabase(`${source.url}?options=-c%20timezone%3DUTC`);
  });

  afterAll(() => database.close());

  const columnOf = async (field: Field): Promise<unknown> => {
    const { data } = await runPlan(database, rows('odd', select('odd', [field])));
    return (data as { odd: Record<string, unknown>[] }).odd.map((row) => row[field.alias]);
  };
  const nullable = { isNullable: true, alias: 'value' };

  test.each<[string, Field, unknown[]]>([
    ['text', column('s', textType, 'quoted', nullable), ['"\\\n\t\u0001 é 📚 </script>', null, '']],
    [
      'a column whose name is full of quotes',
      column('quote "column"', textType, 'quoted', nullable),
      ['x', null, ''],
    ],
    [
      'a uuid',
      column('u', type('uuid'), 'quoted', nullable),
      [expect.stringMatching(/1$/), null, expect.any(String)],
    ],
    [
      'NaN and numbers too long for a double',
      column('n', type('numeric'), 'quoted', nullable),
      ['NaN', null, -1.2345678901234568e33],
    ],
    ['a float4', column('f4', type('float4'), 'quoted', nullable), ['NaN', null, 1e-7]],
    ['an infinite float8', column('f8', type('float8'), 'quoted', nullable), ['Infinity', null, 1e300]],
    ['a boolean', column('b', type('bool'), 'bare', nullable), [true, null, false]],
    ['json', column('j', type('json'), 'bare', nullable), [{ k: [1, 2] }, null, null]],
    ['jsonb', column('jb', type('jsonb'), 'bare', nullable), [{ k: '"' }, null, 's']],
    [
      'a time',
      column('ts', type('timestamptz'), 'quoted', nullable),
      ['2024-01-02T03:04:05.678+00:00', null, 'infinity'],
    ],
    ['a date', column('d', type('date'), 'quoted', nullable), ['2024-02-29', null, '0044-03-15 BC']],
    ['an interval', column('i', type('interval'), 'quoted', nullable), ['1 day 02:00:00', null, '00:00:00']],
    ['an array', column('a', arrayOf(textType), 'quoted', nullable), [['a"b', null, 'c,d'], null, []]],
    ['bytes', column('by', type('bytea'), 'quoted', nullable), ['\\x00ff', null, '\\x']],
    ['a padded string', column('c', type('bpchar'), 'quoted', nullable), ['ab ', null, '   ']],
    [
      'a stringified bigint',
      column('big', type('int8'), 'stringified', nullable),
      ['9007199254740993', null, '0'],
    ],
    [
      'a stringified NaN',
      column('n', type('numeric'), 'stringified', nullable),
      ['NaN', null, '-1234567890123456789012345678901234.5'],
    ],
    [
      'a stringified array',
      column('na', arrayOf(type('int8')), 'stringified', nullable),
      [['1', null], null, []],
    ],
  ])('%s', async (_name, field, values) => {
    expect(await columnOf(field)).toEqual(values);
  });

  test('numerics of any size, and what is no number', async () => {
    await source.sql(`create table vast (id int, n numeric, price numeric(10, 2));
      insert into vast values (1, 1e40, 'NaN'), (2, -0.10, 0.10), (3, 'NaN', -12345678.90), (4, 0, null);
      do $$ begin
        if current_setting('server_version_num')::int >= 140000 then
          execute 'insert into vast values (5, ''Infinity'', 1), (6, ''-Infinity'', 1)';
        end if;
      end $$`);
    const values = async (name: string) => {
      const field = column(name, type('numeric'), 'quoted', nullable);
      const {
        rows: [row],
      } = await runPlan(database, rows('vast', select('vast', [field], { orderBy: [asc('id')] })));
      return String(row![0]);
    };
    expect(await values('n')).toMatch(
      /^\[?{"value":1(0{40})},{"value":-0.10},{"value":"NaN"},{"value":0}(,{"value":"Infinity"},{"value":"-Infinity"})?\]?$/,
    );
    expect(await values('price')).toContain(
      '{"value":"NaN"},{"value":0.10},{"value":-12345678.90},{"value":null}',
    );
  });

  test('a path into jsonb, null where it leads nowhere', async () => {
    const path = constant(null, arrayOf(textType));
    const field = column('jb', type('jsonb'), 'bare', {
      alias: 'value',
      path: { ...path, value: ['k'] } as never,
    });
    expect(await columnOf(field)).toEqual(['"', null, null]);
  });

  test('rows of constants only', async () => {
    const field: Field = { kind: 'constant', alias: '__typename', json: '"odd"' };
    expect(await columnOf(field)).toEqual(['odd', 'odd', 'odd']);
  });
});
