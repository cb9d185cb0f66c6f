/** Words of a custom resource's schema that plain JSON Schema lacks: lists keyed by a field, rules over several fields, open
 *  parts. They are written as Kubernetes spells them, so that crds/ copies them and validation (../validate.ts) obeys them.
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

/** As many as a table may have columns. */
export const MOST_ITEMS = 1600;

export function closed<P extends TProperties>(properties: P, ...rules: readonly Rule[]) {
  const annotations = rules.length > 0 ? { 'x-kubernetes-validations': rules } : {};
  return Type.Object(properties, { additionalProperties: false, ...annotations });
}

/** A list of objects that appliers merge by `key`; two items with the same one are refused. */
export function keyedList<T extends TSchema>(key: string, item: T, maxItems = MOST_ITEMS) {
  return Type.Array(item, {
    maxItems,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': [key],
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

export function immutable(field: string, remedy: string): Rule {
  return { rule: `self.${field} == oldSelf.${field}`, message: `spec.${field} is immutable; ${remedy}` };
}

/** `description` added to a schema, for `kubectl explain`. */
export function described<T extends TSchema>(description: string, schema: T): T {
  return { ...schema, description };
}

export const Name = Type.String({ minLength: 1, maxLength: 253 });
export const MetadataName = Type.String({ minLength: 1, maxLength: 255 });
export const GraphqlName = Type.String({ pattern: '^[_A-Za-z][_0-9A-Za-z]*$', maxLength: 255 });
/** An identifier of Postgres. */
export const Identifier = Type.String({ minLength: 1, maxLength: 255 });
export const Comment = Type.String({ maxLength: 4096 });
