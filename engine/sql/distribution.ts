/** The forms of queries over a Citus cluster. Which of them a query has depends on the tables that it reads and on how their rows belong to
 *  each other. A database that is no cluster has none of this.
 *  In: the distributions of a source, and a function that composes a query. Out: the query, and CTEs that it reads.
 *  Not here: the form of rows in a cluster (rows.ts), writes (mutation.ts). Citus documentation, "Subqueries and CTEs". */
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { Select } from '../plan/query-types.ts';
import type { RowsDistribution } from '../resolve/distributions.ts';
import { isOwn, ownPart } from '../resolve/own-part.ts';
import { type Join, TRUE } from '../resolve/predicate.ts';
import { conjunctsForCluster, matches, never, whereClause } from './bool-exp.ts';
import { comma, empty, type Fragment, id, integer, join, qualified, sql } from './fragment.ts';
import { Joins } from './join.ts';
import { orderClause, orderTerms } from './order-by.ts';
import { Aliases, ANCHOR, type Form, IS_THERE, type RowsRead, rowScope, type TableReader } from './scope.ts';

/** Returns the distribution of a table of a cluster; null for a local one. */
export type DistributionOf = (table: QualifiedName) => RowsDistribution | null;

/** A query and the rows that it reads from CTEs. */
export type Composed = {
  readonly query: Fragment;
  readonly gathered: readonly Fragment[];
  readonly form: Form;
};

/** The forms, and which reads each can serve. The first that fits is taken. */
const FORMS: readonly { readonly form: Form; readonly fits: (reads: Reads) => boolean }[] = [
  // No table is distributed: a query as on any Postgres.
  { form: 'local', fits: (reads) => !reads.some(isSharded) },
  // Every row is on the shard of the row that it belongs to, so that each shard can answer for its rows: a query of one tenant is sent to
  // its shard whole.
  { form: 'pushed', fits: (reads) => reads.arePushable },
  // The rows of each table are read by a CTE of their own, and the coordinator puts them together.
  { form: 'gathered', fits: () => true },
];

/** Composes a query in the form that the cluster can distribute; without a cluster in the plain form. */
export function distributed(
  distributionOf: DistributionOf | null,
  aliases: Aliases,
  compose: (aliases: Aliases) => Fragment,
): Composed {
  if (!distributionOf) return { query: compose(aliases), gathered: [], form: 'plain' };
  for (const { form, fits } of FORMS) {
    const reads = new Reads(form, distributionOf);
    const query = aliases.reading(reads, compose);
    if (fits(reads)) return { query, gathered: form === 'gathered' ? reads.gathered() : [], form };
  }
  throw new Error('the last form fits every query');
}

const ANSWER = id('answer');

/** A CTE that writes, and the rows that it reads. */
type WritingCte = { readonly gathered: readonly Fragment[]; readonly cte: Fragment };

/** Returns one query of several, each as a column. Beside rows that are gathered, a query that a cluster can distribute by itself is a CTE, so that
 *  Citus plans it as it plans a single one. */
export function besideEachOther(queries: readonly Composed[]): Fragment {
  const [first] = queries;
  if (first && queries.length === 1) return withRows(first.gathered, first.query);
  const isMixed = queries.some(({ form }) => form === 'gathered');
  const ctes: Fragment[] = [];
  const columns = queries.map(({ query, gathered, form }, i) => {
    if (!isMixed || form === 'gathered') {
      ctes.push(...gathered);
      return sql`(${query})`;
    }
    const name = id(`root ${i}`);
    ctes.push(sql`${name} as materialized (select (${query}) as ${ANSWER})`);
    return sql`(select ${ANSWER} from ${name} where ${ANCHOR}.${IS_THERE})`;
  });
  return withRows(ctes, sql`select ${join(columns, comma)}`);
}

/** Returns the query with the CTEs that it reads: `with "gathered t0" as materialized (…) select …`. A CTE that writes stands before them.
 *  Each subquery in the FROM clause takes a column of a row outside it. Citus would plan others by themselves, and with subqueries in them it
 *  loses their rows or crashes; what depends on a row outside is sent to Postgres as it is. */
export function withRows(
  gathered: readonly Fragment[],
  query: Fragment,
  write: WritingCte | null = null,
): Fragment {
  const writes = write ? [...write.gathered, write.cte] : [];
  if (writes.length + gathered.length === 0) return query;
  if (gathered.length === 0) return sql`with ${join(writes, comma)} ${query}`;
  const ctes = join(
    [...writes, ...gathered, sql`${ANCHOR} as materialized (select true as ${IS_THERE})`],
    comma,
  );
  return sql`with ${ctes} select ${ANSWER}.* from ${ANCHOR} cross join lateral (${query}) ${ANSWER}`;
}

/** The tables that a query reads, under their aliases. */
class Reads implements TableReader {
  readonly form: Form;
  readonly #distributionOf: DistributionOf;
  readonly #reads = new Map<string, RowsRead>();
  readonly #tested = new Set<string>();
  #isCut = false;
  #isWrite = false;

  constructor(form: Form, distributionOf: DistributionOf) {
    this.form = form;
    this.#distributionOf = distributionOf;
  }

  get isAnchored(): boolean {
    return this.form === 'gathered' && !this.#isWrite;
  }

  read(rows: RowsRead): Fragment {
    this.#isWrite ||= rows.isTarget === true;
    this.#reads.set(rows.row, rows);
    const source = rows.source ?? qualified(rows.table);
    return this.form === 'gathered' && isGathered(rows) ? nameOf(rows.row) : source;
  }

