/** FetchedColumns → a statement on their source for one text: the values of one column as a Postgres array, or of several as a JSON list
 *  of lists. Not here: when it runs (execute/fetched.ts). Reference: docs/reference/behaviour/permissions.md. */
import type { FetchedColumns } from '../resolve/predicate.ts';
import { condition } from './bool-exp.ts';
import { comma, compile, empty, id, join, qualified, type Statement, sql } from './fragment.ts';
import { Aliases, columnOf, rowScope } from './scope.ts';

export function fetchStatement({ table, columns, where }: FetchedColumns): Statement {
  const aliases = new Aliases();
  const row = aliases.next();
  const values = columns.map((column) => columnOf(row, column));
  const texts = values.map((value, i) => sql`${value}::text as ${id(String(i))}`);
  const present = values.map((value) => sql`${value} is not null and `);
  const rows = sql`select distinct ${join(texts, comma)} from ${qualified(table)} ${id(row)} where ${join(present, empty)}${condition(where, rowScope(row, aliases))}`;
  const names = columns.map((_, i) => id(String(i)));
  const all =
    columns.length === 1
      ? sql`coalesce(array_agg(${join(names, comma)}), '{}')`
      : sql`coalesce(json_agg(json_build_array(${join(names, comma)})), '[]')`;
  return compile(sql`select ${all}::text from (${rows}) rows`);
}
