/** What happens when two sources, tables or functions want the same name. */
import { expect, test } from 'vitest';
import type { Catalog } from '../catalog/types.ts';
import { builtinType } from '../catalog/types.ts';
import type { Source, SourceCustomization } from '../metadata/schema/source.ts';
import { resolve } from './resolve.ts';
import { catalogOf, resolveTables, tableIn } from './testing/small-world.ts';

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

test('a function gives way to a table', () => {
  const search = { schema: 'public', name: 'users' };
  const returnsTable = { schema: 'public', name: 'user' };
  const called = {
    ...search,
    oid: 2,
    comment: null,
    arguments: [],
    hasVariadic: false,
    returnType: builtinType('record'),
    returnsSet: true,
    returnsTable,
    volatility: 'stable' as const,
  };
  const catalog = { ...USERS, functions: new Map([['["public","users"]', [called]]]) };
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
