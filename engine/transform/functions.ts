/** FUNCTIONS: the functions of templates, each of one JSON value. A function throws FunctionProblem for an unsuitable argument, and
 *  evaluate.ts adds the position. Reference: docs/reference/behaviour/actions.md.
 *  Not here: `getSessionVariable`, which depends on the request (request.ts). */
import { nearestNumber } from '../json/number.ts';
import { isRecord, nameOfJson } from '../json/value.ts';

export class FunctionProblem extends Error {}

type TemplateFunction = (value: unknown) => unknown;

export const FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map<string, TemplateFunction>([
  ['not', (value) => !boolean(value)],
  ['escapeUri', (value) => escapeUri(text(value))],
  ['empty', isEmpty],
  ['size', sizeOf],
  ['inverse', inverse],
  ['head', (value) => first(value)],
  ['tail', (value) => (typeof value === 'string' ? [...value].slice(1).join('') : sequence(value).slice(1))],
  ['toCaseFold', (value) => text(value).toLowerCase()],
  ['toLower', (value) => text(value).toLowerCase()],
  ['toUpper', (value) => text(value).toUpperCase()],
  ['toTitle', (value) => toTitle(text(value))],
  ['fromPairs', (value) => Object.fromEntries(list(value).map(pair))],
  ['toPairs', (value) => Object.entries(object(value))],
  ['removeNulls', (value) => list(value).filter((item) => item !== null)],
  ['concat', concat],
]);

/** Matches everything except the unreserved characters of RFC 3986. */
function escapeUri(value: string): string {
  const escaped = encodeURIComponent(value.toWellFormed());
  return escaped.replaceAll(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'boolean') throw new FunctionProblem('Cannot define emptiness for a boolean');
  if (typeof value === 'string') return value.trim() === '';
  return sizeOf(value) === 0;
}

function sizeOf(value: unknown): number {
  if (value === null) return 0;
  if (typeof value === 'string') return [...value].length;
  const isCollection = Array.isArray(value) || isRecord(value);
  return isCollection ? Object.keys(value).length : Number(nearestNumber(value));
}

function inverse(value: unknown): unknown {
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'string') return [...value].reverse().join('');
  if (Array.isArray(value)) return value.toReversed();
  const number = nearestNumber(value);
  if (typeof number !== 'number') return value;
  if (number === 0) throw new FunctionProblem('Zero has no inverse');
  return 1 / number;
}

function first(value: unknown): unknown {
  const items = typeof value === 'string' ? [...value] : sequence(value);
  if (items.length > 0) return items[0];
  throw new FunctionProblem(typeof value === 'string' ? 'Empty string' : 'Empty array');
}

function toTitle(value: string): string {
  return value.replaceAll(/(\p{L})([\p{L}\p{M}]*)/gu, (_, initial: string, rest: string) => {
    return initial.toUpperCase() + rest.toLowerCase();
  });
}

/** Concatenates lists, texts or objects, all of one kind. The last of equal keys wins. */
function concat(value: unknown): unknown {
  const items = list(value);
  if (items.every(Array.isArray)) return items.flat();
  if (items.every((item) => typeof item === 'string')) return items.join('');
  return Object.fromEntries(items.flatMap((item) => Object.entries(object(item))));
}

function pair(value: unknown): readonly [string, unknown] {
  if (Array.isArray(value) && value.length === 2 && typeof value[0] === 'string') return [value[0], value[1]];
  throw new FunctionProblem('Expected an array of shape [ [k1,v1], [k2,v2] ... ] - With String keys.');
}

function boolean(value: unknown): boolean {
  return typeof value === 'boolean' ? value : refuse('a boolean', value);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : refuse('a string', value);
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : refuse('an array', value);
}

function sequence(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : refuse('an array or string', value);
}

function object(value: unknown): object {
  return nameOfJson(value) === 'Object' ? (value as object) : refuse('an object', value);
}

function refuse(expected: string, value: unknown): never {
  throw new FunctionProblem(`Expected ${expected}, but encountered ${nameOfJson(value)}`);
}
