/** Walks a value along the marks of its schema and replaces marked values and keys. Parts without a mark are not walked, and a value in which
 *  nothing is replaced is returned itself. Pure, total on any JSON.
 *  Not here: what the marks mean (names.ts, variables.ts). */
import { isRecord, type JsonRecord } from '../json/value.ts';
import { own } from './own.ts';
import { chooseBranch, type JsonSchema, rebuilt } from './walk-schema.ts';

/** A walk with a context, which leads from the outermost value to the marked ones. */
export type MarkWalk<Mark, Context> = {
  readonly marks: Marks<Mark>;
  /** Returns the value that replaces a marked one. */
  readonly visit: (mark: Mark, value: unknown, context: Context) => unknown;
  /** Returns the key that replaces a marked one. */
  readonly key?: (mark: Mark, key: string, context: Context) => string;
  /** Returns the context of the members of an object. */
  readonly enter?: (schema: JsonSchema, value: JsonRecord, context: Context) => Context;
  /** Returns the context of one member or item. */
  readonly step?: (context: Context, key: string | number) => Context;
  /** Returns the members that an object does not have, with the values that they stand for. A value that is replaced becomes a member. */
  readonly absent?: (schema: JsonSchema, value: JsonRecord) => readonly (readonly [string, unknown])[];
};

/** The marks of one kind, under a symbol, and under another one for the keys of records. */
export class Marks<Mark> {
  readonly #mark: symbol;
  readonly #keyMark: symbol | undefined;
  /** True for a schema with a mark in it. Most schemas have none. */
  readonly #isMarked = new WeakMap<JsonSchema, boolean>();

  constructor(mark: symbol, keyMark?: symbol) {
    this.#mark = mark;
    this.#keyMark = keyMark;
  }

  of(schema: JsonSchema): Mark | undefined {
    return (schema as { readonly [key: symbol]: Mark | undefined })[this.#mark];
  }

  ofKeys(schema: JsonSchema): Mark | undefined {
    return this.#keyMark && (schema as { readonly [key: symbol]: Mark | undefined })[this.#keyMark];
  }

  isIn(schema: JsonSchema): boolean {
    const cached = this.#isMarked.get(schema);
    if (cached !== undefined) return cached;
    const { anyOf = [], items, properties = {}, patternProperties = {} } = schema;
    const inner = [...anyOf, ...Object.values(properties), ...Object.values(patternProperties)];
    const isMarked =
      (this.of(schema) ?? this.ofKeys(schema)) !== undefined ||
      (items !== undefined && this.isIn(items)) ||
      inner.some((one) => this.isIn(one));
    this.#isMarked.set(schema, isMarked);
    return isMarked;
  }
}

export function walkMarks<Mark, Context>(
  schema: JsonSchema,
  value: unknown,
  walk: MarkWalk<Mark, Context>,
  context: Context,
): unknown {
  if (!walk.marks.isIn(schema)) return value;
  const mark = walk.marks.of(schema);
  if (mark !== undefined) return walk.visit(mark, value, context);
  const { anyOf, items } = schema;
  if (anyOf) {
    const branch = chooseBranch(anyOf, value);
    return branch ? walkMarks(branch, value, walk, context) : value;
  }
  const inner = (key: string | number) => walk.step?.(context, key) ?? context;
  if (Array.isArray(value)) {
    return items ? mapItems(value, (item, i) => walkMarks(items, item, walk, inner(i))) : value;
  }
  return isRecord(value) ? walkMembers(schema, value, walk, context) : value;
}

function walkMembers<Mark, Context>(
  schema: JsonSchema,
  value: JsonRecord,
  walk: MarkWalk<Mark, Context>,
  outer: Context,
): unknown {
  const context = walk.enter?.(schema, value, outer) ?? outer;
  const [pattern] = Object.values(schema.patternProperties ?? {});
  const keyMark = walk.marks.ofKeys(schema);
  const member = (key: string, item: unknown): readonly [string, unknown] => {
    const field = own(schema.properties, key) ?? pattern;
    const name = keyMark !== undefined && walk.key ? walk.key(keyMark, key, context) : key;
    return [name, field ? walkMarks(field, item, walk, walk.step?.(context, key) ?? context) : item];
  };
  const absent = walk.absent?.(schema, value) ?? [];
  const added = absent
    .map(([key, item]) => member(key, item))
    .filter(([, item], i) => item !== absent[i]![1]);
  return mapEntries(value, member, added);
}

/** Returns the list with each item changed, and the list itself when no item is. */
export function mapItems(
  list: readonly unknown[],
  change: (item: unknown, i: number) => unknown,
): readonly unknown[] {
  const changed = list.map(change);
  return changed.every((item, i) => item === list[i]) ? list : changed;
}

/** Returns the object with each entry changed and others added, and the object itself when nothing differs. */
export function mapEntries(
  value: JsonRecord,
  change: (key: string, item: unknown) => readonly [string, unknown],
  added: readonly (readonly [string, unknown])[] = [],
): JsonRecord {
  return rebuilt(value, [...Object.entries(value).map(([key, item]) => change(key, item)), ...added]);
}
