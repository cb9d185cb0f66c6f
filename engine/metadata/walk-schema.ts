/** Walks a value along its JSON Schema and rewrites it: used by normal form and export.
 *  The result has the keys of the schema, in the order of the schema or of the value; unknown keys are dropped unless the schema is open.
 *  Invalid values are returned as they are. Pure, total.
 *  Not here: the rewrites (normal-form.ts, export.ts), validation (validate.ts). */
import { isNumber, nearestNumber } from '../json/number.ts';
import { isRecord, isSameJson, type JsonRecord } from '../json/value.ts';
import type { CHOICE_MARK } from './schema/common.ts';
import type { TSchema } from './schema/type.ts';

/** The part of JSON Schema that our models use. */
export type JsonSchema = {
  readonly type?: string;
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly [CHOICE_MARK]?: readonly string[];
};

/** Returns the JSON Schema that a TypeBox value is; its own types do not say so. */
export function asJsonSchema(schema: TSchema): JsonSchema {
  return schema as JsonSchema;
}

/** The rewrite of the values of an object schema, by its `properties`, which a schema shares with its optional form. */
export type Rewrites = ReadonlyMap<unknown, (value: unknown) => unknown>;

export type Rules = {
  /** Rewrites before the walk: lenient forms. */
  readonly before?: Rewrites;
  /** Rewrites after the walk: printed forms. */
  readonly after?: Rewrites;
  /** Values that are equivalent to a missing key, by `properties` of the object schema. */
  readonly defaults?: ReadonlyMap<unknown, JsonRecord>;
  /** True when null and empty collections of optional properties are kept. */
  readonly keepsEmpty?: boolean;
  /** Returns the keys of a value in order, by `properties` of the object schema; without it they are in the order of the schema. */
  readonly order?: (properties: unknown, keys: readonly string[]) => readonly string[];
  /** True for a value that is kept as it is, by `properties` of the object schema. */
  readonly isKept?: (properties: unknown, value: JsonRecord) => boolean;
  /** Keys besides those of the schema, by `properties` of the object schema. */
  readonly keys?: ReadonlyMap<unknown, readonly string[]>;
  /** The results of earlier walks, for values of these `properties`: the same value has an identical result. */
  readonly cache?: { readonly of: ReadonlySet<unknown>; readonly results: WeakMap<object, unknown> };
};

export type RewriteRow = readonly [
  schema: { readonly properties?: unknown },
  rewrite: (value: JsonRecord) => JsonRecord,
];

export function rewriting(rows: readonly RewriteRow[]): Rewrites {
  return new Map(
    rows.map(([schema, rewrite]) => [
      schema.properties,
      (value: unknown) => (isRecord(value) ? rewrite(value) : value),
    ]),
  );
}

/** Returns the rewritten value. A value that needs no change is returned itself, as most of a stored document is. */
export function walkSchema(schema: JsonSchema, value: unknown, rules: Rules): unknown {
  if (schema.anyOf) {
    const branch = chooseBranch(schema.anyOf, value);
    return branch ? walkSchema(branch, value, rules) : value;
  }
  if (schema.type === 'array') {
    const { items } = schema;
    return Array.isArray(value) && items ? walkList(items, value, rules) : value;
  }
  if (isNumeric(schema)) return nearestNumber(value);
  if (schema.patternProperties) return walkRecord(schema, value, rules);
  if (!schema.properties) return value;
  if (isRecord(value) && rules.isKept?.(schema.properties, value)) return value;
  if (!rules.cache?.of.has(schema.properties) || !isRecord(value)) return walkMembers(schema, value, rules);
  const { results } = rules.cache;
  if (!results.has(value)) results.set(value, walkMembers(schema, value, rules));
  return results.get(value);
}

function walkMembers(schema: JsonSchema, value: unknown, rules: Rules): unknown {
  const rewritten = rules.before?.get(schema.properties)?.(value) ?? value;
  if (!isRecord(rewritten)) return rewritten;
  const walked = walkObject(schema, rewritten, rules);
  return rules.after?.get(schema.properties)?.(walked) ?? walked;
}

/** Returns the branch of a union that a value is meant to be: the first one it fits without nested values, else the first of its JSON
 *  type. */
export function chooseBranch(branches: readonly JsonSchema[], value: unknown): JsonSchema | undefined {
  return (
    branches.find((branch) => fits(branch, value)) ??
    branches.find((branch) => branch.const === undefined && hasType(branch, value))
  );
}

function walkList(items: JsonSchema, list: readonly unknown[], rules: Rules): readonly unknown[] {
  if (isPlain(items)) return list;
  const walked = list.map((item) => walkSchema(items, item, rules));
  return walked.every((item, i) => item === list[i]) ? list : walked;
}

