/** Holds deletions that remove more objects of one namespace than the policy allows, until they are confirmed. Nested objects count, and so
 *  does what was deleted in the minutes before: an accident may delete resources one by one. Objects that their owner may no longer own do
 *  not: they are deleted when the grace period ends. Objects of resources that were deleted with the definition of their kind are held, however few.
 *  The ledger records a hold, so that it also ends as it should after a restart. Pure. */
import type { MetadataObject } from '@pergola/engine/metadata';
import type { DeletionCount } from '../grants/reservation.ts';
import { kindAndNamespaceOf } from '../kinds.ts';
import { COUNTED_MINUTES, isCountedAt, type Ledger, type LedgerEntry } from '../objects/ledger.ts';
import { shortHash } from '../objects/normal-form.ts';
import type { Policies } from '../ports/options.ts';

/** The part of a decision that the guard looks at. */
type Guarded = {
  readonly key: string;
  readonly action: string;
  readonly entry?: LedgerEntry;
  readonly revocation?: unknown;
};

/** Deletions of one namespace that wait for a confirmation; `hash` confirms them. */
export type NamespaceHold = {
  readonly namespace: string;
  readonly count: number;
  readonly owned: number;
  /** The number of objects that were deleted in the minutes before. */
  readonly recent: number;
  readonly hash: string;
};

/** Returns what is held of a namespace, such as `15 of 35 objects of team-a (after 20 in the last 10 minutes)`. */
export function deletionsText({ namespace, count, owned, recent }: NamespaceHold): string {
  const before = recent > 0 ? ` (after ${recent} in the last ${COUNTED_MINUTES} minutes)` : '';
  return `${count} of ${owned} objects of ${namespace}${before}`;
}

/** All deletions that wait for a confirmation; `hash` confirms them together. */
export type PruneHold = Omit<NamespaceHold, 'namespace' | 'recent'> & {
  readonly namespaces: readonly NamespaceHold[];
  /** The kinds whose resources were deleted with their definition. Absent when there is none. */
  readonly lostKinds?: readonly string[];
};

/** An owned object that the document loses. */
type Loss = {
  readonly key: string;
  /** The namespace of its owner. */
  readonly namespace: string;
  /** The deletions that remove it: its own, and those of objects that it is nested in. Another namespace can hold back none of them. */
  readonly deletions: readonly string[];
};

/** Returns the owned objects that deletions remove, nested objects that a resource still claims included. */
export function lossesOf(
  decisions: readonly Guarded[],
  ours: readonly (readonly [string, LedgerEntry])[],
  live: ReadonlyMap<string, MetadataObject>,
): readonly Loss[] {
  const deleted = decisions.filter(({ action, revocation }) => action === 'delete' && !revocation);
  if (deleted.length === 0) return [];
  const namespaces = new Map(deleted.map(({ key, entry }) => [key, namespaceOf(entry)]));
  const revoked = new Set(decisions.filter(({ revocation }) => revocation).map(({ key }) => key));
  return ours.flatMap(([key, entry]) => {
    if (revoked.has(key)) return [];
    const namespace = namespaceOf(entry);
    const deletions = lineOf(key, live).filter((one) => namespaces.get(one) === namespace);
    return deletions.length === 0 ? [] : [{ key, namespace, deletions }];
  });
}

function namespaceOf(entry: LedgerEntry | undefined): string {
  return kindAndNamespaceOf(entry?.cr ?? '').namespace;
}

/** Returns the key of a live object and those of the objects that it is nested in. */
function lineOf(key: string, live: ReadonlyMap<string, MetadataObject>): readonly string[] {
  const parent = live.get(key)?.parent ?? null;
  return parent === null ? [key] : [key, ...lineOf(parent, live)];
}

