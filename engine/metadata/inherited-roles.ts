/** The graph of inherited roles: a role inherits from the roles of its `role_set`, which may inherit themselves.
 *  In: the inherited roles of the document. Out: an order with parents first, or the cycle that prevents it.
 *  Not here: inherited permissions (resolve/inherited-roles.ts). Reference: docs/reference/behaviour/permissions.md. */
import { fail } from '../errors/engine-error.ts';
import type { InheritedRole } from './schema/policy.ts';

/** The roles in an order with parents first. `stuck` are those in a cycle, and those that inherit from one. */
type RoleOrder = {
  readonly ordered: readonly InheritedRole[];
  readonly stuck: readonly InheritedRole[];
};

export function orderRoles(roles: readonly InheritedRole[]): RoleOrder {
  const byName = new Map(roles.map((role) => [role.role_name, role]));
  const missing = new Map<string, number>();
  const inheriting = new Map<string, InheritedRole[]>();
  for (const role of byName.values()) {
    const parents = new Set(role.role_set.filter((parent) => byName.has(parent)));
    missing.set(role.role_name, parents.size);
    for (const parent of parents) {
      const known = inheriting.get(parent);
      if (known) known.push(role);
      else inheriting.set(parent, [role]);
    }
  }
  const ordered = [...byName.values()].filter((role) => missing.get(role.role_name) === 0);
  for (const { role_name } of ordered) {
    for (const role of inheriting.get(role_name) ?? []) {
      const left = missing.get(role.role_name)! - 1;
      missing.set(role.role_name, left);
      if (left === 0) ordered.push(role);
    }
  }
  return { ordered, stuck: [...byName.values()].filter((role) => missing.get(role.role_name)! > 0) };
}

/** Raises `cyclicRoles` when the roles have a cycle. */
export function refuseCycles(roles: readonly InheritedRole[]): void {
  const { stuck } = orderRoles(roles);
  if (stuck.length > 0) fail('cyclicRoles', { roles: cycleAmong(stuck) });
}

/** Returns a cycle from its alphabetically first role along the parents back to it. */
export function cycleAmong(stuck: readonly InheritedRole[]): readonly string[] {
  const parents = new Map(stuck.map((role) => [role.role_name, role.role_set]));
  const walked: string[] = [];
  let next = stuck[0]!.role_name;
  while (!walked.includes(next)) {
    walked.push(next);
    next = parents.get(next)!.find((parent) => parents.has(parent))!;
  }
  const cycle = walked.slice(walked.indexOf(next));
  const first = cycle.indexOf([...cycle].sort()[0]!);
  return [...cycle.slice(first), ...cycle.slice(0, first), cycle[first]!];
}
