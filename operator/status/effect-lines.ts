/** The effects of a dry run in words for the forms of the console. The public surface of the package for the console.
 *  In: the answer of the engine with `include_effects`. Out: lines. Pure. Not here: the words that `pergola plan` has, too (decide/access.ts,
 *  schema-text.ts). */
import { type AccessChange, isBreaking, isGaining } from '@pergola/engine/metadata';
import { accessLine } from '../decide/access.ts';
import { readAccess, readEffects } from '../engine/answers.ts';
import type { SchemaEffect } from '../ports/schema-effects.ts';
import { markedSchemaLines } from './schema-text.ts';

/** A line about what a change means. */
export type EffectLine = {
  readonly text: string;
  /** True when a role may gain access, or a client may break. */
  readonly isWarning: boolean;
};

/** Returns a line for each change of access, and those about the schemas of roles. Throws UnexpectedAnswer. */
export function effectLines(answer: unknown): readonly EffectLine[] {
  const access: readonly AccessChange[] = readAccess(answer);
  const effects = readEffects(answer);
  const schemas = effects ? markedSchemaLines(effects, headOf) : [];
  return [
    ...access.map((change) => ({
      text: accessLine(change, true),
      isWarning: isGaining(change) || isBreaking(change),
    })),
    ...schemas.map(({ text, isBreaking: breaks }) => ({ text: text.trim(), isWarning: breaks })),
  ];
}

/** Returns the numbers of changes of a schema as a sentence: `the schema of reader: 1 change breaks clients, 5 changes break nothing`. */
function headOf({ role, breaking, dangerous, safe, breakingInUse = 0 }: SchemaEffect): string {
  const inUse = breakingInUse > 0 ? ` (${breakingInUse} in use)` : '';
  const counts = [
    [breaking, `breaks clients${inUse}`, `break clients${inUse}`],
    [dangerous, 'may surprise clients', 'may surprise clients'],
    [safe, 'breaks no client', 'break no client'],
  ] as const;
  const parts = counts
    .filter(([count]) => count > 0)
    .map(([count, one, many]) => (count === 1 ? `1 change ${one}` : `${count} changes ${many}`));
  return `the schema of ${role}: ${parts.join(', ')}`;
}
