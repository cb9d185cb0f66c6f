/** Types of extensions: every place that compares values × types × whether the extension's schema is in the search path. Each request gets
 *  the answer that it gets where the extension is in `public`. Types of PostGIS take part where the server has it
 *  (`PERGOLA_TEST_POSTGRES_BIN`). Rule: docs/reference/behaviour/operators.md, "Types of extensions". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSession } from '../../testing/websocket.ts';

type Sample = {
  /** The name of the type, without its schema. */
  readonly type: string;
  readonly extension: string;
  /** Three values in ascending order, and the first one in another form if the type has one. */
  readonly values: readonly [low: string, middle: string, high: string, again: string];
  /** The value in GraphQL when it is not the text. */
  readonly form?: (text: string) => unknown;
};

const point = (text: string) => {
  const [x, y] = /\((.*)\)/.exec(text)![1]!.split(' ').map(Number);
  return {
    type: 'Point',
    coordinates: [x, y],
    crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::4326' } },
  };
};
const POINTS = [
  'SRID=4326;POINT(1 1)',
  'SRID=4326;POINT(2 2)',
  'SRID=4326;POINT(3 3)',
  'SRID=4326;POINT(1.0 1.00)',
] as const;

const SAMPLES: Readonly<Record<string, Sample>> = {
  // The order of text is different: in the C collation capitals come first, and 'a' does not equal 'A'.
  citext: { type: 'citext', extension: 'citext', values: ['a', 'B', 'c', 'A'] },
  folded: { type: 'folded', extension: 'citext', values: ['a', 'B', 'c', 'A'] },
  ltree: { type: 'ltree', extension: 'ltree', values: ['Top', 'Top.A', 'Top.B.C', 'Top'] },
  hstore: { type: 'hstore', extension: 'hstore', values: ['a=>1', 'b=>2', 'a=>1,b=>2', '"a"=>"1"'] },
  cube: {
    type: 'cube',
    extension: 'cube',
    values: ['(1, 1)', '(2, 1)', '(3, 3),(4, 4)', '(1.0, 1.0),(1, 1)'],
  },
  seg: { type: 'seg', extension: 'seg', values: ['1', '1 .. 2', '3', '1'] },
  isbn13: {
    type: 'isbn13',
    extension: 'isn',
    values: ['978-0-393-04002-9', '978-0-901690-54-8', '978-1-4028-9462-6', '9780393040029'],
  },
  geometry: { type: 'geometry', extension: 'postgis', values: POINTS, form: point },
  geography: { type: 'geography', extension: 'postgis', values: POINTS, form: point },
};

/** Pairs of types that a relationship joins, with a value of each. */
const PAIRS: readonly (readonly [left: string, right: string, value: string, other: string])[] = [
  ['citext', 'text', 'A', 'a'],
  ['text', 'citext', 'a', 'A'],
  ['citext', 'varchar', 'A', 'a'],
  ['folded', 'citext', 'A', 'a'],
  ['citext', 'folded', 'a', 'A'],
  ['isbn13', 'ean13', '978-0-393-04002-9', '9780393040029'],
  ['ean13', 'isbn', '9780393040029', '978-0-393-04002-9'],
  ['ltree', 'text', 'Top', 'Top'],
  ['geometry', 'geography', 'SRID=4326;POINT(1 1)', 'SRID=4326;POINT(1 1)'],
  ['geography', 'geometry', 'SRID=4326;POINT(1 1)', 'SRID=4326;POINT(1 1)'],
  ['box2d', 'geometry', 'BOX(1 1,2 2)', 'POLYGON((1 1,1 2,2 2,2 1,1 1))'],
];
const BUILT_IN = ['text', 'varchar'];
const EXTENSION_OF: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values(SAMPLES).map(({ type, extension }) => [type, extension])),
  isbn: 'isn',
  ean13: 'isn',
  box2d: 'postgis',
};

/** True for types that rules compare with each other. */
const isTextual = (type: string): boolean => [...BUILT_IN, 'citext', 'folded'].includes(type);

