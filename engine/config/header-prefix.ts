/** Another prefix than `x-engine-` on the wire and in metadata: rewritten where documents enter and leave, so that
 *  everything between knows one prefix only. Pure: JSON value in, JSON value out, untouched parts shared.
 *  Session variables occur in the values of permission filters, checks and presets and of rate-limit parameters;
 *  strings elsewhere (comments, SQL, GraphQL documents) are none of our business.
 *  Not here: request headers (auth/session-variables.ts). */
import { isRecord } from '../json/value.ts';

export const OWN_PREFIX = 'x-engine-';

/** Keys below which a string that starts with the prefix is a session variable. */
const KEYS_WITH_SESSION_VARIABLES: ReadonlySet<string> = new Set(['filter', 'check', 'set', 'unique_params']);

/** A document as clients of `prefix` write it → as the engine knows it. */
export function fromWire(document: unknown, prefix: string): unknown {
  return prefix === OWN_PREFIX ? document : rewrite(document, prefix, OWN_PREFIX, false);
}

/** The engine's own document → as clients of `prefix` expect it. */
export function toWire(document: unknown, prefix: string): unknown {
  return prefix === OWN_PREFIX ? document : rewrite(document, OWN_PREFIX, prefix, false);
}

/** A message or an error body: every mention of the prefix, capitals where they were. */
export function textToWire(text: string, prefix: string): string {
  if (prefix === OWN_PREFIX) return text;
  return text.replace(/x-engine-/gi, (mention) => (mention.startsWith('X') ? capitals(prefix) : prefix));
}

function rewrite(value: unknown, from: string, to: string, isInside: boolean): unknown {
  if (typeof value === 'string') return isInside ? rename(value, from, to) : value;
  if (Array.isArray(value)) return value.map((item) => rewrite(item, from, to, isInside));
  if (!isRecord(value)) return value;
  // What is written as a literal is no session variable.
  if (isInside && Object.hasOwn(value, '$literal') && Object.keys(value).length === 1) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      isInside ? rename(key, from, to) : key,
      rewrite(item, from, to, isInside || KEYS_WITH_SESSION_VARIABLES.has(key)),
    ]),
  );
}

function rename(text: string, from: string, to: string): string {
  if (text.slice(0, from.length).toLowerCase() !== from) return text;
  return (/^[A-Z]/.test(text) ? capitals(to) : to) + text.slice(from.length);
}

/** `x-engine-` → `X-Engine-`. */
function capitals(prefix: string): string {
  return prefix.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase());
}
