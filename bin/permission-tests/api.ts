/** The API that the engine of the tests serves: the permissions of its tables, and the schema of an administrator, whose fields say which table
 *  they belong to. In: the engine and its database. Out: an Api.
 *  Not here: which permissions a test exercises (engine/admin/test-coverage), changes of permissions (mutants.ts). */
import { type Api, apiOf } from '../../engine/admin/test-coverage/coverage.ts';
import type { TableAction } from '../../engine/admin/test-coverage/exercised.ts';
import { introspect } from '../../engine/catalog/introspect.ts';
import { loadOptions } from '../../engine/config/load-options.ts';
import { connectTo, optionAddress } from '../../engine/database/connect.ts';
import { parseMetadata } from '../../engine/metadata/parse.ts';
import type { Metadata } from '../../engine/metadata/schema/metadata.ts';
import type { Model } from '../../engine/resolve/model/model.ts';
import { resolve } from '../../engine/resolve/resolve.ts';
import { ADMIN_ROLE } from '../../engine/resolve/session.ts';
import { roleSchema } from '../../engine/schema/role-schemas.ts';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { operation, perform } from '../../operator/engine/request.ts';

export async function readApi(engine: EngineAddress, databaseUrl: string): Promise<Api> {
  const metadata = await perform(engine, operation('export_metadata', {}, 2), (answer) =>
    parseMetadata((answer as { readonly metadata: unknown }).metadata),
  );
  const model = await modelOf(metadata, databaseUrl);
  return apiOf(metadata, { model, roots: roleSchema(model, ADMIN_ROLE, true).roots });
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

/** Returns the name of a table for messages: `book`, `sales.order`, `archive/public.author`. */
export function printTable({ source, table: { schema, name } }: Omit<TableAction, 'operation'>): string {
  if (source !== 'default') return `${source}/${schema}.${name}`;
  return schema === 'public' ? name : `${schema}.${name}`;
}
