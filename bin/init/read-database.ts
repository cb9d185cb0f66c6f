/** Reads a database for `pergola init`: its catalog, what belongs to an extension or to another table, the rows of tables that look
 *  like enum tables, and the origins of the columns of views. In: a URL. Out: a Survey. Raises why the database cannot be read.
 *  Not here: which tables become resources (selection.ts), the catalog (engine/catalog). */
import type pg from 'pg';
import { withEnumRows } from '../../engine/catalog/enum-rows.ts';
import { introspect } from '../../engine/catalog/introspect.ts';
import type { Catalog, CatalogTable } from '../../engine/catalog/types.ts';
import { connectTo, optionAddress } from '../../engine/database/connect.ts';
import { qualifiedKey } from '../../engine/metadata/schema/common.ts';
import { compile, integer, qualified, sql } from '../../engine/sql/fragment.ts';
import { type Origins, readOrigins } from './view-origins.ts';

export type Survey = {
  /** The name of the database. */
  readonly database: string;
  /** The catalog, with the rows of `enums`. */
  readonly catalog: Catalog;
  /** The tables that are an enum table by their columns, their rows and the foreign keys to them, by qualifiedKey. */
  readonly enums: ReadonlySet<string>;
  /** The tables that look like an enum table but have no rows. */
  readonly emptyEnums: readonly CatalogTable[];
  /** The columns of tables that views return unchanged. */
  readonly origins: Origins;
  /** Why tables are not for clients, by oid: `extension postgis`. */
  readonly foreign: ReadonlyMap<number, string>;
};

const PURPOSE = { applicationName: 'pergola init', timeoutMs: 15_000 };
/** The most rows of a table whose rows are the values of an enum. */
const MOST_VALUES = 100;

/** The members of extensions, partitions, and tables that the user may not read. PostgreSQL manual, "pg_depend". */
const FOREIGN = `
  select c.oid::text, case
    when e.extname is not null then 'the extension ' || e.extname || ' owns it'
    when c.relispartition then 'it is a partition; its parent is a Table'
    else 'the user of the database URL may not read it'
  end as reason
  from pg_catalog.pg_class c
  left join pg_catalog.pg_depend d on d.objid = c.oid and d.deptype = 'e'
    and d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
  left join pg_catalog.pg_extension e on e.oid = d.refobjid
  where c.relkind in ('r', 'p', 'v', 'm', 'f') and (
    e.extname is not null or c.relispartition or not (
      pg_catalog.has_schema_privilege(c.relnamespace, 'usage') and pg_catalog.has_any_column_privilege(c.oid, 'select')
    )
  )`;

export async function readDatabase(url: string): Promise<Survey> {
  const client = await connectTo(optionAddress(url), PURPOSE).catch((error: Error) => {
    throw new Error(`cannot connect to the database: ${error.message}`, { cause: error });
  });
  try {
    const catalog = await introspect(client);
    const [foreign, database] = [await readForeign(client), await readName(client)];
    const shaped = [...catalog.tables.values()].filter(isEnumShaped(catalog));
    const counts = new Map<string, number>();
    for (const table of shaped.filter(({ oid }) => !foreign.has(oid))) {
      counts.set(qualifiedKey(table), await countUpTo(client, table, MOST_VALUES + 1));
    }
    const isEnum = (count: number) => count > 0 && count <= MOST_VALUES;
    const enums = new Set([...counts].flatMap(([key, count]) => (isEnum(count) ? [key] : [])));
    const tables = shaped
      .filter((table) => enums.has(qualifiedKey(table)))
      .map(({ schema, name }) => ({ table: { schema, name }, is_enum: true }));
    return {
      database,
      catalog: await withEnumRows(client, catalog, { tables }),
      enums,
      emptyEnums: shaped.filter((table) => counts.get(qualifiedKey(table)) === 0),
      origins: await readOrigins(client, catalog),
      foreign,
    };
  } finally {
    await client.end();
  }
}

async function readForeign(client: pg.Client): Promise<ReadonlyMap<number, string>> {
  const { rows } = await client.query<{ oid: string; reason: string }>(FOREIGN);
  return new Map(rows.map(({ oid, reason }) => [Number(oid), reason]));
}

async function readName(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>('select pg_catalog.current_database() as name');
  return rows[0]!.name;
}

/** The names of the column with the values of an enum, and of the column with their descriptions. Other tables of this form, such as
 *  `country (code, name)` and `tag (name)`, have rows that people add. */
const VALUE_COLUMNS = /^(value|code|key|id|type|kind|status|state|role|level)$/i;
const COMMENT_COLUMNS = /^(comment|comments|description|descr|explanation|meaning|note|notes)$/i;

/** Returns a function that is true for tables with a text key, at most a comment beside it, and a foreign key to them. */
function isEnumShaped({ tables }: Catalog): (table: CatalogTable) => boolean {
  const referenced = new Set(
    [...tables.values()].flatMap(({ foreignKeys }) => foreignKeys.map(({ table }) => qualifiedKey(table))),
  );
  return (table) =>
    table.kind === 'table' &&
    table.primaryKey?.columns.length === 1 &&
    hasColumnsOfEnum(table) &&
    table.columns.every(({ type }) => type.schema === 'pg_catalog' && type.name === 'text') &&
    table.foreignKeys.length === 0 &&
    referenced.has(qualifiedKey(table));
}

function hasColumnsOfEnum({ columns, primaryKey }: CatalogTable): boolean {
  const others = columns.filter(({ name }) => name !== primaryKey?.columns[0]);
  if (others.length === 0) return columns.every(({ name }) => VALUE_COLUMNS.test(name));
  return others.length === 1 && others.every(({ name }) => COMMENT_COLUMNS.test(name));
}

async function countUpTo(client: pg.Client, table: CatalogTable, most: number): Promise<number> {
  const { text } = compile(sql`select from ${qualified(table)} limit ${integer(most)}`);
  const { rowCount } = await client.query(text);
  return rowCount ?? 0;
}
