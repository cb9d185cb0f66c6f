/** Text of a rule that was meant to be a session variable and is not: `X-Hasura-Slug`, or `X-Engin-Slug` beside the prefix
 *  `x-engine-`. Taken as text, `{slug: {_neq: "X-Engin-Slug"}}` would admit every row; so such text is refused, unless it is
 *  written as a literal: `{"$literal": "X-Engin-Slug"}`.
 *  Pure. Not here: session variables themselves (session.ts), rules (value.ts, preset-directive.ts). */
import { fail } from '../errors/engine-error.ts';
import { editDistance } from '../errors/nearest.ts';
import { isRecord } from '../json/value.ts';
import { SESSION_PREFIX, sessionVariableOf } from './session.ts';

/** The only key of an object that stands for its value as it is. */
export const LITERAL_KEY = '$literal';

export type Literal = { readonly [LITERAL_KEY]: unknown };

export function isLiteral(value: unknown): value is Literal {
  return isRecord(value) && Object.keys(value).length === 1 && Object.hasOwn(value, LITERAL_KEY);
}

/** Prefixes of the engine itself and of the engine whose metadata it reads. */
const KNOWN_PREFIXES = [SESSION_PREFIX, 'x-hasura-'];

/** A slip of one letter is near; of two in a prefix that is long enough to be told from other words. */
const nearTo = (prefix: string) => (prefix.length < 8 ? 1 : 2);

/** Raises `unknownVariable` for a value of a rule that holds text like the name of a session variable. `prefix`: the engine's
 *  own on the wire. */
export function refuseMistakes(value: unknown, prefix: string): void {
  if (typeof value === 'string') {
    const meant = meantBy(value, prefix);
    if (meant !== undefined) fail('unknownVariable', { text: value, meant });
    return;
  }
  refuseInside(value, prefix);
}

/** Inside a JSON value nothing stands for a session variable, so that its name cannot be meant as text either. */
function refuseInside(value: unknown, prefix: string): void {
  if (typeof value === 'string') {
    const isName = sessionVariableOf(value, prefix) !== undefined || meantBy(value, prefix) !== undefined;
    if (isName) fail('variableInsideJson', { text: value });
  } else if (Array.isArray(value)) for (const item of value) refuseInside(item, prefix);
  else if (isRecord(value)) for (const item of Object.values(value)) refuseInside(item, prefix);
}

/** The session variable that was meant, spelled with the engine's prefix; undefined where the text is like none. */
export function meantBy(text: string, prefix = SESSION_PREFIX): string | undefined {
  if (sessionVariableOf(text, prefix) !== undefined) return undefined;
  const name = text.trim().toLowerCase().replaceAll('_', '-');
  const near = [...new Set([...KNOWN_PREFIXES, prefix])].flatMap((known) => nearness(name, known));
  const [best] = near.toSorted((a, b) => a.distance - b.distance);
  if (!best || (best.rest === '' && best.distance > 0)) return undefined;
  const meant = SESSION_PREFIX + (best.rest || '…');
  return /^\s*[A-Z]/.test(text) ? meant.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase()) : meant;
}

/** Returns how near the start of the name is to the prefix, and the rest of the name. */
function nearness(
  name: string,
  prefix: string,
): readonly { readonly distance: number; readonly rest: string }[] {
  if (name[0] !== prefix[0]) return [];
  const most = nearTo(prefix);
  const lengths = Array.from({ length: 2 * most + 1 }, (_, i) => prefix.length - most + i);
  return lengths.flatMap((length) => {
    const rest = name.slice(length).replace(/^-+/, '');
    const distance = editDistance(name.slice(0, length), prefix);
    return distance <= most ? [{ distance, rest }] : [];
  });
}
