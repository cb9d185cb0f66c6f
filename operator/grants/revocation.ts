/** Objects whose namespace may no longer own them: they are removed from the engine after a grace period that begins when an
 *  operator first notices. The ledger keeps that time, so a restart or another leader does not begin anew.
 *  Only resources that cannot be applied are judged here: what a permitted resource claims is permitted.
 *  Pure. Not here: what becomes of the objects (../three-way.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';
import { kindAndNamespaceOf } from '../kinds.ts';
import type { CrSnapshot, LedgerEntry } from '../ports.ts';

export type Revocation = {
  /** When it was first noticed, as the ledger has it. */
  readonly since: string;
  readonly until: Date;
  readonly isOver: boolean;
};

/** Undefined while the owner may own the object. */
export function revocationOf(
  entry: LedgerEntry,
  live: MetadataObject | undefined,
  { consent, at, seesNamespace }: CrSnapshot,
  graceMinutes: number,
): Revocation | undefined {
  const { kind, namespace } = kindAndNamespaceOf(entry.cr);
  if (!consent?.isCertain || namespace === consent.home || seesNamespace?.(namespace) === false)
    return undefined;
  const isPermitted =
    consent.refusalOf(namespace) === undefined &&
    consent.objectionTo(namespace, kind, live ? [live] : []) === undefined;
  if (isPermitted) return undefined;
  const since = entry.revokedAt ?? at.toISOString();
  const until = new Date(Date.parse(since) + graceMinutes * 60_000);
  return { since, until, isOver: until.getTime() <= at.getTime() };
}
