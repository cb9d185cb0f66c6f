/** Leaves out conditions that the way to a row implies already (`optimize_permission_filters`). Example: a role reads customers of
 *  its own, invoices of such customers, and the lines of such invoices. In `Customer { Invoices { InvoiceLines } }` each customer has
 *  been checked, so its invoices and their lines need no check of their own.
 *  In: a query as planned. Out: the query with fewer conditions, each of which is true for every row that the rest of it reaches.
 *  The pass does not distinguish filters of permissions from conditions of the request, and it never adds or weakens one.
 *  A condition is left out in two cases only:
 *  - It says that a related row satisfies `W`, the row was reached from that row over the inverse relationship, and `W` is known of it.
 *  - The row is the only one that the previous row relates to, and the previous row has been checked to relate to a row that satisfies it.
 *  Everything else is kept: `_or`, `_not`, `_exists`, masked values, functions, aggregates, and comparisons with the root of a condition.
 *  Not here: conditions inside conditions and orders; rows of functions, native queries and mutations, which may not be stored.
 *  Reference: docs/reference/behaviour/permissions.md; ADR 23. */
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { and, type Join, type Leaf, type Operand, type Predicate } from '../resolve/predicate.ts';
import type { Aggregate, ConnectionPage, EdgeField, Field, QueryRoot, Select } from './query-types.ts';
import type { Call, Plan, Root } from './types.ts';

type FindTable = (table: QualifiedName) => ResolvedTable | undefined;

/** A row of a table, the conditions that are known to hold for it, and the row it was reached from. */
type KnownRow = {
  readonly table: ResolvedTable;
  readonly holds: readonly Predicate[];
  readonly reached: Reached | null;
};

/** A relationship that was followed, and the row that it was followed from. */
type Reached = { readonly join: Join; readonly from: KnownRow };

/** Returns the plan with fewer conditions in its queries. */
export function withoutImpliedConditions(plan: Plan, { sources }: Pick<Model, 'sources'>): Plan {
  const lessOf = <Q extends Queried>(queried: Q): Q => {
    const tables = sources.get(queried.source)?.tables;
    return { ...queried, query: withoutImplied(queried.query, (table) => tables?.get(qualifiedKey(table))) };
  };
  const rootOf = (root: Root): Root => {
    if (root.kind === 'namespace') return { ...root, roots: root.roots.map(rootOf) };
    return root.kind === 'database' ? lessOf(root) : root;
  };
  const callOf = (call: Call): Call => {
    if (call.kind === 'entities') return { ...call, joins: call.joins.map(lessOf) };
    return call.kind === 'remote' ? call : { ...call, joins: call.joins.map(lessOf) };
  };
  const { roots, calls, joins } = plan;
  return {
    ...plan,
    roots: roots.map(rootOf),
    ...(calls ? { calls: calls.map(callOf) } : {}),
    ...(joins ? { joins: joins.map((join) => (join.kind === 'rows' ? lessOf(join) : join)) } : {}),
  };
}

/** A query with its source: a root field, or rows by keys. */
type Queried = { readonly source: string; readonly query: QueryRoot };

/** Returns the query with fewer conditions; `find` finds a table of its source. */
export function withoutImplied(query: QueryRoot, find: FindTable): QueryRoot {
  const pass = new ImpliedConditions(find);
  switch (query.kind) {
    case 'rows':
    case 'row':
    case 'stream':
      return { ...query, select: pass.select(query.select, null) };
    case 'aggregate':
      return { ...query, ...pass.aggregate(query, null) };
    case 'connection':
      return { ...query, ...pass.connection(query, null) };
    case 'groups':
      return query;
    default:
      return query satisfies never;
  }
}

class ImpliedConditions {
  readonly #find: FindTable;

  constructor(find: FindTable) {
    this.#find = find;
  }

