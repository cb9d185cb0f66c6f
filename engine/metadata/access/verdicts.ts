/** The consequences of a change of access: whether a role may gain by it, and whether a request may fail that was answered.
 *  Pure. Not here: comparing permissions (access-change.ts), what is done about it (admit/hold-back.ts). */
import { type AccessChange, isOfRequests } from './access-change.ts';
import type { AccessPart } from './compare-filters.ts';

/** The parts of a permission that decide which rows it reaches, and what may be written to them. */
const ROW_PARTS: ReadonlySet<string> = new Set([
  ...['filter', 'check', 'limit', 'validate_input', 'role_set'],
  // The SQL of a native query, and how a function runs.
  ...['code', 'session_argument', 'response'],
]);

/** Returns the parts by which a role that has the permission may reach more rows than before. An undecided part counts: what is not known to
 *  be narrower may be wider. */
export function wideningParts({ change, parts }: AccessChange): readonly AccessPart[] {
  return change === 'changed' ? parts.filter((part) => mayGain(part) && ROW_PARTS.has(part.name)) : [];
}

/** True when a role may gain access of any kind. Another database or service is none: environments differ by it. */
export function isGaining({ change, parts, operation }: AccessChange): boolean {
  if (operation === 'connect') return false;
  return change === 'granted' || (change === 'changed' && parts.some(mayGain));
}

/** True when a request that was answered may be refused, or answered in another way. What permissions say is seen in the schema of a role. */
export function isBreaking(access: AccessChange): boolean {
  const { change, parts } = access;
  if (!isOfRequests(access)) return false;
  return change === 'revoked' || (change === 'changed' && parts.some(mayLose));
}

function mayLose({ verdict }: AccessPart): boolean {
  return verdict === 'narrower' || verdict === 'other';
}

function mayGain({ verdict }: AccessPart): boolean {
  return verdict === 'wider' || verdict === 'other';
}
