/** Tests enum tables end to end: the values clients see and send, error messages, and when new rows take effect. */
import { beforeAll, expect, test } from 'vitest';
import type { TestEngine } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';

const { database, engine } = testWorld(`
  create table color (value text primary key, comment text);
  insert into color values ('red', 'warm'), ('blue', null), ('green', 'of leaves');
  create table painting (
    id int primary key, main text not null references color, second text references color, title text);
  insert into painting values (1, 'red', 'blue', 'a'), (2, 'blue', null, 'b'), (3, 'red', 'green', 'c');
  create table stock (color text primary key references color, n int not null);
  insert into stock values ('red', 2), ('blue', 0);
  `);

beforeAll(async () => {
  await engine.must('pg_track_table', { table: 'color', is_enum: true });
  for (const table of ['painting', 'stock']) await engine.must('pg_track_table', { table });
  await engine.must('pg_create_select_permission', {
    table: 'painting',
    role: 'visitor',
    permission: { columns: ['id', 'main'], filter: { main: { _eq: 'X-Engine-Color' } } },
  });
  await engine.must('pg_create_insert_permission', {
    table: 'painting',
    role: 'painter',
    permission: { columns: ['id'], check: { main: { _neq: 'green' } }, set: { main: 'X-Engine-Color' } },
  });
});

/** Returns the data, or message and path of the first error. */
async function ask(query: string, options: Parameters<TestEngine['graphql']>[1] = {}): Promise<unknown> {
  const { data, errors } = await engine.graphql(query, options);
  return errors ? `${errors[0]!.extensions.path}: ${errors[0]!.message}` : data;
}

const valuesOf = async (role?: string) => {
  const text = '{ __type(name: "color_enum") { kind enumValues { name description } } }';
  return ask(text, role === undefined ? {} : { role });
};

const VALUES = [
  { name: 'blue', description: null },
  { name: 'green', description: 'of leaves' },
  { name: 'red', description: 'warm' },
];

test('rows are values with descriptions, also for a role that may not read them', async () => {
  expect(await valuesOf()).toEqual({ __type: { kind: 'ENUM', enumValues: VALUES } });
  expect(await valuesOf('visitor')).toEqual({ __type: { kind: 'ENUM', enumValues: VALUES } });
  expect(await ask('{ color { value } }', { role: 'visitor' })).toBe(
    `$.selectionSet.color: field 'color' not found in type: 'query_root'`,
  );
  expect(await valuesOf('nobody')).toEqual({ __type: null });
});

test('columns that refer to the table have its type, in output and in input', async () => {
  const type = 'type { name kind ofType { name kind ofType { name kind ofType { name } } } }';
  type Type = { readonly name: string | null; readonly kind: string; readonly ofType: Type };
  type Field = { readonly name: string; readonly type: Type };
  const print = ({ name, kind, ofType }: Type): string =>
    name ?? (kind === 'LIST' ? `[${print(ofType)}]` : `${print(ofType)}!`);
  const typesOf = async (name: string) => {
    const text = `{ __type(name: "${name}") { fields { name ${type} } inputFields { name ${type} } } }`;
    const { fields, inputFields } = ((await ask(text)) as Record<'__type', Record<string, Field[]>>).__type;
    return Object.fromEntries((fields ?? inputFields)!.map((field) => [field.name, print(field.type)]));
  };
  const ofPainting = { main: 'color_enum', second: 'color_enum', title: 'String' };
  expect(await typesOf('painting')).toMatchObject({ ...ofPainting, main: 'color_enum!' });
  expect(await typesOf('painting_insert_input')).toMatchObject(ofPainting);
  expect(await typesOf('painting_set_input')).toMatchObject(ofPainting);
  expect(await typesOf('painting_bool_exp')).toMatchObject({
    main: 'color_enum_comparison_exp',
    title: 'String_comparison_exp',
  });
  expect(await typesOf('color_enum_comparison_exp')).toEqual({
    _eq: 'color_enum',
    _in: '[color_enum!]',
    _is_null: 'Boolean',
    _neq: 'color_enum',
    _nin: '[color_enum!]',
  });
  expect(await typesOf('stock_pk_columns_input')).toEqual({ color: 'color_enum!' });
  expect(await typesOf('color')).toEqual({ value: 'String!', comment: 'String' });
  expect(await typesOf('painting_max_fields')).toEqual({ id: 'Int', title: 'String' });
});

