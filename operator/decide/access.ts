/** Finds what decisions mean for the access of roles, in words. Pure.
 *  In: the live objects, decisions. Out: changes of access, each with the decisions that cause it.
 *  Not here: comparing permissions (engine/metadata/access), what a change means for those who have access (engine/metadata/access/verdicts.ts), what is refused (status/fail-on.ts). */
import {
  type AccessChange,
  type AccessOperation,
  type AccessPart,
  type AccessVerdict,
  accessChanges,
  isOfRequests,
  type MetadataObject,
  withChanges,
} from '@pergola/engine/metadata';
import type { Decision } from './decide.ts';

type Objects = ReadonlyMap<string, MetadataObject>;

/** A change of access, and the decisions that cause it. */
export type DecidedAccess = { readonly change: AccessChange; readonly decisions: readonly Decision[] };

/** Returns what the decisions together change, for the roles of permissions and those that inherit from them. */
export function accessOfDecisions(live: Objects, decisions: readonly Decision[]): readonly DecidedAccess[] {
  const byKey = new Map(decisions.map((decision) => [decision.key, decision]));
  return accessChanges(byKey.keys(), live, withDecisions(live, decisions)).map(({ change, causes }) => ({
    change,
    decisions: causes.flatMap((key) => byKey.get(key) ?? []),
  }));
}

/** Returns the objects after the decisions. */
export function withDecisions(live: Objects, decisions: readonly Decision[]): Objects {
  return withChanges(
    live,
    decisions.map(({ key, action, claim }) => [key, action === 'delete' ? undefined : claim?.object]),
  );
}

const EFFECTS: Readonly<Record<AccessVerdict, string>> = {
  wider: 'reaches more',
  narrower: 'reaches less',
  other: 'reaches something else',
  same: 'reaches the same',
};
const UNDECIDED = '; whether more or less is not decided';

const NOUNS: Partial<Record<AccessOperation, string>> = {
  run: 'the query ',
  request: 'the endpoint ',
  inherit: 'from other roles',
};

const LIMITED: Readonly<Record<AccessVerdict, string>> = {
  wider: 'limited less',
  narrower: 'limited more',
  other: 'limited in another way',
  same: 'limited as before',
};

/** The ends of the lines about an object whose address changes, by the kind in its key. They begin with `every role reads`. */
const CONNECTIONS: Readonly<Record<string, string>> = {
  source: 'another database through the source',
  remote_schema: 'another service through the remote schema',
};

/** Returns one line for the change: `reader reaches more: filter: id is 1 → all rows`. A permission that does not change itself names its object,
 *  because no line above the change does; with `isAlone` every one does. */
export function accessLine(access: AccessChange, isAlone = false): string {
  const { key, role, change, operation, on, verdict, parts, isInherited, isIndirect } = access;
  if (operation === 'connect') return `every role reads ${CONNECTIONS[key.split('/')[0]!]} ${on}`;
  const details = partsText(parts);
  const inherited = isInherited ? ', by the roles that it inherits from' : '';
  const object = `${NOUNS[operation] ?? ''}${on}`;
  const who = rolesText(access);
  if (change === 'revoked') {
    if (role === null) return `no ${who.replace(/^every /, '')} may ${operation} ${object} any more`;
    return `${role} may no longer ${operation} ${object}${inherited}`;
  }
  if (change === 'granted')
    return `${who} may ${operation} ${object}${inherited}${details && `: ${details}`}`;
  if (operation === 'send') return `requests of ${who} are ${LIMITED[verdict]}: ${details}`;
  if (isOfRequests(access)) return `${object} changes for ${who}: ${details}`;
  const isNamed = isAlone || isInherited || isIndirect || role === null;
  const where = isNamed ? ` of ${on} (${operation}${inherited})` : '';
  return `${who} ${EFFECTS[verdict]}${where}${verdict === 'other' ? UNDECIDED : ''}: ${details}`;
}

/** Returns the roles that a change concerns: `reader`, `every role but reader`. */
export function rolesText({ key, role, except = [], operation }: AccessChange): string {
  if (role !== null) return role;
  // A function without permissions is filtered like its table.
  const readers = operation === 'call' && key.startsWith('function/') ? ' that reads its table' : '';
  return `every role${except.length > 0 ? ` but ${except.join(', ')}` : ''}${readers}`;
}

/** Returns what clients lose by a change for requests, as a sentence: `The endpoint articles is gone`. */
export function lossText({ change, operation, on, parts }: AccessChange): string {
  if (operation === 'send') return `The limits of requests change: ${partsText(parts)}`;
  const gone = operation === 'run' ? 'is no longer allowed' : 'is gone';
  const noun = operation === 'run' ? 'The query' : 'The endpoint';
  return `${noun} ${on} ${change === 'revoked' ? gone : `changes: ${partsText(parts)}`}`;
}

/** Returns the parts of a change: `filter: id is 1 → all rows; limit: 5 → no limit`. */
export function partsText(parts: readonly AccessPart[]): string {
  return parts
    .map(({ name, before, after }) =>
      before === null ? `${name}: ${after}` : `${name}: ${before} → ${after}`,
    )
    .join('; ');
}
