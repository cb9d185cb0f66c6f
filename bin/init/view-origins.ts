/** Reads where the columns of views come from: the column of a table that a view returns unchanged, also through joins, subqueries and other
 *  views. The server says so when it describes the statement of the view, which is not run. In: a client and a catalog. Out: Origins.
 *  Not here: the keys of views that follow (view-keys.ts). PostgreSQL manual, "Message Formats", RowDescription. */
import type pg from 'pg';
import type { Catalog, CatalogTable } from '../../engine/catalog/types.ts';
import { qualifiedKey } from '../../engine/metadata/schema/common.ts';

/** The column of a table, not of a view. */
export type Origin = { readonly table: CatalogTable; readonly column: string };
/** The origins of the columns of each view, by qualifiedKey and by column. Columns that a view computes have none. */
export type Origins = ReadonlyMap<string, ReadonlyMap<string, Origin>>;

type Field = Pick<pg.FieldDef, 'name' | 'tableID' | 'columnID'>;

const DEFINITIONS = `
  select c.oid::text, pg_catalog.pg_get_viewdef(c.oid) as definition
  from pg_catalog.pg_class c
  where c.relkind in ('v', 'm') and c.oid = any ($1::pg_catalog.oid[])`;

export async function readOrigins(client: pg.Client, { tables }: Catalog): Promise<Origins> {
  const views = [...tables.values()].filter(isView);
  if (views.length === 0) return new Map();
  const { rows } = await client.query<{ oid: string; definition: string }>(DEFINITIONS, [
    views.map(({ oid }) => oid),
  ]);
  const definitions = new Map(rows.map(({ oid, definition }) => [Number(oid), definition]));
  const byOid = new Map([...tables.values()].map((table) => [table.oid, table]));
  const direct = new Map<string, ReadonlyMap<string, Origin>>();
  for (const view of views) {
    const fields = await describe(client, definitions.get(view.oid) ?? '');
    direct.set(qualifiedKey(view), originsIn(fields, byOid));
  }
  return new Map([...direct].map(([key, origins]) => [key, throughViews(origins, direct)]));
}

/** Returns the columns of a statement, without running it; none when the server does not accept the text, because the user lacks a
 *  privilege on a schema in it. */
function describe(client: pg.Client, text: string): Promise<readonly Field[]> {
  return new Promise((resolve) => {
    let fields: readonly Field[] = [];
    client.query({
      submit: (connection: pg.Connection) => {
        connection.parse({ name: '', text, types: [] }, true);
        connection.describe({ type: 'S', name: '' }, true);
        connection.sync();
      },
      handleRowDescription: (message: { readonly fields: readonly Field[] }) => {
        fields = message.fields;
      },
      handleError: () => resolve([]),
      handleReadyForQuery: () => resolve(fields),
    });
  });
}

function originsIn(
  fields: readonly Field[],
  tables: ReadonlyMap<number, CatalogTable>,
): ReadonlyMap<string, Origin> {
  const found = fields.flatMap(({ name, tableID, columnID }) => {
    const table = tables.get(tableID);
    const column = table?.columns.find(({ position }) => position === columnID);
    return table && column ? [[name, { table, column: column.name }] as const] : [];
  });
  return new Map(found);
}

/** Returns the origins with columns of views replaced by the columns that these come from. */
function throughViews(origins: ReadonlyMap<string, Origin>, direct: Origins): ReadonlyMap<string, Origin> {
  const found = [...origins].flatMap(([name, origin]) => {
    let from: Origin | undefined = origin;
    while (from && isView(from.table)) from = direct.get(qualifiedKey(from.table))?.get(from.column);
    return from ? [[name, from] as const] : [];
  });
  return new Map(found);
}

function isView({ kind }: CatalogTable): boolean {
  return kind === 'view' || kind === 'materialized view';
}