/** True when a value of the type may be a cursor or part of a node id. Those of PostGIS and hstore are objects in JSON. */
const isCursor = (type: string): boolean => !['hstore', 'geometry', 'geography'].includes(type);

type World = { readonly engine: TestEngine; readonly databases: readonly TestDatabase[] };

let inside: World;
let outside: World;
let hasPostgis = false;
beforeAll(async () => {
  inside = await startWorld('public', 'public');
  outside = await startWorld('ext', 'elsewhere');
}, 120_000);
afterAll(async () => {
  for (const world of [inside, outside]) {
    await world?.engine.close();
    for (const database of world?.databases ?? []) await database.drop();
  }
});

const isThere = (...types: readonly string[]): boolean =>
  hasPostgis || !types.some((type) => EXTENSION_OF[type] === 'postgis');

/** Starts an engine on a database with the extensions in a schema, and on another source with those in `otherSchema`. */
async function startWorld(schema: string, otherSchema: string): Promise<World> {
  const databases = [await createDatabase(), await createDatabase()] as const;
  const [own, other] = databases;
  const found = await own.sql("select 1 from pg_available_extensions where name = 'postgis'");
  hasPostgis = found.length > 0;
  const names = Object.keys(SAMPLES).filter((name) => isThere(SAMPLES[name]!.type));
  const pairs = PAIRS.filter(([left, right]) => isThere(left, right));
  for (const [database, where, place] of [
    [own, schema, 'public'],
    [other, otherSchema, 'far'],
  ] as const) {
    const extensions = [...new Set(names.map((name) => SAMPLES[name]!.extension))];
    await database.sql(
      `create schema if not exists ${where}; create schema if not exists ${place};
      ${extensions.map((each) => `create extension ${each} schema ${where};`).join('\n')}
      create domain folded as ${where}.citext;`,
    );
    const typeOf = (type: string) =>
      BUILT_IN.includes(type) || type === 'folded' ? type : `${where}.${type}`;
    for (const name of names) {
      const { type, values } = SAMPLES[name]!;
      const [low, middle, high, again] = values;
      const t = typeOf(type);
      await database.sql(`
        create table ${place}.${name}_parent (v ${t} primary key, label text);
        create table ${place}.${name}_child (id int primary key, v ${t}, w ${t}, n int, k int);
        create unique index ${name}_child_n on ${place}.${name}_child (w, n) where n > 0;
        insert into ${place}.${name}_parent values ('${low}', 'low'), ('${middle}', 'middle'), ('${high}', 'high');
        insert into ${place}.${name}_child (id, v, w, n) values (1, '${again}', '${low}', 1), (2, '${middle}', '${high}', 2),
          (3, '${high}', '${high}', 3), (4, null, '${low}', 4), (5, '${low}', '${again}', null);`);
    }
    for (const [i, [left, right, value, equal]] of pairs.entries()) {
      await database.sql(`
        create table pair${i}_one (id int primary key, v ${typeOf(left)}, w ${typeOf(right)});
        create table pair${i}_other (id int primary key, w ${typeOf(right)});
        insert into pair${i}_one values (1, '${value}', '${equal}');
        insert into pair${i}_other values (1, '${equal}');`);
    }
  }
  const engine = await startTestEngine({
    databaseUrl: own.url,
    env: { OTHER: other.url },
    experimentalFeatures: ['group_by', 'apollo_federation'],
    streamingQueriesMultiplexedRefetchInterval: 20,
    // Deliveries of event triggers are not what is tested.
    eventsFetchInterval: 60_000,
  });
  await prepare(engine, names, pairs);
  return { engine, databases };
}

