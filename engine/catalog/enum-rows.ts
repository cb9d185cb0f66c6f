/** The rows of enum tables, whose values are part of the GraphQL schema.
 *  In: a connection, a catalog, and the enum tables of the metadata. Out: the catalog with their rows. Tables without the columns of
 *  an enum and tables that may not be read have no entry.
 *  Not here: valid columns and values (resolve/enum.ts), when the rows are read again (admin/). */
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Introspectable } from './introspect.ts';
import type { Catalog, CatalogTable, EnumRow } from './types.ts';

/** The columns of an enum table: its key and, when there is one, the comment. */
type EnumColumns = { readonly value: string; readonly comment: string | null };

/** Returns the columns of an enum table; null when the table does not have the columns of one. */
function enumColumnsOf({ columns, primaryKey }: CatalogTable): EnumColumns | null {
  const isText = columns.every(({ type }) => type.schema === 'pg_catalog' && type.name === 'text');
  const [value, ...others] = primaryKey?.columns ?? [];
  if (value === undefined || others.length > 0 || !isText || columns.length > 2) return null;
  return { value, comment: columns.find(({ name }) => name !== value)?.name ?? null };
}

/** Returns the catalog with the rows of the enum tables of a source. Rows that the catalog has are not read again. Raises what the
 *  client raises. */
export async function withEnumRows(
  client: Introspectable,
  catalog: Catalog,
  { tables }: Pick<Source, 'tables'>,
): Promise<Catalog> {
  const keys = new Set(tables.filter(({ is_enum }) => is_enum).map(({ table }) => qualifiedKey(table)));
  const known = [...catalog.enumRows].filter(([key]) => keys.has(key));
  const unread = [...keys].filter((key) => !catalog.enumRows.has(key));
  const read = await readTables(client, catalog, unread);
  if (read.length === 0 && known.length === catalog.enumRows.size) return catalog;
  return { ...catalog, enumRows: new Map([...known, ...read]) };
}

type Rows = readonly [key: string, rows: readonly EnumRow[]];

async function readTables(
  client: Introspectable,
  { tables }: Catalog,
  keys: readonly string[],
): Promise<readonly Rows[]> {
  const found = keys.flatMap((key) => {
    const table = tables.get(key);
    const columns = table && enumColumnsOf(table);
    return columns ? [{ key, oid: table.oid, ...columns }] : [];
  });
  if (found.length === 0) return [];
  const composed = await client.query(COMPOSE, [JSON.stringify(found)]);
  const { statement } = composed.rows[0] as { readonly statement: string | null };
  if (statement === null) return [];
  const { rows } = await client.query(statement);
  return rows.map((row) => readRows(row as RawRows));
}

type RawRows = { readonly key: string; readonly rows: readonly [string, string | null][] };

function readRows({ key, rows }: RawRows): Rows {
  return [key, rows.map(([value, comment]) => ({ value, comment: comment || null }))];
}

/** The statement that composes the statement that reads all enum tables, so that Postgres quotes their names. A table without rows
 *  has an empty list; tables that may not be read are left out. PostgreSQL manual, "format". */
const COMPOSE = `
  select pg_catalog.string_agg(
    pg_catalog.format(
      'select %L::text as key, coalesce(pg_catalog.json_agg(pg_catalog.json_build_array(%I, %s) order by %I), %L)'
        || ' as rows from %I.%I',
      e.key, e.value, case when e.comment is null then 'null' else pg_catalog.quote_ident(e.comment) end, e.value, '[]',
      n.nspname, c.relname
    ),
    ' union all '
  ) as statement
  from pg_catalog.json_to_recordset($1::json) as e(oid oid, key text, value text, comment text)
  join pg_catalog.pg_class c on c.oid = e.oid
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where pg_catalog.has_table_privilege(c.oid, 'select')`;
