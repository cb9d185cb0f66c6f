/** FetchedColumn → a statement on its source for one text: the values of the column, as a Postgres array. Not here: when it runs
 *  (execute/fetched.ts). Reference: docs/reference/behaviour/permissions.md. */
import type { FetchedColumn } from '../resolve/predicate.ts';
import { condition } from './bool-exp.ts';
import { compile, id, qualified, type Statement, sql } from './fragment.ts';
import { Aliases, columnOf, rowScope } from './scope.ts';

export function fetchStatement({ table, column, where }: FetchedColumn): Statement {
  const aliases = new Aliases();
  const row = aliases.next();
  const value = columnOf(row, column);
  const rows = sql`select distinct ${value}::text as value from ${qualified(table)} ${id(row)} where ${value} is not null and ${condition(where, rowScope(row, aliases))}`;
  return compile(sql`select coalesce(array_agg(value), '{}')::text from (${rows}) rows`);
}
