/** Tests columns of array types end to end: GraphQL lists in input and output, the text form of Postgres as input,
 *  comparisons, aggregates, arguments, and session variables that contain arrays. */
import { beforeAll, expect, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';

const SCHEMA = `
  create type mood as enum ('sad', 'ok');
  create domain scores as int[];
  create table note (
    id int primary key, tags text[] not null default '{}', numbers int[], big bigint[], moods mood[], docs jsonb[],
    grid int[], boxes box[], flags bool[], own scores, area box);
  insert into note (id, tags, numbers, big, moods, docs, grid, flags, own) values
    (1, '{a,b}', '{1,2}', '{9007199254740993}', '{ok}', array['{"a":[1]}', '"x"']::jsonb[], '{{1,2},{3,4}}', '{t,f}', '{5}'),
    (2, '{"q\\"c,",NULL}', '{2}', '{2}', '{sad,ok}', null, null, null, null),
    (3, '{}', null, null, null, null, null, null, null);
  create function tagged(wanted text[], amount int[] default '{}') returns setof note language sql stable as
    $$ select * from note where tags @> wanted and coalesce(numbers, '{}') @> amount $$;
  create function first_tags(n note) returns text[] language sql stable as $$ select n.tags[1:1] $$;
  create table keyed (key int[] primary key, name text);
  insert into keyed values ('{1,2}', 'one and two'), ('{1}', 'one');
`;

const TABLES = ['note', 'keyed'];
const must = async (type: string, args: object, on = engine) => {
  expect((await on.admin(type, args)).body).toEqual({ message: 'success' });
};
type As = { readonly role?: string; readonly headers?: Record<string, string> };
const ask = async (query: string, variables: object = {}, as: As = {}) => {
  const { data, errors } = await engine.graphql(query, { variables: { ...variables }, ...as });
  expect(errors).toBeUndefined();
  return data!;
};
const placeOf = async (query: string, variables: object = {}) => {
  const { errors } = await engine.graphql(query, { variables: { ...variables } });
  return errors?.map(({ extensions }) => [extensions.code, extensions.path])[0];
};
const idsWhere = async (where: string, as: As = {}) =>
  (
    (await ask(`{ note(where: ${where}, order_by: {id: asc}) { id } }`, {}, as))['note'] as { id: number }[]
  ).map(({ id }) => id);

const { database, engine } = testWorld(SCHEMA, () => ({ stringifyNumericTypes: true }));

beforeAll(async () => {
  for (const table of TABLES) await must('pg_track_table', { table });
  await must('pg_track_function', { function: 'tagged' });
  const definition = { function: 'first_tags' };
  await must('pg_add_computed_field', { table: 'note', name: 'first_tags', definition });
  const filter = { tags: { _contains: 'X-Engine-Tags' } };
  const permission = { columns: ['id', 'tags', 'numbers'], filter };
  await must('pg_create_select_permission', { table: 'note', role: 'reader', permission });
  const among = { columns: ['id'], filter: { numbers: { _in: ['X-Engine-Numbers', [7]] } } };
  await must('pg_create_select_permission', { table: 'note', role: 'listed', permission: among });
  const write = {
    columns: ['id', 'numbers'],
    set: { tags: 'X-Engine-Tags' },
    check: { numbers: { _contained_in: [1, 2, 3] } },
  };
  await must('pg_create_insert_permission', { table: 'note', role: 'reader', permission: write });
});

test('an array is a list of its element type, in output, input and comparisons', async () => {
  const query = `{
    note: __type(name: "note") { fields { name type { ...T } } }
    input: __type(name: "note_insert_input") { inputFields { name type { ...T } } }
    compared: __type(name: "Int_array_comparison_exp") { inputFields { name type { ...T } } }
  }
  fragment T on __Type { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } }`;
  type Type = { kind: string; name: string | null; ofType?: Type | null };
  type Named = { name: string; type: Type };
  const spell = ({ kind, name, ofType }: Type): string =>
    kind === 'LIST' ? `[${spell(ofType!)}]` : kind === 'NON_NULL' ? `${spell(ofType!)}!` : name!;
  const spelled = (named: readonly Named[]) =>
    Object.fromEntries(named.map(({ name, type }) => [name, spell(type)]));
  const data = (await ask(query)) as Record<string, { fields: Named[]; inputFields: Named[] }>;
  const columns = { numbers: '[Int!]', moods: '[mood!]', docs: '[jsonb!]', own: '[Int!]', boxes: '[box!]' };
  expect(spelled(data['note']!.fields)).toMatchObject({
    ...columns,
    tags: '[String!]!',
    first_tags: '[String!]',
  });
  expect(spelled(data['input']!.inputFields)).toMatchObject({ ...columns, tags: '[String!]' });
  expect(spelled(data['compared']!.inputFields)).toEqual({
    ...Object.fromEntries(['_eq', '_neq', '_gt', '_gte', '_lt', '_lte'].map((name) => [name, '[Int!]'])),
    ...{
      _in: '[[Int!]!]',
      _nin: '[[Int!]!]',
      _is_null: 'Boolean',
      _contains: '[Int!]',
      _contained_in: '[Int!]',
    },
  });
});

test('values print as JSON lists, with nested lists, large numbers as text if configured, and NULL elements as null', async () => {
  const fields = 'id tags numbers big moods docs grid flags own first_tags';
  const [one, two, three] = (await ask(`{ note(order_by: {id: asc}) { ${fields} } }`))['note'] as object[];
  expect(one).toEqual({
    ...{ id: 1, tags: ['a', 'b'], numbers: [1, 2], big: ['9007199254740993'], moods: ['ok'] },
    ...{ docs: [{ a: [1] }, 'x'], flags: [true, false], own: [5], first_tags: ['a'] },
    grid: [
      [1, 2],
      [3, 4],
    ],
  });
  expect(two).toMatchObject({ tags: ['q"c,', null], moods: ['sad', 'ok'], docs: null });
  expect(three).toMatchObject({ tags: [], numbers: null, first_tags: [] });
});

const ROW = `tags: ["x,\\"", "null"], numbers: "{1,NULL,2}", docs: [{a: 1}, "s", [2]], moods: [ok], grid: "{{1},{2}}", own: [1]`;
const WRITTEN = {
  ...{ tags: ['x,"', 'null'], numbers: [1, null, 2], docs: [{ a: 1 }, 's', [2]], moods: ['ok'], own: [1] },
  grid: [[1], [2]],
};
const undo = `delete_note(where: {id: {_gt: 3}}) { affected_rows }`;

test('lists and the text form of Postgres are accepted as literals and in variables', async () => {
  const returning = '{ tags numbers docs moods grid own }';
  const literal = `mutation { insert_note_one(object: {id: 4, ${ROW}}) ${returning} ${undo} }`;
  expect((await ask(literal))['insert_note_one']).toEqual(WRITTEN);
  const object = { id: 4, ...WRITTEN, numbers: '{1,NULL,2}', grid: '{{1},{2}}' };
  const whole = `mutation ($object: note_insert_input!) { insert_note_one(object: $object) ${returning} ${undo} }`;
  expect((await ask(whole, { object }))['insert_note_one']).toEqual(WRITTEN);
  const parts = `mutation ($tag: String!, $numbers: [Int!]) {
    insert_note_one(object: {id: 4, tags: ["a", $tag], numbers: $numbers}) { tags numbers }
    update_note_by_pk(pk_columns: {id: 4}, _set: {tags: [], numbers: null}) { tags numbers } ${undo} }`;
  expect(await ask(parts, { tag: '}"', numbers: [] })).toMatchObject({
    insert_note_one: { tags: ['a', '}"'], numbers: [] },
    update_note_by_pk: { tags: [], numbers: null },
  });
});

test('comparisons accept whole arrays, and lists of arrays of different lengths', async () => {
  expect(await idsWhere('{tags: {_eq: ["a", "b"]}}')).toEqual([1]);
  expect(await idsWhere('{numbers: {_gte: "{2}"}}')).toEqual([2]);
  expect(await idsWhere('{numbers: {_contains: [2]}}')).toEqual([1, 2]);
  expect(await idsWhere('{numbers: {_contained_in: [2, 3]}}')).toEqual([2]);
  expect(await idsWhere('{numbers: {_in: [[1, 2], [2], [9]]}}')).toEqual([1, 2]);
  expect(await idsWhere('{numbers: {_in: []}}')).toEqual([]);
  expect(await idsWhere('{numbers: {_nin: [[1, 2], []]}}')).toEqual([2]);
  expect(await idsWhere('{moods: {_contains: ["sad"]}}')).toEqual([2]);
  expect(await idsWhere('{docs: {_contains: [{a: [1]}]}}')).toEqual([1]);
  expect(await idsWhere('{own: {_eq: [5]}}')).toEqual([1]);
  expect(await idsWhere('{own: {_in: [[5], [6, 7]]}}')).toEqual([1]);
  expect(await idsWhere('{first_tags: {_eq: ["a"]}}')).toEqual([1]);
  const query =
    'query ($of: [[Int!]!]!, $n: [Int!]!) { note(where: {numbers: {_in: $of, _neq: $n}}) { id } }';
  expect(await ask(query, { of: [[1, 2], [2], []], n: [1, 2] })).toEqual({ note: [{ id: 2 }] });
  const mixed =
    'query ($n: Int!) { note(where: {numbers: {_in: [[1, $n], "{2}"]}}, order_by: {id: asc}) { id } }';
  expect(await ask(mixed, { n: 2 })).toEqual({ note: [{ id: 1 }, { id: 2 }] });
});

test('arrays work in orders, distinct rows, extremes, keys and arguments of functions', async () => {
  const query = `{
    note(order_by: {numbers: desc_nulls_last}, distinct_on: numbers) { id }
    note_aggregate { aggregate { max { numbers tags } min { numbers big } count(columns: [numbers], distinct: true) } }
    keyed_by_pk(key: [1, 2]) { name }
    text: keyed_by_pk(key: "{1}") { name }
    tagged(args: {wanted: ["a"], amount: "{2}"}) { id }
  }`;
  expect(await ask(query)).toEqual({
    note: [{ id: 2 }, { id: 1 }, { id: 3 }],
    note_aggregate: {
      aggregate: {
        max: { numbers: [2], tags: ['q"c,', null] },
        min: { numbers: [1, 2], big: ['2'] },
        count: 2,
      },
    },
    keyed_by_pk: { name: 'one and two' },
    text: { name: 'one' },
    tagged: [{ id: 1 }],
  });
});

test('a value that is not an array is refused with the path of the array', async () => {
  const where = (operand: string) => placeOf(`{ note(where: {numbers: {_eq: ${operand}}}) { id } }`);
  const at = '$.selectionSet.note.args.where.numbers._eq';
  for (const wrong of ['[1, true]', '[[1]]', '[2147483648]', '1']) {
    expect(await where(wrong)).toEqual(['parse-failed', at]);
  }
  for (const text of ['[1, "a"]', '"a"']) expect(await where(text)).toEqual(['data-exception', '$']);
  const query = 'query ($n: [Int!]) { note(where: {numbers: {_eq: $n}}) { id } }';
  for (const wrong of [[1, true], [2 ** 31], { a: 1 }, 1]) {
    expect(await placeOf(query, { n: wrong })).toEqual(['parse-failed', at]);
  }
  expect(await placeOf(query, { n: [1, 'a'] })).toEqual(['data-exception', '$']);
  const insert =
    'mutation { insert_note_one(object: {id: 77, numbers: [1, null]}) { numbers } delete_note_by_pk(id: 77) { id } }';
  expect(await ask(insert)).toMatchObject({ insert_note_one: { numbers: [1, null] } });
});

test('boxes, which Postgres separates by semicolons, are lists like others', async () => {
  const boxes = ['(1,1),(0,0)', '(3,3),(2,2)'];
  const literal = JSON.stringify(boxes);
  const write = `mutation ($b: [box!]) {
    insert_note_one(object: {id: 78, boxes: ${literal}, area: "(1,1),(0,0)"}) { boxes }
    update_note_by_pk(pk_columns: {id: 78}, _set: {boxes: $b}) { boxes }
  }`;
  const written = { boxes: [...boxes, null] };
  expect(await ask(write, { b: written.boxes })).toEqual({
    insert_note_one: { boxes },
    update_note_by_pk: written,
  });
  expect(await idsWhere(`{area: {_in: ${literal}}}`)).toEqual([78]);
  const query = 'query ($b: [box!]!) { note(where: {area: {_nin: $b}}) { id } }';
  expect(await ask(query, { b: boxes })).toEqual({ note: [] });
  await ask('mutation { delete_note_by_pk(id: 78) { id } }');
});

test('several rows take arrays of a domain', async () => {
  const write = `mutation ($rows: [note_insert_input!]!) {
    insert_note(objects: $rows) { returning { id own } }
    delete_note(where: {id: {_gte: 78}}) { affected_rows }
  }`;
  const rows = [
    { id: 78, own: [1, 2] },
    { id: 79, own: [3] },
    { id: 80, own: null },
  ];
  expect(await ask(write, { rows })).toMatchObject({ insert_note: { returning: rows } });
});

test('session variables that contain arrays work in filters, presets and checks', async () => {
  const as = (tags: string) => ({ role: 'reader', headers: { 'x-engine-tags': tags } });
  expect(await idsWhere('{}', as('{b}'))).toEqual([1]);
  expect(await idsWhere('{}', as('{b,c}'))).toEqual([]);
  expect(await idsWhere('{}', { role: 'listed', headers: { 'x-engine-numbers': '{2}' } })).toEqual([2]);
  const insert = (numbers: string) =>
    engine.graphql(
      `mutation { insert_note_one(object: {id: 9, numbers: ${numbers}}) { tags numbers } }`,
      as('{b}'),
    );
  expect((await insert('[4]')).errors?.[0]?.extensions.code).toBe('permission-error');
  expect((await insert('[3, 1]')).data).toEqual({ insert_note_one: { tags: ['b'], numbers: [3, 1] } });
  await ask(`mutation { ${undo} }`);
  const hidden = await engine.graphql('{ note { moods } }', as('{b}'));
  expect(hidden.errors?.[0]?.message).toBe(`field 'moods' not found in type: 'note'`);
});

test('with lists disabled an array is a scalar, and its input accepts both forms', async () => {
  const scalars = await startTestEngine({
    databaseUrl: database.url,
    experimentalFeatures: ['disable_postgres_arrays'],
  });
  try {
    const query = `query ($n: _integer!) {
      note(where: {numbers: {_eq: $n}, tags: {_eq: "{a,b}"}}) { id }
      __type(name: "_integer_comparison_exp") { name }
    }`;
    const data = { note: [{ id: 1 }], __type: { name: '_integer_comparison_exp' } };
    expect(await scalars.graphql(query, { variables: { n: '{1,2}' } })).toEqual({ data });
    expect(await scalars.graphql(query, { variables: { n: [1, 2] } })).toEqual({ data });
    const among = '{ note(where: {numbers: {_in: ["{2}", [1, 2]]}}, order_by: {id: asc}) { id } }';
    expect(await scalars.graphql(among)).toEqual({ data: { note: [{ id: 1 }, { id: 2 }] } });
  } finally {
    await scalars.close();
  }
});
