/** The path into a remote schema: a root field, nested fields, and their arguments, whose values are literals or, as `$name`, values
 *  of the row or object where the relationship starts.
 *  In: `remote_field` of the metadata. Out: RemoteSteps, or the reason why they do not fit a schema or a role's part of it.
 *  Not here: the other side (remote-relationship.ts), the sent document (plan/). Reference: docs/reference/behaviour/remote-schemas.md. */

import { fail } from '../errors/engine-error.ts';
import { isNumber, wholeText } from '../json/number.ts';
import { isRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import type { RemoteStep, StepValue } from './model/remote-step.ts';
import type { JoinKey } from './model/table.ts';

import {
  BUILT_IN_SCALARS,
  elementType,
  isRequired,
  namedType,
  nullableType,
  type UpstreamField,
  type UpstreamInput,
  type UpstreamSchema,
} from './upstream.ts';

type Json = Readonly<Record<string, unknown>>;

/** Parses the steps. `used` are the known names that occur, in the order of their first use. Raises `remoteRelationshipInvalid`. */
export function readSteps(
  written: Json,
  known: ReadonlySet<string>,
): { readonly steps: readonly RemoteStep[]; readonly used: readonly string[] } {
  const used: string[] = [];
  const steps: RemoteStep[] = [];
  for (let level: unknown = written; level !== undefined && level !== null; ) {
    const members = isRecord(level) ? Object.entries(level) : [];
    if (members.length !== 1) return invalid('"remote_field" names exactly one field at each level');
    const [field, about] = members[0]!;
    const { arguments: given = {}, field: next }: Json = isRecord(about) ? about : {};
    if (!isRecord(given)) return invalid(`the arguments of the field "${field}" are no object`);
    steps.push({
      field,
      arguments: new Map(Object.entries(given).map(([name, value]) => [name, read(value)])),
    });
    level = next;
  }
  return { steps, used };

  function read(value: unknown): StepValue {
    if (Array.isArray(value)) return { kind: 'list', items: value.map(read) };
    if (isRecord(value)) {
      return {
        kind: 'object',
        fields: new Map(Object.entries(value).map(([name, item]) => [name, read(item)])),
      };
    }
    if (typeof value !== 'string' || !value.startsWith('$')) return { kind: 'literal', value };
    const name = value.slice(1);
    if (!known.has(name)) return invalid(`"${value}" is not one of the fields that are joined by`);
    if (!used.includes(name)) used.push(name);
    return { kind: 'key', index: used.indexOf(name) };
  }
}

function invalid(text: string): never {
  return fail('remoteRelationshipInvalid', { text });
}

/** Returns the reason why the steps do not fit the schema; null when they fit. */
export function stepsProblem(
  steps: readonly RemoteStep[],
  schema: UpstreamSchema,
  keys: readonly JoinKey[],
): string | null {
  let fields = fieldsOf(schema, schema.roots.query ?? '');
  for (const [depth, step] of steps.entries()) {
    const field = fields.find(({ name }) => name === step.field);
    if (!field) return `the field "${step.field}" is not there`;
    const problem = argumentsProblem(step, field, { schema, keys, isLast: depth === steps.length - 1 });
    if (problem !== null) return problem;
    if (depth < steps.length - 1 && elementType(field.type) !== null) {
      return `the field "${step.field}" is a list, of which no field can be taken`;
    }
    fields = fieldsOf(schema, namedType(field.type));
  }
  return null;
}

/** Returns the field of each step. The steps must fit the schema. */
export function fieldsAlong(steps: readonly RemoteStep[], schema: UpstreamSchema): readonly UpstreamField[] {
  let type = schema.roots.query ?? '';
  return steps.map((step) => {
    const field = fieldsOf(schema, type).find(({ name }) => name === step.field)!;
    type = namedType(field.type);
    return field;
  });
}

function fieldsOf({ types }: UpstreamSchema, name: string): readonly UpstreamField[] {
  const type = types.get(name);
  return type?.kind === 'object' || type?.kind === 'interface' ? type.fields : [];
}

type StepScope = { readonly schema: UpstreamSchema; readonly keys: readonly JoinKey[] };

/** Returns the reason why the arguments of a step do not fit. The client gives the other arguments of the last field. */
function argumentsProblem(
  step: RemoteStep,
  field: UpstreamField,
  { isLast, ...scope }: StepScope & { readonly isLast: boolean },
): string | null {
  for (const [name, value] of step.arguments) {
    const argument = field.arguments.find((each) => each.name === name);
    if (!argument) return `the field "${field.name}" has no argument "${name}"`;
    const problem = valueProblem(value, argument, scope);
    if (problem !== null) return problem;
  }
  const missing = field.arguments.find((argument) => {
    return isRequired(argument) && !argument.preset && !step.arguments.has(argument.name);
  });
  return missing && !isLast ? `the field "${field.name}" needs the argument "${missing.name}"` : null;
}

function valueProblem(
  value: StepValue,
  { name, type }: Pick<UpstreamInput, 'name' | 'type'>,
  scope: StepScope,
): string | null {
  const element = elementType(type);
  const own = value.kind === 'key' ? listKey(scope.keys[value.index]!) : null;
  if (own !== null && value.kind === 'key') {
    if (element === null && !takesAnything(type, scope.schema)) {
      return `"${name}" is of type ${type}, which is no list`;
    }
    const keys = scope.keys.with(value.index, own);
    return valueProblem(value, { name, type: element ?? type }, { ...scope, keys });
  }
  if (value.kind === 'list') {
    if (element === null) {
      return takesAnything(type, scope.schema) ? null : `"${name}" is of type ${type}, which is no list`;
    }
    return firstProblem(value.items.map((item) => valueProblem(item, { name, type: element }, scope)));
  }
  // A single value is coerced to a list of one.
  if (element !== null) return valueProblem(value, { name, type: element }, scope);
  if (value.kind === 'object') return objectProblem(value, { name, type }, scope);
  return fits(value, nullableType(type), scope)
    ? null
    : `"${name}" is of type ${type}, which takes no such value`;
}

function objectProblem(
  { fields }: Extract<StepValue, { kind: 'object' }>,
  { name, type }: Pick<UpstreamInput, 'name' | 'type'>,
  scope: StepScope,
): string | null {
  const named = scope.schema.types.get(namedType(type));
  if (takesAnything(type, scope.schema)) return null;
  if (named?.kind !== 'input') return `"${name}" is of type ${type}, which is no input object`;
  return firstProblem(
    [...fields].map(([key, inner]) => {
      const field = named.fields.find((each) => each.name === key);
      return field ? valueProblem(inner, field, scope) : `the type "${named.name}" has no field "${key}"`;
    }),
  );
}

/** True for a custom scalar: only its service knows which values are valid. */
function takesAnything(type: string, { types }: UpstreamSchema): boolean {
  const name = nullableType(type);
  return types.get(name)?.kind === 'scalar' && !BUILT_IN_SCALARS.has(name);
}

function firstProblem(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}

type JsonKind = 'integer' | 'number' | 'boolean' | 'string' | 'null' | 'any';

/** The values that each scalar of GraphQL itself accepts. Only their service knows which values custom scalars accept. */
const TAKES: Readonly<Record<string, readonly JsonKind[]>> = {
  Int: ['integer'],
  Float: ['integer', 'number'],
  Boolean: ['boolean'],
  String: ['string'],
  ID: ['string', 'integer', 'number'],
};

function fits(
  value: Extract<StepValue, { kind: 'key' | 'literal' }>,
  type: string,
  { schema, keys }: StepScope,
): boolean {
  const kind = value.kind === 'key' ? keyKind(keys[value.index]!) : literalKind(value.value);
  const named = schema.types.get(type);
  if (named?.kind === 'input') return false;
  if (named?.kind === 'enum') {
    if (value.kind === 'key') return kind === 'string' || kind === 'any';
    return named.values.some((each) => each.name === value.value);
  }
  return kind === 'any' || kind === 'null' || (own(TAKES, type)?.includes(kind) ?? true);
}

function literalKind(value: unknown): JsonKind {
  if (value === null) return 'null';
  if (isNumber(value)) return wholeText(value) === undefined ? 'number' : 'integer';
  return typeof value === 'boolean' ? 'boolean' : 'string';
}

/** Returns the items of a key that is a list; null when it is no list. Postgres does not know the dimensions of an array, so the
 *  service has to refuse lists of lists. */
function listKey(key: JoinKey): JoinKey | null {
  if (key.kind === 'upstream') {
    const element = elementType(key.field.type);
    return element === null ? null : { ...key, field: { ...key.field, type: element } };
  }
  const { element } = (key.kind === 'column' ? key.column : key.returns).scalar;
  if (element === null) return null;
  return key.kind === 'column'
    ? { ...key, column: { ...key.column, scalar: element } }
    : { ...key, returns: { ...key.returns, scalar: element } };
}

/** The JSON kind of each scalar, by its GraphQL name. */
const KINDS: Readonly<Record<string, JsonKind>> = {
  Int: 'integer',
  smallint: 'integer',
  bigint: 'integer',
  Float: 'number',
  float8: 'number',
  numeric: 'number',
  Boolean: 'boolean',
  json: 'any',
  jsonb: 'any',
};

function keyKind(key: JoinKey): JsonKind {
  if (key.kind === 'upstream') {
    const name = nullableType(key.field.type);
    if (!key.isEnum && !BUILT_IN_SCALARS.has(name)) return 'any';
    return own(KINDS, name) ?? 'string';
  }
  const { scalar, json } = key.kind === 'column' ? key.column : key.returns;
  return json === 'stringified' ? 'string' : (own(KINDS, scalar.name) ?? 'string');
}
