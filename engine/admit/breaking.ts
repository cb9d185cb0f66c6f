/** The changes of two compared documents that may break clients, by identity.
 *  In: the changes of schemas and of access. Out: a comparison. Pure. Not here: comparing (admin/effects.ts). */
import type { AccessChange } from '../metadata/access/access-change.ts';
import { isBreaking } from '../metadata/access/verdicts.ts';
import type { Break, Comparison } from './hold-back.ts';

/** The changes of the schema of one role. */
type SchemaChanges = {
  readonly role: string;
  /** The number of breaking changes, which may be more than those that are listed. */
  readonly breaking: number;
  readonly changes: readonly {
    readonly severity: string;
    readonly type: string;
    readonly description: string;
  }[];
};

export type ComparedDocuments = {
  readonly schemas: readonly SchemaChanges[];
  /** The changes for requests. Others are seen in the schemas. */
  readonly access: readonly AccessChange[];
  /** False when there was not time for the schema of every role. */
  readonly isComplete: boolean;
};

export function comparisonOf({ schemas, access, isComplete }: ComparedDocuments): Comparison {
  if (!isComplete) return { unknown: 'the engine had no time to compare the schema of every role' };
  const ofRequests = access.filter(isBreaking).map((change): [string, Break] => {
    // It is the same one while it is about the same object: its parts may differ between sets of changes.
    const { role, key, operation, on } = change;
    return [JSON.stringify([role, key, operation, on]), { access: change }];
  });
  return { breaks: new Map([...schemas.flatMap(breaksOfSchema), ...ofRequests]) };
}

function breaksOfSchema({ role, breaking, changes }: SchemaChanges): readonly [string, Break][] {
  const listed = changes.filter(({ severity }) => severity === 'breaking');
  const found = listed.map(({ type, description }): [string, Break] => [
    JSON.stringify([role, type, description]),
    { role, description },
  ]);
  const rest = breaking - listed.length;
  const description = `${rest} more breaking ${rest === 1 ? 'change' : 'changes'}`;
  return rest > 0 ? [...found, [JSON.stringify([role]), { role, description }]] : found;
}