  /** Notes that a subquery limits rows which other tables are joined to. */
  cut(): void {
    this.#isCut = true;
  }

  /** Notes that a subquery of a condition reads the rows under an alias. */
  test(row: string): void {
    this.#tested.add(row);
  }

  some(test: (distribution: RowsDistribution | null) => boolean): boolean {
    return [...this.#reads.values()].some((read) => test(this.#placeOf(read)));
  }

  get arePushable(): boolean {
    const reads = [...this.#reads.values()];
    if (this.#isCut && reads.some(({ join: on }) => on !== undefined)) return false;
    if (this.some((distribution) => distribution?.kind === 'view')) return false;
    // Citus joins local tables to reference tables, and not where shards are read as well.
    if (reads.some((read) => !read.source && this.#placeOf(read) === null)) return false;
    return reads.every((read) => {
      const { join: on } = read;
      if (on === undefined) return true;
      const outer = on && this.#reads.get(on.outer);
      const place = outer ? this.#placeOf(outer) : null;
      // Citus does not send a condition with a subquery to the shards when it is about a row of a reference table.
      if (this.#tested.has(read.row) && place?.kind === 'reference') return false;
      return on !== null && isWithShard(place, this.#placeOf(read), on.mapping);
    });
  }

  /** Returns the CTEs, each after those that it reads. */
  gathered(): readonly Fragment[] {
    const done = new Map<string, Fragment>();
    const add = (read: RowsRead) => {
      if (done.has(read.row) || !isGathered(read)) return;
      const outer = read.join && this.#reads.get(read.join.outer);
      if (outer) add(outer);
      const isKnown = outer !== undefined && outer !== null && done.has(outer.row);
      done.set(read.row, sql`${nameOf(read.row)} as materialized (${rowsOf(read, isKnown)})`);
    };
    for (const read of this.#reads.values()) add(read);
    return [...done.values()];
  }

  /** Returns the distribution of the rows. Rows of a call are where the query is, those of a native query as those of a view. */
  #placeOf({ table, source, isNative }: RowsRead): RowsDistribution | null {
    if (isNative) return { kind: 'view' };
    const distribution = source ? null : this.#distributionOf(table);
    return distribution?.kind === 'local' ? null : distribution;
  }
}

/** True unless the rows are those of a call that takes a row of the query, or the statement writes to them. */
function isGathered({ source, isDependent, isTarget }: RowsRead): boolean {
  return !isTarget && !(source && isDependent);
}

function nameOf(row: string): Fragment {
  return id(`gathered ${row}`);
}

function isSharded(distribution: RowsDistribution | null): boolean {
  return distribution !== null && distribution.kind !== 'reference';
}

/** True when the rows of `inner` that belong to a row of `outer` are where that row is. */
function isWithShard(
  outer: RowsDistribution | null,
  inner: RowsDistribution | null,
  mapping: Join['mapping'],
): boolean {
  if (inner === null) return !isSharded(outer);
  if (inner.kind === 'reference') return true;
  if (!('colocation' in inner) || outer === null || !('colocation' in outer)) return false;
  if (outer.colocation !== inner.colocation || outer.kind !== inner.kind) return false;
  if (outer.kind !== 'distributed' || inner.kind !== 'distributed') return true;
  return mapping.some(([local, remote]) => local === outer.column && remote === inner.column);
}

/** A condition that always holds. Citus sends no query over a local table to a shard, where a function cannot run statements over shards. */
const ON_COORDINATOR = sql` where exists (select 1 from ${qualified({ schema: 'pg_catalog', name: 'pg_namespace' })})`;

/** Returns a query of the rows that a gathered query may use. The query has all conditions, so that these may be fewer: those on columns of
 *  the row itself, that a row belongs to one of the gathered rows outside it, and the limit when it depends on nothing else. */
function rowsOf(
  { table, source, isCall, row, where = TRUE, join: on, select }: RowsRead,
  hasOuter: boolean,
): Fragment {
  if (source) return sql`select * from ${source} ${id(row)}${isCall ? ON_COORDINATOR : empty}`;
  const aliases = new Aliases();
  const own = ownPart(where);
  const belongs =
    hasOuter && on
      ? [sql`exists (select 1 from ${nameOf(on.outer)} ${id(on.outer)} where ${matches(on, on.outer, row)})`]
      : [];
  const filter = own.kind === 'false' ? [never(row)] : conjunctsForCluster(own, rowScope(row, aliases));
  const conditions = whereClause([...filter, ...belongs]);
  const limit = select && isOwn(where) ? limitOf(select, row, aliases) : empty;
  return sql`select ${id(row)}.* from ${qualified(table)} ${id(row)}${conditions}${limit}`;
}

/** Returns the order and the limit of rows that depend on their own columns only. The rows before an offset are read, too. */
function limitOf(
  { limit, offset, orderBy, distinctOn, withTies }: Select,
  row: string,
  aliases: Aliases,
): Fragment {
  const isSimple = orderBy.every(
    ({ path, call, aggregate, visibleIf }) => path.length === 0 && !call && !aggregate && !visibleIf,
  );
  if (limit === null || distinctOn.length > 0 || withTies || !isSimple) return empty;
  const most = String(BigInt(limit) + BigInt(offset ?? 0));
  return sql`${orderClause(orderTerms(orderBy, row, new Joins(aliases)))} limit ${integer(most)}`;
}
