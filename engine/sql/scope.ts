/** Row aliases of one statement: `t0`, `t1`, … from a counter, so that equal plans print equal text. */
import type { Fragment } from './fragment.ts';
import { id, sql } from './fragment.ts';

export class Aliases {
  #count = 0;
  next(): string {
    return `t${this.#count++}`;
  }
}

/** The scope of a predicate: the alias of its row, and of the root row that `["$", column]` refers to. */
export type PredicateScope = { readonly row: string; readonly root: string; readonly aliases: Aliases };

export function rowScope(row: string, aliases: Aliases): PredicateScope {
  return { row, root: row, aliases };
}

export function columnOf(alias: string, column: string): Fragment {
  return sql`${id(alias)}.${id(column)}`;
}
