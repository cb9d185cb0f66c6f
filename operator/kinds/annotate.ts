/** Words of a custom resource's schema that plain JSON Schema lacks: lists keyed by a field, rules over several fields, open
 *  parts. They are written as Kubernetes spells them, so that crds/ copies them and validation (validate.ts) obeys them.
 *  Every object is closed: crds/ leaves `additionalProperties: false` out, where pruning does its work.
 *  Not here: metadata shapes (project.ts). */
import { type TProperties, type TSchema, Type } from '@pergola/engine/metadata';

/** One rule over a value: CEL for the API server, the same as a function where there is none (folder mode). */
export type Rule = {
  readonly rule: string;
  readonly message: string;
  /** Absent for rules that compare with the old object: a folder has none. */
  // biome-ignore lint/suspicious/noExplicitAny: the rule's own schema says what it is given
  readonly holds?: (value: any) => boolean;
};

/** The most items of a list: the number of columns a table may have. */
export const MOST_ITEMS = 1600;

export function closed<P extends TProperties>(properties: P, ...rules: readonly Rule[]) {
  const annotations = rules.length > 0 ? { 'x-kubernetes-validations': rules } : {};
  return Type.Object(properties, { additionalProperties: false, ...annotations });
}

/** A list of objects that appliers merge by `key`; two items with the same one are refused. */
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

/** Scalars whose order means something, or does not matter; replaced as a whole. */
export function plainList<T extends TSchema>(item: T, maxItems = MOST_ITEMS) {
  return Type.Array(item, { maxItems, 'x-kubernetes-list-type': 'atomic' });
}

/** Anything: its meaning depends on the database, and the engine says what is wrong with it. */
export const OPEN_OBJECT = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  additionalProperties: true,
} as const;

/** Any JSON at all. */
export const OPEN_VALUE = { 'x-kubernetes-preserve-unknown-fields': true } as const;

/** Texts by names that are the user's own. */
export function textRecord(maxProperties = 100, maxLength = 4096) {
  return Type.Record(Type.String(), Type.String({ maxLength }), { maxProperties });
}

/** A value has exactly one of the fields. */
export function exactlyOne(what: string, ...fields: readonly string[]): Rule {
  const given = fields.map((field) => `has(self.${field})`).join(', ');
  return {
    rule: `[${given}].filter(given, given).size() == 1`,
    message: `${what} has exactly one of ${fields.join(', ').replace(/, ([^,]*)$/, ' and $1')}; name one of them`,
    holds: (value: object) => fields.filter((field) => field in value).length === 1,
  };
}

/** Names that CEL keeps for itself are escaped: "Validation rules" in the Kubernetes documentation. */
const CEL_WORDS: ReadonlySet<string> = new Set(['function']);

export function immutable(field: string, remedy: string): Rule {
  const name = CEL_WORDS.has(field) ? `__${field}__` : field;
  return { rule: `self.${name} == oldSelf.${name}`, message: `spec.${field} is immutable; ${remedy}` };
}

/** `description` added to a schema, for `kubectl explain`. */
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
