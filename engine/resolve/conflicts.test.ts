/** What happens when two sources, tables or functions want the same name. */
import { expect, test } from 'vitest';
import { builtinType, type Catalog, type CatalogFunction } from '../catalog/types.ts';
import type { Source, SourceCustomization } from '../metadata/schema/source.ts';
import { resolve } from './resolve.ts';
import { catalogOf, metadataOf, resolveTables, tableIn } from './testing/small-world.ts';

const USERS = catalogOf(
  tableIn('user', { id: 'int4!' }, { primaryKey: ['id'] }),
  tableIn('users', { id: 'int4!' }, { primaryKey: ['id'] }),
);

test('of two tables that define one field, the later is left out', () => {
  const { inconsistencies, table } = resolveTables(
    { user: {}, users: { configuration: { custom_root_fields: { select_by_pk: 'user' } } } },
    USERS,
  );
  expect(table('user')).toBeDefined();
  expect(table('users')).toBeUndefined();
  const text =
    "Encountered conflicting definitions in the selection set for 'subscription_root' for field 'user' " +
    'defined in [table user in source default, table users in source default]. ' +
    'Fields must not be defined more than once across all sources.';
  expect(inconsistencies.map(({ name, reason }) => [name, reason])).toEqual([
    ['table users in source default', `Inconsistent object: ${text}`],
  ]);
  const { cause } = inconsistencies[0]!;
  expect([cause!.status, cause!.codeIn('newer'), cause!.messageIn('specification')]).toEqual([
    500,
    'unexpected',
    text,
  ]);
});

test('several fields in conflict are listed together', () => {
  const { reasons } = resolveTables({ user: {}, users: { configuration: { custom_name: 'user' } } }, USERS);
  expect(reasons[0]).toContain("for 'mutation_root' for fields: [\n  'delete_user_by_pk' defined in [");
  expect(reasons[0]).toContain("],\n  'insert_user' defined in [");
  expect(reasons[0]).toContain(']\n]. Fields must');
});

test('a table may be in conflict with itself', () => {
  const { reasons } = resolveTables(
    { user: { configuration: { custom_root_fields: { select_by_pk: 'user' } } } },
    USERS,
  );
  expect(reasons).toHaveLength(1);
});

test('fields that are not offered are in nobody’s way', () => {
  const keyless = catalogOf(tableIn('user', { id: 'int4' }), tableIn('user_by_pk', { id: 'int4' }));
  expect(resolveTables({ user: {}, user_by_pk: {} }, keyless).reasons).toEqual([]);
});

test('two tables cannot share a type even when their fields differ', () => {
  const fields = (prefix: string) =>
    Object.fromEntries(
      Object.keys(resolveTables({ user: {} }, USERS).table('user').rootFields).map((kind) => [
        kind,
        `${prefix}_${kind}`,
      ]),
    );
  const { reasons } = resolveTables(
    { user: {}, users: { configuration: { custom_name: 'user', custom_root_fields: fields('x') } } },
    USERS,
  );
  expect(reasons[0]).toContain("conflicting definitions of the type 'user'");
});

type Sources = Readonly<
  Record<string, { readonly tables: readonly string[]; readonly customization?: SourceCustomization }>
>;

/** Sources over the same catalog, with what they track. */
function resolveSources(
  sources: Sources,
  catalog: Catalog = USERS,
  functions: Source['functions'] = [],
  features: readonly string[] = [],
) {
  const metadata = Object.entries(sources).map(
    ([name, { tables, customization }]): Source => ({
      name,
      kind: 'postgres',
      configuration: { connection_info: { database_url: 'postgres://example' } },
      tables: tables.map((table) => ({ table: { schema: 'public', name: table } })),
      functions,
      ...(customization ? { customization } : {}),
    }),
  );
  const catalogs = new Map(metadata.map(({ name }) => [name, catalog]));
  const { model, inconsistencies } = resolve({ version: 3, sources: metadata }, catalogs, {
    stringifyNumericTypes: false,
    features,
  });
  return {
    tracked: [...model.sources.values()].map(({ name, tables }) => `${name}: ${tables.size}`),
    functions: [...model.sources.values()].flatMap((source) => [...source.functions.values()]),
    reasons: inconsistencies.map(({ name, reason }) => `${name}: ${reason}`),
  };
}

test('of two sources with one table of a name, the later is left without it', () => {
  const { tracked, reasons } = resolveSources({ one: { tables: ['user'] }, two: { tables: ['user'] } });
  expect(tracked).toEqual(['one: 1', 'two: 0']);
  expect(reasons[0]).toContain(
    "'insert_user' defined in [table user in source one, table user in source two]",
  );
});

