/** Finds the decisions that the engine accepts: a dry run reports what would be inconsistent; those decisions and their dependents are left
 *  out, and the rest is tried again. One broken resource delays no other, and a change that would break a foreign object is not made.
 *  Decisions that only wait for an unavailable database or remote schema are written all the same.
 *  In: the live document, decisions, a dry run. Out: the document to write, and why decisions are left out.
 *  Not here: the search for culprits (culprits.ts), the write (pass/attempt.ts). */
import {
  type Metadata,
  type MetadataObject,
  nearestNames,
  nearestText,
  objectKey,
  parseKey,
  referencesOf,
} from '@pergola/engine/metadata';
import { type Decision, isWrite } from '../decide/decide.ts';
import { heldDeletions, type Replacements, replacementsIn } from '../decide/replacement.ts';
import { kindAndNamespaceOf } from '../kinds.ts';
import { isLeaf, objectsIn, printKey } from '../objects/normal-form.ts';
import { type InconsistentObject, type ResourceOutcome, unfit } from '../ports.ts';
import { type Blame, culpritsOfInconsistency, culpritsOfRefusal, type Draft } from './culprits.ts';
import { keptForDependent } from './inconsistency.ts';
import { byPriority } from './order.ts';
import { type SettleContext, Trials } from './trials.ts';

export type Settled = {
  readonly document: Metadata;
  /** The decisions the document contains. */
  readonly applied: readonly Decision[];
  /** The outcomes of decisions left out, by key. */
  readonly excluded: ReadonlyMap<string, ResourceOutcome>;
  /** The decisions that are themselves to blame, by key. */
  readonly blamed: ReadonlyMap<string, Blame>;
  /** True when some decisions wait for the next write. */
  readonly isCut: boolean;
  /** The inconsistent or unenforced objects of the document. */
  readonly inconsistent: readonly InconsistentObject[];
};

export async function settle(context: SettleContext, decisions: readonly Decision[]): Promise<Settled> {
  const excluded = new Map<string, ResourceOutcome>();
  const blamed = new Map<string, Blame>();
  const trials = new Trials(context);
  const feasible = feasibility(context, decisions);
  const candidates = withoutBackedOff(context, byPriority(decisions.filter(isWrite)), excluded);
  let most = context.most ?? candidates.length;
  let active: readonly Decision[] = [];
  let rest = candidates;
  const settledAs = (document: Metadata, inconsistent: Settled['inconsistent']): Settled => {
    postpone(rest, excluded);
    return { document, applied: active, excluded, blamed, isCut: rest.length > 0, inconsistent };
  };
  for (;;) {
    const room = Math.max(0, most - active.length);
    active = feasible([...active, ...rest.slice(0, room)], excluded);
    rest = rest.slice(room);
    if (active.length === 0 && (rest.length === 0 || most === 0)) {
      return settledAs(context.live, context.inconsistent);
    }
    if (active.length === 0) continue;
    const document = trials.compose(active);
    const { inconsistent, refusal } = await trials.run(active, document);
    const failing = unfit(inconsistent ?? []);
    if (!refusal && failing.length === 0) return settledAs(document, inconsistent);
    const change: Draft = { active, feasible, document };
    const { culprits, untried, isOpen } = refusal
      ? await culpritsOfRefusal(trials, change, refusal)
      : await culpritsOfInconsistency(trials, change, failing);
    if (!refusal && !isOpen && culprits.size === 0) return settledAs(document, inconsistent);
    for (const [key, blame] of culprits) {
      excluded.set(key, blame.outcome);
      blamed.set(key, blame);
    }
    const isUntried = new Set(untried);
    active = active.filter((decision) => !excluded.has(decision.key) && !isUntried.has(decision));
    if (trials.hasBudget) continue;
    // No dry runs are left. Changes of higher priority are more likely to be accepted.
    most = untried.length > 0 ? active.length : active.length >> 1;
    rest = [...active.slice(most), ...untried, ...rest];
    active = active.slice(0, most);
  }
}

/** Removes the decisions that were refused before and are not due for another try. */
function withoutBackedOff(
  context: SettleContext,
  candidates: readonly Decision[],
  excluded: Map<string, ResourceOutcome>,
): readonly Decision[] {
  const { backedOff } = context;
  if (!backedOff) return candidates;
  const written = new Set(candidates.map(({ key }) => key));
  return candidates.filter((decision) => {
    const outcome = backedOff(decision, written);
    if (outcome) excluded.set(decision.key, outcome);
    return outcome === undefined;
  });
}

