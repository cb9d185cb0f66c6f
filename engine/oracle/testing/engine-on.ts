/** The engine's rooms without its surroundings: a database and a source of a metadata document → what a request needs. */
import type { Distribution } from '../../catalog/distribution.ts';
import { withEnumRows } from '../../catalog/enum-rows.ts';
import { introspect } from '../../catalog/introspect.ts';
import type { Catalog, CatalogTable } from '../../catalog/types.ts';
import { Sources } from '../../database/sources.ts';
import { parseMetadata } from '../../metadata/parse.ts';
import { qualifiedKey } from '../../metadata/schema/common.ts';
import type { Table } from '../../metadata/schema/table.ts';
import type { Model } from '../../resolve/model/model.ts';
import { resolve } from '../../resolve/resolve.ts';

export type EngineRooms = { readonly model: Model; readonly sources: Sources };

type Source = Readonly<Record<string, unknown>>;

/** A document of one source, whose database is at `url`, and its connections. The caller closes them. */
function documentOn(url: string, source: Source, inheritedRoles: readonly unknown[]) {
  const sources = new Sources({ env: { ORACLE: url }, folders: [] });
  const configuration = { connection_info: { database_url: { from_env: 'ORACLE' } } };
  const metadata = parseMetadata({
    version: 3,
    inherited_roles: inheritedRoles,
    sources: [{ name: 'default', kind: 'postgres', configuration, ...source }],
  });
  sources.publish(metadata.sources);
  return { metadata, sources };
}

/** Connections to another database of the same tables. */
export function sourcesOn(url: string, source: Source): Sources {
  return documentOn(url, source, []).sources;
}

/** Returns the catalog of a cluster with the same tables: distributed by a column of a key, reference and local in turn. The statements for a
 *  cluster are valid on any Postgres and must have the same answers. No table is distributed by a column that an update presets. */
function asCluster(catalog: Catalog, definitions: readonly Table[]): Catalog {
  const presets = new Map(
    definitions.map(({ table, update_permissions: updates = [] }) => [
      qualifiedKey(table),
      updates.flatMap(({ permission }) => Object.keys(permission.set ?? {})),
    ]),
  );
  const tables = [...catalog.tables].map(([key, table], i): [string, CatalogTable] => {
    const columns = [
      ...(table.primaryKey?.columns ?? []),
      ...table.foreignKeys.flatMap((each) => each.columns),
    ].filter((column) => !presets.get(key)?.includes(column));
    const possible: readonly (Distribution | null)[] = [
      ...columns.map((column): Distribution => ({ kind: 'distributed', column, colocation: 1 })),
      { kind: 'reference' },
      { kind: 'single-shard', colocation: 2 },
      null,
    ];
    const distribution = possible[(7 * i + key.length) % possible.length]!;
    return [key, distribution && table.kind === 'table' ? { ...table, distribution } : table];
  });
  return { ...catalog, hasCitus: true, tables: new Map(tables) };
}

/** Raises when something in the metadata but an inherited role is inconsistent. The caller closes the sources. With `isCluster` the tables count
 *  as those of a Citus cluster. */
export async function engineOn(
  url: string,
  source: Source,
  inheritedRoles: readonly unknown[] = [],
  features: readonly string[] = [],
  isCluster = false,
): Promise<EngineRooms> {
  const { metadata, sources } = documentOn(url, source, inheritedRoles);
  const database = sources.get('default');
  const read = await withEnumRows(database, await introspect(database), metadata.sources[0]!);
  const catalog = isCluster ? asCluster(read, metadata.sources[0]!.tables) : read;
  const { model, inconsistencies } = resolve(metadata, new Map([['default', catalog]]), {
    stringifyNumericTypes: false,
    namingConvention: 'default',
    features: ['group_by', 'nested_updates', ...features],
  });
  // Parents that write by different rules leave an heir nothing to write by, and say so.
  const wrong = inconsistencies.filter(({ type }) => !type.startsWith('inherited'));
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong, null, 1));
  return { model, sources };
}
