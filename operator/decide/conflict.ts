/** Decides who owns an object that several resources claim, and explains to the others who has it, why, and what to do.
 *  In: the claims of one key, and its entry in the ledger. Out: the winner, and the outcome of a loser. A message is the same in the pass that
 *  gives the object to the winner and in later ones, so it is written once. Of a resource in another namespace it has the name and whether it is
 *  older, and nothing of its spec.
 *  Pure. Not here: what each resource claims (desired.ts), objects that no resource owns (../status/verdicts.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';
import { type CustomResource, crName, kindAndNamespaceOf } from '../kinds.ts';
import { isOwnedBy, type LedgerEntry } from '../objects/ledger.ts';
import { printKey } from '../objects/normal-form.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';

/** An object with a resource that claims it (a Claim of desired.ts). */
type Rival = { readonly object: MetadataObject; readonly cr: CustomResource };

/** The claims of one key that several resources, or a resource and an entry in the ledger, compete for. */
export type Contest = {
  readonly winner: Rival | undefined;
  readonly entry: LedgerEntry | undefined;
  /** The manager of this operator. */
  readonly manager: string;
  /** Returns all claims of a resource. */
  readonly claimsOf: (cr: CustomResource) => readonly Rival[];
};

/** Returns the claim that gets the key: the one of the owner in the ledger, else the oldest, else the one with the smallest uid. */
export function winnerOf<T extends Rival>(
  rivals: readonly T[],
  entry: LedgerEntry | undefined,
  isHeld: boolean,
  manager: string,
): T | undefined {
  if (isHeld || (entry && entry.manager !== manager)) return undefined;
  const owner = entry && rivals.find(({ cr }) => isOwnedBy(entry, cr, manager));
  return owner ?? rivals.toSorted((a, b) => byAge(a.cr, b.cr))[0];
}

function byAge({ metadata: one }: CustomResource, { metadata: other }: CustomResource): number {
  const [x, y] =
    one.creationTimestamp === other.creationTimestamp
      ? [one.uid, other.uid]
      : [one.creationTimestamp, other.creationTimestamp];
  return x < y ? -1 : 1;
}

/** Returns the outcome of a claim that does not get its key. */
export function lostOutcome(loser: Rival, contest: Contest): ResourceOutcome {
  const { winner, entry, manager } = contest;
  if (winner) return conflict(loser, crName(winner.cr), reasonFor(winner.cr, loser.cr), contest);
  if (entry && entry.manager !== manager) {
    return entry.uid === loser.cr.metadata.uid
      ? sameResourceElsewhere(loser, entry, manager)
      : ownedElsewhere(loser, entry, contest);
  }
  // The owner is in the ledger, but has a problem or cannot be read at the moment.
  return conflict(loser, entry?.cr ?? 'another resource', 'which keeps what it has', contest);
}

/** Returns why a resource has the object and the other one does not. */
function reasonFor(winner: CustomResource, loser: CustomResource): string {
  // An older resource that claims the object later does not get it.
  if (byAge(winner, loser) > 0) return 'which had it first';
  if (winner.metadata.creationTimestamp !== loser.metadata.creationTimestamp) return 'which is older';
  // In a folder the uid of a resource is its name, and no resource has an age.
  return winner.metadata.uid === crName(winner)
    ? 'whose name comes first'
    : 'which was created at the same time and whose uid comes first';
}

function conflict(loser: Rival, owner: string, why: string, contest: Contest): ResourceOutcome {
  const { key } = loser.object;
  const todo = `${removal(loser, contest)}, or ${removalOfOwner(loser, owner, contest)}`;
  return {
    reason: 'Conflict',
    message: `${printKey(key)} belongs to ${owner}, ${why}; ${todo} (key ${key})`,
  };
}

function ownedElsewhere(loser: Rival, entry: LedgerEntry, contest: Contest): ResourceOutcome {
  const { key } = loser.object;
  return {
    reason: 'Conflict',
    message:
      `${printKey(key)} belongs to ${entry.cr} of another operator, which calls itself ${entry.manager}, and this operator calls itself ` +
      `${contest.manager}; ${removal(loser, contest)}, or remove it there; if that operator no longer exists, give this one its name (key ${key})`,
  };
}

function sameResourceElsewhere(
  { object: { key } }: Rival,
  entry: LedgerEntry,
  manager: string,
): ResourceOutcome {
  return {
    reason: 'AnotherOperator',
    message:
      `${printKey(key)} is written for this resource by another operator, which calls itself ${entry.manager}, ` +
      `and this operator calls itself ${manager}; let only one of them watch this namespace; ` +
      `if that operator no longer exists, set operator.clusterName of this one to ${clusterOf(entry.manager)}`,
  };
}

/** Returns the name of the cluster in that of a manager: CLUSTER/NAMESPACE/ENGINE. */
function clusterOf(manager: string): string {
  return manager.split('/').slice(0, -2).join('/') || manager;
}

function removal(loser: Rival, contest: Contest): string {
  return isWhole(loser, contest)
    ? 'delete this resource'
    : `remove the ${kindText(loser)} from this resource`;
}

function removalOfOwner({ object, cr }: Rival, owner: string, contest: Contest): string {
  const { namespace } = kindAndNamespaceOf(owner);
  if (namespace !== cr.metadata.namespace) return `let the owners of namespace ${namespace} remove theirs`;
  const { winner } = contest;
  if (!winner) return `remove the ${kindText({ object })} there`;
  return isWhole(winner, contest) ? `delete ${owner}` : `remove the ${kindText({ object })} from ${owner}`;
}

/** True when the resource stands for nothing but the object and what is nested directly in it, as a Table for its table. */
function isWhole({ object: { key }, cr }: Rival, { claimsOf }: Contest): boolean {
  return claimsOf(cr).every(({ object }) => object.key === key || object.parent === key);
}

function kindText({ object: { kind } }: Pick<Rival, 'object'>): string {
  return kind.replaceAll('_', ' ');
}
