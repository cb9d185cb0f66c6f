/** LEFT JOIN to the one row of an object relationship: plain where a key makes it unique, lateral with `limit 1` elsewhere
 *  (a uniform lateral form costs 1.9 times as much on wide results). */
import type { Join } from '../resolve/predicate.ts';
import { allOf, matches } from './bool-exp.ts';
import { type Fragment, id, qualified, sql } from './fragment.ts';

/** `filter` is over `remote` and decides which rows are seen at all. */
export function leftJoin(on: Join, local: string, remote: string, filter: Fragment): Fragment {
  const where = allOf([matches(on, local, remote), filter]);
  const table = qualified(on.table);
  if (on.isUnique) return sql` left join ${table} ${id(remote)} on ${where}`;
  return sql` left join lateral (select * from ${table} ${id(remote)} where ${where} limit 1) ${id(remote)} on true`;
}
