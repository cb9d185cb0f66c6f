/** Leaves out groups of changes that would break clients or let a role reach more rows, until a person confirms them. The schemas of roles
 *  are compared between the document with the other changes alone and the document with all; the groups that cause a breaking
 *  change are found by halves. What cannot be compared is held back as well. Changes in no group are not compared.
 *  In: changes in order of priority, groups of them, a comparison. Out: what is admitted, and why each other group is held back.
 *  Not here: what fits (admit.ts), which changes widen access (widening.ts), the comparison itself (change/effects.ts). */
import type { AccessChange } from '../metadata/access/access-change.ts';
import { objectsOf } from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { admit } from './admit.ts';
import type { Admission, Change } from './change.ts';
import type { Baseline } from './draft.ts';
import { bisect } from './search.ts';
import { wideningsOf } from './widening.ts';

/** Changes that are held back or made together. */
export type Group = {
  readonly keys: readonly string[];
  /** True when an earlier comparison found that the group breaks nothing. */
  readonly isCompared?: boolean | undefined;
};

/** A change that may break clients: of the schema of a role, or of what requests may do. */
export type Break =
  | { readonly role: string; readonly description: string }
  | { readonly access: AccessChange };

/** The breaking changes by identity, or why they are not known. */
export type Comparison = { readonly breaks: ReadonlyMap<string, Break> } | { readonly unknown: string };

export type HoldBackRules = {
  /** The groups by priority. */
  readonly groups: readonly Group[];
  readonly holdsWidened: boolean;
  /** Compares two documents. Absent: what breaks clients is not held back. */
  readonly compare?: ((before: Metadata, after: Metadata) => Promise<Comparison>) | undefined;
  /** False when there is no time for another comparison. */
  readonly mayGoOn: () => boolean;
};

/** Why a group is held back: at least one of them. */
export type Held = {
  readonly objection?: Comparison | undefined;
  readonly widenings?: readonly AccessChange[] | undefined;
};

export type HeldAdmission<R> = Admission<R> & {
  readonly held: ReadonlyMap<Group, Held>;
  /** The groups that were not compared for lack of time. */
  readonly untried: ReadonlySet<Group>;
};

export async function admitHoldingBack<R>(
  baseline: Baseline<R>,
  changes: readonly Change[],
  options: HoldBackRules,
): Promise<HeldAdmission<R>> {
  const groupOf = new Map(options.groups.flatMap((group) => group.keys.map((key) => [key, group] as const)));
  const objects = objectsOf(baseline.document);
  const held = new Map<Group, Held>();
  const untried = new Set<Group>();
  for (;;) {
    const open = changes.filter(({ key }) => {
      const group = groupOf.get(key);
      return !group || !(held.has(group) || untried.has(group));
    });
    const whole = await admit(baseline, open);
    const written = writtenGroups(whole.admitted, groupOf);
    const others = whole.admitted.filter(({ key }) => !groupOf.has(key));
    const widened = options.holdsWidened ? wideningsOf(objects, written, others) : new Map();
    const widenings = new Map([...widened].map(([{ group }, found]) => [group, found]));
    // What widens is held back in any case, and an earlier comparison has told whether it breaks clients as well.
    const compared = written.filter(({ group }) => !(group.isCompared && widenings.has(group)));
    const { causes, left } = await search({ baseline, others, whole, options }, compared);
    if (causes.size + left.length + widenings.size === 0) return { ...whole, held, untried };
    for (const group of new Set([...causes.keys(), ...widenings.keys()]))
      held.set(group, { objection: causes.get(group), widenings: widenings.get(group) });
    for (const group of left) untried.add(group);
  }
}

/** The admitted changes of a group. */
type Written = { readonly group: Group; readonly changes: readonly Change[] };

function writtenGroups(admitted: readonly Change[], groupOf: ReadonlyMap<string, Group>): readonly Written[] {
  const byGroup = Map.groupBy(admitted, ({ key }) => groupOf.get(key));
  return [...byGroup].flatMap(([group, changes]) => (group ? [{ group, changes }] : []));
}

type Searched<R> = {
  readonly baseline: Baseline<R>;
  /** The admitted changes that are in no group. */
  readonly others: readonly Change[];
  readonly whole: Admission<R>;
  readonly options: HoldBackRules;
};

/** A comparison of a part of the groups. `isInseparable`: the part does not fit without others. */
type Objection = Comparison & { readonly isInseparable?: true };

type Found = { readonly causes: ReadonlyMap<Group, Comparison>; readonly left: readonly Group[] };

const NOTHING_FOUND: Found = { causes: new Map(), left: [] };

/** Returns the groups that cause what all of them together break. */
async function search<R>(searched: Searched<R>, written: readonly Written[]): Promise<Found> {
  const { baseline, others, whole, options } = searched;
  const { compare, mayGoOn } = options;
  if (!compare || written.length === 0) return NOTHING_FOUND;
  if (!mayGoOn()) return { causes: new Map(), left: written.map(({ group }) => group) };
  const before = others.length === 0 ? baseline.document : (await admit(baseline, others)).document;
  const all = await compare(before, whole.document);
  if ('unknown' in all) return { causes: new Map(written.map(({ group }) => [group, all])), left: [] };
  if (all.breaks.size === 0) return NOTHING_FOUND;
  const trial = async (part: readonly Written[]): Promise<Objection | undefined> => {
    const changes = part.flatMap((one) => one.changes);
    const wanted = new Set([...others, ...changes]);
    const made = await admit(
      baseline,
      whole.admitted.filter((change) => wanted.has(change)),
    );
    const admitted = new Set(made.admitted);
    if (!changes.every((change) => admitted.has(change)))
      return { unknown: 'the change does not fit without others', isInseparable: true };
    const found = await compare(before, made.document);
    if ('unknown' in found) return found;
    // What a part breaks and the whole does not is compared again once the causes are left out.
    const breaks = new Map([...found.breaks].filter(([id]) => all.breaks.has(id)));
    return breaks.size > 0 ? { breaks } : undefined;
  };
  const { wrong, untried } = await bisect<Written, Objection>(written, all, trial, mayGoOn);
  const causes = [...wrong].filter(([, objection]) => !objection.isInseparable);
  // What fits only together with a cause is not one itself, unless there is no other.
  const blamed = causes.length > 0 || untried.length > 0 ? causes : [...wrong];
  return {
    causes: new Map(blamed.map(([{ group }, objection]) => [group, objection])),
    left: untried.map(({ group }) => group),
  };
}