function postpone(decisions: readonly Decision[], excluded: Map<string, ResourceOutcome>): void {
  for (const { key } of decisions) {
    excluded.set(key, {
      reason: 'Applying',
      message: `${printKey(key)} waits for its turn: the engine refuses other changes, and it is being found out which`,
    });
  }
}

/** Returns a function that removes decisions that cannot be applied without the rest of `decisions`, and adds the reasons to `excluded`. */
export function feasibility(
  context: SettleContext,
  decisions: readonly Decision[],
): (some: readonly Decision[], excluded?: Map<string, ResourceOutcome>) => readonly Decision[] {
  const replaced = replacementsOf(decisions);
  return (some, excluded = new Map()) => feasibleOf(context, some, excluded, replaced);
}

/** The replaced objects, and the keys of replacements that the policy does not let this manager take over. */
type Replaced = { readonly by: Replacements; readonly refused: ReadonlySet<string> };

function replacementsOf(decisions: readonly Decision[]): Replaced {
  const by = replacementsIn(decisions);
  const keys = new Set(by.values());
  const refused = decisions.filter(({ key, action }) => action === 'refuseAdoption' && keys.has(key));
  return { by, refused: new Set(refused.map(({ key }) => key)) };
}

/** Removes the decisions that cannot be applied without the excluded ones: puts without their parent, deletions whose cascade includes
 *  foreign objects, and deletions of objects whose replacement is left out. */
function feasibleOf(
  context: SettleContext,
  active: readonly Decision[],
  excluded: Map<string, ResourceOutcome>,
  { by, refused }: Replaced,
): readonly Decision[] {
  for (let rest = active; ; ) {
    const found = new Map(excluded);
    const feasible = withoutOrphans(context, rest, found);
    const held = heldDeletions(rest, by, (key) => found.has(key) || refused.has(key));
    if (held.length === 0) {
      for (const [key, outcome] of found) excluded.set(key, outcome);
      return feasible;
    }
    for (const { key } of held) excluded.set(key, servedInstead(key, found.get(by.get(key) ?? '')));
    rest = rest.filter(({ key }) => !excluded.has(key));
  }
}

/** Returns the outcome of a deletion that waits for the replacement of the object. */
function servedInstead(key: string, why: ResourceOutcome | undefined): ResourceOutcome {
  const reason = why?.reason ?? 'DependencyNotReady';
  return { reason, message: `${printKey(key)} is kept until its replacement is created` };
}

/** Removes puts whose parent is missing, and deletions whose cascade includes foreign objects. */
function withoutOrphans(
  context: SettleContext,
  active: readonly Decision[],
  excluded: Map<string, ResourceOutcome>,
): readonly Decision[] {
  const objects = objectsIn(context.live);
  const deletable = withoutForeignCascades(active, objects, context, excluded);
  const survives = survivors(
    objects,
    deletable.filter(({ action }) => action === 'delete'),
  );
  const put = new Set<string>();
  const nearestTo = nearestKeysIn(() => [...objects.keys(), ...deletable.map(({ key }) => key)]);
  return deletable.filter((decision) => {
    if (decision.action === 'delete') return true;
    const missing = needsOf(decision.claim!.object).find((need) => !put.has(need) && !survives(need));
    if (missing === undefined) {
      put.add(decision.key);
      return true;
    }
    const near = decision.claim!.isAtHome ? nearestTo(missing) : [];
    excluded.set(decision.key, waitsFor(decision.key, missing, excluded.get(missing), near));
    return false;
  });
}

/** Returns the keys that must exist. An allow list entry needs its collection, even though the engine accepts an entry without it. */
function needsOf(object: MetadataObject): readonly string[] {
  if (object.kind === 'allowlist') return referencesOf(object);
  return object.parent === null ? [] : [object.parent];
}

