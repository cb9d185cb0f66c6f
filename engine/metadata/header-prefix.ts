/** Support for a prefix other than `x-engine-` on the wire and in metadata: documents are rewritten where they enter
 *  and leave the engine, so that the code in between has one prefix. Pure: JSON value in, JSON value out; unchanged
 *  parts are shared.
 *  Session variables occur in the values of permission filters, checks and presets, of rate-limit parameters, and of `@preset` in the
 *  schema of a remote schema permission. Other strings (comments, SQL, GraphQL documents) are not rewritten.
 *  Not here: request headers (auth/session-variables.ts). */
import { isRecord } from '../json/value.ts';

const OWN_PREFIX = 'x-engine-';

/** The keys below which a string with the prefix is a session variable. */
const KEYS_WITH_SESSION_VARIABLES: ReadonlySet<string> = new Set(['filter', 'check', 'set', 'unique_params']);

/** Rewrites a document from the prefix of clients to the internal one. */
export function fromWire(document: unknown, prefix: string): unknown {
  return prefix === OWN_PREFIX ? document : rewrite(document, prefix, OWN_PREFIX, false);
}

/** Returns the document with one spelling of each session variable, in the internal prefix: the one in which it comes back from an engine
 *  with this prefix, which reads both. */
export function canonicalPrefix(document: unknown, prefix: string): unknown {
  return fromWire(toWire(document, prefix), prefix);
}

/** Rewrites a document from the internal prefix to that of clients. */
export function toWire(document: unknown, prefix: string): unknown {
  return prefix === OWN_PREFIX ? document : rewrite(document, OWN_PREFIX, prefix, false);
}

/** The keys below which a text is a template or a schema definition whose session variables have the prefix. */
const KEYS_WITH_TEXTS: ReadonlySet<string> = new Set([
  'request_transform',
  'response_transform',
  'connection_template',
  'schema',
]);

/** Renames the session variables of an imported document from one prefix to another: those of permissions, and those that templates of
 *  webhooks and presets of remote schemas mention. */
export function renamePrefix(document: unknown, from: string, to: string): unknown {
  return from === to ? document : renameTexts(rewrite(document, from, to, false), from, to, false);
}

function renameTexts(value: unknown, from: string, to: string, isInside: boolean): unknown {
  if (typeof value === 'string') {
    return isInside ? value.replace(new RegExp(from, 'gi'), (found) => rename(found, from, to)) : value;
  }
  if (Array.isArray(value)) return value.map((item) => renameTexts(item, from, to, isInside));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      renameTexts(item, from, to, isInside || (KEYS_WITH_TEXTS.has(key) && !('name' in value))),
    ]),
  );
}

/** Rewrites every mention of the prefix in a message or an error body, keeping capitals. */
export function textToWire(text: string, prefix: string): string {
  if (prefix === OWN_PREFIX) return text;
  return text.replace(/x-engine-/gi, (mention) => (mention.startsWith('X') ? capitals(prefix) : prefix));
}

function rewrite(value: unknown, from: string, to: string, isInside: boolean): unknown {
  if (typeof value === 'string') return isInside ? rename(value, from, to) : value;
  if (Array.isArray(value)) return value.map((item) => rewrite(item, from, to, isInside));
  if (!isRecord(value)) return value;
  // A literal is not a session variable.
  if (isInside && Object.hasOwn(value, '$literal') && Object.keys(value).length === 1) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      isInside ? rename(key, from, to) : key,
      !isInside && key === 'schema' && typeof item === 'string'
        ? renameInPresets(item, from, to)
        : rewrite(item, from, to, isInside || KEYS_WITH_SESSION_VARIABLES.has(key)),
    ]),
  );
}

/** The tokens of a schema definition that matter here: comments, block strings, strings, the directive and parentheses. */
const SDL_TOKENS = /#[^\n\r]*|"""(?:\\"""|[\s\S])*?"""|"(?:\\.|[^"\\\n\r])*"|@[\s,]*preset\b|[()]/g;

/** Renames the session variables among the arguments of `@preset`. Text that is no schema definition is kept as it is. */
function renameInPresets(sdl: string, from: string, to: string): string {
  if (!sdl.includes('preset')) return sdl;
  let isPreset = false;
  let depth = 0;
  return sdl.replace(SDL_TOKENS, (token) => {
    if (token.startsWith('@')) isPreset = true;
    else if (token === '(' && isPreset) depth++;
    else if (token === ')' && isPreset) isPreset = --depth > 0;
    else if (depth > 0 && token.startsWith('"') && !token.startsWith('"""')) {
      return `"${rename(token.slice(1, -1), from, to)}"`;
    }
    return token;
  });
}

function rename(text: string, from: string, to: string): string {
  if (text.slice(0, from.length).toLowerCase() !== from) return text;
  return (/^[A-Z]/.test(text) ? capitals(to) : to) + text.slice(from.length);
}

/** Capitalizes a prefix: `x-engine-` → `X-Engine-`. */
function capitals(prefix: string): string {
  return prefix.replace(/(^|-)([a-z])/g, (letters) => letters.toUpperCase());
}