async function prepare(engine: TestEngine, names: readonly string[], pairs: typeof PAIRS): Promise<void> {
  const operations: object[] = [];
  const perform = (type: string, args: object) => operations.push({ type, args });
  const manual = (table: string, column: string) => ({
    manual_configuration: { remote_table: table, column_mapping: { v: column } },
  });
  const connection = { connection_info: { database_url: { from_env: 'OTHER' } } };
  perform('pg_add_source', { name: 'other', configuration: connection });
  for (const name of names) {
    const [parent, child] = [`${name}_parent`, `${name}_child`];
    for (const table of [parent, child]) {
      const configuration = table === child ? { conflict_indexes: [`${child}_n`] } : {};
      const federated = table === parent ? { apollo_federation_config: { enable: 'v1' } } : {};
      perform('pg_track_table', { table, configuration, ...federated });
      perform('pg_track_table', {
        source: 'other',
        table: { schema: 'far', name: table },
      });
    }
    perform('pg_create_object_relationship', {
      table: child,
      name: 'parent',
      using: manual(parent, 'v'),
    });
    perform('pg_create_array_relationship', {
      table: parent,
      name: 'children',
      using: manual(child, 'v'),
    });
    const far = (table: string, kind: string) => ({
      to_source: {
        source: 'other',
        table: { schema: 'far', name: table },
        relationship_type: kind,
        field_mapping: { v: 'v' },
      },
    });
    perform('pg_create_remote_relationship', {
      table: child,
      name: 'far',
      definition: far(parent, 'object'),
    });
    perform('pg_create_remote_relationship', {
      table: parent,
      name: 'far',
      definition: far(child, 'array'),
    });
    const both = {
      ...far(parent, 'object').to_source,
      table: { schema: 'far', name: child },
      field_mapping: { v: 'v', w: 'w' },
    };
    perform('pg_create_remote_relationship', {
      table: child,
      name: 'far_pair',
      definition: { to_source: both },
    });
    perform('pg_track_logical_model', {
      name: `${name}_row`,
      fields: [
        { name: 'id', type: 'integer' },
        { name: 'v', type: SAMPLES[name]!.type, nullable: true },
      ],
    });
    perform('pg_track_native_query', {
      root_field_name: `${name}_rows`,
      code: `select id, v from ${child}`,
      returns: `${name}_row`,
      object_relationships: [{ name: 'parent', using: { remote_table: parent, column_mapping: { v: 'v' } } }],
    });
    for (const [role, filter] of Object.entries(filtersOf(name))) {
      const permission = { columns: '*', filter };
      perform('pg_create_select_permission', { table: child, role, permission });
      perform('pg_create_update_permission', { table: child, role, permission });
    }
    perform('pg_create_event_trigger', {
      name: `on_${name}`,
      table: child,
      update: { columns: ['v'] },
      webhook: 'http://127.0.0.1:9/',
    });
  }
  for (const [i, [left, right]] of pairs.entries()) {
    const [one, other] = [`pair${i}_one`, `pair${i}_other`];
    perform('pg_track_table', { table: one });
    perform('pg_track_table', { table: other });
    perform('pg_create_array_relationship', { table: one, name: 'others', using: manual(other, 'w') });
    if (!isTextual(left) || !isTextual(right)) continue;
    for (const operator of ['_ceq', '_cne', '_cgt']) {
      const permission = { columns: ['id'], filter: { v: { [operator]: 'w' } } };
      perform('pg_create_select_permission', { table: one, role: `pair${operator}`, permission });
    }
  }
  const { status, body } = await engine.admin('bulk', operations);
  if (status !== 200) throw new Error(JSON.stringify(body));
}

/** Rules of roles on the children, by role. */
function filtersOf(name: string): Readonly<Record<string, object>> {
  const { values, form = String } = SAMPLES[name]!;
  const again = form(values[3]);
  return {
    [`${name}_related`]: { parent: { label: { _eq: 'low' } } },
    [`${name}_columns`]: { v: { _ceq: 'w' } },
    [`${name}_unequal`]: { v: { _cne: 'w' } },
    [`${name}_root`]: { parent: { v: { _ceq: ['$', 'w'] } } },
    [`${name}_exists`]: {
      _exists: { _table: `${name}_parent`, _where: { v: { _ceq: ['$', 'w'] }, label: { _eq: 'high' } } },
    },
    [`${name}_far`]: { far: { label: { _eq: 'low' } } },
    [`${name}_far_pair`]: { far_pair: { n: { _gt: 1 } } },
    [`${name}_equal`]: { v: { _eq: again } },
    [`${name}_listed`]: { v: { _in: [again] } },
    [`${name}_session`]: { v: { _in: 'X-Engine-Values' } },
  };
}

