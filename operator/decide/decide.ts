/** Decides for each key what happens to its object, from the ledger (L, the hash written last), the claims (D, desired) and the live
 *  document (V): V = D is unchanged; V = L is an update; V differs from both is drift; D without L is adopted or refused by policy; L
 *  without D is deleted. Also decides what happens to the ledger entry.
 *  Pure. Not here: deletions that are too many at once (prune-guard.ts), whether the engine accepts a decision (settle/settle.ts), the next
 *  document (settle/order.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';
import type { DeletionCount } from '../grants/reservation.ts';
import type { Revocation } from '../grants/revocation.ts';
import { crName, kindAndNamespaceOf } from '../kinds.ts';
import { type EntryChange, isSameEntry, type Ledger, type LedgerEntry } from '../objects/ledger.ts';
import { hashOfLive } from '../objects/normal-form.ts';
import type { Policies } from '../ports/options.ts';
import type { Claim, Desired } from './desired.ts';
import { holdDeletions, lossesOf, NOTHING_COUNTED, type PruneHold, recentDeletions } from './prune-guard.ts';

/** `own`: equal, and becomes owned; `adopt`: different, and overwritten; `keep`: unchanged, still owned. */
export type DecisionAction =
  | 'create'
  | 'update'
  | 'correct'
  | 'adopt'
  | 'own'
  | 'unchanged'
  | 'reportDrift'
  | 'ignoreDrift'
  | 'refuseAdoption'
  | 'delete'
  | 'forget'
  | 'keep';

export type Decision = {
  readonly key: string;
  readonly action: DecisionAction;
  /** Absent for keys that no resource claims (delete, forget, keep). */
  readonly claim?: Claim;
  /** Absent when the ledger has no entry. */
  readonly entry?: LedgerEntry;
  readonly live?: MetadataObject;
  /** Present when the owner may no longer own the object. */
  readonly revocation?: Revocation;
  /** True when the deletion waits for a confirmation, because too many objects of the namespace would be deleted at once. */
  readonly isPruneHeld?: true;
  /** True when the object of a resource that no longer exists is left as it is. */
  readonly isAbandoned?: true;
};

export type Decisions = {
  readonly decisions: readonly Decision[];
  readonly pruneHold?: PruneHold;
  readonly counted: DeletionCount;
};

/** True when the decision changes the document. */
export function isWrite({ action }: Decision): boolean {
  return isPut(action) || action === 'delete';
}

export function isPut(action: DecisionAction): boolean {
  return action === 'create' || action === 'update' || action === 'correct' || action === 'adopt';
}

export function decide(
  desired: Desired,
  ledger: Ledger,
  live: ReadonlyMap<string, MetadataObject>,
  options: {
    readonly manager: string;
    readonly pruneGuard: Policies['pruneGuard'];
    readonly confirmPrune?: string | undefined;
    readonly at: Date;
    /** True when owned objects that no resource claims may be deleted now. */
    readonly mayPrune: boolean;
    /** The names of the resources that were deleted with the definition of their kind. Absent: none. */
    readonly lost?: ReadonlySet<string> | undefined;
    readonly keepsAbandoned?: boolean | undefined;
  },
): Decisions {
  const claimed = [...desired.claims.values()].map((claim) =>
    decideClaim(claim, ledger.objects.get(claim.object.key), live.get(claim.object.key)),
  );
  const ours = [...ledger.objects].filter(([, entry]) => entry.manager === options.manager);
  const unclaimed = ours
    .filter(([key]) => !desired.claims.has(key))
    .map(([key, entry]) => decideUnclaimed(key, entry, live.get(key), desired, options));
  const decisions = [...claimed, ...unclaimed];
  const losses = lossesOf(decisions, ours, live);
  if (losses.length === 0) return { decisions, counted: NOTHING_COUNTED };
  const owned = Map.groupBy(ours, ([, entry]) => kindAndNamespaceOf(entry.cr).namespace);
  const recent = recentDeletions(ledger, desired.claims, options.at);
  const numbersOf = (namespace: string) => ({
    owned: owned.get(namespace)?.length ?? 0,
    recent: recent.get(namespace) ?? 0,
  });
  return holdDeletions(decisions, losses, numbersOf, options);
}

function decideClaim(
  claim: Claim,
  entry: LedgerEntry | undefined,
  live: MetadataObject | undefined,
): Decision {
  const base = { key: claim.object.key, claim, ...(entry ? { entry } : {}), ...(live ? { live } : {}) };
  return { ...base, action: actionOf(claim, entry, live) };
}