test('a namespace keeps fields apart, but not types', () => {
  const two = { root_fields: { namespace: 'two' } };
  const apart = { ...two, type_names: { prefix: 'two_' } };
  const sources = (customization: SourceCustomization) => ({
    one: { tables: ['user'] },
    two: { tables: ['user'], customization },
  });
  expect(resolveSources(sources(apart)).reasons).toEqual([]);
  expect(resolveSources(sources(two)).reasons).toEqual([
    "table user in source two: Inconsistent object: Encountered conflicting definitions of the type 'user' in " +
      '[table user in source one, table user in source two]. ' +
      'Types must not be defined more than once across all sources.',
  ]);
});

test('tables in a namespace may be in conflict with each other', () => {
  const customization = { root_fields: { namespace: 'shop' }, type_names: { suffix: '_s' } };
  const catalog = catalogOf(
    tableIn('user', { id: 'int4!' }, { primaryKey: ['id'] }),
    tableIn('user_by_pk', { id: 'int4!' }),
  );
  const { reasons } = resolveSources({ one: { tables: ['user', 'user_by_pk'], customization } }, catalog);
  expect(reasons[0]).toContain("in the selection set for 'shop_mutation_frontend_s' for fields");
});

test('a source whose namespace is taken is left out', () => {
  const shop = { root_fields: { namespace: 'shop' } };
  const { tracked, reasons } = resolveSources({
    one: { tables: ['user'], customization: shop },
    two: { tables: ['users'], customization: shop },
  });
  expect(tracked).toEqual(['one: 1']);
  expect(reasons).toHaveLength(1);
  expect(reasons[0]).toContain("for field 'shop' defined in [source one, source two]");
});

test('a namespace and a root field of another source may be in conflict', () => {
  const customization = { root_fields: { namespace: 'user' } };
  const { reasons } = resolveSources({
    one: { tables: ['user'] },
    two: { tables: ['users'], customization },
  });
  expect(reasons[0]).toContain("for field 'user' defined in [source two, table user in source one]");
});

/** A function that takes a term and returns users. */
const searching = (name: string): CatalogFunction => ({
  schema: 'public',
  name,
  oid: 2,
  comment: null,
  arguments: [{ name: 'term', type: builtinType('text'), hasDefault: false, mode: 'in' }],
  hasVariadic: false,
  returnType: builtinType('record'),
  returnsSet: true,
  returnsTable: { schema: 'public', name: 'user' },
  volatility: 'stable',
});

test('a function gives way to a table', () => {
  const search = { schema: 'public', name: 'users' };
  const catalog = { ...USERS, functions: new Map([['["public","users"]', [searching('users')]]]) };
  const { functions, reasons } = resolveSources({ one: { tables: ['user', 'users'] } }, catalog, [
    { function: search },
  ]);
  expect(functions).toEqual([]);
  expect(reasons[0]).toContain(
    "'users_aggregate' defined in [function users in source one, table users in source one]",
  );
  expect(resolveSources({ one: { tables: ['user'] } }, catalog, [{ function: search }]).reasons).toEqual([]);
});

test('a table called like a type derived from another is kept out, whichever comes first', () => {
  for (const other of ['user_bool_exp', 'user_updates', 'user_max_fields']) {
    const catalog = catalogOf(tableIn('user', { id: 'int4' }), tableIn(other, { id: 'int4' }));
    const both = `conflicting definitions of the type '${other}' in [table user in source default, table ${other} in source default]`;
    const last = resolveTables({ user: {}, [other]: {} }, catalog);
    expect(last.reasons).toEqual([expect.stringContaining(both)]);
    expect(last.table(other)).toBeUndefined();
    const first = resolveTables({ [other]: {}, user: {} }, catalog);
    expect(first.reasons).toEqual([expect.stringContaining(both)]);
    expect(first.table('user')).toBeUndefined();
  }
});

test('two functions, or a function and a table, cannot share the type of arguments', () => {
  const catalog = {
    ...catalogOf(tableIn('user', { id: 'int4' }), tableIn('find_args', { id: 'int4' })),
    functions: new Map(['find', 'seek'].map((name) => [`["public","${name}"]`, [searching(name)]])),
  };
  const configuration = {
    custom_name: 'find',
    custom_root_fields: { function: 'a', function_aggregate: 'b' },
  };
  const twice: Source['functions'] = [
    { function: { schema: 'public', name: 'find' } },
    { function: { schema: 'public', name: 'seek' }, configuration },
  ];
  const both = (a: string, b: string) => `conflicting definitions of the type 'find_args' in [${a}, ${b}]`;
  expect(resolveSources({ one: { tables: ['user'] } }, catalog, twice).reasons).toEqual([
    expect.stringContaining(both('function find in source one', 'function seek in source one')),
  ]);
  const table = resolveSources({ one: { tables: ['user', 'find_args'] } }, catalog, twice.slice(0, 1));
  expect(table.functions).toEqual([]);
  expect(table.reasons).toEqual([
    expect.stringContaining(both('function find in source one', 'table find_args in source one')),
  ]);
});

