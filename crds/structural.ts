/** JSON Schema → the structural OpenAPI v3 schema of a custom resource definition.
 *  Rules, after "Specifying a structural schema" in the Kubernetes documentation:
 *  - Every value has a type, or is open (`x-kubernetes-preserve-unknown-fields`): an open object, or with no type anything.
 *  - `additionalProperties: false` is left out: unknown fields are pruned. A record is `additionalProperties: {…}`.
 *  - `const` is an `enum` of one; a union of constants is an `enum`; a union with null is `nullable`; every other union is
 *    refused, because an API server would not let its branches have types. Neither are `$ref` and `uniqueItems` allowed.
 *  - Lists of objects are maps with keys that each item must have, or, of objects without a scalar to be told apart by, atomic
 *    through and through; other lists are `atomic` or `set`: it is always said.
 *  - No `default` in a spec: appliers would see a difference between what they sent and what is there.
 *  - Everything has an upper bound (`maxLength`, `maxItems`, `maxProperties`): the cost of rules is reckoned from bounds, and a
 *    resource must not be able to fill the store.
 *  In: a schema value. Out: a plain object, with keys in the order documents like. Throws SchemaProblem with the path.
 *  Pure. Not here: the definition around it (generate.ts). */

export type StructuralSchema = Readonly<Record<string, unknown>>;

export type StructuralOptions = {
  /** The path of the root, for messages: `Table.spec`. */
  readonly path: string;
  /** The birth value of a status; a spec has none. */
  readonly allowsDefault?: boolean;
};

export class SchemaProblem extends Error {
  constructor(path: string, problem: string) {
    super(`${path}: ${problem}`);
  }
}

export function structural(schema: object, options: StructuralOptions): StructuralSchema {
  return project(schema as Shape, options.path, options);
}

type Shape = {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Shape;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
  readonly 'x-kubernetes-map-type'?: string;
  readonly 'x-kubernetes-validations'?: readonly {
    readonly rule: string;
    readonly message: string;
    readonly holds: (value: unknown) => boolean;
  }[];
} & Readonly<Record<string, unknown>>;

/** Words that are copied as they are. */
const PLAIN_WORDS = [
  'format',
  'pattern',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
] as const;

/** Words that are translated, or that mean nothing to an API server. */
const HANDLED_WORDS = [
  'type',
  'description',
  'default',
  'const',
  'enum',
  'anyOf',
  'properties',
  'required',
  'additionalProperties',
  'patternProperties',
  'items',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
  'title',
  '$id',
] as const;

const KNOWN_WORDS: ReadonlySet<string> = new Set([...PLAIN_WORDS, ...HANDLED_WORDS]);

function project(shape: Shape, path: string, options: StructuralOptions): StructuralSchema {
  const unknown = Object.keys(shape).find((word) => !KNOWN_WORDS.has(word));
  if (unknown !== undefined)
    throw new SchemaProblem(path, `"${unknown}" has no place in a structural schema`);
  if (shape.default !== undefined && !options.allowsDefault) {
    throw new SchemaProblem(path, 'a default would show as a difference; let the operator know it');
  }
  const meant = shape.anyOf ? union(shape.anyOf, path, options) : value(shape, path, options);
  return { ...pick(shape, ['description']), ...meant, ...pick(shape, ['default']), ...rulesOf(shape) };
}

function value(shape: Shape, path: string, options: StructuralOptions): StructuralSchema {
  if (shape['x-kubernetes-preserve-unknown-fields'] === true) {
    return {
      ...pick(shape, ['type', 'x-kubernetes-map-type']),
      'x-kubernetes-preserve-unknown-fields': true,
    };
  }
  if (shape.const !== undefined) return { type: scalarType(shape.const, path), enum: [shape.const] };
  const plain = { type: shape.type, ...pick(shape, PLAIN_WORDS), ...pick(shape, ['enum']) };
  switch (shape.type) {
    case 'object':
      return { ...plain, ...objectWords(shape, path, options) };
    case 'array':
      return { ...plain, ...listWords(shape, path, options) };
    case 'string':
      if (!isBounded(shape)) throw new SchemaProblem(path, 'a string needs maxLength');
      return plain;
    case 'integer':
      return { ...plain, ...(shape['format'] === undefined ? { format: 'int64' } : {}) };
    case 'number':
    case 'boolean':
      return plain;
    default:
      throw new SchemaProblem(path, 'a value needs one type');
  }
}

function isBounded({ maxLength, enum: values, format }: Shape): boolean {
  return maxLength !== undefined || values !== undefined || format === 'date-time';
}

