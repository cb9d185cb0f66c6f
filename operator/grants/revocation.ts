/** Revokes objects that their namespace may no longer own: they are deleted after a grace period that begins when an operator first
 *  notices. The ledger keeps that time, so it survives restarts and a change of leader.
 *  Only resources that cannot be applied are checked: what a permitted resource claims is permitted.
 *  Pure. Not here: the deletion of the objects (decide/decide.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';
import { kindAndNamespaceOf } from '../kinds.ts';
import type { LedgerEntry } from '../objects/ledger.ts';
import type { CrSnapshot } from '../ports/resources.ts';

export type Revocation = {
  /** The time when an operator first noticed it, from the ledger. */
  readonly since: string;
  readonly until: Date;
  readonly isOver: boolean;
  readonly reason: 'RefNotPermitted' | 'NotPermitted';
};

/** Returns the revocation of an object; undefined while its owner may own it. */
export function revocationOf(
  entry: LedgerEntry,
  live: MetadataObject | undefined,
  { consent, at, seesNamespace }: CrSnapshot,
  graceMinutes: number,
): Revocation | undefined {
  const { kind, namespace } = kindAndNamespaceOf(entry.cr);
  if (!consent?.isCertain || namespace === consent.home || seesNamespace?.(namespace) === false)
    return undefined;
  const isLetIn = consent.refusalOf(namespace) === undefined;
  if (isLetIn && consent.objectionTo(namespace, kind, live ? [live] : [], () => live) === undefined)
    return undefined;
  const { revokedAt = '' } = entry;
  const since = Number.isNaN(Date.parse(revokedAt)) ? at.toISOString() : revokedAt;
  const until = new Date(Date.parse(since) + graceMinutes * 60_000);
  const isOver = until.getTime() <= at.getTime();
  return { since, until, isOver, reason: isLetIn ? 'NotPermitted' : 'RefNotPermitted' };
}