test('values are written as names, in conditions, keys and rows', async () => {
  expect(
    await ask('{ painting(where: { main: { _eq: red } }, order_by: { id: asc }) { id main second } }'),
  ).toEqual({
    painting: [
      { id: 1, main: 'red', second: 'blue' },
      { id: 3, main: 'red', second: 'green' },
    ],
  });
  const among = '{ painting(where: { second: { _in: [blue, green] }, main: { _nin: [blue] } }) { id } }';
  expect(await ask(among)).toEqual({ painting: [{ id: 1 }, { id: 3 }] });
  expect(await ask('{ painting(where: { second: { _is_null: true } }) { id } }')).toEqual({
    painting: [{ id: 2 }],
  });
  expect(await ask('{ painting(order_by: [{ main: desc }, { id: desc }]) { id } }')).toEqual({
    painting: [{ id: 3 }, { id: 1 }, { id: 2 }],
  });
  expect(await ask('{ stock_by_pk(color: red) { n color } }')).toEqual({
    stock_by_pk: { n: 2, color: 'red' },
  });
  expect(
    await ask(`mutation {
      insert_painting(objects: [{ id: 4, main: green }, { id: 5, main: red, second: null }]) {
        returning { id main second }
      }
      update_painting(where: { id: { _in: [4, 5] } }, _set: { second: red }) { affected_rows }
      update_stock_by_pk(pk_columns: { color: blue }, _inc: { n: 1 }) { color n }
      delete_painting(where: { second: { _eq: red } }) { affected_rows }
    }`),
  ).toEqual({
    insert_painting: {
      returning: [
        { id: 4, main: 'green', second: null },
        { id: 5, main: 'red', second: null },
      ],
    },
    update_painting: { affected_rows: 2 },
    update_stock_by_pk: { color: 'blue', n: 1 },
    delete_painting: { affected_rows: 2 },
  });
});

test('values are accepted in variables, also in lists and inside objects', async () => {
  const one = 'query ($c: color_enum!) { painting(where: { main: { _eq: $c } }) { id } }';
  expect(await ask(one, { variables: { c: 'blue' } })).toEqual({ painting: [{ id: 2 }] });
  const many = 'query ($c: [color_enum!]!) { painting(where: { main: { _in: $c } }) { id } }';
  expect(await ask(many, { variables: { c: ['blue', 'green'] } })).toEqual({ painting: [{ id: 2 }] });
  expect(await ask(many, { variables: { c: 'blue' } })).toEqual({ painting: [{ id: 2 }] });
  const where = 'query ($w: painting_bool_exp) { painting(where: $w) { id } }';
  expect(await ask(where, { variables: { w: { second: { _eq: 'green' } } } })).toEqual({
    painting: [{ id: 3 }],
  });
});

test('an unknown value or text is refused with its path', async () => {
  const at = '$.selectionSet.painting.args.where.main._eq';
  const listed =
    "expected one of the values ['blue', 'green', 'red'] for type 'color_enum', but found 'pink'";
  expect(await ask('{ painting(where: { main: { _eq: pink } }) { id } }')).toBe(`${at}: ${listed}`);
  const one = 'query ($c: color_enum) { painting(where: { main: { _eq: $c } }) { id } }';
  expect(await ask(one, { variables: { c: 'pink' } })).toBe(`${at}: ${listed}`);
  expect(await ask(one, { variables: { c: 7 } })).toBe(
    `${at}: expected an enum value for type 'color_enum', but found a number`,
  );
  expect(await ask('{ painting(where: { main: { _eq: "red" } }) { id } }')).toBe(
    `${at}: expected an enum value for type 'color_enum', but found a string`,
  );
  expect(await ask('{ painting(where: { main: { _gt: red } }) { id } }')).toBe(
    `$.selectionSet.painting.args.where.main._gt: ` +
      `field '_gt' not found in type: 'color_enum_comparison_exp'`,
  );
  const text = 'query ($c: String) { painting(where: { main: { _eq: $c } }) { id } }';
  expect(await ask(text, { variables: { c: 'red' } })).toContain(
    `variable 'c' is declared as 'String', but used where 'color_enum' is expected`,
  );
});

test('a role sees the rows of its filter, and its presets are written', async () => {
  const headers = { 'X-Engine-Color': 'red' };
  const rows = '{ painting(order_by: { id: asc }) { id main } }';
  expect(await ask(rows, { role: 'visitor', headers })).toEqual({
    painting: [
      { id: 1, main: 'red' },
      { id: 3, main: 'red' },
    ],
  });
  expect(await ask('{ painting { second } }', { role: 'visitor', headers })).toContain(
    "field 'second' not found",
  );
  const insert = (id: number) => `mutation { insert_painting(objects: { id: ${id} }) { affected_rows } }`;
  expect(await ask(insert(7), { role: 'painter', headers })).toEqual({
    insert_painting: { affected_rows: 1 },
  });
  const green = { role: 'painter', headers: { 'X-Engine-Color': 'green' } };
  expect(await ask(insert(8), green)).toContain('check constraint of an insert/update permission has failed');
  await database.sql('delete from painting where id > 3');
});

