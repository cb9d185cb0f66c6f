/** The changes of access that `--fail-on` refuses. Pure.
 *  `widened`: a role that has a permission reaches more rows: its filter, check or limit became weaker, or differs in a way that is not
 *  decided, or one of them is gone, or an object that it uses changes. `granted`: also any other access that a role gains: permissions, columns,
 *  operations, presets, allowed queries, endpoints, higher limits. `breaking`: the schema of a role that has clients changes so that operations
 *  that were valid are not, or a request that was answered is not. `breaking-in-use`: such a change affects an operation that clients used in
 *  the last days; what is not counted may be one.
 *  Not here: comparing permissions (engine/metadata/access). */
import { type AccessChange, isBreaking, isGaining, wideningParts } from '@pergola/engine/metadata';
import { accessLine, type DecidedAccess } from '../decide/access.ts';
import { ownerOf } from '../decide/decide.ts';
import type { SchemaEffect, SchemaEffects } from '../ports/schema-effects.ts';
import { INCOMPLETE, uncountedText, usersText } from './schema-text.ts';

export const FAIL_ON = ['widened', 'granted', 'breaking', 'breaking-in-use'] as const;
export type FailOn = (typeof FAIL_ON)[number];

/** A change that is refused. */
export type RefusedChange = {
  readonly level: FailOn;
  /** The resource, as `Kind namespace/name`. Absent where several contribute, as to the schema of a role. */
  readonly resource?: string | undefined;
  /** The key of the permission. Absent for the schema of a role. */
  readonly key?: string;
  /** The change in words. */
  readonly message: string;
};

/** Returns the changes of the plan that the levels refuse, each once. */
export function refusedChanges(
  access: readonly DecidedAccess[],
  effects: SchemaEffects,
  levels: readonly FailOn[],
): readonly RefusedChange[] {
  return [
    ...access.flatMap((one) => refusedAccess(one, levels)),
    ...(levels.includes('breaking') ? brokenSchemas(effects) : []),
    ...(levels.includes('breaking-in-use') ? brokenOperations(effects) : []),
  ];
}

function refusedAccess(
  { change, decisions }: DecidedAccess,
  levels: readonly FailOn[],
): readonly RefusedChange[] {
  const level = levels.find((one) => REFUSED[one](change));
  if (!level) return [];
  const [resource, ...others] = new Set(decisions.map(ownerOf));
  const owner = others.length === 0 ? { resource } : {};
  return [{ level, ...owner, key: change.key, message: accessLine(change, true) }];
}

function brokenSchemas({ schemas, isComplete }: SchemaEffects): readonly RefusedChange[] {
  const level = 'breaking';
  const broken = schemas
    .filter(({ breaking }) => breaking > 0)
    .map((effect) => ({ level, message: `${firstText(effect)}${restText(effect.breaking)}` }) as const);
  // A role that was not compared may be one that breaks.
  return isComplete ? broken : [...broken, { level, message: INCOMPLETE }];
}

/** A breaking change that nothing is known about counts as used. */
function brokenOperations(effects: SchemaEffects): readonly RefusedChange[] {
  const level = 'breaking-in-use';
  const { schemas, isComplete, usage } = effects;
  const broken = schemas
    .filter(({ breaking }) => breaking > 0)
    .flatMap((effect) => {
      const reason = inUseText(effect, usage);
      return reason === undefined ? [] : [{ level, message: `${firstText(effect)}${reason}` } as const];
    });
  return isComplete ? broken : [...broken, { level, message: INCOMPLETE }];
}

/** Returns what follows the first breaking change of a role: the operations that use it, or why they are not known; undefined when no operation
 *  uses any breaking change. */
function inUseText(effect: SchemaEffect, usage: SchemaEffects['usage']): string | undefined {
  const { breaking, breakingInUse = 0, changes } = effect;
  const rest = restText(breaking);
  if (!usage) return `${rest}; the engine does not count what clients use (--field-usage-days)`;
  if (usage.since === null)
    return `${rest}; the engine has counted no request in the last ${usage.days} days`;
  const users = changes[0] && usersText(changes[0]);
  if (users !== undefined) return `, used by ${users}${restText(breakingInUse, 'more in use')}`;
  const uncounted = uncountedText(effect);
  return uncounted === undefined ? undefined : `${rest}; ${uncounted}`;
}

function firstText({ role, changes }: SchemaEffect): string {
  return `the schema of ${role}: ${(changes[0]?.description ?? 'it changes').replace(/\.$/, '')}`;
}

function restText(count: number, more = 'more'): string {
  return count > 1 ? `; and ${count - 1} ${more}` : '';
}

/** The changes of access that each level refuses. */
const REFUSED: Readonly<Record<FailOn, (change: AccessChange) => boolean>> = {
  widened: (change) => wideningParts(change).length > 0,
  granted: isGaining,
  breaking: isBreaking,
  // Requests are counted by the fields that they use, so whether anybody sends these is not known.
  'breaking-in-use': isBreaking,
};
