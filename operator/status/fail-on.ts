/** The changes of access that `--fail-on` refuses. Pure.
 *  `widened`: a role that has a permission reaches more rows: its filter, check or limit became weaker, or differs in a way that is not
 *  decided, or one of them is gone. `granted`: also any other access that a role gains: permissions, columns, operations, presets.
 *  `breaking`: the schema of a role that has clients changes so that operations that were valid are not.
 *  Not here: comparing permissions (engine/metadata/access). */
import type { AccessChange, AccessPart } from '@pergola/engine/metadata';
import { type Decision, ownerOf } from '../decide/decide.ts';
import type { SchemaEffects } from '../ports.ts';
import { accessLine, accessOf } from './access-text.ts';
import { INCOMPLETE } from './schema-text.ts';

export const FAIL_ON = ['widened', 'granted', 'breaking'] as const;
export type FailOn = (typeof FAIL_ON)[number];

/** A change that is refused. */
export type RefusedChange = {
  readonly level: FailOn;
  /** The resource, as `Kind namespace/name`, and the key of its object. Absent for the schema of a role, to which many contribute. */
  readonly resource?: string | undefined;
  readonly key?: string;
  /** The change in words. */
  readonly message: string;
};

/** The parts of a permission that decide which rows it reaches, and what may be written to them. */
const ROW_PARTS: ReadonlySet<string> = new Set(['filter', 'check', 'limit', 'validate_input', 'role_set']);

/** Returns the changes of the plan that the levels refuse, each once. */
export function refusedChanges(
  decisions: readonly Decision[],
  effects: SchemaEffects,
  levels: readonly FailOn[],
): readonly RefusedChange[] {
  const access = decisions.flatMap((decision) => {
    const change = accessOf(decision);
    const level = change && levels.find((one) => isRefused(change, one));
    if (!change || !level) return [];
    return [{ level, resource: ownerOf(decision), key: change.key, message: accessLine(change) }];
  });
  return [...access, ...(levels.includes('breaking') ? brokenSchemas(effects) : [])];
}

function brokenSchemas({ schemas, isComplete }: SchemaEffects): readonly RefusedChange[] {
  const level = 'breaking';
  const broken = schemas
    .filter(({ breaking }) => breaking > 0)
    .map(({ role, breaking, changes }) => {
      const first = (changes[0]?.description ?? 'it changes').replace(/\.$/, '');
      const rest = breaking > 1 ? `; and ${breaking - 1} more` : '';
      return { level, message: `the schema of ${role}: ${first}${rest}` } as const;
    });
  // A role that was not compared may be one that breaks.
  return isComplete ? broken : [...broken, { level, message: INCOMPLETE }];
}

function isRefused({ change, parts }: AccessChange, level: FailOn): boolean {
  if (level === 'breaking') return false;
  if (change === 'revoked') return false;
  if (change === 'granted') return level === 'granted';
  const gained = parts.filter(mayGain);
  return level === 'granted' ? gained.length > 0 : gained.some(({ name }) => ROW_PARTS.has(name));
}

/** An undecided part counts as gained: what is not known to be narrower may be wider. */
function mayGain({ verdict }: AccessPart): boolean {
  return verdict === 'wider' || verdict === 'other';
}
