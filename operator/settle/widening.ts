/** The changes of resources that let a role reach more rows, for Engines whose policy holds them back. They are found in the decisions, without
 *  a request: a change that widens by itself is the cause, and where only several together do, all of those that contribute are.
 *  In: the live objects, the changes of resources, the other writes. Out: the widenings of each change that has some, as sentences.
 *  Pure. Not here: what counts as widening (decide/access.ts), holding back (hold-back.ts). */
import type { AccessChange, AccessOperation, MetadataObject } from '@pergola/engine/metadata';
import { accessOfDecisions, partsText, rolesText, wideningParts, withDecisions } from '../decide/access.ts';
import type { Decision } from '../decide/decide.ts';
import type { PendingChange } from '../decide/pending-change.ts';

type Objects = ReadonlyMap<string, MetadataObject>;

/** The access of a role that becomes wider, by the change of one resource. */
export type Widenings = readonly AccessChange[];

/** Returns the widenings of each change that has some. `others` are writes beside them, which are made in any case. */
export function wideningsOf(
  live: Objects,
  changes: readonly PendingChange[],
  others: readonly Decision[],
): ReadonlyMap<PendingChange, Widenings> {
  const base = withDecisions(live, others);
  const found = new Map<PendingChange, Widenings>();
  for (let rest = changes; ; ) {
    const causes = causesAmong(base, rest);
    if (causes.size === 0) return found;
    for (const [change, widenings] of causes) found.set(change, widenings);
    // Without these, others may widen what was narrowed together with them.
    rest = rest.filter((change) => !found.has(change));
  }
}

function causesAmong(
  base: Objects,
  changes: readonly PendingChange[],
): ReadonlyMap<PendingChange, Widenings> {
  const found = new Map<PendingChange, AccessChange[]>();
  const owner = new Map(changes.flatMap((change) => change.decisions.map((one) => [one, change] as const)));
  // One change may widen the permissions of hundreds of roles.
  const widenedBy = new Map<PendingChange, ReadonlySet<string>>();
  const widensItself = (change: PendingChange) => {
    const keys =
      widenedBy.get(change) ?? new Set(widened(base, change.decisions).map((one) => one.change.key));
    widenedBy.set(change, keys);
    return keys;
  };
  for (const { change: widening, decisions } of widened(base, [...owner.keys()])) {
    const contributing = [...new Set(decisions.flatMap((decision) => owner.get(decision) ?? []))];
    const single = contributing.filter((change) => widensItself(change).has(widening.key));
    for (const cause of single.length > 0 ? single : contributing)
      found.set(cause, [...(found.get(cause) ?? []), widening]);
  }
  return found;
}

function widened(base: Objects, decisions: readonly Decision[]) {
  return accessOfDecisions(base, decisions).filter(({ change }) => wideningParts(change).length > 0);
}

/** A filter or a query may be long, and the status of a resource is read by people. */
const MOST_CHARACTERS = 250;

/** The operations whose names do not say what happens to rows. */
const REACHING: ReadonlySet<AccessOperation> = new Set(['select', 'inherit', 'call']);

/** Returns the widenings as the end of a sentence: `would let role reader reach more rows of public.note: filter: id is 1 → all rows`. */
export function wideningText([first, ...others]: Widenings): string {
  const { role, operation, on, isInherited } = first!;
  const parts = wideningParts(first!);
  const isKnown = parts.some(({ verdict }) => verdict === 'wider');
  const verb = REACHING.has(operation) ? 'reach' : operation;
  const inherited = isInherited ? ', by the roles that it inherits from' : '';
  const rows = `${verb} more rows${on === '' ? '' : ` of ${on}`}${inherited}`;
  const details = cut(partsText(parts));
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const who = role === null ? rolesText(first!) : `role ${role}`;
  return `${isKnown ? 'would' : 'may'} let ${who} ${rows}: ${details}${more}`;
}

/** Returns the beginning of a long text. */
export function cut(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
