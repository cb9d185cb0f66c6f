/** The changes of access that `--fail-on` refuses. Pure.
 *  `widened`: a role that has a permission reaches more rows: its filter, check or limit became weaker, or differs in a way that is not
 *  decided, or one of them is gone. `granted`: also any other access that a role gains: permissions, columns, operations, presets.
 *  Not here: comparing permissions (engine/metadata/access). */
import type { AccessChange, AccessPart } from '@pergola/engine/metadata';
import type { Decision } from '../decide/decide.ts';
import { ownerOf } from '../decide/decide.ts';
import { accessLine, accessOf } from './access-text.ts';

export const FAIL_ON = ['widened', 'granted'] as const;
export type FailOn = (typeof FAIL_ON)[number];

/** A change that is refused. */
export type RefusedChange = {
  /** The resource, as `Kind namespace/name`. */
  readonly resource: string | undefined;
  readonly key: string;
  /** The change in words. */
  readonly message: string;
};

/** The parts of a permission that decide which rows it reaches, and what may be written to them. */
const ROW_PARTS: ReadonlySet<string> = new Set(['filter', 'check', 'limit', 'validate_input', 'role_set']);

/** Returns the changes of the plan that the level refuses. */
export function refusedChanges(decisions: readonly Decision[], level: FailOn): readonly RefusedChange[] {
  return decisions.flatMap((decision) => {
    const change = accessOf(decision);
    if (change === null || !isRefused(change, level)) return [];
    return [{ resource: ownerOf(decision), key: change.key, message: accessLine(change) }];
  });
}

function isRefused({ change, parts }: AccessChange, level: FailOn): boolean {
  if (change === 'revoked') return false;
  if (change === 'granted') return level === 'granted';
  const gained = parts.filter(mayGain);
  return level === 'granted' ? gained.length > 0 : gained.some(({ name }) => ROW_PARTS.has(name));
}

/** An undecided part counts as gained: what is not known to be narrower may be wider. */
function mayGain({ verdict }: AccessPart): boolean {
  return verdict === 'wider' || verdict === 'other';
}
