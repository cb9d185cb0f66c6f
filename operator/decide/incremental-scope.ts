/** What a pass need look at when little has changed since the last: the resources that are others now, those that were not at rest,
 *  and whoever owns what these claim. Beside thousands of resources one change then costs what the change does.
 *
 *  A resource is at rest when all it says is applied and its own. A pass over it decides nothing new as long as it says the same,
 *  the engine is at the version the last pass left, and nobody else claims what it owns. The whole is looked at where any of that
 *  is in doubt, where something is inconsistent, and every so often (engine/cached-engine.ts).
 *  Pure. Not here: the pass (pass/reconcile.ts), which does the same in a smaller world. */
import { isSameJson, type Metadata } from '@pergola/engine/metadata';
import { type CustomResource, crName } from '../kinds.ts';
import type { EntryChange, Ledger, LedgerEntry } from '../objects/ledger.ts';
import { isLeaf } from '../objects/normal-form.ts';
import type { CrSnapshot, EngineReading, ReconcileOptions, Verdict } from '../ports.ts';
import type { Decisions } from './decide.ts';
import { isSelfContained, keysSaidBy } from './desired.ts';

/** What a pass left. */
export type Standing = {
  readonly options: ReconcileOptions;
  /** Fingerprint of what the Engine let namespaces own. */
  readonly consent: string | undefined;
  /** Of the engine. The very one the next pass reads, unless it was read anew (engine/cached-engine.ts). */
  readonly document: Metadata;
  readonly resourceVersion: number;
  /** By uid. */
  readonly resources: Standings;
  /** How many objects are ours. */
  readonly owned: number;
};

type Standings = ReadonlyMap<string, Stood>;

type Stood = {
  readonly spec: CustomResource['spec'];
  readonly annotations: CustomResource['metadata']['annotations'];
  /** Of objects it claims or owns. */
  readonly keys: readonly string[];
  readonly verdict: Verdict;
  readonly isAtRest: boolean;
};

/** The world a pass looks at: of the whole, or of some resources and the entries that concern them. */
export type Scope = {
  readonly snapshot: CrSnapshot;
  readonly ledger: Ledger;
  /** Resources that are not looked at. */
  readonly others: Standings;
  /** How many objects were ours. */
  readonly owned: number;
};

const NOBODY: Standings = new Map();

export function wholeOf(snapshot: CrSnapshot, reading: EngineReading, manager: string): Scope {
  const { ledger: objects, reservations } = reading;
  const owned = [...objects.values()].filter((entry) => entry.manager === manager).length;
  return { snapshot, ledger: { manager, objects, reservations }, others: NOBODY, owned };
}

/** Undefined: all has to be looked at. */
export function focusOn(
  standing: Standing,
  snapshot: CrSnapshot,
  reading: EngineReading,
  options: ReconcileOptions,
): Scope | undefined {
  const isSameGround =
    snapshot.isComplete &&
    reading.metadata === standing.document &&
    reading.resourceVersion === standing.resourceVersion &&
    reading.inconsistent.length === 0 &&
    snapshot.consent?.fingerprint === standing.consent &&
    isSameJson(options, standing.options);
  if (!isSameGround) return undefined;
  const others = new Map(standing.resources);
  const chosen = snapshot.resources.filter((cr) => !isStillAtRest(cr, standing));
  const present = new Set(snapshot.resources.map(({ metadata }) => metadata.uid));
  const gone = [...standing.resources.keys()].filter((uid) => !present.has(uid));
  const keys = new Set(gone.flatMap((uid) => standing.resources.get(uid)!.keys));
  for (const uid of gone) others.delete(uid);
  for (const { metadata } of chosen) others.delete(metadata.uid);
  const nameToResource = onDemand(() => new Map(snapshot.resources.map((cr) => [crName(cr), cr])));
  // Who is found to own what somebody claims is looked at, too.
  for (let i = 0; i < chosen.length; i++) {
    const cr = chosen[i]!;
    const stood = standing.resources.get(cr.metadata.uid);
    for (const key of stood?.keys ?? []) keys.add(key);
    for (const key of keysSaidBy(cr, snapshot, options)) {
      keys.add(key);
      const owner = reading.ledger.get(key);
      if (!owner || owner.cr === crName(cr)) continue;
      const rival = nameToResource().get(owner.cr);
      if (rival && others.has(rival.metadata.uid)) {
        others.delete(rival.metadata.uid);
        chosen.push(rival);
      }
    }
  }
  const { reservations } = reading;
  const ledger = { manager: options.manager, objects: entriesOf(reading, keys), reservations };
  return { snapshot: { ...snapshot, resources: chosen }, ledger, others, owned: standing.owned };
}

/** Is what was decided in part of the world right for the whole. What takes along what is nested in it, and deletions so many that
 *  a person may have to confirm them, are matters of the whole. */
export function isContained({ decisions, pruneHold }: Decisions, { policies }: ReconcileOptions): boolean {
  const deleted = decisions.filter(({ action }) => action === 'delete');
  const isFew = deleted.length <= policies.pruneGuard.maxObjects;
  return !pruneHold && isFew && deleted.every(({ key }) => isLeaf(key));
}

/** After a pass that came to its end and whose statuses are written. Undefined: the next one has to look at all again. */
export function standingAfter(
  { snapshot, others }: Scope,
  left: Omit<Standing, 'resources' | 'consent'> & {
    readonly entries: readonly EntryChange[];
    /** Of the resources in scope. */
    readonly verdicts: ReadonlyMap<string, Verdict>;
  },
): Standing | undefined {
  const { entries, verdicts, ...rest } = left;
  const present = new Set(snapshot.resources.map(crName));
  // Somebody has to come back for what nobody speaks for.
  const isOrphaned = entries.some(({ after }) => after && !present.has(after.cr));
  if (isOrphaned || !snapshot.isComplete) return undefined;
  const keysOf = Map.groupBy(entries, ({ owner }) => owner);
  const resources = new Map(others);
  for (const cr of snapshot.resources) {
    const { spec, metadata } = cr;
    const verdict = { ...verdicts.get(metadata.uid)!, wasWritten: false };
    const keys = (keysOf.get(crName(cr)) ?? []).map(({ key }) => key);
    const isAtRest = isApplied(verdict) && isSelfContained(cr);
    resources.set(metadata.uid, { spec, annotations: metadata.annotations, keys, verdict, isAtRest });
  }
  return { ...rest, consent: snapshot.consent?.fingerprint, resources };
}

function isApplied({ outcome, drift, isLate }: Verdict): boolean {
  return outcome.reason === 'Applied' && drift === undefined && !isLate;
}

function isStillAtRest(cr: CustomResource, { resources }: Standing): boolean {
  const stood = resources.get(cr.metadata.uid);
  return (
    stood?.isAtRest === true &&
    stood.spec === cr.spec &&
    isSameJson(stood.annotations ?? {}, cr.metadata.annotations ?? {})
  );
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
