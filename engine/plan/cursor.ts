/** `after` and `before`: the cursors that bound a page. A cursor is the JSON object of a row's values in the columns of the
 *  order, by the names they have in `order_by`: `{"author": {"name": "Ada"}, "id": 1}`. Its values become parameters; the plan
 *  depends only on which of them are null. Raises `validationFailed` for a text that is not a cursor of this order, at the
 *  arguments as a whole, like the reference. Not here:
 *  cursors in responses (sql/connection.ts). Reference: docs/reference/behaviour/relay.md. */
import { fail } from '../errors/engine-error.ts';
import { isRecord, type JsonRecord, nameOfJson } from '../json/value.ts';
import type { Leaf, LeafValue } from '../resolve/predicate.ts';
import type { PlanContext } from './context.ts';
import type { Input } from './input.ts';
import { opened, wrongKind } from './opaque.ts';
import type { ConnectionPage } from './query-types.ts';
import { textOf } from './scalar-value.ts';

/** Returns one value per key of the order; null when the row of the cursor has none. */
export function planCursor(
  { from }: Extract<Input, { kind: 'leaf' }>,
  keys: ConnectionPage['keys'],
  context: PlanContext,
): readonly (Leaf | null)[] {
  const cursor = cursorOf(from.value);
  if (from.kind === 'variable') context.facets.set(from.path[0] as string, facetOf);
  return keys.map(({ names, type, isNullable }): Leaf | null => {
    const value = valueIn(cursor, names);
    if (value === undefined) return invalid();
    if (value === null) return isNullable ? null : invalid();
    const wrong = wrongKind(value, type);
    if (wrong !== null) return fail('validationFailed', { text: wrong });
    return from.kind === 'variable'
      ? { kind: 'variable', path: from.path, within: names, type }
      : { kind: 'constant', value: textOf(value, type) as LeafValue, type };
  });
}

function valueIn(cursor: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>(
    (value, name) => (isRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    cursor,
  );
}

/** Returns the facet of a cursor: which values it has, and their JSON types. Planning reports what is wrong with it. */
function facetOf(value: unknown): string {
  return value === undefined || value === null ? '-' : outline(opened(String(value)), 0);
}

const MOST_LEVELS = 20;

function outline(value: unknown, level: number): string {
  if (!isRecord(value) || level > MOST_LEVELS) return value === undefined ? '?' : nameOfJson(value);
  const members = Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}:${outline(v, level + 1)}`);
  return `{${members.join(',')}}`;
}

function cursorOf(given: unknown): JsonRecord {
  const cursor = opened(String(given));
  return isRecord(cursor) ? cursor : invalid();
}

function invalid(): never {
  return fail('validationFailed', { text: 'the "after" or "before" cursor is invalid' });
}