/** Prints a value as a literal of GraphQL. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}: ${literal(member)}`)
    .join(', ')}}`;
}

/** Reads of a type by the place that compares. Types without an order or without `max` have none of those. */
function readsOf(name: string): Readonly<Record<string, string>> {
  const { type, values, form = String } = SAMPLES[name]!;
  const [low, middle, high, again] = values.map((value) => literal(form(value))) as [
    string,
    string,
    string,
    string,
  ];
  const [parent, child] = [`${name}_parent`, `${name}_child`];
  const where = (condition: string) => `{ ${child}(where: {v: ${condition}}, order_by: {id: asc}) { id } }`;
  const isText = type === 'citext' || type === 'folded';
  const hasOrder = type !== 'hstore';
  const hasExtremes = isText || type === 'ltree';
  return {
    'an object relationship': `{ ${child}(order_by: {id: asc}) { id parent { label } } }`,
    'an array relationship': `{ ${parent}(order_by: {label: asc}) { label children(order_by: {id: asc}) { id } } }`,
    'an aggregate over a relationship': `{ ${parent}(order_by: {label: asc}) { label children_aggregate { aggregate { count } } } }`,
    'a condition on a relationship': `{ ${child}(where: {parent: {label: {_eq: "low"}}}, order_by: {id: asc}) { id } }`,
    'a condition on the rows there': `{ ${parent}(where: {children: {id: {_eq: 1}}}) { label } }`,
    'a condition on an aggregate': `{ ${parent}(where: {children_aggregate: {count: {predicate: {_gt: 1}}}}) { label } }`,
    'an order': `{ ${child}(order_by: [{v: desc_nulls_last}, {id: asc}]) { id } }`,
    'an order through a relationship': `{ ${child}(order_by: [{parent: {v: asc}}, {id: asc}]) { id } }`,
    'an order by an aggregate': `{ ${parent}(order_by: [{children_aggregate: {count: desc}}, {label: asc}]) { label } }`,
    distinct: `{ ${child}(distinct_on: v, order_by: [{v: asc}, {id: asc}]) { id } }`,
    'a key': `{ ${parent}_by_pk(v: ${again}) { label } }`,
    'distinct counts': `{ ${child}_aggregate { aggregate { one: count(columns: [v], distinct: true) two: count(columns: [v, w], distinct: true) } } }`,
    _eq: where(`{_eq: ${again}}`),
    _neq: where(`{_neq: ${again}}`),
    _in: where(`{_in: [${again}, ${high}]}`),
    _nin: where(`{_nin: [${again}, ${high}]}`),
    'a native query': `{ ${name}_rows(order_by: {id: asc}) { id parent { label } } }`,
    // Rows of another source are joined by what the response prints, and an hstore prints as an object.
    ...(hasOrder && {
      groups: `{ ${child}_group_by(keys: [v], order_by: [{keys: {v: asc}}]) { aggregate { count } } }`,
      'a row of another source': `{ ${child}(order_by: {id: asc}) { id far { label } far_pair { id } } }`,
      'rows of another source': `{ ${parent}(order_by: {label: asc}) { label far(order_by: {id: asc}) { id } } }`,
      _gt: where(`{_gt: ${again}}`),
      _gte: where(`{_gte: ${middle}}`),
      _lt: where(`{_lt: ${high}}`),
      _lte: where(`{_lte: ${low}}`),
    }),
    ...(hasExtremes && {
      extremes: `{ ${child}_aggregate { aggregate { max { v } min { v } } } }`,
      'an order by extremes': `{ ${parent}(order_by: [{children_aggregate: {max: {v: desc}}}]) { label } }`,
    }),
    ...(isText && {
      _similar: where('{_similar: "(a|b)%"}'),
      _nsimilar: where('{_nsimilar: "(a|b)%"}'),
      _like: where('{_like: "a%"}'),
      _nlike: where('{_nlike: "b%"}'),
      _ilike: where('{_ilike: "b%"}'),
      _nilike: where('{_nilike: "b%"}'),
      _regex: where('{_regex: "^b"}'),
      _iregex: where('{_iregex: "^b"}'),
    }),
  };
}

