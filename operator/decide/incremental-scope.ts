/** Limits a pass to the resources that changed, those that are not settled, and the owners of the keys they claim. The cost of one change
 *  then does not depend on the number of resources.
 *  A resource is settled when its objects are applied, no delivery is awaited, no test runs after changes or gates it, and it refers to no
 *  Secret or ConfigMap. A pass decides nothing new for it as long as its spec is the same, the engine is at the version the last pass left,
 *  and no other resource claims its keys. In any other case, when something is inconsistent, and at regular intervals
 *  (engine/cached-engine.ts) the scope is full. Edits come before it, and before a part of very many new resources, in a pass of their own.
 *  Pure. Not here: the pass (pass/reconcile.ts). */
import { isSameJson, type Metadata } from '@pergola/engine/metadata';
import { type CustomResource, contentOf, crName, kindRankOf } from '../kinds.ts';
import type { EntryChange, Ledger, LedgerEntry } from '../objects/ledger.ts';
import { isLeaf } from '../objects/normal-form.ts';
import { gatedTables } from '../permission-tests/gates.ts';
import type { EngineReading } from '../ports/engine.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';
import type { Verdict } from '../ports/verdict.ts';
import type { Decisions } from './decide.ts';
import { isSelfContained, keysClaimedBy } from './translation.ts';

/** The state after a pass that the next pass compares with. */
export type PassState = {
  readonly options: ReconcileOptions;
  /** The fingerprint of the consent of the Engine. */
  readonly consent: string | undefined;
  /** The document of the engine. The next pass reads the identical object, unless the engine was read again (engine/cached-engine.ts). */
  readonly document: Metadata;
  readonly resourceVersion: number;
  /** The resources by uid. */
  readonly resources: ResourceStates;
  /** The number of objects this operator owns. */
  readonly owned: number;
  /** True when only a pass over all resources knows what becomes of some objects, such as those of deleted resources that wait. */
  readonly isPending: boolean;
  /** True after a pass over edits alone. */
  readonly isOfEdits: boolean;
  /** How long the last pass with many changes took. */
  readonly pace: Pace | undefined;
};

/** A number of changed resources, and the milliseconds of their pass. */
export type Pace = { readonly count: number; readonly tookMs: number };

type ResourceStates = ReadonlyMap<string, ResourceState>;

type ResourceState = {
  readonly spec: CustomResource['spec'];
  readonly annotations: CustomResource['metadata']['annotations'];
  /** The keys of the objects that the resource claims or owns. */
  readonly keys: readonly string[];
  readonly verdict: Verdict;
  readonly isSettled: boolean;
};

/** The input of a pass: all resources, or some resources and the ledger entries that concern them. */
export type PassScope = {
  readonly snapshot: CrSnapshot;
  readonly ledger: Ledger;
  /** The resources out of scope. */
  readonly skipped: ResourceStates;
  /** The number of objects this operator owned before the pass. */
  readonly owned: number;
  /** True when the rest waits for the next pass. */
  readonly isCut: boolean;
  /** True when resources were created or deleted. */
  readonly hasCreatedOrDeleted: boolean;
  /** True when the resources are those that were edited, without any that were created or deleted. */
  readonly isOfEdits: boolean;
  /** True when the pass leaves something to a pass over all resources. */
  readonly isPending: boolean;
};

/** The inputs of a pass: the resources, the engine, the options. */
export type PassInputs = {
  readonly snapshot: CrSnapshot;
  readonly reading: EngineReading;
  readonly options: ReconcileOptions;
};

/** The most new resources of a pass. A change of another resource waits for the end of the pass before it, so there are as many as take about
 *  `PASS_MS` at the pace of an earlier pass. */
const MOST_NEW = { least: 50, most: 1000 };
const PASS_MS = 300;
/** The most edited resources that a pass takes before the rest. */
const MOST_EDITS = 100;

const NO_RESOURCES: ResourceStates = new Map();
const ON_ALL = { isOfEdits: false, isPending: false };

export function fullScope(snapshot: CrSnapshot, reading: EngineReading, manager: string): PassScope {
  const { ledger: objects, reservations } = reading;
  const owned = [...objects.values()].filter((entry) => entry.manager === manager).length;
  const ledger = { manager, objects, reservations };
  return {
    snapshot,
    ledger,
    skipped: NO_RESOURCES,
    owned,
    isCut: false,
    hasCreatedOrDeleted: true,
    ...ON_ALL,
  };
}

