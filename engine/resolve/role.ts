/** Inherited roles: what a role may do because others may. Rows are those of any parent; a column that only some parents
 *  grant is shown in the rows of these and null in the others; what the parents write by, they must agree on.
 *  A permission of the role's own stands in place of what it would inherit.
 *  In: accesses by role, as permission.ts made them. Out: the same with those of inherited roles.
 *  Not here: the graph (metadata/inherited-roles.ts). Reference: docs/reference/behaviour/permissions.md. */
import type { InheritedRole } from '../metadata/schema/policy.ts';
import { NO_ACCESS } from './access.ts';
import { and, either, type Predicate, TRUE } from './predicate.ts';
import type { InheritedWrite, SelectAccess, TableAccess } from './types.ts';

type Accesses = ReadonlyMap<string, TableAccess>;
type Written = InheritedWrite['permission_type'];

export type Inheritance = {
  /** Parents first. */
  readonly heirs: readonly InheritedRole[];
  /** Has the role a permission of its own, be it one that does not resolve. */
  readonly hasOwn: (role: string, kind: 'select' | Written) => boolean;
  /** What a role does not inherit because its parents disagree. */
  readonly onConflict: (role: string, kind: Written) => void;
};

/** The accesses of one table, with those of the roles that inherit. */
export function inheritAccess(own: Accesses, { heirs, hasOwn, onConflict }: Inheritance): Accesses {
  const accesses = new Map(own);
  const conflicts = new Set<string>();
  for (const { role_name: role, role_set: parents } of heirs) {
    const declared = accesses.get(role) ?? NO_ACCESS;
    const lent = parents.map((parent) => accesses.get(parent) ?? NO_ACCESS);
    const agreed = <K extends Written>(kind: K): TableAccess[K] => {
      if (hasOwn(role, kind)) return declared[kind];
      const distinct = distinctBy(lent.flatMap((access) => access[kind] ?? []));
      const isUnclear = parents.some((parent) => conflicts.has(`${kind} ${parent}`));
      if (distinct.length <= 1 && !isUnclear) return distinct[0] ?? null;
      conflicts.add(`${kind} ${role}`);
      onConflict(role, kind);
      return null;
    };
    const selects = lent.flatMap((access) => access.select ?? []);
    const select = hasOwn(role, 'select') ? declared.select : unionOf(selects);
    const [insert, update, remove] = [agreed('insert'), agreed('update'), agreed('delete')];
    if (select || insert || update || remove) accesses.set(role, { select, insert, update, delete: remove });
  }
  return accesses;
}

/** Roles among these, and those that inherit from one. */
export function withHeirs(roles: ReadonlySet<string>, heirs: readonly InheritedRole[]): ReadonlySet<string> {
  const all = new Set(roles);
  for (const { role_name, role_set } of heirs) {
    if (role_set.some((parent) => all.has(parent))) all.add(role_name);
  }
  return all;
}

function unionOf(selects: readonly SelectAccess[]): SelectAccess | null {
  const [only, ...others] = selects;
  if (!only) return null;
  if (others.length === 0) return only;
  const filter = either(selects.map((select) => select.filter));
  const limits = selects.map((select) => select.limit);
  return {
    columns: unite(selects.map((select) => select.columns)),
    computedFields: unite(selects.map((select) => select.computedFields ?? new Set())),
    cells: {
      columns: cellsOf(selects, 'columns'),
      computedFields: cellsOf(selects, 'computedFields'),
    },
    filter,
    // Without a limit is more than any.
    limit: limits.some((limit) => limit === null) ? null : Math.max(...limits.map(Number)),
    allowsAggregation: selects.some((select) => select.allowsAggregation),
    queryRootFields: uniteOrAll(selects.map((select) => select.queryRootFields)),
    subscriptionRootFields: uniteOrAll(selects.map((select) => select.subscriptionRootFields)),
  };
}

/** What some of the parents alone show, and in which rows. What all of them show needs no condition in the rows that any of
 *  them reads, and a condition on a row that is written is asked as each parent would ask it. */
function cellsOf(
  selects: readonly SelectAccess[],
  kind: 'columns' | 'computedFields',
): ReadonlyMap<string, Predicate> {
  const names = unite(selects.map((select) => select[kind] ?? new Set()));
  const cells = [...names].map((name): [string, Predicate] => {
    const granting = selects.filter((select) => select[kind]?.has(name));
    if (granting.length === selects.length && !granting.some((select) => select.cells[kind].has(name))) {
      return [name, TRUE];
    }
    return [name, either(granting.map((select) => and(select.filter, select.cells[kind].get(name) ?? TRUE)))];
  });
  return new Map(cells.filter(([, visibleIf]) => visibleIf !== TRUE));
}

function unite(sets: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  return new Set(sets.flatMap((set) => [...set]));
}

function uniteOrAll(sets: readonly (ReadonlySet<string> | null)[]): ReadonlySet<string> | null {
  const listed = sets.flatMap((set) => set ?? []);
  return listed.length < sets.length ? null : unite(listed);
}

function distinctBy<T>(values: readonly T[]): readonly T[] {
  return [...new Map(values.map((value) => [canonical(value), value])).values()];
}

/** Text that is the same for what means the same: sets, and the parts of a conjunction or disjunction, have no order. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, item: unknown) => {
    if (item instanceof Map) return [...item].sort(([a], [b]) => (a < b ? -1 : 1));
    if (item instanceof Set) return [...item].sort();
    if ((key === 'all' || key === 'any') && Array.isArray(item)) return item.map(canonical).sort();
    return item;
  });
}