/** Mutations in their order; each changes the database. */
function writesOf(name: string): readonly string[] {
  const { values, form = String } = SAMPLES[name]!;
  const [, middle, , again] = values.map((value) => literal(form(value))) as [string, string, string, string];
  const [parent, child] = [`${name}_parent`, `${name}_child`];
  const conflict = (constraint: string, columns: string) =>
    `on_conflict: {constraint: ${constraint}, update_columns: [${columns}]}`;
  return [
    `mutation { insert_${parent}(objects: [{v: ${again}, label: "upserted"}], ${conflict(`${parent}_pkey`, 'label')}) { affected_rows } }`,
    `mutation { insert_${child}_one(object: {id: 9, w: ${again}, n: 1}, ${conflict(`${name}_child_n`, 'id')}) { id parent { label } } }`,
    `mutation { update_${parent}_by_pk(pk_columns: {v: ${again}}, _set: {label: "updated"}) { label children(order_by: {id: asc}) { id } } }`,
    `mutation { update_${child}(where: {v: {_eq: ${middle}}}, _set: {v: ${again}}) { returning { id parent { label } } } }`,
    `mutation { update_${child}(where: {id: {_eq: 5}}, _set: {v: ${again}}) { affected_rows } }`,
    `mutation { delete_${parent}_by_pk(v: ${again}) { label } }`,
    `mutation { insert_${child}_one(object: {id: 10, parent: {data: {v: ${again}, label: "nested"}}}) { id parent { label } } }`,
    `mutation { delete_${child}(where: {parent: {label: {_eq: "nested"}}}) { affected_rows } }`,
  ];
}

async function answerIn({ engine }: World, query: string, role = 'admin', values = ''): Promise<unknown> {
  const headers = { 'x-engine-values': values };
  const { data, errors } = await engine.graphql(query, { role, headers });
  return errors ? { errors: errors.map(({ message }) => message) } : data;
}

/** Expects data, and equal answers of both worlds. */
async function same(ask: (world: World) => Promise<unknown>, about: string): Promise<void> {
  const expected = await ask(inside);
  expect(expected, about).not.toHaveProperty('errors');
  expect(await ask(outside), about).toEqual(expected);
}

describe.each(Object.keys(SAMPLES))('%s outside the search path compares as inside it', (name) => {
  const { type, values, form = String } = SAMPLES[name]!;
  const variable = JSON.stringify([form(values[3])]);

  test.each(Object.entries(readsOf(name)))('in %s', async (about, query) => {
    if (!isThere(type)) return;
    await same((world) => answerIn(world, query), about);
  });

  test.each(Object.keys(filtersOf(name)))('in the rule %s', async (role) => {
    if (!isThere(type)) return;
    const read = `{ ${name}_child(order_by: {id: asc}) { id } }`;
    await same((world) => answerIn(world, read, role, variable), role);
    // The rule is the check of the update, too.
    const write = `mutation { update_${name}_child(where: {}, _set: {k: 9}) { affected_rows } }`;
    await same((world) => answerIn(world, write, role, variable), role);
  });

  test('in pages', async () => {
    if (!isThere(type) || !isCursor(type)) return;
    for (const table of [`${name}_parent`, `${name}_child`]) {
      for (const order of ['asc', 'desc'])
        await same((world) => pagesOf(world, table, order), `${table} ${order}`);
    }
  });

  test('in ids of nodes and keys of entities', async () => {
    if (!isThere(type)) return;
    const again = form(values[3]);
    const id = Buffer.from(JSON.stringify([1, 'public', `${name}_parent`, again])).toString('base64');
    const node = `{ node(id: "${id}") { ... on ${name}_parent { label } } }`;
    if (isCursor(type)) await same((world) => relay(world, node), node);
    const key = `{__typename: "${name}_parent", v: ${literal(again)}}`;
    const entity = `{ _entities(representations: [${key}]) { ... on ${name}_parent { label } } }`;
    await same((world) => answerIn(world, entity), entity);
  });

  test('in a stream', async () => {
    if (!isThere(type) || !isCursor(type)) return;
    await same((world) => streamed(world, name, literal(form(values[0]))), name);
  });

  test('in explanations of access', async () => {
    if (!isThere(type)) return;
    const table = `${name}_parent`;
    const [, , , again] = values.map(form);
    const requests = [
      { table, role: 'admin', operation: 'select', key: { v: again } },
      ...[`${table}_pkey`].map((constraint) => ({
        table,
        role: 'admin',
        operation: 'insert',
        values: { v: again, label: 'x' },
        on_conflict: { constraint, update_columns: ['label'] },
      })),
      {
        table: `${name}_child`,
        role: 'admin',
        operation: 'insert',
        values: { id: 99, w: again, n: 1 },
        on_conflict: { constraint: `${name}_child_n`, update_columns: ['id'] },
      },
    ];
    for (const request of requests) {
      await same(async ({ engine }) => {
        const { status, body } = await engine.admin('pg_explain_access', { source: 'default', ...request });
        return { status, body };
      }, JSON.stringify(request));
    }
  });

  test('in writes, and in the capture of events', async () => {
    if (!isThere(type)) return;
    for (const write of writesOf(name)) await same((world) => answerIn(world, write), write);
    await same(async ({ databases: [own] }) => {
      return own!.sql(`select count(*)::int from pergola.event_log where trigger_name = 'on_${name}'`);
    }, name);
  });
});

