/** Leaves × session × request variables → the values a statement is run with, all as text (or arrays of text).
 *  Variables have been validated (plan/variables.ts), so only a session variable can be wrong here: it did not come
 *  (`missingSessionVariable`), or is no GeoJSON where one is needed (`dataException`). */
import { sessionSetting } from '../database/session-settings.ts';
import { fail, type PathStep } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import type { SpanContext } from '../observe/span.ts';
import type { Variables } from '../plan/literal.ts';
import { opened } from '../plan/opaque.ts';
import { arrayForm, textOf, textProblem } from '../plan/scalar-value.ts';
import { patternCost } from '../resolve/pattern-cost.ts';
import type { Leaf } from '../resolve/predicate.ts';
import type { Session } from '../resolve/session.ts';
import { arrayLiteral } from '../wire/encode.ts';
import type { Column, Row, Value } from '../wire/statement.ts';

/** The origins of the values of one statement. */
export type Binding = {
  readonly session: Session;
  readonly variables: Variables;
  /** The trace of the request, for triggers. */
  readonly trace?: SpanContext | null;
  /** Rows the mutation has just written, in Postgres's text form; null when there are none. */
  readonly written?: Column;
  readonly affectedRows?: number;
  /** Values of other sources that were read for the statement (fetched.ts). */
  readonly fetched?: ReadonlyMap<Leaf, Value>;
  /** The row that each step of nested writes has written. */
  readonly inserted?: readonly Row[];
};

export function bind(parameters: readonly Leaf[], binding: Binding): Value[] {
  let cost = 0;
  return parameters.map((leaf) => {
    const value = listed(bindLeaf(leaf, binding), leaf.type);
    if (!('pattern' in leaf) || leaf.pattern === undefined) return value;
    if (leaf.pattern === 'like') refuseUnfinishedPattern(value);
    cost += costOfPatterns(value, leaf.pattern);
    if (cost > 1) fail('patternTooComplex', {}, { path: pathOf(leaf) });
    return value;
  });
}

/** Returns the cost of a pattern, or of those in a list. */
function costOfPatterns(value: Value, language: Parameters<typeof patternCost>[1]): number {
  if (value === null) return 0;
  if (!Array.isArray(value)) return patternCost(String(value), language);
  return value.reduce<number>((sum, item) => sum + costOfPatterns(item, language), 0);
}

/** Returns the path of a value among the variables of a request. A value of a document is refused before, with its own path. */
function pathOf(leaf: Leaf): readonly PathStep[] {
  return leaf.kind === 'variable' ? ['variables', ...leaf.path] : [];
}

/** Raises for a pattern that ends with the escape character. Postgres would raise only if a row matches the text before it, which
 *  would reveal rows that the role does not see. PostgreSQL manual, "LIKE". */
function refuseUnfinishedPattern(value: Value): void {
  const pattern = String(value ?? '');
  let end = pattern.length;
  while (pattern[end - 1] === '\\') end -= 1;
  if ((pattern.length - end) % 2 === 1)
    fail('badRequest', { text: 'LIKE pattern must not end with escape character' });
}

/** Returns the form in which a list is sent. A list of arrays is one of their texts: Postgres would take it for an array of two dimensions.
 *  A list of boxes is a text, because their delimiter is not that of other types. */
function listed(value: Value, type: Leaf['type']): Value {
  const form = Array.isArray(value) ? arrayForm(type) : null;
  if (!Array.isArray(value) || !form) return value;
  const { delimiter, isOfArrays } = form;
  if (isOfArrays) return value.map((item) => (Array.isArray(item) ? arrayLiteral(item, delimiter) : item));
  return delimiter === ',' ? value : arrayLiteral(value, delimiter);
}

function bindLeaf(leaf: Leaf, binding: Binding): Value {
  switch (leaf.kind) {
    case 'constant':
      return leaf.value;
    case 'session':
      return sessionValue(leaf, binding.session);
    case 'variable':
      return textOf(meant(valueOfLeaf(leaf, binding.variables), leaf.meaning), leaf.type);
    case 'list':
      return leaf.items.map((item) => bindLeaf(item, binding));
    case 'fetched':
      return binding.fetched?.get(leaf) ?? fail('notSupported', { text: NOT_FETCHED });
    case 'session-variables':
      return JSON.stringify(binding.session.variables);
    case 'session-setting':
      return sessionSetting(leaf.setting, binding.session, binding.trace ?? null);
    case 'stream-cursor':
      return bindLeaf(leaf.initial, binding);
    case 'written':
      return binding.written ?? null;
    case 'affected-rows':
      return String(binding.affectedRows ?? 0);
    case 'inserted':
      return binding.inserted?.[leaf.step]?.[leaf.kept] ?? null;
    default:
      return leaf satisfies never;
  }
}

/** Returns the value of a session variable. A list in JSON (`["1","2"]`), the form of array claims, is an array as well as one in the
 *  notation of Postgres (`{1,2}`). Values of PostGIS types are validated, because PostGIS reports them as internal errors. */
function sessionValue({ variable, type }: Extract<Leaf, { kind: 'session' }>, session: Session): Value {
  const text = sessionVariable(variable, session);
  const list = (type.base ?? type).element ? jsonList(text) : null;
  if (list) return textOf(list, type);
  const problem = textProblem(text, type);
  return problem ? fail('dataException', { text: `session variable "${variable}": ${problem}` }) : text;
}

const NOT_FETCHED =
  'a permission with a remote relationship does not apply here, for example in subscriptions';

function jsonList(text: string): readonly unknown[] | null {
  if (!text.trimStart().startsWith('[')) return null;
  try {
    const parsed = parseJson(text);
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    // Postgres's notation may begin with the bounds of an array.
    return null;
  }
}

function sessionVariable(name: string, { variables }: Session): string {
  return Object.hasOwn(variables, name) ? variables[name]! : fail('missingSessionVariable', { name });
}

/** An enum's names, replaced by what they stand for. */
function meant(value: unknown, meaning: ReadonlyMap<string, string> | undefined): unknown {
  if (!meaning) return value;
  return Array.isArray(value)
    ? value.map((item) => meant(item, meaning))
    : (meaning.get(value as string) ?? value);
}

function valueOfLeaf(leaf: Extract<Leaf, { kind: 'variable' }>, variables: Variables): unknown {
  const value = valueAt(leaf.path, variables);
  return leaf.within ? valueAt(leaf.within, opened(String(value))) : value;
}

function valueAt(path: readonly PathStep[], within: unknown): unknown {
  let value = within;
  for (const step of path) value = (value as Record<PathStep, unknown> | null | undefined)?.[step];
  return value;
}
