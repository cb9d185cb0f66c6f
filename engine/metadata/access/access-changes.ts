/** Finds what a change of a document means for the access of roles: of each changed permission, of permissions that use a changed object, of the
 *  roles that inherit from their roles, and of every role.
 *  In: the keys of changed objects, the objects before and after. Out: the changes of access, each with the changed objects that cause it.
 *  Pure. Not here: comparing two definitions of one permission (access-change.ts), and what permissions use (used-objects.ts). */
import { isSameJson } from '../../json/value.ts';
import { objectKey, parseKey } from '../objects.ts';
import { type AccessChange, accessChange } from './access-change.ts';
import { commonChange } from './common-access.ts';
import { EffectivePermissions, type Objects, roleOfPermission, withRole } from './inherited-access.ts';
import { type UsedChanges, usedChanges } from './used-objects.ts';

/** A change of access, and the keys of the changed objects that cause it. */
export type CausedAccessChange = { readonly change: AccessChange; readonly causes: readonly string[] };

/** Returns the changes of access, in the order of the keys of their permissions. */
export function accessChanges(
  changed: Iterable<string>,
  before: Objects,
  after: Objects,
): readonly CausedAccessChange[] {
  const distinct = new Set(changed);
  const keys = [...distinct].toSorted();
  if (keys.length === 0) return [];
  const states = [new EffectivePermissions(before), new EffectivePermissions(after)] as const;
  const used = usedChanges(keys, before, after);
  const causes = new Map(keys.map((key) => [key, [key]]));
  for (const [key, others] of used.byPermission()) {
    causes.set(key, [...new Set([...(causes.get(key) ?? []), ...others])]);
  }
  if (states.some(({ parents }) => parents.size > 0)) addInherited(causes, keys, [before, after], states);
  return [...causes.keys()].toSorted().flatMap((key) => {
    const change = changeOf(key, [before, after], states, used);
    if (!change) return [];
    const isIndirect = !change.isInherited && !distinct.has(key);
    return [{ change: isIndirect ? { ...change, isIndirect } : change, causes: causes.get(key)! }];
  });
}

type Pair<T> = readonly [before: T, after: T];

function changeOf(
  key: string,
  [before, after]: Pair<Objects>,
  [old, next]: Pair<EffectivePermissions>,
  used: UsedChanges,
): AccessChange | null {
  if (roleOfPermission(key) === undefined) {
    const definitions = [before, after].map((objects) => objects.get(key)?.definition);
    return accessChange(key, ...(definitions as [unknown, unknown])) ?? commonChange(key, before, after);
  }
  const definitions = [old.definitionOf(key), next.definitionOf(key)] as const;
  const parts = used.of(key, ...definitions).map(({ part }) => part);
  const change = accessChange(key, ...definitions, parts);
  const isInherited = old.isInherited(key) || next.isInherited(key);
  return change && (isInherited ? { ...change, isInherited } : change);
}

/** Adds the permissions of roles that inherit from the role of a changed permission, and those of roles whose parents change. */
function addInherited(
  causes: Map<string, string[]>,
  changed: readonly string[],
  objects: Pair<Objects>,
  states: Pair<EffectivePermissions>,
): void {
  const add = (key: string, cause: string) => {
    const known = causes.get(key);
    if (!known) causes.set(key, [cause]);
    else if (!known.includes(cause)) known.push(cause);
  };
  // Of a role that is declared or deleted as a whole, the change of its declaration says all.
  const roles = [...new Set(states.flatMap(({ parents }) => [...parents.keys()]))].filter((role) =>
    objects.every((some) => some.has(objectKey('inherited_role', role))),
  );
  const ancestors = new Map(
    roles.map((role) => [role, new Set(states.flatMap((state) => [...state.ancestorsOf(role)]))]),
  );
  for (const [key, origin] of [...causes]) {
    const role = roleOfPermission(key);
    if (role === undefined) continue;
    for (const inheriting of roles)
      if (ancestors.get(inheriting)!.has(role))
        for (const cause of origin) add(withRole(key, inheriting), cause);
  }
  for (const [role, origin] of changedInheritance(changed, roles, states)) {
    const inheriting = roles.filter((one) => one === role || ancestors.get(one)!.has(role));
    for (const key of permissionsOf(ancestors.get(role)!, objects))
      for (const one of inheriting) for (const cause of origin) add(withRole(key, one), cause);
  }
}

/** Returns the roles that inherit from other roles than before, with the changed objects that cause it. */
function changedInheritance(
  changed: readonly string[],
  roles: readonly string[],
  [old, next]: Pair<EffectivePermissions>,
): readonly (readonly [role: string, causes: readonly string[]])[] {
  return roles.flatMap((role) => {
    const key = objectKey('inherited_role', role);
    const parents = [old.parents.get(role), next.parents.get(role)];
    if (isSameJson(parents[0], parents[1])) return [];
    if (changed.includes(key)) return [[role, [key]]];
    // A parent is named by an object now, or no longer, so the role becomes consistent or inconsistent.
    const names = new Set(parents.flatMap((some) => some ?? []));
    return [[role, changed.filter((one) => names.has(nameIn(one) ?? ''))]];
  });
}

/** Returns the role that an object names. */
function nameIn(key: string): string | undefined {
  const identity = parseKey(key);
  return identity?.kind === 'inherited_role' ? identity.segments[0] : roleOfPermission(key);
}

function permissionsOf(roles: ReadonlySet<string>, objects: Pair<Objects>): ReadonlySet<string> {
  const keys = objects.flatMap((some) => [...some.keys()]);
  return new Set(keys.filter((key) => roles.has(roleOfPermission(key) ?? '')));
}