function objectWords(shape: Shape, path: string, options: StructuralOptions): StructuralSchema {
  const record = recordOf(shape);
  if (record) {
    if (shape.properties && Object.keys(shape.properties).length > 0) {
      throw new SchemaProblem(path, 'an object has named fields or is a record, not both');
    }
    if (shape['maxProperties'] === undefined) throw new SchemaProblem(path, 'a record needs maxProperties');
    // Server-side apply would turn a record whose last entry is removed into null.
    return {
      'x-kubernetes-map-type': 'atomic',
      additionalProperties: project(record, `${path}.*`, options),
    };
  }
  if (shape.additionalProperties === true) throw new SchemaProblem(path, 'an open object must say so');
  const properties = Object.entries(shape.properties ?? {}).map(([key, inner]) => [
    key,
    project(inner, `${path}.${key}`, options),
  ]);
  const required = shape.required ?? [];
  const isWhole = mayBeEmpty(shape) && isField(path) && !options.allowsDefault;
  return {
    ...(isWhole ? { 'x-kubernetes-map-type': 'atomic' } : pick(shape, ['x-kubernetes-map-type'])),
    ...(required.length > 0 ? { required } : {}),
    properties: Object.fromEntries(properties),
  };
}

/** True for an object that may be `{}`. Server-side apply turns one whose last field is removed into null, which the API server refuses with
 *  a message about neither; replaced as a whole it stays `{}`. */
function mayBeEmpty({ required = [], 'x-kubernetes-validations': rules = [] }: Shape): boolean {
  return required.length === 0 && rules.every(({ holds }) => holds({}));
}

/** False for a spec and for items of lists, whose fields several authors may apply. */
function isField(path: string): boolean {
  return path.split('.').length > 2 && !path.endsWith(']');
}

function recordOf({ patternProperties, additionalProperties }: Shape): Shape | undefined {
  const [pattern] = Object.values(patternProperties ?? {});
  return pattern ?? (typeof additionalProperties === 'object' ? additionalProperties : undefined);
}

function listWords(shape: Shape, path: string, options: StructuralOptions): StructuralSchema {
  const { items } = shape;
  if (!items) throw new SchemaProblem(path, 'a list needs items');
  if (shape['maxItems'] === undefined) throw new SchemaProblem(path, 'a list needs maxItems');
  const listType = shape['x-kubernetes-list-type'];
  const keys = shape['x-kubernetes-list-map-keys'] ?? [];
  const isWhole = items['x-kubernetes-map-type'] === 'atomic' && listType === 'atomic';
  const isOpen = items['x-kubernetes-preserve-unknown-fields'] === true;
  const isOfObjects = items.type === 'object' && !isOpen && !isWhole;
  if (isOfObjects !== (listType === 'map') || listType === undefined) {
    throw new SchemaProblem(path, 'a list of objects is a map with keys; any other is atomic or a set');
  }
  const missing = keys.find((key) => !items.required?.includes(key));
  if (missing !== undefined || (listType === 'map' && keys.length === 0)) {
    throw new SchemaProblem(path, `the key ${missing ?? ''} of a list must be required of its items`);
  }
  return {
    ...pick(shape, ['x-kubernetes-list-type', 'x-kubernetes-list-map-keys']),
    items: project(items, `${path}[]`, options),
  };
}

function union(branches: readonly Shape[], path: string, options: StructuralOptions): StructuralSchema {
  const others = branches.filter((branch) => branch.type !== 'null');
  const nullable = others.length < branches.length ? { nullable: true } : {};
  const [first] = others;
  if (first && others.length === 1) return { ...project(first, path, options), ...nullable };
  const types = new Set(others.map((branch) => branch.const !== undefined && scalarType(branch.const, path)));
  if (types.size !== 1 || types.has(false)) {
    throw new SchemaProblem(path, 'a union is of constants of one type, or of one type and null');
  }
  return { type: [...types][0], enum: others.map((branch) => branch.const), ...nullable };
}

function rulesOf(shape: Shape): StructuralSchema {
  const rules = shape['x-kubernetes-validations'] ?? [];
  return rules.length === 0
    ? {}
    : { 'x-kubernetes-validations': rules.map(({ rule, message }) => ({ rule, message })) };
}

function scalarType(constant: unknown, path: string): string {
  const type = typeof constant;
  if (type === 'number') return Number.isInteger(constant) ? 'integer' : 'number';
  if (type === 'string' || type === 'boolean') return type;
  throw new SchemaProblem(path, 'a constant is text, a number or a truth value');
}

function pick(shape: Shape, words: readonly string[]): StructuralSchema {
  const given = words.filter((word) => shape[word] !== undefined);
  return Object.fromEntries(given.map((word) => [word, shape[word]]));
}
