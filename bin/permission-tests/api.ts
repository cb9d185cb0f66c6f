/** The API that the engine of the tests serves: the permissions of its tables, and the schema of an administrator, whose fields say which table
 *  they belong to. In: the engine and its database. Out: an Api.
 *  Not here: which permissions a test exercises (coverage.ts), changes of permissions (mutants.ts). */
import type { GraphQLSchema } from 'graphql';
import { introspect } from '../../engine/catalog/introspect.ts';
import { loadOptions } from '../../engine/config/load-options.ts';
import { connectTo, optionAddress } from '../../engine/database/connect.ts';
import { type MetadataObject, objectsOf, parseKey } from '../../engine/metadata/objects.ts';
import { parseMetadata } from '../../engine/metadata/parse.ts';
import type { Metadata } from '../../engine/metadata/schema/metadata.ts';
import type { Model } from '../../engine/resolve/model/model.ts';
import { resolve } from '../../engine/resolve/resolve.ts';
import { ADMIN_ROLE } from '../../engine/resolve/session.ts';
import { roleSchema } from '../../engine/schema/role-schemas.ts';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { operation, perform } from '../../operator/engine/request.ts';

/** The operations of permissions, in the order of reports. */
export const OPERATIONS = ['select', 'insert', 'update', 'delete'] as const;
export type TableOperation = (typeof OPERATIONS)[number];

/** An operation on a table, as far as permissions tell. */
export type TableAction = {
  readonly source: string;
  readonly table: { readonly schema: string; readonly name: string };
  readonly operation: TableOperation;
};

export type Permission = TableAction & {
  readonly role: string;
  readonly object: MetadataObject;
};

export type Api = {
  /** In the order of roles, then tables, then operations. */
  readonly permissions: readonly Permission[];
  /** The schema of an administrator. */
  readonly schema: GraphQLSchema;
  readonly model: Model;
  /** Returns the role and all roles that it inherits from. */
  readonly rolesIn: (role: string) => ReadonlySet<string>;
};

export async function readApi(engine: EngineAddress, databaseUrl: string): Promise<Api> {
  const metadata = await perform(engine, operation('export_metadata', {}, 2), (answer) =>
    parseMetadata((answer as { readonly metadata: unknown }).metadata),
  );
  const model = await modelOf(metadata, databaseUrl);
  return {
    permissions: permissionsIn(metadata),
    schema: roleSchema(model, ADMIN_ROLE, true).schema(),
    model,
    rolesIn: rolesIn(metadata),
  };
}

/** Resolves the metadata as the engine does. Every source is the same database. */
async function modelOf(metadata: Metadata, databaseUrl: string): Promise<Model> {
  const client = await connectTo(optionAddress(databaseUrl), {
    applicationName: 'pergola test',
    timeoutMs: 15_000,
  });
  const catalog = await introspect(client).finally(() => client.end());
  const options = loadOptions([], { ...process.env, ENGINE_GRAPHQL_DATABASE_URL: databaseUrl });
  const hasConvention = options.experimentalFeatures.includes('naming_convention');
  const catalogs = new Map(metadata.sources.map(({ name }) => [name, catalog]));
  return resolve(metadata, catalogs, {
    stringifyNumericTypes: options.stringifyNumericTypes,
    namingConvention: hasConvention ? options.defaultNamingConvention : undefined,
    headerPrefix: options.headerPrefix,
  }).model;
}

function permissionsIn(metadata: Metadata): readonly Permission[] {
  const found = [...objectsOf(metadata).values()].flatMap((object) => {
    const operation = OPERATIONS.find((name) => object.kind === `${name}_permission`);
    if (operation === undefined) return [];
    const [source = '', schema = '', name = '', role = ''] = parseKey(object.key)!.segments;
    return [{ role, source, table: { schema, name }, operation, object }];
  });
  const rank = ({ role, operation, ...action }: Permission) =>
    `${role}\0${tableId(action)}\0${OPERATIONS.indexOf(operation)}`;
  return found.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1));
}

/** Returns the name of a table for messages: `book`, `sales.order`, `archive/public.author`. */
export function printTable({ source, table: { schema, name } }: Omit<TableAction, 'operation'>): string {
  if (source !== 'default') return `${source}/${schema}.${name}`;
  return schema === 'public' ? name : `${schema}.${name}`;
}

/** Returns a text that identifies a table among all sources. */
export function tableId({ source, table: { schema, name } }: Omit<TableAction, 'operation'>): string {
  return JSON.stringify([source, schema, name]);
}

export function actionId(action: TableAction): string {
  return `${action.operation} ${tableId(action)}`;
}

function rolesIn({ inherited_roles: inherited = [] }: Metadata): Api['rolesIn'] {
  const parents = new Map(inherited.map(({ role_name, role_set }) => [role_name, role_set]));
  return (role) => {
    const found = new Set([role]);
    // A role that is added while the loop runs is visited, too.
    for (const each of found) for (const parent of parents.get(each) ?? []) found.add(parent);
    return found;
  };
}
