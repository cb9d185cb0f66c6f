/** Warnings: an object that a custom resource owns is changed by somebody other than the operator, which will put it back.
 *  Who owns what is the ledger, which the operator keeps in the store beside the document; a request that writes the ledger
 *  is the operator's own. In: two documents. Out: one warning an object. Not here: the ledger itself (operator/objects/ledger.ts). */
import { fail } from '../errors/engine-error.ts';
import { changedKeys } from '../metadata/diff.ts';
import { parseKey } from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';

export type Warning = {
  readonly code: 'managed-object' | 'not-enforced';
  readonly message: string;
  readonly type: string;
  /** The object's key. */
  readonly name: string;
};

/** `ledger` is what the operator has stored, asked for when something has changed; anything that is none owns nothing. */
export function managedChanges(
  ledger: (() => unknown) | null,
  before: Metadata,
  after: Metadata,
): readonly Warning[] {
  const keys = ledger ? changedKeys(before, after) : [];
  if (!ledger || keys.length === 0) return [];
  const owners = ownersIn(ledger());
  return keys.flatMap((key) => {
    const owner = Object.hasOwn(owners, key) ? owners[key]!.cr : undefined;
    return typeof owner === 'string' ? [warningOf(key, owner)] : [];
  });
}

/** Raises `metadataWarnings`. */
export function refuseWarnings(warnings: readonly object[]): never {
  const reason = `${warnings.length} of them, see internal`;
  fail('metadataWarnings', { reason }, { internal: warnings });
}

function warningOf(key: string, owner: string): Warning {
  const message = `${key} belongs to the custom resource ${owner}, whose operator may put it back; change that instead`;
  return { code: 'managed-object', message, type: parseKey(key)?.kind ?? '', name: key };
}

function ownersIn(ledger: unknown): Readonly<Record<string, { readonly cr?: unknown }>> {
  const objects = (ledger as { readonly objects?: unknown } | null | undefined)?.objects;
  return typeof objects === 'object' && objects !== null ? (objects as never) : {};
}
