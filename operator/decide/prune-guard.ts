/** Holds deletions that remove more objects of one namespace than the policy allows, until they are confirmed. Nested objects count. Objects
 *  that their owner may no longer own do not: they are deleted when the grace period ends.
 *  The ledger records a hold, so that it also ends as it should after a restart. Pure. */
import type { MetadataObject } from '@pergola/engine/metadata';
import { kindAndNamespaceOf } from '../kinds.ts';
import type { LedgerEntry } from '../objects/ledger.ts';
import { shortHash } from '../objects/normal-form.ts';
import type { Policies } from '../ports.ts';

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
  readonly hash: string;
};

/** All deletions that wait for a confirmation; `hash` confirms them together. */
export type PruneHold = Omit<NamespaceHold, 'namespace'> & { readonly namespaces: readonly NamespaceHold[] };

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

/** Returns the decisions with held deletions, and what is held. A deletion that was held before stays held, however few are left, until it
 *  is confirmed, or a resource claims the object again. */
export function holdDeletions<D extends Guarded>(
  decisions: readonly D[],
  losses: readonly Loss[],
  ownedBy: (namespace: string) => number,
  options: { readonly pruneGuard: Policies['pruneGuard']; readonly confirmPrune?: string | undefined },
): { readonly decisions: readonly D[]; readonly pruneHold?: PruneHold } {
  const { maxObjects, maxPercent } = options.pruneGuard;
  const heldBefore = new Set(decisions.filter(({ entry }) => entry?.isPruneHeld).map(({ key }) => key));
  const waiting = [...Map.groupBy(losses, ({ namespace }) => namespace)].flatMap(([namespace, all]) => {
    const owned = ownedBy(namespace);
    const areTooMany = all.length > maxObjects && all.length * 100 > maxPercent * owned;
    const lost = areTooMany
      ? all
      : all.filter(({ deletions }) => deletions.some((key) => heldBefore.has(key)));
    return lost.length === 0
      ? []
      : [{ namespace, lost, count: lost.length, owned, hash: hashOfLosses(lost) }];
  });
  if (waiting.length === 0) return { decisions };
  const hash = hashOfLosses(waiting.flatMap(({ lost }) => lost));
  const confirmed = new Set(options.confirmPrune?.split(/[\s,]+/));
  const held = confirmed.has(hash) ? [] : waiting.filter((one) => !confirmed.has(one.hash));
  if (held.length === 0) return { decisions };
  const lost = held.flatMap((one) => one.lost);
  const deletions = new Set(lost.flatMap((one) => one.deletions));
  return {
    decisions: decisions.map((d) => (deletions.has(d.key) ? { ...d, action: 'keep', isPruneHeld: true } : d)),
    pruneHold: {
      count: lost.length,
      owned: held.reduce((sum, one) => sum + one.owned, 0),
      hash: hashOfLosses(lost),
      namespaces: held.map(({ lost: _, ...one }) => one),
    },
  };
}

function hashOfLosses(losses: readonly Loss[]): string {
  const keys = losses.map(({ key }) => key);
  return shortHash(keys.toSorted().join('\n'));
}