  select(select: Select, reached: Reached | null): Select {
    const { where, row } = this.#rows(select, reached);
    return { ...select, where, fields: this.#fields(select.fields, row) };
  }

  aggregate({ select, output }: Aggregate, reached: Reached | null): Aggregate {
    const { where, row } = this.#rows(select, reached);
    return {
      select: { ...select, where },
      output: output.map((field) =>
        field.kind === 'nodes' ? { ...field, fields: this.#fields(field.fields, row) } : field,
      ),
    };
  }

  connection(page: ConnectionPage, reached: Reached | null): ConnectionPage {
    const { where, row } = this.#rows(page.select, reached);
    const edge = (field: EdgeField) =>
      field.kind === 'node' ? { ...field, fields: this.#fields(field.fields, row) } : field;
    return {
      ...page,
      select: { ...page.select, where },
      output: page.output.map((field) =>
        field.kind === 'edges' ? { ...field, fields: field.fields.map(edge) } : field,
      ),
    };
  }

  /** Returns the conditions that are still needed, and what is then known of a row; null for rows that may not be stored. */
  #rows(
    select: Select,
    reached: Reached | null,
  ): { readonly where: Predicate; readonly row: KnownRow | null } {
    const { where } = select;
    const table = this.#find(select.table);
    if (select.from || !table) return { where, row: null };
    const before = { table, reached, holds: reached ? this.#known(reached) : [] };
    const parts = partsOf(where);
    const needed = parts.filter((part) => !this.#isImplied(part, before));
    return { where: and(...needed), row: { ...before, holds: [...before.holds, ...parts] } };
  }

  #fields(fields: readonly Field[], row: KnownRow | null): readonly Field[] {
    return fields.map((field) => this.#field(field, row));
  }

  #field(field: Field, row: KnownRow | null): Field {
    switch (field.kind) {
      case 'object':
      case 'array':
        return { ...field, select: this.select(field.select, reachedBy(field.join, row)) };
      case 'called':
        return { ...field, select: this.select(field.select, null) };
      case 'aggregate':
        return { ...field, ...this.aggregate(field, reachedBy(field.join, row)) };
      case 'connection':
        return { ...field, ...this.connection(field, reachedBy(field.join, row)) };
      case 'column':
      case 'computed':
      case 'constant':
      case 'joined':
      case 'node-id':
        return field;
      default:
        return field satisfies never;
    }
  }

  /** Returns what the previous row's conditions say of a row that it alone relates to. */
  #known({ join, from }: Reached): readonly Predicate[] {
    if (!this.#leadsToOneRow(join, from.table)) return [];
    return from.holds.flatMap((known) => {
      if (known.kind !== 'related' || !isSameJoin(known.join, join)) return [];
      return [known.where, ...(known.filter ? [known.filter] : [])].flatMap(partsOf);
    });
  }

  /** True when the condition holds for the row by what is known of it. */
  #isImplied(condition: Predicate, row: KnownRow): boolean {
    if (condition.kind === 'true') return true;
    if (condition.kind === 'and') return condition.all.every((each) => this.#isImplied(each, row));
    if (!isPlain(condition)) return false;
    if (row.holds.some((known) => isEqual(known, condition))) return true;
    if (condition.kind !== 'related' || !row.reached) return false;
    const { join, from } = row.reached;
    return (
      this.#isInverse(condition.join, join, from.table, row.table) && this.#isImplied(condition.where, from)
    );
  }

  /** True when `back` leads from a row to the row that `join` was followed from. */
  #isInverse(back: Join, join: Join, from: ResolvedTable, to: ResolvedTable): boolean {
    const inverse = join.mapping.map(([local, remote, ...schema]) => [remote, local, ...schema] as const);
    return (
      !join.from &&
      !back.from &&
      isSameTable(back.table, from.table) &&
      isSameMapping(back.mapping, inverse) &&
      hasSameTypes(join, from, to)
    );
  }

  /** True when a constraint ensures that at most one row matches. A unique index without a constraint does not suffice, because it may
   *  compare in another way than `=`. */
  #leadsToOneRow(join: Join, local: ResolvedTable): boolean {
    const target = join.from ? undefined : this.#find(join.table);
    if (!target || target.isParent || !hasSameTypes(join, local, target)) return false;
    const joined = new Set(join.mapping.map(([, remote]) => remote));
    return target.uniqueKeys.some(
      (key) => key.isConstraint && key.columns.every((column) => joined.has(column)),
    );
  }
}

function reachedBy(join: Join, from: KnownRow | null): Reached | null {
  return from && { join, from };
}

/** Returns the members of a conjunction. */
function partsOf(predicate: Predicate): readonly Predicate[] {
  return predicate.kind === 'and' ? predicate.all : [predicate];
}

/** True when the condition has the same result wherever it is evaluated on a row: it compares stored columns with values of the
 *  metadata or the session. */
function isPlain(condition: Predicate): boolean {
  switch (condition.kind) {
    case 'true':
      return true;
    case 'and':
      return condition.all.every(isPlain);
    case 'compare':
      return isStored(condition.left) && isFixed(condition.right);
    case 'is-null':
      return isStored(condition.left);
    case 'related':
      return !condition.filter && !condition.join.from && isPlain(condition.where);
    default:
      return false;
  }
}

/** True for a column as it is stored. */
function isStored(left: Extract<Predicate, { kind: 'compare' | 'is-null' }>['left']): boolean {
  const { call, aggregate, cast, isComputed, visibleIf } = left;
  return !(call || aggregate || cast || isComputed || visibleIf);
}

/** True for values of the metadata and the session, and for a column of the same row. */
function isFixed(right: Operand): boolean {
  if (right.kind === 'column') return right.scope === 'row';
  return right.kind === 'arguments' ? right.values.every(isFixedLeaf) : isFixedLeaf(right);
}

function isFixedLeaf(leaf: Leaf): boolean {
  if (leaf.kind === 'list') return leaf.items.every(isFixedLeaf);
  return leaf.kind === 'constant' || leaf.kind === 'session';
}

function isEqual(known: Predicate, condition: Predicate): boolean {
  return JSON.stringify(known) === JSON.stringify(condition);
}

/** True when each pair of joined columns has one type, so that `=` means the same in both directions and in the key's constraint. */
function hasSameTypes(join: Join, local: ResolvedTable, remote: ResolvedTable): boolean {
  return join.mapping.every(([own, theirs]) => {
    const [left, right] = [local.columnByName.get(own), remote.columnByName.get(theirs)];
    if (!left || !right || left.isComputed || right.isComputed) return false;
    return qualifiedKey(left.type) === qualifiedKey(right.type);
  });
}

function isSameTable(one: QualifiedName, other: QualifiedName): boolean {
  return qualifiedKey(one) === qualifiedKey(other);
}

function isSameJoin(one: Join, other: Join): boolean {
  return (
    !one.from &&
    !other.from &&
    isSameTable(one.table, other.table) &&
    isSameMapping(one.mapping, other.mapping)
  );
}

function isSameMapping(one: Join['mapping'], other: Join['mapping']): boolean {
  const pairs = (mapping: Join['mapping']) => mapping.map((pair) => JSON.stringify(pair)).sort();
  return JSON.stringify(pairs(one)) === JSON.stringify(pairs(other));
}