/** Returns how many objects of each namespace were deleted in the last minutes and are not claimed again. */
export function recentDeletions(
  { manager, objects, reservations = new Map() }: Ledger,
  claims: { readonly has: (key: string) => boolean },
  at: Date,
): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const [key, released] of reservations) {
    if (released.manager !== manager || !isCountedAt(at, released) || objects.has(key) || claims.has(key))
      continue;
    const { namespace } = kindAndNamespaceOf(released.cr);
    counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  }
  return counts;
}

/** Returns the decisions with held deletions, and what is held. A deletion that was held before stays held, however few are left, until it
 *  is confirmed, or a resource claims the object again. */
export function holdDeletions<D extends Guarded>(
  decisions: readonly D[],
  losses: readonly Loss[],
  numbersOf: (namespace: string) => { readonly owned: number; readonly recent: number },
  options: {
    readonly pruneGuard: Policies['pruneGuard'];
    readonly confirmPrune?: string | undefined;
    readonly lost?: ReadonlySet<string> | undefined;
  },
): { readonly decisions: readonly D[]; readonly pruneHold?: PruneHold; readonly counted: DeletionCount } {
  const { maxObjects, maxPercent } = options.pruneGuard;
  const lost = new Map(
    decisions
      .map(({ key, entry }) => [key, entry?.cr ?? ''] as const)
      .filter(([, owner]) => options.lost?.has(owner)),
  );
  const heldBefore = new Set(decisions.filter(({ entry }) => entry?.isPruneHeld).map(({ key }) => key));
  const isHeldAnyway = (key: string) => heldBefore.has(key) || lost.has(key);
  const waiting = [...Map.groupBy(losses, ({ namespace }) => namespace)].flatMap(([namespace, all]) => {
    const { owned, recent } = numbersOf(namespace);
    const together = all.length + recent;
    const areTooMany = together > maxObjects && together * 100 > maxPercent * (owned + recent);
    const losses = areTooMany ? all : all.filter(({ deletions }) => deletions.some(isHeldAnyway));
    return losses.length === 0
      ? []
      : [{ namespace, losses, count: losses.length, owned, recent, hash: hashOfLosses(losses) }];
  });
  const hash = hashOfLosses(waiting.flatMap((one) => one.losses));
  const confirmed = new Set(options.confirmPrune?.split(/[\s,]+/));
  const isConfirmed = (one: NamespaceHold) => confirmed.has(hash) || confirmed.has(one.hash);
  const held = waiting.filter((one) => !isConfirmed(one));
  const counted = countOf(losses, new Set(waiting.filter(isConfirmed).map(({ namespace }) => namespace)));
  if (held.length === 0) return { decisions, counted };
  const kept = held.flatMap((one) => one.losses);
  const deletions = new Set(kept.flatMap((one) => one.deletions));
  const owners = [...deletions].flatMap((key) => lost.get(key) ?? []);
  const lostKinds = [...new Set(owners.map((owner) => kindAndNamespaceOf(owner).kind))].toSorted();
  return {
    counted,
    decisions: decisions.map((d) => (deletions.has(d.key) ? { ...d, action: 'keep', isPruneHeld: true } : d)),
    pruneHold: {
      count: kept.length,
      owned: held.reduce((sum, one) => sum + one.owned, 0),
      hash: hashOfLosses(kept),
      namespaces: held.map(({ losses: _, ...one }) => one),
      ...(lostKinds.length > 0 ? { lostKinds } : {}),
    },
  };
}

/** The count of a pass that deletes nothing. */
export const NOTHING_COUNTED: DeletionCount = { keys: new Set(), confirmed: new Set() };

function countOf(losses: readonly Loss[], confirmed: ReadonlySet<string>): DeletionCount {
  const counted = losses.filter(({ namespace }) => !confirmed.has(namespace));
  return { keys: new Set(counted.map(({ key }) => key)), confirmed };
}

function hashOfLosses(losses: readonly Loss[]): string {
  const keys = losses.map(({ key }) => key);
  return shortHash(keys.toSorted().join('\n'));
}
