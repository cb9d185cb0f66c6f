/** Keywords that schemas of custom resources add to JSON Schema: lists keyed by a field, rules over several fields, open parts. They have
 *  the names of Kubernetes, so crds/ copies them and validation (validate.ts) applies them.
 *  Every object is closed. crds/ omits `additionalProperties: false`: Kubernetes prunes unknown fields instead.
 *  Not here: shapes of the metadata (project.ts). */
import { type TProperties, type TSchema, Type } from '@pergola/engine/metadata';

/** A validation rule: CEL for the API server, and the same as a function for folder mode. */
export type Rule = {
  readonly rule: string;
  readonly message: string;
  /** Returns whether the value passes. */
  // biome-ignore lint/suspicious/noExplicitAny: the schema of the rule defines the type of its value
  readonly holds: (value: any) => boolean;
};

/** The most items of a list: the number of columns a table may have. */
export const MOST_ITEMS = 1600;

export function closed<P extends TProperties>(properties: P, ...rules: readonly Rule[]) {
  const annotations = rules.length > 0 ? { 'x-kubernetes-validations': rules } : {};
  return Type.Object(properties, { additionalProperties: false, ...annotations });
}

/** Returns a list of objects that server-side apply merges by `key`. Two items with the same key are rejected. */
export function keyedList<T extends TSchema>(
  key: string | readonly string[],
  item: T,
  maxItems = MOST_ITEMS,
) {
  return Type.Array(item, {
    maxItems,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': typeof key === 'string' ? [key] : key,
  });
}

/** Returns a list of scalars that is replaced as a whole. */
export function plainList<T extends TSchema>(item: T, maxItems = MOST_ITEMS) {
  return Type.Array(item, { maxItems, 'x-kubernetes-list-type': 'atomic' });
}

/** An object with any fields. Its meaning depends on the database, so the engine validates it. */
export const OPEN_OBJECT = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  // Server-side apply replaces it as a whole. Merged by field, a filter would keep clauses of another author, and `{}` would become null.
  'x-kubernetes-map-type': 'atomic',
  additionalProperties: true,
} as const;

/** A schema of any JSON value. */
export const OPEN_VALUE = { 'x-kubernetes-preserve-unknown-fields': true } as const;

/** Returns a map from names chosen by the user to texts. */
export function textRecord(maxProperties = 100, maxLength = 4096) {
  return Type.Record(Type.String(), Type.String({ maxLength }), { maxProperties });
}

/** Returns the rule that a value has exactly one of the fields. A sum costs the API server less than half of a list that is filtered. */
export function exactlyOne(what: string, ...fields: readonly string[]): Rule {
  const given = fields.map((field) => `(has(self.${field}) ? 1 : 0)`).join(' + ');
  return {
    rule: `${given} == 1`,
    message: `${what} has exactly one of ${fields.join(', ').replace(/, ([^,]*)$/, ' and $1')}; name one of them`,
    holds: (value: object) => fields.filter((field) => field in value).length === 1,
  };
}

/** Returns the schema with a description, which `kubectl explain` shows. */
export function withDescription<T extends TSchema>(description: string, schema: T): T {
  return { ...schema, description };
}

export const Name = Type.String({ minLength: 1, maxLength: 253 });
export const MetadataName = Type.String({ minLength: 1, maxLength: 255 });
export const GraphqlName = Type.String({ pattern: '^[_A-Za-z][_0-9A-Za-z]*$', maxLength: 255 });
/** An identifier of Postgres. */
export const Identifier = Type.String({ minLength: 1, maxLength: 255 });
export const Comment = Type.String({ maxLength: 4096 });
export const Variable = Type.String({ minLength: 1, maxLength: 255 });
export const Url = Type.String({ minLength: 1, maxLength: 2048 });
/** Definitions in the GraphQL schema language. */
export const Sdl = Type.String({ minLength: 1, maxLength: 200_000 });
