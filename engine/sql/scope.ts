/** Row aliases of one statement: `t0`, `t1`, … from a counter, so that equal plans print equal text; and the source of the rows under each. */
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Select } from '../plan/query-types.ts';
import type { JoinedPair, Predicate } from '../resolve/predicate.ts';
import type { Fragment } from './fragment.ts';
import { empty, id, qualified, sql } from './fragment.ts';

/** The column of a subquery with the row of its table. */
export const WHOLE_ROW = 'whole row';

/** The form of a query: that of any Postgres, or one of those over a cluster (distribution.ts). */
export type Form = 'plain' | 'local' | 'pushed' | 'gathered';

/** Rows that a query reads under an alias. */
export type RowsRead = {
  readonly table: QualifiedName;
  readonly row: string;
  /** The source of the rows when it is not the table. */
  readonly source?: Fragment;
  /** True when the source is the SQL of an administrator, which may read any table. */
  readonly isNative?: boolean;
  /** True when the source is a function, which may read any table by statements of its own. */
  readonly isCall?: boolean;
  /** True when the source takes a row of the query. */
  readonly isDependent?: boolean;
  /** True for the table that a statement writes to. */
  readonly isTarget?: true;
  /** How the rows belong to a row outside; null when they belong to none and are compared with it, absent for the first rows. */
  readonly join?: Tie | null;
  /** Conditions of the query on the rows. */
  readonly where?: Predicate;
  /** The select of first rows. */
  readonly select?: Select;
};

/** Chooses where the rows under an alias are read. */
export type TableReader = {
  readonly form: Form;
  /** True when the query has a row outside it. */
  readonly isAnchored: boolean;
  /** Returns the source of the rows in a FROM clause. */
  readonly read: (rows: RowsRead) => Fragment;
  /** Notes that a subquery limits rows which other tables are joined to. */
  readonly cut: () => void;
  /** Notes that a subquery of a condition reads the rows under an alias. */
  readonly test: (row: string) => void;
};

/** A row outside a gathered query, and its column, which is true. */
export const ANCHOR = id('anchor');
export const IS_THERE = id('is there');

const PLAIN: TableReader = {
  form: 'plain',
  isAnchored: false,
  read: ({ table, source }) => source ?? qualified(table),
  cut: () => {},
  test: () => {},
};

/** How rows belong to a row outside: by pairs of a column there and their own. */
type Tie = { readonly mapping: readonly JoinedPair[]; readonly outer: string };

function keyOf(row: string, column: string): string {
  return `${row} ${column}`;
}

export class Aliases {
  #count = 0;
  /** The aliases of subqueries that have more columns than their table, and whether the row of the table is read from each. */
  readonly #wider = new Map<string, boolean>();

  /** The rows outside that rows belong to, and the values that conditions give to columns. */
  readonly #ties = new Map<string, Tie>();
  readonly #values = new Map<string, string>();

  #reader = PLAIN;

  /** The form of the query that is composed. */
  get form(): Form {
    return this.#reader.form;
  }

  /** True when shards may return their rows one after the other. A local table may have been distributed since the catalog was read. */
  get mayBeOnShards(): boolean {
    return this.form === 'pushed' || this.form === 'local';
  }

  /** True when a subquery must depend on a row outside it. */
  get isAnchored(): boolean {
    return this.#reader.isAnchored;
  }

  /** Returns the condition that makes a subquery of rows depend on a row outside it, where its form needs one. It is also about the row: on Postgres 15
   *  and 16, Citus does not notice an outer join beside a condition without columns, and refuses such a query over a view that has one. */
  anchored(row: string): readonly Fragment[] {
    return this.isAnchored ? [sql`(${ANCHOR}.${IS_THERE} or (${id(row)} is null) is null)`] : [];
  }

  /** Composes a query whose rows are read by a reader. */
  reading<T>(reader: TableReader, compose: (aliases: Aliases) => T): T {
    this.#reader = reader;
    try {
      return compose(this);
    } finally {
      this.#reader = PLAIN;
    }
  }

  /** Returns the source of rows in a FROM clause. */
  source(rows: RowsRead): Fragment {
    return this.#reader.read(rows);
  }

  /** Notes that a subquery limits rows which other tables are joined to. */
  cut(): void {
    this.#reader.cut();
  }

  /** Notes that a subquery of a condition reads the rows under an alias. */
  test(row: string): void {
    this.#reader.test(row);
  }

  /** Returns a new alias. `tie` says which row outside its rows belong to. */
  next(tie?: Tie): string {
    const alias = `t${this.#count++}`;
    if (tie) this.#ties.set(alias, tie);
    return alias;
  }

  /** Notes that a condition compares the column with a value. Returns false when the column has another value already, or equals a column outside
   *  that has no condition with this value. */
  fixes(row: string, column: string, value: string): boolean {
    const key = keyOf(row, column);
    const known = this.#values.get(key);
    if (known !== undefined) return known === value;
    const outer = this.#outside(row, column);
    // Rows that are gathered need no value to choose a shard.
    if (outer && (this.form === 'gathered' || this.#values.get(keyOf(...outer)) !== value)) return false;
    this.#values.set(key, value);
    return true;
  }

  /** Returns the column outside that the column of a row equals. */
  #outside(row: string, column: string): readonly [string, string] | undefined {
    const tie = this.#ties.get(row);
    const pair = tie?.mapping.find(([, remote]) => remote === column);
    return tie && pair && [tie.outer, pair[0]];
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

  /** True when `rowOf` has read the row of a subquery with more columns. */
  readsRow(alias: string): boolean {
    return this.#wider.get(alias) === true;
  }

  /** Returns the additional column of a subquery that `rowOf` has read; nothing when it has not. */
  wholeRow(alias: string, table: QualifiedName): Fragment {
    return this.readsRow(alias) ? sql`, ${rowAs(alias, table)} as ${id(WHOLE_ROW)}` : empty;
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
