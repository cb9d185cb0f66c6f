/** The way into a remote schema: a root field, fields of what it answers, and the arguments each is given, whose values are
 *  literals and, as `$name`, values of where the relationship starts.
 *  In: `remote_field` of the metadata. Out: RemoteSteps; what does not fit a schema, or a role's part of one, as text.
 *  Not here: the other side (remote-relationship.ts), the sent document (plan/). Reference: docs/reference/behaviour/remote-schemas.md. */

import { fail } from '../errors/engine-error.ts';
import { isNumber, wholeText } from '../json/number.ts';
import { isRecord } from '../json/value.ts';
import { own } from '../metadata/own.ts';
import type { JoinKey, RemoteStep, StepValue } from './types.ts';

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

/** `used`: which of the known names occur, in the order values name them by. Raises `remoteRelationshipInvalid`. */
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
    return { kind: 'key', place: used.indexOf(name) };
  }
}

function invalid(text: string): never {
  return fail('remoteRelationshipInvalid', { text });
}

/** Why the schema cannot be asked like that; null: it can. */
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

/** The field that the steps end at. They fit. */
export function lastField(steps: readonly RemoteStep[], schema: UpstreamSchema): UpstreamField {
  return fieldsAlong(steps, schema).at(-1)!;
}

/** The field of each step. They fit. */
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

type Around = { readonly schema: UpstreamSchema; readonly keys: readonly JoinKey[] };

/** The last field's other arguments are the client's. */
function argumentsProblem(
  step: RemoteStep,
  field: UpstreamField,
  { isLast, ...around }: Around & { readonly isLast: boolean },
): string | null {
  for (const [name, value] of step.arguments) {
    const argument = field.arguments.find((each) => each.name === name);
    if (!argument) return `the field "${field.name}" has no argument "${name}"`;
    const problem = valueProblem(value, argument, around);
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
  around: Around,
): string | null {
  const element = elementType(type);
  const own = value.kind === 'key' ? listKey(around.keys[value.place]!) : null;
  if (own !== null && value.kind === 'key') {
    if (element === null && !takesAnything(type, around.schema)) {
      return `"${name}" is of type ${type}, which is no list`;
    }
    const keys = around.keys.with(value.place, own);
    return valueProblem(value, { name, type: element ?? type }, { ...around, keys });
  }
  if (value.kind === 'list') {
    if (element === null) {
      return takesAnything(type, around.schema) ? null : `"${name}" is of type ${type}, which is no list`;
    }
    return firstProblem(value.items.map((item) => valueProblem(item, { name, type: element }, around)));
  }
  // One value stands for the list of it.
  if (element !== null) return valueProblem(value, { name, type: element }, around);
  if (value.kind === 'object') return objectProblem(value, { name, type }, around);
  return fits(value, nullableType(type), around)
    ? null
    : `"${name}" is of type ${type}, which takes no such value`;
}

function objectProblem(
  { fields }: Extract<StepValue, { kind: 'object' }>,
  { name, type }: Pick<UpstreamInput, 'name' | 'type'>,
  around: Around,
): string | null {
  const named = around.schema.types.get(namedType(type));
  if (takesAnything(type, around.schema)) return null;
  if (named?.kind !== 'input') return `"${name}" is of type ${type}, which is no input object`;
  return firstProblem(
    [...fields].map(([key, inner]) => {
      const field = named.fields.find((each) => each.name === key);
      return field ? valueProblem(inner, field, around) : `the type "${named.name}" has no field "${key}"`;
    }),
  );
}

/** A scalar that is not GraphQL's own is its service's to judge. */
function takesAnything(type: string, { types }: UpstreamSchema): boolean {
  const name = nullableType(type);
  return types.get(name)?.kind === 'scalar' && !BUILT_IN_SCALARS.has(name);
}

function firstProblem(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null;
}

type JsonKind = 'integer' | 'number' | 'boolean' | 'string' | 'null' | 'any';

/** What GraphQL's own scalars take; others are their service's to judge. */
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
  { schema, keys }: Around,
): boolean {
  const kind = value.kind === 'key' ? keyKind(keys[value.place]!) : literalKind(value.value);
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

/** Of a key that is a list, one of the values; null: it is none. Postgres does not say how deeply the values of an array lie:
 *  one that has lists of lists is the service's to refuse. */
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

/** By the scalar's name in GraphQL. */
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
