/** `after` and `before`: where a page begins or ends. A cursor is the JSON object of a row's values in the order's columns,
 *  by the names they have in `order_by`: `{"author": {"name": "Ada"}, "id": 1}`. Its values are bound; which of them are null
 *  decides the plan. Raises `validationFailed` for what is no cursor of this order.
 *  Not here: cursors in answers (sql/connection.ts). Reference: docs/reference/behaviour/relay.md. */
import { fail } from '../errors/engine-error.ts';
import { isRecord, type JsonRecord } from '../json/value.ts';
import type { Leaf, LeafValue } from '../resolve/predicate.ts';
import type { PlanContext } from './context.ts';
import type { Input } from './input.ts';
import { opened } from './opaque.ts';
import type { Connection } from './query-types.ts';
import { textOf } from './scalar-value.ts';

/** A value each key, null where the cursor's row has none. */
export function planCursor(
  { from }: Extract<Input, { kind: 'leaf' }>,
  keys: Connection['keys'],
  context: PlanContext,
): readonly (Leaf | null)[] {
  const cursor = cursorOf(from.value);
  if (from.kind === 'variable') context.document.facets.set(from.path[0] as string, facetOf);
  return keys.map(({ names, type, isNullable }): Leaf | null => {
    const value = valueIn(cursor, names);
    if (value === undefined) return invalid();
    if (value === null) return isNullable ? null : invalid();
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

/** Which values there are, and which are null. */
function facetOf(value: unknown): string {
  return value === undefined || value === null ? '-' : outline(cursorOf(value), 0);
}

const MOST_LEVELS = 20;

function outline(value: unknown, level: number): string {
  if (value === null) return 'n';
  if (!isRecord(value) || level > MOST_LEVELS) return 's';
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
