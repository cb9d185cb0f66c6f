/** The tables of a database that become resources: those of the wanted schemas, without what extensions, partitions, migration tools and
 *  job queues own. In: a Survey and the wanted schemas. Out: tables, and what is left out with the reason. Pure.
 *  Not here: reading the database (read-database.ts), names (propose.ts). */
import type { CatalogTable } from '../../engine/catalog/types.ts';
import { nearest } from '../../engine/errors/nearest.ts';
import { printQualified, qualifiedKey } from '../../engine/metadata/schema/common.ts';
import type { Survey } from './read-database.ts';

/** A part of the database without a resource, and the reason. */
export type LeftOut = { readonly what: string; readonly why: string };

export type Selection = {
  /** The tables and views, by qualifiedKey, ordered by schema and name. */
  readonly tables: ReadonlyMap<string, CatalogTable>;
  readonly schemas: ReadonlySet<string>;
  readonly leftOut: readonly LeftOut[];
};

/** A schema that --schema names and the database does not have. */
export class SchemaProblem extends Error {}

/** The schemas of tools. --schema includes them. */
const TOOL_SCHEMAS: ReadonlySet<string> = new Set([
  ...[
    'hdb_catalog',
    'hdb_views',
    'hdb_views_v2',
    'pergola_up',
    'pergola_migrations',
    'graphile_worker',
    'graphile_migrate',
  ],
  ...['pgboss', 'cron', 'atlas_schema_revisions', 'repack', 'partman', 'pglogical', 'drizzle'],
]);

/** The tables in which migration tools write what has run. */
const MIGRATION_TABLES: ReadonlySet<string> = new Set([
  ...['schema_migrations', 'ar_internal_metadata', '_prisma_migrations', 'knex_migrations', 'pgmigrations'],
  ...['knex_migrations_lock', 'flyway_schema_history', 'databasechangelog', 'databasechangeloglock'],
  ...['alembic_version', 'django_migrations', 'goose_db_version', '__drizzle_migrations', 'migrations_lock'],
  ...[
    'SequelizeMeta',
    '__EFMigrationsHistory',
    'typeorm_metadata',
    'atlas_schema_revisions',
    'gorp_migrations',
  ],
]);

/** Selects the tables. `wanted` is empty for all schemas but those of tools. Raises SchemaProblem. */
export function selectTables({ catalog, foreign }: Survey, wanted: readonly string[]): Selection {
  const all = [...catalog.tables.values()];
  const present = [...new Set(all.map(({ schema }) => schema))];
  for (const schema of wanted) requireSchema(schema, present);
  const schemas = new Set(wanted.length > 0 ? wanted : present.filter((schema) => !TOOL_SCHEMAS.has(schema)));
  const tables = new Map<string, CatalogTable>();
  const leftOut: LeftOut[] = [];
  for (const table of all) {
    const why = reasonAgainst(table, schemas, foreign, wanted.length > 0);
    if (why === undefined) tables.set(qualifiedKey(table), table);
    else if (why !== '') leftOut.push({ what: printQualified(table), why });
  }
  return { tables, schemas, leftOut };
}

/** Returns why a table has no resource, '' where the user knows, and undefined for a table that has one. */
function reasonAgainst(
  { schema, name, oid, columns }: CatalogTable,
  schemas: ReadonlySet<string>,
  foreign: Survey['foreign'],
  areNamed: boolean,
): string | undefined {
  if (!schemas.has(schema)) return areNamed ? '' : `the schema ${schema} belongs to a tool; see --schema`;
  if (MIGRATION_TABLES.has(name)) return 'a migration tool keeps its state in it';
  if (columns.length === 0) return 'it has no columns';
  return foreign.get(oid);
}

function requireSchema(schema: string, present: readonly string[]): void {
  if (present.includes(schema)) return;
  const near = nearest(schema, present);
  const hint = near
    ? `; did you mean ${near}?`
    : `; it has ${present.join(', ') || 'no tables in any schema'}`;
  throw new SchemaProblem(`the database has no tables in a schema ${schema}${hint}`);
}