function actionOf(
  claim: Claim,
  entry: LedgerEntry | undefined,
  live: MetadataObject | undefined,
): DecisionAction {
  const { drift, adoption } = claim.policies;
  if (!live && !entry) return 'create';
  const liveHash = live && hashOfLive(live, claim.object);
  if (liveHash === claim.hash) {
    if (entry) return 'unchanged';
    return adoption === 'Never' ? 'refuseAdoption' : 'own';
  }
  if (!entry) return adoption === 'Always' ? 'adopt' : 'refuseAdoption';
  if (liveHash === entry.hash) return 'update';
  if (drift === 'Correct') return 'correct';
  return drift === 'Report' ? 'reportDrift' : 'ignoreDrift';
}

function decideUnclaimed(
  key: string,
  entry: LedgerEntry,
  live: MetadataObject | undefined,
  desired: Desired,
  {
    mayPrune,
    lost,
    keepsAbandoned = false,
  }: Pick<Parameters<typeof decide>[3], 'mayPrune' | 'lost' | 'keepsAbandoned'>,
): Decision {
  const revocation = desired.revoked.get(key);
  const base = { key, entry, ...(live ? { live } : {}), ...(revocation ? { revocation } : {}) };
  if (desired.kept.has(key)) return { ...base, action: 'keep' };
  if (!live) return { ...base, action: 'forget' };
  // `Retain` applies to deleted resources. An object that an existing resource no longer defines is deleted.
  const isAbandoned = !desired.present.has(entry.cr) && !revocation;
  if (isAbandoned && keepsAbandoned && mayPrune) return { ...base, action: 'keep', isAbandoned };
  if (isAbandoned && entry.deletionPolicy === 'Retain') return { ...base, action: 'forget' };
  // The guard holds these in any case, so that the ledger records it before deletions are allowed again.
  const isHeld = entry.isPruneHeld || lost?.has(entry.cr);
  return { ...base, action: mayPrune || (isHeld && !revocation) ? 'delete' : 'keep' };
}

/** Returns the change of the ledger entry for each decision. `excluded` decisions were not applied. Objects that are not `kept` in the
 *  document lose their entry, unless their absence is drift that the policy leaves as it is. */
export function entryChanges(
  decisions: readonly Decision[],
  excluded: ReadonlyMap<string, unknown>,
  kept: { readonly has: (key: string) => boolean },
  manager: string,
): readonly EntryChange[] {
  const refused = new Set(decisions.filter(({ key }) => excluded.has(key)).map(ownerOf));
  return decisions.map((decision) => {
    const { key, action, entry: before } = decision;
    const owner = ownerOf(decision);
    // What an earlier generation declared as well does not make this one served.
    const isKept =
      excluded.has(key) || (before !== undefined && action === 'unchanged' && refused.has(owner));
    const entry = entryOf(decision, isKept, manager);
    const isDriftKept = action === 'reportDrift' || action === 'ignoreDrift';
    return { key, owner, before, after: kept.has(key) || isDriftKept ? entry : undefined };
  });
}

/** Returns the resource that claims an object, or else owns it, as `Kind namespace/name`. The only look-up of an owner. */
export function ownerOf({
  claim,
  entry,
}: {
  readonly claim?: Claim | undefined;
  readonly entry?: LedgerEntry | undefined;
}): string | undefined {
  return claim ? crName(claim.cr) : entry?.cr;
}

function entryOf(decision: Decision, isKept: boolean, manager: string): LedgerEntry | undefined {
  if (isKept) return decision.entry;
  switch (decision.action) {
    case 'create':
    case 'update':
    case 'correct':
    case 'adopt':
    case 'own':
    case 'unchanged':
      return newEntry(decision, manager);
    case 'reportDrift':
    case 'ignoreDrift':
      return decision.entry;
    case 'keep':
      return keptEntry(decision);
    case 'refuseAdoption':
    case 'delete':
    case 'forget':
      return undefined;
  }
}

/** Returns the entry with the time of its revocation, or without one, and with the hold of its deletion. */
function keptEntry({ entry, revocation, isPruneHeld }: Decision): LedgerEntry | undefined {
  if (!entry) return undefined;
  const { revokedAt: _, ...rest } = isPruneHeld ? { ...entry, isPruneHeld } : entry;
  const kept = revocation ? { ...rest, revokedAt: revocation.since } : rest;
  return isSameEntry(entry, kept) ? entry : kept;
}

/** Returns the existing entry when it is equal, as most entries are. */
function newEntry({ claim, entry }: Decision, manager: string): LedgerEntry {
  const { cr, hash, policies } = claim!;
  const { uid, generation, creationTimestamp: createdAt } = cr.metadata;
  const made = {
    ...{ manager, uid, cr: crName(cr), generation, hash, deletionPolicy: policies.deletion },
    ...(createdAt ? { createdAt } : {}),
  };
  return entry && isSameEntry(made, entry) && entry.generation === generation ? entry : made;
}
