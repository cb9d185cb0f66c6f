/** Settings of a database change how Postgres reads or prints values. The same requests have the same answers under each of them, except that a
 *  value which JSON has as text of Postgres is in the style that the database chooses; Postgres reads that text back as the same value.
 *  Rule: docs/reference/behaviour/queries.md, "Settings of the database". Null elements: null-elements.test.ts. */
import { beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { isRecord } from '../json/value.ts';

/** A setting, a value of it, and the fields whose text is in the style that it chooses. All others are equal. */
const SETTINGS: readonly (readonly [name: string, value: string, styled?: readonly string[]])[] = [
  ['DateStyle', 'SQL, DMY', ['r', 'dr']],
  ['DateStyle', 'German', ['r', 'dr']],
  ['DateStyle', 'Postgres, MDY', ['r', 'dr']],
  ['IntervalStyle', 'sql_standard', ['iv', 'ivs', 'took']],
  ['IntervalStyle', 'iso_8601', ['iv', 'ivs', 'took']],
  ['IntervalStyle', 'postgres_verbose', ['iv', 'ivs', 'took']],
  ['bytea_output', 'escape', ['by', 'bys']],
  ['extra_float_digits', '-10', ['f8']],
  ['extra_float_digits', '3'],
  ['TimeZone', 'Asia/Kolkata', ['tstz', 'tss', 'r']],
  ['xmloption', 'document'],
  ['xmlbinary', 'hex'],
  ['lc_monetary', 'C'],
  ['lc_numeric', 'C'],
  ['standard_conforming_strings', 'off'],
  ['escape_string_warning', 'on'],
  ['backslash_quote', 'off'],
  ['quote_all_identifiers', 'on'],
  ['transform_null_equals', 'on'],
  ['row_security', 'off'],
  ['search_path', ''],
  ['search_path', 'pg_catalog'],
  ['client_encoding', 'LATIN1'],
  ['default_transaction_isolation', 'serializable'],
  ['default_transaction_deferrable', 'on'],
  ['plan_cache_mode', 'force_generic_plan'],
  ['jit_above_cost', '0'],
  ['statement_timeout', '60s'],
];

const SCHEMA = `
  create type mood as enum ('sad', 'o''k');
  create table every (
    id int primary key, t text, "we ird ""\\ü" text, i int8, n numeric, f4 float4, f8 float8, b bool, u uuid, d date, tm time, tz timetz,
    ts timestamp, tstz timestamptz, iv interval, by bytea, j json, jb jsonb, x xml, m money, ip inet, mood mood, r tstzrange, dr daterange,
    ds date[], ivs interval[], tss timestamptz[], bys bytea[], bits bit(3), p point);
  create function find(day date) returns setof every language sql stable as $$ select * from public.every where d = day $$;
  create function took(e every) returns interval language sql stable as $$ select e.iv $$;`;

const ROW = {
  id: 1,
  t: `a\\b'c"d\\n ü`,
  we: 'w\\',
  i: '9007199254740993',
  n: '0.1000',
  f4: 0.1,
  f8: 0.30000000000000004,
  b: true,
  u: '5f0ce8d0-6f1c-4d07-9a34-9a5c4d2a1b11',
  d: '2024-02-01',
  tm: '03:04:05',
  tz: '03:04:05+02',
  ts: '2024-02-01T03:04:05',
  tstz: '2024-02-01T03:04:05+00:00',
  iv: '1 year 2 mons -3 days 04:05:06',
  by: '\\x5c00ff',
  j: { a: "x'\\" },
  jb: { d: [1, null] },
  x: '<a>1</a>',
  m: '12.5',
  ip: '10.0.0.1',
  mood: "o'k",
  r: '["2024-02-01 00:00:00+00","2024-03-01 00:00:00+00")',
  dr: '[2024-02-01,2024-03-01)',
  ds: ['2024-02-01'],
  ivs: ['1 year 2 mons'],
  tss: ['2024-02-01T03:04:05+00:00'],
  bys: ['\\x00'],
  bits: '101',
  p: '(1,2)',
};
const FIELDS = Object.keys(ROW).join(' ');
const FILTERS = [
  'd',
  'tm',
  'tz',
  'ts',
  'tstz',
  'iv',
  'by',
  'i',
  'n',
  'f8',
  'u',
  'jb',
  't',
  'we',
  'mood',
  'r',
  'dr',
  'ds',
  'ivs',
  'tss',
  'bys',
  'ip',
  'm',
] as const;

/** The requests, in order; each is compared with its answer without any setting. */
const REQUESTS: readonly (readonly [string, object?])[] = [
  [
    'mutation ($o: [every_insert_input!]!) { insert_every(objects: $o) { returning { FIELDS } } }',
    { o: [ROW] },
  ],
  [
    '{ every { FIELDS took } every_aggregate { aggregate { max { d ts tstz iv f8 m } min { tz } avg { f8 n } sum { n m } } nodes { tstz } } }',
  ],
  ...FILTERS.map(
    (c) =>
      [
        `query ($v: every_bool_exp!) { every(where: $v) { id } }`,
        { v: { [c]: { _eq: (ROW as Record<string, unknown>)[c] } } },
      ] as const,
  ),
  ['{ every(where: {t: {_like: "a\\\\\\\\b%"}}) { id } }'],
  ['{ every(where: {t: {_regex: "a.b\'"}}) { id } }'],
  ['{ every(where: {x: {_is_null: false}, d: {_in: ["2024-02-01", "2024-02-02"]}}) { id } }'],
  ['{ find(args: {day: "2024-02-01"}) { id d took } }'],
  ['{ native(args: {day: "2024-02-01", span: "1 day"}) { d iv } }'],
  ['{ every(order_by: [{iv: asc}, {tstz: desc}], distinct_on: iv) { id } }'],
  [
    'mutation { update_every(where: {id: {_eq: 1}}, _set: {d: "2024-05-06", iv: "2 days", by: "\\\\x01"}, _append: {jb: {z: 1}}) { returning { d iv by jb } } }',
  ],
  [
    'mutation { insert_every_one(object: {id: 1, f8: 1e-7, t: "e\\\\"}, on_conflict: {constraint: every_pkey, update_columns: [f8, t]}) { f8 t ts } }',
  ],
  ['mutation { delete_every(where: {id: {_eq: 1}}) { returning { FIELDS took } } }'],
];

async function answers(url: string, readBack: readonly string[] = []): Promise<unknown[]> {
  const engine: TestEngine = await startTestEngine({ databaseUrl: url });
  try {
    const results: unknown[] = [];
    const ask = async (text: string, variables: object = {}) =>
      engine.graphql(text.replaceAll('FIELDS', FIELDS), { variables: { ...variables } });
    for (const [i, [text, variables = {}]] of REQUESTS.entries()) {
      results.push([text, variables, await ask(text, variables)]);
      if (i > 0) continue;
      const { data } = await ask('{ every { FIELDS } }');
      const [row] = data!['every'] as Record<string, unknown>[];
      for (const field of readBack.filter((one) => one in ROW && one !== 'f8')) {
        const where = { [field]: { _eq: row![field] } };
        const found = await ask('query ($v: every_bool_exp!) { every(where: $v) { id } }', { v: where });
        expect([where, found]).toEqual([where, { data: { every: [{ id: 1 }] } }]);
      }
    }
    const sql = `select 1 as one, null as none, 'a' as text`;
    results.push((await engine.admin('run_sql', { sql })).body);
    return results;
  } finally {
    await engine.close();
  }
}

const database = testDatabase();
let plain: unknown[];

beforeAll(async () => {
  await database.sql(SCHEMA);
  const engine = await startTestEngine({ databaseUrl: database.url });
  const column_config = { 'we ird "\\ü': { custom_name: 'we' } };
  await engine.must('pg_track_table', { table: 'every', configuration: { column_config } });
  await engine.must('pg_track_function', { function: 'find' });
  await engine.must('pg_add_computed_field', {
    table: 'every',
    name: 'took',
    definition: { function: 'took' },
  });
  const fields = [
    { name: 'd', type: 'date' },
    { name: 'iv', type: 'interval', nullable: true },
  ];
  await engine.must('pg_track_logical_model', { name: 'day', fields });
  await engine.must('pg_track_native_query', {
    root_field_name: 'native',
    arguments: { day: { type: 'date' }, span: { type: 'interval' } },
    code: `select d, iv + {{span}} as iv from public.every where d = {{day}} and t like 'a%'`,
    returns: 'day',
  });
  await engine.close();
  plain = await answers(database.url);
});

test('the requests succeed', () => {
  for (const answer of plain.slice(0, -1))
    expect(answer).toMatchObject([expect.any(String), {}, { data: expect.anything() }]);
});

const settings = SETTINGS.map(([name, value, styled = []]) => ({ name, value, styled }));

describe.each(settings)('$name = $value', ({ name, value, styled }) => {
  test('changes no answer but the style of text', async () => {
    const own = new URL(database.url).pathname.slice(1);
    await database.sql(`alter database ${own} set ${name} = '${value}'`);
    try {
      const got = await answers(database.url, styled);
      for (const [i, answer] of got.entries())
        expect(inStyle(answer, styled)).toEqual(inStyle(plain[i], styled));
    } finally {
      await database.sql(`alter database ${own} reset ${name}; truncate every`);
    }
  });
});

/** Returns an answer without the text of some fields. The largest and the smallest values of a type are in the same style. */
function inStyle(answer: unknown, styled: readonly string[]): unknown {
  return JSON.parse(JSON.stringify(answer), (key, value) =>
    styled.includes(key) && value !== null && !isRecord(value) ? '*' : value,
  );
}
