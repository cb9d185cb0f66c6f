/** Walks a value along the marks of its schema and replaces marked values and keys. Parts without a mark are not walked, and a value in which
 *  nothing is replaced is returned itself. Pure, total on any JSON.
 *  Not here: what the marks mean (names.ts, variables.ts). */
import { isRecord, type JsonRecord } from '../json/value.ts';
import { chooseBranch, type JsonSchema } from './walk-schema.ts';

/** A walk with a context, which leads from the outermost value to the marked ones. */
export type MarkWalk<Mark, Context> = {
  readonly marks: Marks<Mark>;
  /** Returns the value that replaces a marked one. */
  readonly visit: (mark: Mark, value: unknown, context: Context) => unknown;
  /** Returns the key that replaces a marked one. */
  readonly key?: (mark: Mark, key: string, context: Context) => string;
  /** Returns what a missing member with a mark stands for. If it is replaced, it becomes a member. */
  readonly absent?: (mark: Mark) => unknown;
  /** True for an item of a list that is kept as it is. */
  readonly isKept?: (item: unknown, context: Context) => boolean;
  /** Returns the context of the members of an object. */
  readonly enter?: (schema: JsonSchema, value: JsonRecord, context: Context) => Context;
  /** Returns the context of one member or item. */
  readonly step?: (context: Context, key: string | number) => Context;
};

/** The marks under a symbol, and under another one for the keys of records. */
export class Marks<Mark> {
  readonly #mark: symbol;
  readonly #keyMark: symbol | undefined;
  readonly #isMarked = new WeakMap<JsonSchema, boolean>();
  readonly #members = new WeakMap<JsonSchema, readonly (readonly [string, JsonSchema])[]>();

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

  /** True for a schema with a mark in it. Most have none. */
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

  /** Returns the members of an object schema with a mark in them. */
  membersOf(schema: JsonSchema): readonly (readonly [key: string, schema: JsonSchema])[] {
    const cached = this.#members.get(schema);
    if (cached) return cached;
    const members = Object.entries(schema.properties ?? {}).filter(([, field]) => this.isIn(field));
    this.#members.set(schema, members);
    return members;
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
  if (Array.isArray(value)) {
    if (!items) return value;
    return mapItems(value, (item, i) =>
      walk.isKept?.(item, context) ? item : walkMarks(items, item, walk, walk.step?.(context, i) ?? context),
    );
  }
  if (!isRecord(value)) return value;
  return schema.patternProperties
    ? walkRecord(schema, value, walk, context)
    : walkObject(schema, value, walk, walk.enter?.(schema, value, context) ?? context);
}

function walkRecord<Mark, Context>(
  schema: JsonSchema,
  value: JsonRecord,
  walk: MarkWalk<Mark, Context>,
  context: Context,
): JsonRecord {
  const [pattern] = Object.values(schema.patternProperties ?? {});
  const mark = walk.marks.ofKeys(schema);
  return mapEntries(value, (key, item) => [
    mark !== undefined && walk.key ? walk.key(mark, key, context) : key,
    pattern ? walkMarks(pattern, item, walk, walk.step?.(context, key) ?? context) : item,
  ]);
}

function walkObject<Mark, Context>(
  schema: JsonSchema,
  value: JsonRecord,
  walk: MarkWalk<Mark, Context>,
  context: Context,
): JsonRecord {
  const changed: [string, unknown][] = [];
  for (const [key, field] of walk.marks.membersOf(schema)) {
    const mark = walk.absent && walk.marks.of(field);
    const item = Object.hasOwn(value, key) ? value[key] : mark && walk.absent?.(mark);
    if (item === undefined) continue;
    const next = walkMarks(field, item, walk, walk.step?.(context, key) ?? context);
    if (next !== item) changed.push([key, next]);
  }
  return changed.length === 0 ? value : { ...value, ...Object.fromEntries(changed) };
}

/** Returns the list with each item changed, and the list itself when no item is. */
export function mapItems(
  list: readonly unknown[],
  change: (item: unknown, i: number) => unknown,
): readonly unknown[] {
  const changed = list.map(change);
  return changed.every((item, i) => item === list[i]) ? list : changed;
}

/** Returns the object with each entry changed, and the object itself when none is. */
export function mapEntries(
  value: JsonRecord,
  change: (key: string, item: unknown) => readonly [string, unknown],
): JsonRecord {
  let isSame = true;
  const entries = Object.entries(value).map(([key, item]) => {
    const entry = change(key, item);
    if (entry[0] !== key || entry[1] !== item) isSame = false;
    return entry;
  });
  return isSame ? value : Object.fromEntries(entries);
}
