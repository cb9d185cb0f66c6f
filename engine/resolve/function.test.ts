/** Functions and computed fields against a real catalog: what is called how, and what is refused with which words. */
import { beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../../testing/world.ts';
import { introspect } from '../catalog/introspect.ts';
import type { Catalog } from '../catalog/types.ts';
import { emptyMetadata } from '../metadata/schema/metadata.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { resolve } from './resolve.ts';

const database = testDatabase();
let catalog: Catalog;

beforeAll(async () => {
  await database.sql(`
    create table author (id int primary key, first text, last text);
    create table article (id int primary key, title text, author_id int);
    create function full_name(author) returns text language sql stable as $$ select $1.first || ' ' || $1.last $$;
    create function articles_of(row_of author, search text default '') returns setof article language sql stable
      as $$ select * from article where author_id = row_of.id and title ilike '%' || search || '%' $$;
    create function touch(author) returns text language sql volatile as $$ select 'x' $$;
    create function of_article(article) returns text language sql stable as $$ select 'x' $$;
    create function search(word text, who json) returns setof article language sql stable as $$ select * from article $$;
    create function twice(int) returns setof article language sql stable as $$ select * from article $$;
    create function twice(text) returns setof article language sql stable as $$ select * from article $$;
    create function add_article(title text) returns setof article language sql volatile as $$ select * from article $$;
    create function plain() returns int language sql stable as $$ select 1 $$;`);
  catalog = await introspect({ query: async (text) => ({ rows: await database.sql(text) }) });
});

const named = (name: string) => ({ schema: 'public', name });

/** Returns the catalog of a cluster in which authors are distributed and a function reads shards. */
function clusterWith(name: string, readsShards: 'sql' | 'other', isDistributed = true): Catalog {
  const functions = [...catalog.functions].map(([key, overloads]) => {
    return [key, overloads.map((one) => (one.name === name ? { ...one, readsShards } : one))] as const;
  });
  const tables = [...catalog.tables].map(([key, table]) => {
    const distribution = { kind: 'distributed', column: 'id', colocation: 1 } as const;
    return [key, isDistributed && table.name === 'author' ? { ...table, distribution } : table] as const;
  });
  return { ...catalog, hasCitus: true, functions: new Map(functions), tables: new Map(tables) };
}

function resolved(author: Partial<Table>, functions: Source['functions'] = [], within = catalog) {
  const source: Source = {
    name: 'default',
    kind: 'postgres',
    configuration: { connection_info: { database_url: 'postgres://unused' } },
    tables: [{ table: named('author'), ...author }, { table: named('article') }],
    functions,
  };
  const metadata = { ...emptyMetadata, sources: [source] };
  const { model, inconsistencies } = resolve(metadata, new Map([['default', within]]), {
    stringifyNumericTypes: false,
  });
  const found = model.sources.get('default')!;
  return {
    author: [...found.tables.values()].find(({ table }) => table.name === 'author')!,
    functions: [...found.functions.values()],
    reasons: inconsistencies.map(({ reason }) => reason),
    paths: inconsistencies.map(({ cause }) => cause?.path.join('.')),
    model,
  };
}

const computed = (name: string, fn: string, more = {}) => ({
  name,
  definition: { function: named(fn), ...more },
});

test('a scalar computed field takes the row', () => {
  const { author, reasons } = resolved({ computed_fields: [computed('full_name', 'full_name')] });
  expect(reasons).toEqual([]);
  const field = author.computedFields.get('full_name')!;
  expect(field.arguments.map(({ kind }) => kind)).toEqual(['row']);
  expect(field.returns).toMatchObject({ kind: 'scalar', json: 'quoted' });
});

test('a computed field that returns rows names their table and its other arguments', () => {
  const { author } = resolved({
    computed_fields: [computed('articles', 'articles_of', { table_argument: 'row_of' })],
  });
  const field = author.computedFields.get('articles')!;
  expect(field.returns).toEqual({ kind: 'rows', table: named('article'), isSet: true });
  expect(field.arguments.map(({ kind, graphqlName, hasDefault }) => [kind, graphqlName, hasDefault])).toEqual(
    [
      ['row', 'row_of', false],
      ['user', 'search', true],
    ],
  );
});

test.each([
  ['touch', {}, 'is of type VOLATILE; cannot be added as a computed field'],
  ['of_article', {}, 'first argument of the function "of_article" is not of type "author"'],
  ['plain', {}, 'the function "plain" has no input arguments'],
  ['nowhere', {}, 'no such function exists: "nowhere"'],
  [
    'articles_of',
    { table_argument: 'random' },
    '"random" is not an input argument of the function "articles_of"',
  ],
])('a computed field over %s %j is refused', (fn, more, words) => {
  const { author, reasons } = resolved({ computed_fields: [computed('field', fn, more)] });
  expect(reasons).toHaveLength(1);
  expect(reasons[0]).toContain(words);
  expect(author.computedFields.size).toBe(0);
});

test('a permission may compare what a computed field returns, or its rows', () => {
  const rule = (filter: Record<string, unknown>) => ({
    role: 'reader',
    permission: { columns: ['id'], filter },
  });
  const filterOf = (filter: Record<string, unknown>) => {
    const { author, reasons } = resolved({
      computed_fields: [computed('full_name', 'full_name'), computed('articles', 'articles_of')],
      select_permissions: [rule(filter)],
    });
    return author.permissions.get('reader')?.select?.filter ?? reasons.join();
  };
  const row = { kind: 'row', table: named('author') };
  expect(filterOf({ full_name: { _like: 'A%' } })).toMatchObject({
    kind: 'compare',
    left: { column: 'full_name', call: { function: named('full_name'), arguments: [{ value: row }] } },
    operator: '_like',
  });
  expect(filterOf({ articles: { id: { _gt: 1 } } })).toMatchObject({
    kind: 'called',
    call: { function: named('articles_of') },
    where: { kind: 'compare', left: { column: 'id' } },
  });
  expect(filterOf({ articles: { nothing: 1 } })).toMatch(/"nothing" does not exist/);
});

test('a computed field is not seen by a role whose permission does not list it', () => {
  const permission = (role: string, computed_fields: string[]) => ({
    role,
    permission: { columns: ['id'], filter: {}, computed_fields },
  });
  const { author } = resolved({
    computed_fields: [computed('full_name', 'full_name')],
    select_permissions: [permission('reader', []), permission('editor', ['full_name'])],
  });
  expect([...author.permissions.get('reader')!.select!.computedFields!]).toEqual([]);
  expect([...author.permissions.get('editor')!.select!.computedFields!]).toEqual(['full_name']);
});

test('a permission cannot list a computed field that returns rows: their table decides', () => {
  const { reasons } = resolved({
    computed_fields: [computed('articles', 'articles_of')],
    select_permissions: [
      { role: 'user', permission: { columns: '*', filter: {}, computed_fields: ['articles'] } },
    ],
  });
  expect(reasons[0]).toContain('are auto-derived from the permissions on its returning table "article"');
});

test('a tracked function is a query unless it is volatile, and hides its session argument', () => {
  const { functions, reasons } = resolved({}, [
    {
      function: named('search'),
      configuration: { session_argument: 'who' },
      permissions: [{ role: 'user' }],
    },
    { function: named('add_article') },
  ]);
  expect(reasons).toEqual([]);
  expect(functions.map(({ rootField, exposedAs }) => [rootField, exposedAs])).toEqual([
    ['search', 'query'],
    ['add_article', 'mutation'],
  ]);
  expect(functions[0]!.arguments.map(({ kind }) => kind)).toEqual(['user', 'session']);
});

test.each([
  [{ function: named('twice') }, 'function "twice" is overloaded'],
  [{ function: named('plain') }, 'the function does not return a "COMPOSITE" type'],
  [
    { function: named('search'), configuration: { exposed_as: 'mutation' as const } },
    'is not marked VOLATILE',
  ],
  [{ function: named('search'), configuration: { session_argument: 'word' } }, 'is not of type json'],
])('tracking %j is refused', (definition, words) => {
  const { functions, reasons } = resolved({}, [definition]);
  expect(functions).toEqual([]);
  expect(reasons[0]).toContain(words);
});

test('a function in SQL over tables on shards cannot be tracked, and one in another language can', () => {
  const search = [{ function: named('search') }];
  const refused = resolved({}, search, clusterWith('search', 'sql'));
  expect(refused.paths).toEqual(['function']);
  expect(refused.reasons).toEqual([
    expect.stringContaining(
      'names a distributed table and is written in SQL, which Citus cannot run with arguments',
    ),
  ]);
  expect(resolved({}, search, clusterWith('search', 'other')).reasons).toEqual([]);
  expect(resolved({}, search, clusterWith('plain', 'sql')).reasons).toEqual([]);
});

test('a computed field of a distributed table cannot read tables on shards, one of a local table can', () => {
  const author = { computed_fields: [computed('name', 'full_name')] };
  for (const language of ['sql', 'other'] as const) {
    const refused = resolved(author, [], clusterWith('full_name', language));
    expect(refused.paths).toEqual(['definition.function']);
    expect(refused.reasons).toEqual([
      expect.stringContaining(
        'the function "full_name" names a distributed table and is called on shards, which read no others',
      ),
    ]);
  }
  expect(resolved(author, [], clusterWith('full_name', 'other', false)).reasons).toEqual([]);
  expect(resolved(author, [], clusterWith('full_name', 'sql', false)).reasons).toEqual([
    expect.stringContaining('is written in SQL'),
  ]);
  expect(resolved(author, [], clusterWith('plain', 'sql')).reasons).toEqual([]);
});

test('rows of a distributed table cannot be watched, and manual triggers can be sent', () => {
  const webhook = 'http://example';
  const event_triggers = (definition: object) => [{ name: 'e', definition, webhook }];
  const cluster = clusterWith('plain', 'sql');
  const refused = resolved({ event_triggers: event_triggers({ insert: { columns: '*' } }) }, [], cluster);
  expect(refused.paths).toEqual(['definition.insert']);
  expect(refused.reasons).toEqual([
    expect.stringContaining(
      'the table is distributed by id (colocation 1): Citus has triggers on local tables only',
    ),
  ]);
  expect(resolved({ event_triggers: event_triggers({ enable_manual: true }) }, [], cluster).reasons).toEqual(
    [],
  );
});
