/** Says which tables and columns have appeared in the database of `pergola up` since its start, and how they become part of the API.
 *  In: the URL of the database, looked at every few seconds. Not here: those that are gone, which resources report. */
import { setTimeout as sleep } from 'node:timers/promises';
import { kindOf } from '../../operator/kinds.ts';
import type { Report } from '../../operator/status/report.ts';
import { withClient } from '../server-databases.ts';

const PAUSE_MS = 3000;

/** The columns that the user of the database may read, without those of Postgres, the engine and tools. */
const COLUMNS = `
  select table_schema as schema, table_name as table, column_name as column
    from information_schema.columns
   where table_schema !~ '^(pg_|pergola|information_schema$|hdb_catalog$)'
   order by table_schema, table_name, ordinal_position`;

type Column = { readonly schema: string; readonly table: string; readonly column: string };

/** Looks at the database until the signal. `report` returns the latest report of the loop. */
export async function watchNewTables(given: {
  readonly url: string;
  /** The command that writes resources for new tables. */
  readonly init: string;
  readonly report: () => Report | undefined;
  readonly print: (text: string) => void;
  readonly signal: AbortSignal;
}): Promise<void> {
  const known = new Set<string>();
  for (let isFirst = true; !given.signal.aborted; ) {
    const columns = given.report() === undefined ? undefined : await columnsOf(given.url);
    if (columns !== undefined) {
      const text = isFirst ? '' : newText(columns, known, { ...given, tracked: trackedIn(given.report()!) });
      if (text !== '') given.print(text);
      for (const each of columns) known.add(keyOf(each)).add(tableOf(each));
      isFirst = false;
    }
    await sleep(PAUSE_MS, undefined, { signal: given.signal }).catch(() => {});
  }
}

/** Returns undefined when the database does not answer, which the engine reports. */
async function columnsOf(url: string): Promise<readonly Column[] | undefined> {
  try {
    return await withClient({ url, applicationName: 'pergola up' }, async (client) => {
      return (await client.query<Column>(COLUMNS)).rows;
    });
  } catch {
    return undefined;
  }
}

/** Returns the sentences about the columns that are not among the known ones. */
export function newText(
  columns: readonly Column[],
  known: ReadonlySet<string>,
  { tracked, init }: { readonly tracked: ReadonlySet<string>; readonly init: string },
): string {
  const tables = Map.groupBy(
    columns.filter((each) => !known.has(keyOf(each))),
    tableOf,
  );
  const lines = [...tables].flatMap(([table, added]) => {
    if (!known.has(table)) {
      if (tracked.has(table)) return [];
      return [`New table ${table}: it is in the API once a Table names it. To write one: ${init}`];
    }
    if (!tracked.has(table)) return [];
    const names = added.map(({ column }) => column).join(', ');
    return [
      `New in table ${table}: ${names}. A role sees a column once its permission lists it; one with columns ["*"] does.`,
    ];
  });
  return lines.map((line) => `${line}\n`).join('');
}

function trackedIn({ resources }: Report): ReadonlySet<string> {
  return new Set(
    resources
      .filter(({ kind }) => kindOf(kind)?.kind === 'Table')
      .map(({ spec }) => `${spec['schema'] ?? 'public'}.${spec['table']}`),
  );
}

function tableOf({ schema, table }: Column): string {
  return `${schema}.${table}`;
}

function keyOf(column: Column): string {
  return `${tableOf(column)}.${column.column}`;
}
