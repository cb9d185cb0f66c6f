/** The types of the chart's values: groups of named values, and values with a line of help, a default and a JSON Schema.
 *  Not here: the values (values.ts), the files that are generated from them (print.ts). */

export type Value = {
  readonly doc: string;
  readonly default: unknown;
  /** JSON Schema, draft 7. */
  readonly schema: object;
};

export type Group = { readonly doc?: string; readonly values: Readonly<Record<string, Node>> };

export type Node = Value | Group;

export function isGroup(node: Node): node is Group {
  return 'values' in node;
}

export function group(doc: string | undefined, values: Group['values']): Group {
  return doc === undefined ? { values } : { doc, values };
}

export function text(doc: string, preset: string, constraints: object = {}): Value {
  return { doc, default: preset, schema: { type: 'string', ...constraints } };
}

export function oneOf(doc: string, ...choices: readonly string[]): Value {
  return { doc, default: choices[0], schema: { enum: choices } };
}

export function flag(doc: string, preset: boolean): Value {
  return { doc, default: preset, schema: { type: 'boolean' } };
}

export function count(doc: string, preset: number, least = 0, most?: number): Value {
  const bounds = most === undefined ? { minimum: least } : { minimum: least, maximum: most };
  return { doc, default: preset, schema: { type: 'integer', ...bounds } };
}

/** Returns a value that is an object of Kubernetes, passed on unchanged; the API server validates it. */
export function map(doc: string, preset: object = {}): Value {
  return { doc, default: preset, schema: { type: 'object' } };
}

export function list(doc: string, items: object, preset: readonly unknown[] = []): Value {
  return { doc, default: preset, schema: { type: 'array', items } };
}

/** Returns a list that must have an entry. */
export function filledList(doc: string, items: object, preset: readonly unknown[]): Value {
  return { doc, default: preset, schema: { type: 'array', items, minItems: 1 } };
}

export const OBJECT = { type: 'object' };
export const NAMED = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
export const WORD = { type: 'string', minLength: 1 };

/** Returns a value with one member per option; the installation fails for any other member. A member that is null counts as absent. */
export function byName(doc: string, schemas: Readonly<Record<string, object>>): Value {
  const properties = Object.entries(schemas).map(([name, schema]) => [name, orNull(schema)]);
  return {
    doc,
    default: {},
    schema: { type: 'object', additionalProperties: false, properties: Object.fromEntries(properties) },
  };
}

function orNull(schema: { readonly type?: string; readonly enum?: readonly unknown[] }): object {
  return {
    ...schema,
    ...(schema.type && { type: [schema.type, 'null'] }),
    ...(schema.enum && { enum: [...schema.enum, null] }),
  };
}

/** Returns the values that name a key of a secret. */
export function keyOf(doc: string | undefined, existingSecret: string, key: string): Group {
  const name = existingSecret === '' ? text('', '') : text('', existingSecret, { minLength: 1 });
  return group(doc, { existingSecret: name, key: text('The key in the secret.', key, { minLength: 1 }) });
}

export const KEY_OF_SECRET = {
  type: 'object',
  additionalProperties: false,
  required: ['existingSecret', 'key'],
  properties: { existingSecret: WORD, key: WORD },
};
