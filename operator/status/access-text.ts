/** The effect of a planned change on access, in words for people who review it. Pure.
 *  Not here: comparing permissions (engine/metadata/access). */
import {
  type AccessChange,
  type AccessPart,
  type AccessVerdict,
  accessChange,
} from '@pergola/engine/metadata';
import type { Decision } from '../decide/decide.ts';

const EFFECTS: Readonly<Record<AccessVerdict, string>> = {
  wider: 'reaches more',
  narrower: 'reaches less',
  other: 'reaches something else; whether more or less is not decided',
  same: 'reaches the same',
};

/** Returns what a decision changes for the role of a permission; null for other objects and when access stays the same. */
export function accessOf({ action, key, live, claim }: Decision): AccessChange | null {
  const after = action === 'delete' ? undefined : claim?.object.definition;
  return accessChange(key, live?.definition, after);
}

/** Returns one line for the change: `reader reaches more: filter: id is 1 → all rows`. */
export function accessLine({ role, change, operation, on, verdict, parts }: AccessChange): string {
  const details = parts.map(partWords).join('; ');
  if (change === 'revoked') return `${role} may no longer ${operation} ${on}`;
  if (change === 'granted') return `${role} may ${operation} ${on}${details && `: ${details}`}`;
  return `${role} ${EFFECTS[verdict]}: ${details}`;
}

function partWords({ name, before, after }: AccessPart): string {
  return before === null ? `${name}: ${after}` : `${name}: ${before} → ${after}`;
}