/** Returns the outcome of an object that needs another one. `near` are the names that somebody may have meant by it. */
export function waitsFor(
  key: string,
  parent: string,
  why?: ResourceOutcome,
  near: readonly string[] = [],
): ResourceOutcome {
  const missing = `, which the engine does not have${remedyFor(parent)}${nearestText(near)}`;
  const because = why ? ` (${why.message})` : missing;
  return {
    reason: 'DependencyNotReady',
    message: `${printKey(key)} waits for ${printKey(parent)}${because}`,
  };
}

/** The most missing objects whose nearest names are found. More follow from a cause other than a typing error. */
const MOST_MISNAMED = 20;

/** Returns a function that finds the names nearest to that of a missing object, among those of its kind in the same object, such as a
 *  source. */
function nearestKeysIn(keysOf: () => readonly string[]): (missing: string) => readonly string[] {
  const found = new Map<string, readonly string[]>();
  return (missing) => {
    const wanted = parseKey(missing);
    const name = wanted?.segments.at(-1);
    if (!wanted || name === undefined) return [];
    if (!found.has(missing)) {
      if (found.size === MOST_MISNAMED) return [];
      const around = objectKey(wanted.kind, ...wanted.segments.slice(0, -1), '');
      const siblings = keysOf().filter((key) => key !== missing && key.startsWith(around));
      found.set(
        missing,
        nearestNames(
          name,
          siblings.map((key) => parseKey(key)?.segments.at(-1) ?? ''),
        ),
      );
    }
    return found.get(missing)!;
  };
}

/** Returns what a person can do about a missing object; empty where its name says it. */
function remedyFor(key: string): string {
  const kind = parseKey(key)?.kind;
  if (kind === 'table') return '; apply a Table for it, or correct the name';
  return kind === 'source' ? '; apply a Source, or correct spec.source' : '';
}

/** Returns a predicate that is true for keys whose objects exist after the deletions and their cascades. */
function survivors(
  objects: ReadonlyMap<string, MetadataObject>,
  deletions: readonly Decision[],
): (key: string) => boolean {
  const gone = new Set(deletions.map(({ key }) => key));
  if (gone.size === 0) return (key) => objects.has(key);
  return (key) => objects.has(key) && !gone.has(key) && !ancestorsOf(key, objects).some((k) => gone.has(k));
}

function withoutForeignCascades(
  active: readonly Decision[],
  objects: ReadonlyMap<string, MetadataObject>,
  context: SettleContext,
  excluded: Map<string, ResourceOutcome>,
): readonly Decision[] {
  const deletions = active.filter(({ action, key }) => action === 'delete' && !isLeaf(key));
  if (deletions.length === 0) return active;
  const dependents = protectedDependents(
    new Map(deletions.map((deletion) => [deletion.key, deletion])),
    objects,
    context,
  );
  return active.filter(({ key, action }) => {
    const dependent = action === 'delete' ? dependents.get(key) : undefined;
    if (dependent === undefined) return true;
    excluded.set(
      key,
      keptForDependent(key, dependent, context.claimedIn?.(dependent) && context.ownerOf?.(dependent)),
    );
    return false;
  });
}

/** Returns, by the key of the deletion, the first object that its cascade must not delete. */
function protectedDependents(
  deleted: ReadonlyMap<string, Decision>,
  objects: ReadonlyMap<string, MetadataObject>,
  context: SettleContext,
): ReadonlyMap<string, string> {
  const dependents = new Map<string, string>();
  for (const { key } of objects.values()) {
    for (const above of ancestorsOf(key, objects)) {
      const deletion = deleted.get(above);
      if (deletion && !dependents.has(above) && isProtected(key, deletion, context))
        dependents.set(above, key);
    }
  }
  return dependents;
}

/** True for objects of other managers. In a source, which all namespaces share, also for objects of resources in another namespace than
 *  that of the deleted resource. */
function isProtected(
  key: string,
  { key: above, entry }: Decision,
  { isOwned, claimedIn }: SettleContext,
): boolean {
  if (!isOwned(key)) return true;
  const namespace = above.startsWith('source/') ? claimedIn?.(key) : undefined;
  return (
    namespace !== undefined && entry !== undefined && kindAndNamespaceOf(entry.cr).namespace !== namespace
  );
}

function ancestorsOf(key: string, objects: ReadonlyMap<string, MetadataObject>): readonly string[] {
  const parent = objects.get(key)?.parent ?? null;
  return parent === null ? [] : [parent, ...ancestorsOf(parent, objects)];
}
