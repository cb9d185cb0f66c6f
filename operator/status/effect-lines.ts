/** The effects of a dry run in the words of `pergola plan`. The public surface of the package for the console.
 *  In: the answer of the engine with `include_effects`. Out: lines. Pure. Not here: the words (decide/access.ts, schema-text.ts). */
import type { AccessChange } from '@pergola/engine/metadata';
import { accessLine } from '../decide/access.ts';
import { readAccess, readEffects } from '../engine/answers.ts';
import { schemaLines } from './schema-text.ts';

/** Returns a line for each change of access, and those about the schemas of roles. Throws UnexpectedAnswer. */
export function effectLines(answer: unknown): readonly string[] {
  const access: readonly AccessChange[] = readAccess(answer);
  const effects = readEffects(answer);
  return [...access.map((change) => accessLine(change, true)), ...(effects ? schemaLines(effects) : [])];
}
