/** The engine's rooms without its surroundings: a database and a source of a metadata document → what a request needs. */
import type { Distribution } from '../../catalog/distribution.ts';
import { withEnumRows } from '../../catalog/enum-rows.ts';
import { introspect } from '../../catalog/introspect.ts';
import type { Catalog, CatalogTable } from '../../catalog/types.ts';
import { Sources } from '../../database/sources.ts';
import { parseMetadata } from '../../metadata/parse.ts';
import { type QualifiedName, qualifiedKey } from '../../metadata/schema/common.ts';
import type { Table } from '../../metadata/schema/table.ts';
import type { Inconsistency } from '../../resolve/model/inconsistency.ts';
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
 *  cluster are valid on any Postgres and must have the same answers. No table is distributed by a column that an update presets. Of the local
 *  ones Citus knows those in `known`. */
function asCluster(catalog: Catalog, definitions: readonly Table[], known: ReadonlySet<string>): Catalog {
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
    if (distribution && table.kind === 'table') return [key, { ...table, distribution }];
    return [key, known.has(key) ? { ...table, isLocalInCluster: true } : table];
  });
  return { ...catalog, hasCitus: true, tables: new Map(tables) };
}

/** Returns the key of the table of a permission that would write rows of a table that Citus does not know. */
function unwritable({ cause, definition }: Inconsistency): readonly string[] {
  const { code } = { code: '', ...cause?.params };
  if (code !== 'distribution-unsupported') return [];
  return [qualifiedKey((definition as { readonly table: QualifiedName }).table)];
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
  const resolveOn = (catalog: Catalog) =>
    resolve(metadata, new Map([['default', catalog]]), {
      stringifyNumericTypes: false,
      namingConvention: 'default',
      features: ['group_by', 'nested_updates', ...features],
    });
  const asClusterOf = (known: readonly string[]) =>
    resolveOn(asCluster(read, metadata.sources[0]!.tables, new Set(known)));
  let resolved = isCluster ? asClusterOf([]) : resolveOn(read);
  // A cluster whose local tables cannot be written as the permissions say is of no use here.
  if (isCluster) resolved = asClusterOf(resolved.inconsistencies.flatMap(unwritable));
  const { model, inconsistencies } = resolved;
  // Parents that write by different rules leave an heir nothing to write by, and say so.
  const wrong = inconsistencies.filter(({ type }) => !type.startsWith('inherited'));
  if (wrong.length > 0) throw new Error(JSON.stringify(wrong, null, 1));
  return { model, sources };
}
