/** Changes that would make inherited roles inherit from themselves: found in one walk over the changes, without the engine, which would
 *  refuse every change of every team for one cycle.
 *  In: the live roles, changes by priority. Out: the changes to leave out, each with its cycle. Pure. */
import { type InheritedRole, type MetadataObject, objectKey } from '@pergola/engine/metadata';
import type { Decision } from '../decide/decide.ts';

/** Returns the names of the roles of each decision's cycle, beginning and ending with its own. */
export function cyclesIn(
  live: readonly InheritedRole[],
  changes: readonly Decision[],
): ReadonlyMap<Decision, readonly string[]> {
  const parents = new Map(live.map((role) => [role.role_name, role.role_set]));
  const cycles = new Map<Decision, readonly string[]>();
  const roles = changes.filter(({ key }) => key.startsWith(`${KIND}/`));
  for (const { key, action } of roles) {
    if (action === 'delete') parents.delete(nameIn(key, live));
  }
  for (const decision of roles) {
    const object: MetadataObject | undefined =
      decision.action === 'delete' ? undefined : decision.claim?.object;
    if (!object) continue;
    const { role_name: name, role_set: set } = object.definition as InheritedRole;
    const path = pathTo(name, set, parents);
    if (path) cycles.set(decision, [name, ...path]);
    else parents.set(name, set);
  }
  return cycles;
}

const KIND = 'inherited_role';

function nameIn(key: string, live: readonly InheritedRole[]): string {
  return live.find((role) => objectKey(KIND, role.role_name) === key)?.role_name ?? '';
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