test('computed fields whose types would be one are not both there', () => {
  const composite = (name: string) => {
    return { schema: 'public', name, kind: 'composite', element: null, base: null } as const;
  };
  const labelling = (name: string, table: string) => ({
    ...searching(name),
    arguments: [
      { name: 'row', type: composite(table), hasDefault: false, mode: 'in' as const },
      ...searching(name).arguments,
    ],
    returnType: builtinType('text'),
    returnsSet: false,
    returnsTable: null,
  });
  const catalog = {
    ...catalogOf(tableIn('entry', { id: 'int4' }), tableIn('log_entry', { id: 'int4' })),
    functions: new Map([
      ['["public","f"]', [labelling('f', 'entry')]],
      ['["public","g"]', [labelling('g', 'log_entry')]],
    ]),
  };
  const computed = (name: string, fn: string) => {
    return { computed_fields: [{ name, definition: { function: { schema: 'public', name: fn } } }] };
  };
  const { reasons, table } = resolveTables(
    { entry: computed('short_log', 'f'), log_entry: computed('short', 'g') },
    catalog,
  );
  expect(reasons).toEqual([
    expect.stringContaining(
      "conflicting definitions of the type 'short_log_entry_args' in [computed_field short in table log_entry " +
        'in source default, computed_field short_log in table entry in source default]',
    ),
  ]);
  expect(table('entry').computedFields.size).toBe(1);
  expect(table('log_entry').computedFields.size).toBe(0);
});

test('a native query gives way to a table called like its arguments or the conditions of its model', () => {
  const queried = (table: string) => {
    const source: Source = {
      ...metadataOf([{ table: { schema: 'public', name: table } }]).sources[0]!,
      logical_models: [{ name: 'sum', fields: [{ name: 'total', type: 'int4' }] }],
      native_queries: [
        { root_field_name: 'sums', code: 'select {{n}}', returns: 'sum', arguments: { n: { type: 'int4' } } },
      ],
    };
    const catalog = {
      ...catalogOf(tableIn(table, { id: 'int4' })),
      types: new Map([['["pg_catalog","int4"]', builtinType('int4')]]),
    };
    const catalogs = new Map([['default', catalog]]);
    const { model, inconsistencies } = resolve({ version: 3, sources: [source] }, catalogs, {
      stringifyNumericTypes: false,
    });
    expect(model.sources.get('default')!.nativeQueries.size).toBe(inconsistencies.length === 0 ? 1 : 0);
    return inconsistencies.map(({ reason }) => reason);
  };
  expect(queried('plain')).toEqual([]);
  const owners = (owner: string, table: string) =>
    `[${owner} in source default, table ${table} in source default]`;
  expect(queried('sums_arguments')).toEqual([
    expect.stringContaining(owners('native_query sums', 'sums_arguments')),
  ]);
  expect(queried('sum_bool_exp')).toEqual([
    expect.stringContaining(owners('logical_model sum', 'sum_bool_exp')),
  ]);
});

test('a custom scalar may be one of the database, but not a table', () => {
  const metadata = metadataOf([{ table: { schema: 'public', name: 'user' } }]);
  const withScalar = (name: string) => {
    const custom = { ...metadata, custom_types: { scalars: [{ name }] } };
    const options = { stringifyNumericTypes: false };
    const { model, inconsistencies } = resolve(custom, new Map([['default', USERS]]), options);
    return { has: model.typeNames.has(name), reasons: inconsistencies.map(({ reason }) => reason) };
  };
  expect(withScalar('uuid')).toEqual({ has: false, reasons: [] });
  expect(withScalar('user').reasons).toEqual([expect.stringContaining("type 'user'")]);
});

test('a table called like the groups of another is in their way only where there are groups', () => {
  const grouped = catalogOf(
    tableIn('user', { id: 'int4!' }, { primaryKey: ['id'] }),
    tableIn('user_group', { id: 'int4!' }, { primaryKey: ['id'] }),
    tableIn('user_group_by', { id: 'int4!' }, { primaryKey: ['id'] }),
  );
  const sources = { one: { tables: ['user', 'user_group', 'user_group_by'] } };
  expect(resolveSources(sources, grouped).tracked).toEqual(['one: 3']);
  const { tracked, reasons } = resolveSources(sources, grouped, [], ['group_by']);
  expect(tracked).toEqual(['one: 1']);
  expect(reasons[0]).toContain("conflicting definitions of the type 'user_group'");
  expect(reasons[1]).toContain("'user_group_by' defined in [table user in source one");
});