/** True for texts, booleans and constants, which have one form. */
function isPlain(schema: JsonSchema): boolean {
  const { type, anyOf, properties, patternProperties } = schema;
  return !anyOf && !properties && !patternProperties && type !== 'array' && !isNumeric(schema);
}

/** True for numbers that the engine computes with. Other numbers keep their text. */
function isNumeric({ type }: JsonSchema): boolean {
  return type === 'integer' || type === 'number';
}

function walkRecord(schema: JsonSchema, value: unknown, rules: Rules): unknown {
  const [pattern] = Object.values(schema.patternProperties ?? {});
  if (!isRecord(value) || !pattern) return value;
  const walked = Object.entries(value).map(([key, v]) => [key, walkSchema(pattern, v, rules)] as const);
  return isMadeOf(value, walked) ? value : Object.fromEntries(walked);
}

function walkObject(schema: JsonSchema, value: JsonRecord, rules: Rules): JsonRecord {
  const defaults = rules.defaults?.get(schema.properties);
  const walked: (readonly [string, unknown])[] = [];
  for (const key in schema.properties) {
    if (!Object.hasOwn(value, key)) continue;
    const isRequired = schema.required?.includes(key) === true;
    const inner = walkProperty(schema.properties[key]!, value[key], isRequired, rules);
    const isAbsent =
      inner === undefined || (defaults?.[key] !== undefined && isSameJson(inner, defaults[key]));
    if (!isAbsent) walked.push([key, inner]);
  }
  for (const key of rules.keys?.get(schema.properties) ?? []) {
    if (Object.hasOwn(value, key)) walked.push([key, value[key]]);
  }
  if (schema.additionalProperties === true) {
    walked.push(...Object.entries(value).filter(([key]) => !Object.hasOwn(schema.properties ?? {}, key)));
  }
  const ordered = rules.order ? arranged(walked, rules.order(schema.properties, Object.keys(value))) : walked;
  return isMadeOf(value, ordered) ? value : Object.fromEntries(ordered);
}

function arranged<T>(entries: readonly (readonly [string, T])[], keys: readonly string[]) {
  const positions = new Map(keys.map((key, i) => [key, i]));
  return entries.toSorted(([a], [b]) => positions.get(a)! - positions.get(b)!);
}

/** True when the object has these keys with identical values in this order. */
function isMadeOf(value: JsonRecord, entries: readonly (readonly [string, unknown])[]): boolean {
  const keys = Object.keys(value);
  return (
    keys.length === entries.length &&
    entries.every(([key, inner], i) => key === keys[i] && inner === value[key])
  );
}

/** Returns the rewritten property. Without `keepsEmpty` it is undefined for null and empty collections of an optional property, which
 *  are equivalent to a missing one. */
function walkProperty(schema: JsonSchema, value: unknown, isRequired: boolean, rules: Rules): unknown {
  if (value === null && isRequired && schema.type === 'array') return [];
  if (value === null && !isRequired) return rules.keepsEmpty ? null : undefined;
  const walked = walkSchema(schema, value, rules);
  return !isRequired && !rules.keepsEmpty && isEmpty(schema, walked) ? undefined : walked;
}

function isEmpty(schema: JsonSchema, value: unknown): boolean {
  if (schema.type === 'array') return Array.isArray(value) && value.length === 0;
  const isClosed = schema.properties !== undefined || schema.patternProperties !== undefined;
  if (!isClosed || (schema.required?.length ?? 0) > 0) return false;
  return isRecord(value) && Object.keys(value).length === 0;
}

function fits(schema: JsonSchema, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((branch) => fits(branch, value));
  if (schema.const !== undefined) return schema.const === value;
  if (!hasType(schema, value)) return false;
  if (!isRecord(value)) return true;
  const constants = Object.entries(schema.properties ?? {}).filter(([, sub]) => sub.const !== undefined);
  return (
    (schema.required ?? []).every((key) => Object.hasOwn(value, key)) &&
    constants.every(([key, sub]) => value[key] === undefined || value[key] === sub.const)
  );
}

/** True when the value has the JSON type of the schema. Numbers with a fraction count as integers here. */
export function hasType(schema: JsonSchema, value: unknown): boolean {
  if (schema.anyOf) return schema.anyOf.some((branch) => hasType(branch, value));
  switch (schema.type) {
    case undefined:
      return true;
    case 'object':
      return isRecord(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
    case 'number':
      return isNumber(value);
    default:
      return typeof value === schema.type;
  }
}