test.each(PAIRS.map(([left, right], i) => [left, right, i] as const))(
  '%s joins %s as where the extension is in the search path',
  async (left, right) => {
    if (!isThere(left, right)) return;
    const index = PAIRS.filter((pair) => isThere(pair[0], pair[1])).findIndex(
      (pair) => pair[0] === left && pair[1] === right,
    );
    const query = `{ pair${index}_one { id others { id } } }`;
    const expected = await answerIn(inside, query);
    expect(await answerIn(outside, query)).toEqual(expected);
    if (!isTextual(left) || !isTextual(right)) return;
    for (const operator of ['_ceq', '_cne', '_cgt']) {
      const read = `{ pair${index}_one { id } }`;
      await same((world) => answerIn(world, read, `pair${operator}`), `${left} ${operator} ${right}`);
    }
  },
);

async function relay({ engine }: World, query: string): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query });
  const response = await engine.fetch('/v1beta1/relay', { method: 'POST', headers, body });
  return (await response.json()) as Record<string, unknown>;
}

/** Returns the pages of two rows in the order of the column. */
async function pagesOf(world: World, table: string, order: string): Promise<unknown> {
  const pages: unknown[] = [];
  let after = '';
  for (let i = 0; i < 6; i++) {
    const by = `order_by: {v: ${order}}, first: 2${after === '' ? '' : `, after: "${after}"`}`;
    const { data, errors } = await relay(
      world,
      `{ ${table}_connection(${by}) { edges { cursor } pageInfo { hasNextPage hasPreviousPage endCursor } } }`,
    );
    if (errors) return { errors };
    pages.push(data);
    const { pageInfo } = (data as Record<string, { pageInfo: { hasNextPage: boolean; endCursor: string } }>)[
      `${table}_connection`
    ]!;
    if (!pageInfo.hasNextPage) break;
    after = pageInfo.endCursor;
  }
  return pages;
}

/** Returns the labels of the rows after a value. */
async function streamed({ engine }: World, name: string, from: string): Promise<unknown> {
  const socket = await openSession(engine);
  const cursor = `{initial_value: {v: ${from}}, ordering: ASC}`;
  const query = `subscription { ${name}_parent_stream(cursor: ${cursor}, batch_size: 1) { label } }`;
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  const labels: string[] = [];
  while (labels.length < 2) {
    const message = (await socket.next()) as { payload: { data?: Record<string, { label: string }[]> } };
    const rows = message.payload.data?.[`${name}_parent_stream`];
    if (!rows) return { errors: message };
    labels.push(...rows.map(({ label }) => label));
  }
  socket.socket.terminate();
  return labels;
}
