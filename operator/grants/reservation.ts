/** Reserves keys for a namespace, and records deletions for the prune guard (decide/prune-guard.ts). A key that a resource owns, or owned until
 *  recently, goes to no other namespace, so nobody takes over a name by waiting with a resource of the same name. Resources of the same
 *  namespace and of the Engine's namespace do not wait.
 *  Pure. Not here: which permitted resource gets a key (decide/desired.ts), who may own it at all (grants.ts). */
import { kindAndNamespaceOf } from '../kinds.ts';
import { type EntryChange, isCountedAt, type Ledger, type Reservation } from '../objects/ledger.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';

/** The namespace for which a key is reserved. */
export type ReservedKey = {
  readonly namespace: string;
  readonly until: Date;
  readonly isOver: boolean;
};

type ReservationContext = {
  readonly snapshot: Pick<CrSnapshot, 'consent' | 'at'>;
  readonly ledger: Ledger;
  readonly options: Pick<ReconcileOptions, 'manager' | 'policies'>;
};

/** Returns the reservation of a key; undefined when every permitted namespace may have it. */
export function reservationOf(key: string, world: ReservationContext): ReservedKey | undefined {
  const { snapshot, ledger, options } = world;
  const entry = ledger.objects.get(key);
  const released = ledger.reservations?.get(key);
  if (entry?.manager === options.manager) return reservedSince(entry.cr, snapshot.at, world);
  if (entry || released?.manager !== options.manager) return undefined;
  return reservedSince(released.cr, new Date(released.releasedAt), world);
}

function reservedSince(
  cr: string,
  since: Date,
  { snapshot: { consent, at }, options }: ReservationContext,
): ReservedKey | undefined {
  const { namespace } = kindAndNamespaceOf(cr);
  const { reservationMinutes } = options.policies;
  if (reservationMinutes === 0 || !consent?.reservesFor(namespace)) return undefined;
  const until = new Date(since.getTime() + reservationMinutes * 60_000);
  return { namespace, until, isOver: until.getTime() <= at.getTime() };
}

/** The most reservations of one namespace. The newest are kept. */
const MOST_OF_A_NAMESPACE = 1000;

/** The deletions of a pass, as the prune guard counts them. */
export type DeletionCount = {
  /** The keys of the objects whose deletion counts. */
  readonly keys: ReadonlySet<string>;
  /** The namespaces whose deletions somebody has confirmed: those before count no longer. */
  readonly confirmed: ReadonlySet<string>;
};

/** Returns the changes of reservations. A key that lost its owner is reserved. A reservation ends when the key has an owner, or when its
 *  time is over and no resource of the namespace waits for the key (`isClaimed`). */
export function reservationChanges(
  changes: readonly EntryChange[],
  world: ReservationContext,
  isClaimed: (key: string, namespace: string) => boolean,
  counted: DeletionCount,
): Readonly<Record<string, Reservation | null>> {
  const { snapshot, ledger, options } = world;
  const { manager } = options;
  const result = new Map<string, Reservation | null>();
  for (const [key, released] of ledger.reservations ?? []) {
    if (released.manager !== manager || ledger.objects.has(key)) continue;
    const isConfirmed = counted.confirmed.has(kindAndNamespaceOf(released.cr).namespace);
    const reserved = reservationOf(key, world);
    const isReserved = reserved && (!reserved.isOver || isClaimed(key, reserved.namespace));
    if (!isReserved && (isConfirmed || !isCountedAt(snapshot.at, released))) result.set(key, null);
    else if (isConfirmed && released.isCounted) result.set(key, { ...released, isCounted: false });
  }
  for (const { key, before, after } of changes) {
    if (after && ledger.reservations?.has(key)) result.set(key, null);
    if (after || before?.manager !== manager) continue;
    const isCounted = counted.keys.has(key);
    if (!isCounted && !reservedSince(before.cr, snapshot.at, world)) continue;
    const released = { manager, cr: before.cr, releasedAt: snapshot.at.toISOString() };
    result.set(key, isCounted ? { ...released, isCounted } : released);
  }
  return Object.fromEntries(bounded(result, ledger));
}

/** Drops the oldest reservations of a namespace that has too many: a tenant that creates and deletes in turn must not fill the ledger. */
function bounded(
  changes: ReadonlyMap<string, Reservation | null>,
  { reservations = new Map() }: Ledger,
): ReadonlyMap<string, Reservation | null> {
  const added = [...changes.values()].filter((change) => change !== null).length;
  if (added === 0) return changes;
  const after = new Map<string, Reservation | null>([...reservations, ...changes]);
  const kept = [...after].filter((found): found is [string, Reservation] => found[1] !== null);
  const byNamespace = Map.groupBy(kept, ([, { cr }]) => kindAndNamespaceOf(cr).namespace);
  const result = new Map(changes);
  for (const all of byNamespace.values()) {
    const newestFirst = all.toSorted(([, a], [, b]) => (a.releasedAt < b.releasedAt ? 1 : -1));
    for (const [key] of newestFirst.slice(MOST_OF_A_NAMESPACE)) {
      if (reservations.has(key)) result.set(key, null);
      else result.delete(key);
    }
  }
  return result;
}
