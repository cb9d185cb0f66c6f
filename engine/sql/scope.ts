/** Row aliases of one statement: `t0`, `t1`, … from a counter, so that equal plans print equal text. */
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Fragment } from './fragment.ts';
import { empty, id, qualified, sql } from './fragment.ts';

/** The column of a subquery with the row of its table. */
const WHOLE_ROW = 'whole row';

export class Aliases {
  #count = 0;
  /** The aliases of subqueries that have more columns than their table, and whether the row of the table is read from each. */
  readonly #wider = new Map<string, boolean>();

  next(): string {
    return `t${this.#count++}`;
  }

  /** Notes that from now on the alias stands for a subquery with more columns than its table, which has `wholeRow`, too. */
  widen(alias: string): void {
    if (!this.#wider.has(alias)) this.#wider.set(alias, false);
  }

  /** Returns the row as a value of the type of its table. No column is named, because the table may have others by now than those the
   *  engine has seen. The alias of a subquery has no named row type. */
  rowOf(alias: string, table: QualifiedName): Fragment {
    if (!this.#wider.has(alias)) return rowAs(alias, table);
    this.#wider.set(alias, true);
    return columnOf(alias, WHOLE_ROW);
  }

  /** Returns the additional column of a subquery that `rowOf` has read; nothing when it has not. */
  wholeRow(alias: string, table: QualifiedName): Fragment {
    return this.#wider.get(alias) ? sql`, ${rowAs(alias, table)} as ${id(WHOLE_ROW)}` : empty;
  }
}

function rowAs(alias: string, table: QualifiedName): Fragment {
  return sql`row(${id(alias)}.*)::${qualified(table)}`;
}

/** The scope of a predicate: the alias of its row, and of the root row that `["$", column]` refers to. */
export type PredicateScope = { readonly row: string; readonly root: string; readonly aliases: Aliases };

export function rowScope(row: string, aliases: Aliases): PredicateScope {
  return { row, root: row, aliases };
}

export function columnOf(alias: string, column: string): Fragment {
  return sql`${id(alias)}.${id(column)}`;
}