test('values are parameters: different values share plan and statement', async () => {
  const text = 'query ($c: color_enum!) { painting(where: { main: { _neq: $c } }) { id } }';
  const explain = async (c: string) => {
    const body = JSON.stringify({ query: { query: text, variables: { c } } });
    const answer = await engine.fetch('/v1/graphql/explain', { method: 'POST', body });
    return ((await answer.json()) as { sql: string }[])[0]!.sql;
  };
  expect(await explain('red')).toBe(await explain('blue'));
});

test('new rows take effect at the next reload or change of the schema', async () => {
  await engine.must('run_sql', { sql: "insert into color values ('pink', null)" });
  expect(await valuesOf()).toEqual({ __type: { kind: 'ENUM', enumValues: VALUES } });
  await engine.must('reload_metadata', {});
  expect(JSON.stringify(await valuesOf())).toContain('pink');
  await engine.must('run_sql', {
    sql: "delete from color where value = 'pink'; alter table color rename to colour",
  });
  const renamed = '{ __type(name: "colour_enum") { enumValues { name description } } }';
  expect(await ask(renamed)).toEqual({ __type: { enumValues: VALUES } });
  await engine.must('run_sql', { sql: 'alter table colour rename to color' });
  expect(await valuesOf()).toEqual({ __type: { kind: 'ENUM', enumValues: VALUES } });
});

test('the flag can be removed and set again, which reads the current rows', async () => {
  await engine.must('pg_set_table_is_enum', { table: 'color', is_enum: false });
  expect(await valuesOf()).toEqual({ __type: null });
  expect(await ask('{ painting(where: { main: { _like: "b%" } }) { main } }')).toEqual({
    painting: [{ main: 'blue' }],
  });
  await engine.must('run_sql', { sql: "insert into color values ('pink', null)" });
  await engine.must('pg_set_table_is_enum', { table: 'color', is_enum: true });
  expect(JSON.stringify(await valuesOf())).toContain('pink');
  await engine.must('run_sql', {
    sql: "delete from color where value = 'pink'",
    check_metadata_consistency: true,
  });
  expect(JSON.stringify(await valuesOf())).not.toContain('pink');
});

test('a value that is no GraphQL name makes the table inconsistent, and its columns text', async () => {
  await engine.must('run_sql', { sql: "insert into color values ('dark red', null)" });
  const { body } = await engine.admin('reload_metadata', {});
  expect(body).toMatchObject({
    is_consistent: false,
    inconsistent_objects: [
      {
        name: 'table color in source default',
        reason:
          'Inconsistent object: the table "color" cannot be used as an enum because ' +
          'the value "dark red" is not a valid GraphQL enum value name',
      },
    ],
  });
  expect(await ask('{ painting(where: { main: { _eq: "blue" } }) { id } }')).toEqual({
    painting: [{ id: 2 }],
  });
  const refused = await engine.admin('run_sql', {
    sql: "create table t (); insert into color values ('1', null)",
  });
  expect(refused.status).toBe(200);
  await engine.must('run_sql', { sql: "drop table t; delete from color where value in ('dark red', '1')" });
  expect(await valuesOf()).toEqual({ __type: { kind: 'ENUM', enumValues: VALUES } });
});

test('SQL that changes the schema and breaks an enum is refused', async () => {
  const spoiling = { sql: "create table t (); insert into color values ('dark red', null)" };
  expect(await engine.admin('run_sql', spoiling)).toMatchObject({ status: 400 });
  expect(await database.sql("select * from color where value = 'dark red'")).toEqual([]);
});

test('one request can create the table, fill it and track it as an enum', async () => {
  const steps = [
    {
      type: 'run_sql',
      args: { sql: "create table size (value text primary key); insert into size values ('xl')" },
    },
    { type: 'run_sql', args: { sql: 'create table shirt (id int primary key, size text references size)' } },
    { type: 'track_table', args: { table: 'size', is_enum: true } },
    { type: 'track_table', args: { table: 'shirt' } },
  ];
  await engine.must('bulk', steps, { endpoint: '/v1/query' });
  expect(await ask('{ shirt(where: { size: { _eq: xl } }) { id } }')).toEqual({ shirt: [] });
});