/** Returns the scope of the changes since the previous pass; undefined when the full scope is needed. */
export function incrementalScope(previous: PassState, observation: PassInputs): PassScope | undefined {
  if (previous.isPending || !isSameContext(previous, observation)) return undefined;
  const { snapshot } = observation;
  const skipped = new Map(previous.resources);
  const gated = gatedTables(snapshot.resources);
  const isOut = (cr: CustomResource) =>
    isStillSettled(cr, previous) && (!snapshot.hasStatuses || showsReady(cr));
  const isGated = (cr: CustomResource) => gated.has(crName(cr));
  const unsettled = snapshot.resources.filter((cr) => isGated(cr) || !isOut(cr));
  const present = new Set(snapshot.resources.map(({ metadata }) => metadata.uid));
  const gone = [...previous.resources.keys()].filter((uid) => !present.has(uid));
  const keys = new Set(gone.flatMap((uid) => previous.resources.get(uid)!.keys));
  for (const uid of gone) skipped.delete(uid);
  const isNew = (cr: CustomResource) => !previous.resources.has(cr.metadata.uid) && !isGated(cr);
  // What replaces deleted objects is applied with their deletion.
  const mostNew = gone.length > 0 ? Number.POSITIVE_INFINITY : mostNewIn(previous, observation);
  const created = unsettled.filter(isNew);
  const later = laterIn(created, mostNew);
  const chosen = unsettled.filter((cr) => !later.has(cr));
  const scope = scopeAround({ chosen, later, skipped, keys }, previous, observation);
  return { ...scope, hasCreatedOrDeleted: created.length + gone.length > 0 };
}

/** Returns how many resources were created and deleted since the previous pass, without a look at their specs. */
export function countCreatedAndDeleted(
  { resources: before }: PassState,
  { snapshot: { resources } }: PassInputs,
): { readonly created: number; readonly deleted: number } {
  const created = resources.filter(({ metadata }) => !before.has(metadata.uid)).length;
  return { created, deleted: before.size - (resources.length - created) };
}

/** Returns the most new resources of a pass. */
export function mostNewIn({ pace }: PassState, { options }: PassInputs): number {
  return options.mostNew ?? mostNewAt(pace);
}

/** Returns the most new resources of the next pass. */
export function mostNewAt(pace: Pace | undefined): number {
  if (!pace) return MOST_NEW.least;
  const fitting = Math.round((pace.count * PASS_MS) / Math.max(pace.tookMs, 1));
  return Math.min(Math.max(fitting, MOST_NEW.least), MOST_NEW.most);
}

/** Returns the pace after a pass. One with few changes says nothing about the time of each. */
export function paceAfter(earlier: Pace | undefined, last: Pace): Pace | undefined {
  return last.count < MOST_NEW.least ? earlier : last;
}

/** Returns the scope of edited resources alone; undefined when there is none, or after such a pass unless this one is for edits. They need not
 *  wait for the creation or deletion of thousands. The caller takes the full scope instead if not all of them fit, since they may need what
 *  was created. */
export function scopeOfEdits(
  previous: PassState,
  observation: PassInputs,
  isForEdits: boolean,
): PassScope | undefined {
  const { snapshot } = observation;
  const mayComeFirst = snapshot.hasStatuses && (isForEdits || !previous.isOfEdits);
  if (!mayComeFirst || !isSameContext(previous, observation)) return undefined;
  const gated = gatedTables(snapshot.resources);
  const edited = snapshot.resources.filter((cr) => isEdited(cr, previous) && !gated.has(crName(cr)));
  if (edited.length === 0 || edited.length > MOST_EDITS) return undefined;
  const first = {
    chosen: edited,
    later: new Set<CustomResource>(),
    skipped: new Map(previous.resources),
    keys: new Set<string>(),
  };
  const scope = scopeAround(first, previous, observation);
  return { ...scope, isCut: true, isOfEdits: true, isPending: previous.isPending };
}

/** True when nothing but resources changed since the previous pass. */
function isSameContext(previous: PassState, { snapshot, reading, options }: PassInputs): boolean {
  return (
    snapshot.isComplete &&
    reading.metadata === previous.document &&
    reading.resourceVersion === previous.resourceVersion &&
    reading.inconsistent.length === 0 &&
    snapshot.consent?.fingerprint === previous.consent &&
    isSameJson(options, previous.options)
  );
}

/** The parts of a scope, which grow. `later` are new resources of later passes, `keys` those of all objects that are decided about. */
type GrowingScope = {
  readonly chosen: CustomResource[];
  readonly later: Set<CustomResource>;
  readonly skipped: Map<string, ResourceState>;
  readonly keys: Set<string>;
};

/** Returns the scope of the chosen resources, with those that claim or own an object of theirs. */
function scopeAround(
  { chosen, later, skipped, keys }: GrowingScope,
  previous: PassState,
  { snapshot, reading, options }: PassInputs,
): PassScope {
  const laterByKey = Map.groupBy(
    [...later].flatMap((cr) => keysClaimedBy(cr, snapshot, options).map((key) => ({ key, cr }))),
    ({ key }) => key,
  );
  for (const { metadata } of chosen) skipped.delete(metadata.uid);
  const nameToResource = onDemand(() => new Map(snapshot.resources.map((cr) => [crName(cr), cr])));
  for (let i = 0; i < chosen.length; i++) {
    const cr = chosen[i]!;
    const before = previous.resources.get(cr.metadata.uid);
    for (const key of before?.keys ?? []) keys.add(key);
    for (const key of keysClaimedBy(cr, snapshot, options)) {
      keys.add(key);
      // The oldest of those that claim a key owns it.
      for (const { cr: rival } of laterByKey.get(key) ?? []) if (later.delete(rival)) chosen.push(rival);
      const owner = reading.ledger.get(key);
      if (!owner || owner.cr === crName(cr)) continue;
      const owning = nameToResource().get(owner.cr);
      if (owning && skipped.has(owning.metadata.uid)) {
        skipped.delete(owning.metadata.uid);
        chosen.push(owning);
      }
    }
  }
  return {
    snapshot: { ...snapshot, resources: chosen },
    ledger: {
      manager: options.manager,
      objects: entriesOf(reading, keys),
      reservations: reading.reservations,
    },
    skipped,
    owned: previous.owned,
    isCut: later.size > 0,
    hasCreatedOrDeleted: false,
    ...ON_ALL,
  };
}

