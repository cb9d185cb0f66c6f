/** The changes of two compared documents that may break clients, by identity.
 *  In: the changes of schemas and of access. Out: a comparison. Pure. Not here: comparing (change/effects.ts). */
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

/** The first change that breaks clients, the number of others, and that of the further roles that they concern. */
export type BreaksSummary = { readonly first: Break; readonly others: number; readonly roles: number };

export function summaryOf(breaks: Iterable<Break>): BreaksSummary {
  const [first, ...others] = [...breaks] as [Break, ...Break[]];
  const roles = new Set(others.map(concerned));
  roles.delete(concerned(first));
  return { first, others: others.length, roles: roles.size };
}

/** Returns a text for the roles that a breaking change concerns, the same for the same roles. */
function concerned(one: Break): string {
  if ('role' in one) return JSON.stringify(one.role);
  const { role, except = [] } = one.access;
  return JSON.stringify(role ?? except);
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
