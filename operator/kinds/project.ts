/** Projects the schemas and values of the metadata to custom resources and back: snake_case keys become camelCase, values of enumerations
 *  PascalCase (enumeration.ts). Boolean expressions and presets stay as they are. Unions that a structural schema cannot express get one form: `columns: '*'` is `["*"]`, and null, which
 *  means absent, is omitted.
 *  In: a schema of engine/metadata/schema. Out: the projected schema; the metadata of a value, and back. Pure.
 *  Not here: shapes that differ more; their kinds declare them by hand. */
import { isRecord, type PathStep, type TSchema, Type } from '@pergola/engine/metadata';
import { MOST_ITEMS, OPEN_OBJECT } from './annotate.ts';
import { enumeration, metadataValue, pascalCase } from './enumeration.ts';

/** The most entries of a record. Metadata has fewer in practice. */
const MOST_ENTRIES = 500;

type Shape = {
  readonly type?: string;
  readonly const?: unknown;
  readonly title?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
};

/** Returns the schema of the same value in a custom resource. */
export function project(schema: TSchema): TSchema {
  return Type.Unsafe(projected(schema as Shape) as object);
}

/** Returns the metadata for a `value` that fits `project(schema)`. */
export function unproject(schema: TSchema, value: unknown): unknown {
  return restored(schema as Shape, value);
}

/** Returns the value of a custom resource for a value of the metadata, the inverse of `unproject`. */
export function projectValue(schema: TSchema, value: unknown): unknown {
  return projectedValue(schema as Shape, value);
}

/** Returns the path of the same field in a custom resource. */
export function projectPath(schema: TSchema, path: readonly PathStep[]): readonly PathStep[] {
  return projectedPath(schema as Shape, path);
}

export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function projected(shape: Shape): object {
  const { description } = shape;
  return description === undefined ? structureOf(shape) : { ...structureOf(shape), description };
}

function structureOf(shape: Shape): object {
  if (shape.anyOf) return projectedUnion(shape);
  if (isOpen(shape)) return OPEN_OBJECT;
  if (shape.type === 'array') return projectedList(shape);
  if (shape.patternProperties) {
    const [value = {}] = Object.values(shape.patternProperties);
    return { type: 'object', maxProperties: MOST_ENTRIES, additionalProperties: projected(value) };
  }
  if (shape.properties) return projectedObject(shape.properties, shape.required ?? []);
  if (shape.const !== undefined) return { type: typeof shape.const, enum: [shape.const] };
  if (shape.type === undefined) throw new Error('a value of unknown type has no structural schema');
  return shape.type === 'string' ? { maxLength: 4096, ...shape } : { ...shape };
}

function projectedObject(properties: Readonly<Record<string, Shape>>, required: readonly string[]): object {
  return {
    type: 'object',
    additionalProperties: false,
    ...(required.length > 0 ? { required: required.map(camelCase) } : {}),
    properties: Object.fromEntries(
      Object.entries(properties).map(([key, shape]) => [camelCase(key), projected(shape)]),
    ),
  };
}

function projectedList({ items = {} }: Shape): object {
  const list = { type: 'array', maxItems: MOST_ITEMS, items: projected(items) };
  if (!items.properties) return { ...list, 'x-kubernetes-list-type': 'atomic' };
  const key = ['name', 'role'].find((candidate) => items.required?.includes(candidate));
  if (!key) throw new Error('a list of objects needs a key: name or role');
  return { ...list, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] };
}

function projectedUnion(shape: Shape): object {
  const branches = withoutNull(shape);
  const [first, second] = branches;
  if (branches.length === 1) return projected(first!);
  if (isEnumeration(branches)) return enumeration({ anyOf: branches } as unknown as TSchema);
  if (branches.every((branch) => branch.const !== undefined)) {
    return { type: typeof first?.const, enum: branches.map((branch) => branch.const) };
  }
  if (first?.const === '*' && second?.type === 'array') return projected(second);
  throw new Error('this union has no structural schema: declare the field by hand');
}

function restored(shape: Shape, value: unknown): unknown {
  if (shape.anyOf) {
    const branches = withoutNull(shape);
    const isAll = Array.isArray(value) && value.length === 1 && value[0] === '*';
    if (branches[0]?.const === '*') return isAll ? '*' : value;
    if (isEnumeration(branches)) return metadataValue({ anyOf: branches } as unknown as TSchema, value);
    return branches.length === 1 ? restored(branches[0]!, value) : value;
  }
  if (isOpen(shape)) return value;
  if (Array.isArray(value)) return value.map((item) => restored(shape.items ?? {}, item));
  if (!shape.properties) return value;
  const given = value as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(shape.properties)
      .filter(([key]) => given[camelCase(key)] !== undefined)
      .map(([key, inner]) => [key, restored(inner, given[camelCase(key)])]),
  );
}

function projectedValue(shape: Shape, value: unknown): unknown {
  if (shape.anyOf) {
    const branches = withoutNull(shape);
    if (branches[0]?.const === '*') return value === '*' ? ['*'] : value;
    if (isEnumeration(branches) && typeof value === 'string') return pascalCase(value);
    return branches.length === 1 ? projectedValue(branches[0]!, value) : value;
  }
  if (isOpen(shape)) return value;
  if (Array.isArray(value)) return value.map((item) => projectedValue(shape.items ?? {}, item));
  if (!shape.properties || !isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      camelCase(key),
      projectedValue(shape.properties?.[key] ?? {}, inner),
    ]),
  );
}

function projectedPath(shape: Shape, path: readonly PathStep[]): readonly PathStep[] {
  const [step, ...rest] = path;
  if (step === undefined) return [];
  if (shape.anyOf) {
    const branches = withoutNull(shape);
    const inner = branches.find(({ type }) => type === (typeof step === 'number' ? 'array' : 'object'));
    return inner ? projectedPath(inner, path) : path;
  }
  if (typeof step === 'number') return [step, ...projectedPath(shape.items ?? {}, rest)];
  const inner = shape.properties?.[step];
  return inner ? [camelCase(step), ...projectedPath(inner, rest)] : path;
}

/** True for objects with any values: boolean expressions and presets. */
function isOpen(shape: Shape): boolean {
  const [value] = Object.values(shape.patternProperties ?? {});
  const isAnything = value !== undefined && value.type === undefined && value.anyOf === undefined;
  return isAnything || (shape.additionalProperties === true && shape.properties === undefined);
}

/** True for a union of texts. */
function isEnumeration(branches: readonly Shape[]): boolean {
  return branches.every((branch) => typeof branch.const === 'string');
}

/** Returns the branches of a union and of nested unions, without null. */
function withoutNull(shape: Shape): readonly Shape[] {
  return (shape.anyOf ?? [])
    .filter((branch) => branch.type !== 'null')
    .flatMap((branch) => (branch.anyOf ? withoutNull(branch) : [branch]));
}