/** Returns the new resources of later passes. Kinds that others need come first. */
function laterIn(created: readonly CustomResource[], most: number): Set<CustomResource> {
  if (created.length <= most) return new Set();
  return new Set(created.toSorted((a, b) => kindRankOf(a) - kindRankOf(b)).slice(most));
}

/** True when decisions of an incremental scope hold for the full scope. Deletions of objects with nested objects, and deletions so
 *  numerous that they may need a confirmation, need the full scope. */
export function isScopeSufficient(
  { decisions, pruneHold }: Decisions,
  { policies }: ReconcileOptions,
): boolean {
  const deleted = decisions.filter(({ action }) => action === 'delete');
  const isFew = deleted.length <= policies.pruneGuard.maxObjects;
  return !pruneHold && isFew && deleted.every(({ key }) => isLeaf(key));
}

/** Returns the state after a pass that completed and whose statuses are written. Undefined when the next pass needs the full scope, even for
 *  an edit. */
export function passStateAfter(
  { snapshot, skipped, isOfEdits, isPending: isLeft }: PassScope,
  left: Omit<PassState, 'resources' | 'consent' | 'isOfEdits'> & {
    readonly entries: readonly EntryChange[];
    /** The verdicts on the resources in scope. */
    readonly verdicts: ReadonlyMap<string, Verdict>;
  },
): PassState | undefined {
  const { entries, verdicts, ...rest } = left;
  if (!snapshot.isComplete) return undefined;
  const present = new Set(snapshot.resources.map(crName));
  // Objects whose resource is gone need another pass.
  const isOrphaned = entries.some(({ after }) => after && !present.has(after.cr));
  const isPending = isLeft || rest.isPending || isOrphaned;
  const keysOf = Map.groupBy(entries, ({ owner }) => owner);
  const resources = new Map(skipped);
  for (const cr of snapshot.resources) {
    const { spec, metadata } = cr;
    const verdict = { ...verdicts.get(metadata.uid)!, wasWritten: false };
    const keys = (keysOf.get(crName(cr)) ?? []).map(({ key }) => key);
    const isSettled = isApplied(verdict) && isSelfContained(cr) && !isObserved(verdict);
    resources.set(metadata.uid, {
      spec,
      annotations: metadata.annotations,
      keys,
      verdict,
      isSettled,
    });
  }
  return { ...rest, consent: snapshot.consent?.fingerprint, resources, isPending, isOfEdits };
}

function isApplied({ outcome, drift, isLagging }: Verdict): boolean {
  return outcome.reason === 'Applied' && drift === undefined && !isLagging;
}

/** True when the outcome depends on more than the resource: on the delivery of a call, or on a test that runs after changes. */
function isObserved({ delivery, test }: Verdict): boolean {
  return delivery?.checkAt !== undefined || test?.isRun === true;
}

/** True when the previous pass applied the resource as it is now. Secrets, ConfigMaps and artifacts that it names may have changed since,
 *  unless it names only an artifact, whose digest the caller compares. */
export function isStillApplied(cr: CustomResource, passState: PassState): boolean {
  const before = passState.resources.get(cr.metadata.uid);
  if (contentOf(cr) === 'artifact') return before?.spec === cr.spec && isApplied(before.verdict);
  return isStillSettled(cr, passState);
}

/** True when a pass decides nothing new about the resource. */
function isStillSettled(cr: CustomResource, { resources }: PassState): boolean {
  const before = resources.get(cr.metadata.uid);
  return before?.isSettled === true && isSame(cr, before);
}

/** True for a resource that the previous pass knew in another form. */
function isEdited(cr: CustomResource, { resources }: PassState): boolean {
  const before = resources.get(cr.metadata.uid);
  return before !== undefined && !isSame(cr, before);
}

function isSame({ spec, metadata }: CustomResource, before: ResourceState): boolean {
  return before.spec === spec && isSameJson(before.annotations ?? {}, metadata.annotations ?? {});
}

/** False for a status that another client has removed or written. */
function showsReady({ metadata, status }: CustomResource): boolean {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  return ready?.status === 'True' && ready.observedGeneration === metadata.generation;
}

function entriesOf({ ledger }: EngineReading, keys: Iterable<string>): ReadonlyMap<string, LedgerEntry> {
  const found = new Map<string, LedgerEntry>();
  for (const key of keys) {
    const entry = ledger.get(key);
    if (entry) found.set(key, entry);
  }
  return found;
}

function onDemand<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
