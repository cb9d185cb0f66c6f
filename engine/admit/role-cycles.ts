/** Changes that would make inherited roles inherit from themselves: found in one walk over the changes, because a document with one of them
 *  resolves for nobody.
 *  In: the live roles, changes by priority. Out: the changes to leave out, each with its cycle. Pure. */
import { EngineError } from '../errors/engine-error.ts';
import type { InheritedRole } from '../metadata/schema/policy.ts';
import { type Change, isRemoval, roleKey } from './change.ts';

/** Returns the names of the roles of each change's cycle, beginning and ending with its own. */
export function cyclesIn(
  live: readonly InheritedRole[],
  changes: readonly Change[],
): ReadonlyMap<Change, readonly string[]> {
  const parents = new Map(live.map((role) => [role.role_name, role.role_set]));
  const cycles = new Map<Change, readonly string[]>();
  const roles = changes.filter(({ key }) => key.startsWith(`${KIND}/`));
  for (const change of roles) if (isRemoval(change)) parents.delete(nameIn(change.key, live));
  for (const change of roles) {
    if (isRemoval(change)) continue;
    const { role_name: name, role_set: set } = change.definition as InheritedRole;
    const path = pathTo(name, set, parents);
    if (path) cycles.set(change, [name, ...path]);
    else parents.set(name, set);
  }
  return cycles;
}

const KIND = 'inherited_role';

function nameIn(key: string, live: readonly InheritedRole[]): string {
  return live.find((role) => roleKey(role.role_name) === key)?.role_name ?? '';
}

/** Returns the path from one of the roles to the wanted one, along the parents. */
function pathTo(
  wanted: string,
  from: readonly string[],
  parents: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const child = new Map<string, string | undefined>(from.map((name) => [name, undefined]));
  for (const [name] of child) {
    if (name === wanted) return pathFrom(name, child);
    for (const parent of parents.get(name) ?? []) if (!child.has(parent)) child.set(parent, name);
  }
  return undefined;
}

function pathFrom(last: string, child: ReadonlyMap<string, string | undefined>): readonly string[] {
  const way: string[] = [];
  for (let name: string | undefined = last; name !== undefined; name = child.get(name)) way.unshift(name);
  return way;
}

/** Returns the error for a cycle, whose names begin with that which sorts first. */
export function refusalOfCycle(names: readonly string[]): EngineError {
  const cycle = names.slice(0, -1);
  const first = cycle.indexOf(cycle.toSorted()[0]!);
  const roles = [...cycle.slice(first), ...cycle.slice(0, first), cycle[first]!];
  return new EngineError('cyclicRoles', { roles });
}
