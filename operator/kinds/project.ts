/** The metadata's schemas as custom resources spell them, and values back again: snake_case keys become camelCase.
 *  Boolean expressions and presets stay as they are. What a structural schema cannot say has one form instead of two:
 *  `columns: '*'` is `["*"]`, and null, which means absent, is not written.
 *  In: a schema of engine/metadata/schema. Out: the projected schema; for a value, the metadata it stands for, and back. Pure.
 *  Not here: shapes that differ by more than that; their kinds declare them by hand. */
import { isRecord, type PathStep, type TSchema, Type } from '@pergola/engine/metadata';
import { MOST_ITEMS, OPEN_OBJECT } from './annotate.ts';

/** Of a record; none of the metadata's has more in practice. */
const MOST_ENTRIES = 500;

type Shape = {
  readonly type?: string;
  readonly const?: unknown;
  readonly title?: string;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
  readonly items?: Shape;
  readonly anyOf?: readonly Shape[];
};

/** The schema of the same thing in a custom resource. */
export function project(schema: TSchema): TSchema {
  return Type.Unsafe(projected(schema as Shape) as object);
}

/** The metadata that `value`, which fits `project(schema)`, stands for. */
export function unproject(schema: TSchema, value: unknown): unknown {
  return restored(schema as Shape, value);
}

/** The inverse of `unproject`. */
export function projectValue(schema: TSchema, value: unknown): unknown {
  return projectedValue(schema as Shape, value);
}

/** The path of the same field in a custom resource. */
export function projectPath(schema: TSchema, path: readonly PathStep[]): readonly PathStep[] {
  return projectedPath(schema as Shape, path);
}

export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function projected(shape: Shape): object {
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

/** BoolExp and presets: objects whose values are anything. */
function isOpen(shape: Shape): boolean {
  const [value] = Object.values(shape.patternProperties ?? {});
  const isAnything = value !== undefined && value.type === undefined && value.anyOf === undefined;
  return isAnything || (shape.additionalProperties === true && shape.properties === undefined);
}

/** A union's branches, those of unions within it too. */
function withoutNull(shape: Shape): readonly Shape[] {
  return (shape.anyOf ?? [])
    .filter((branch) => branch.type !== 'null')
    .flatMap((branch) => (branch.anyOf ? withoutNull(branch) : [branch]));
}
