/** Does a value in normal form fit its schema? Out: nothing, or the first thing wrong with it as `parseFailed`, with its path.
 *  Validators are compiled when first used: a process that never sees an action never pays for one.
 *  Not here: lenient forms (normal-form.ts). Wording: reference errors.txt, parse-failed. */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { fail, type PathStep } from '../errors/engine-error.ts';
import { GraphqlName } from './schema/common.ts';
import { asJsonSchema, chooseBranch, isRecord, type JsonSchema } from './walk-schema.ts';

/** Raises `parseFailed`; paths are relative to the value. */
export function validate(schema: JsonSchema, value: unknown): void {
  const problem = firstProblem(schema, value);
  if (problem) fail('parseFailed', { text: problem.text }, { path: problem.path });
}

type Problem = { readonly text: string; readonly path: readonly PathStep[] };

/** One level at a time: each object schema is compiled without the objects nested in it, which are asked afterwards.
 *  Compiling the whole document's schema takes 350 ms, a level 1 to 3, and most documents use few of them. */
function firstProblem(schema: JsonSchema, value: unknown): Problem | undefined {
  const validator = compiled(schema);
  if (!validator(value)) {
    const error = mostTelling(validator.errors ?? []);
    if (!error) throw new Error('a value was refused without a reason');
    return { text: textOf(error), path: stepsOf(error.instancePath, value) };
  }
  for (const [step, nested, inner] of nestedIn(schema, value)) {
    const problem = firstProblem(nested, inner);
    if (problem) return { ...problem, path: [step, ...problem.path] };
  }
  return undefined;
}

type Nested = readonly [step: PathStep, schema: JsonSchema, value: unknown];

function nestedIn(schema: JsonSchema, value: unknown): readonly Nested[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items && isDeep(items) ? value.map((item, i) => [i, items, item]) : [];
  }
  if (!isRecord(value)) return [];
  const [pattern] = Object.values(schema.patternProperties ?? {});
  if (pattern) return isDeep(pattern) ? Object.entries(value).map(([key, v]) => [key, pattern, v]) : [];
  return Object.entries(schema.properties ?? {}).flatMap(([key, sub]): readonly Nested[] =>
    isDeep(sub) && value[key] !== undefined ? [[key, sub, value[key]]] : [],
  );
}

/** Does the schema have a level of its own: an object's, or a list's or map's of such. */
function isDeep(schema: JsonSchema): boolean {
  if (schema.properties) return true;
  const inner = schema.items ?? Object.values(schema.patternProperties ?? {})[0];
  return inner !== undefined && isDeep(inner);
}

/** The schema's own level. */
function shallow(schema: JsonSchema): JsonSchema {
  const cut = (sub: JsonSchema): JsonSchema => (isDeep(sub) ? { type: sub.type ?? 'object' } : sub);
  return {
    ...schema,
    ...(schema.items ? { items: cut(schema.items) } : {}),
    ...(schema.properties ? { properties: mapValues(schema.properties, cut) } : {}),
    ...(schema.patternProperties ? { patternProperties: mapValues(schema.patternProperties, cut) } : {}),
  };
}

function mapValues(
  schemas: Readonly<Record<string, JsonSchema>>,
  change: (schema: JsonSchema) => JsonSchema,
): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, change(schema)]));
}

const GRAPHQL_NAME = asJsonSchema(GraphqlName).pattern;

let ajv: Ajv | undefined;
const validators = new WeakMap<object, ValidateFunction>();

function compiled(schema: JsonSchema): ValidateFunction {
  const identity = schema.properties ?? schema;
  const known = validators.get(identity);
  if (known) return known;
  ajv ??= new Ajv({
    strict: false,
    verbose: true,
    validateFormats: false,
    validateSchema: false,
    code: { optimize: false },
  });
  const made = ajv.compile(shallow(schema));
  validators.set(identity, made);
  return made;
}

/** A union reports what is wrong with each of its branches; only the branch the value means to be is of interest. */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const unions = errors.filter((error) => error.keyword === 'anyOf');
  const meant = unions.flatMap((union) => {
    const branches = union.schema as readonly JsonSchema[];
    const branch = chooseBranch(branches, union.data);
    return branch ? [{ union, at: `${union.schemaPath}/${branches.indexOf(branch)}/` }] : [];
  });
  const isOfInterest = (error: ErrorObject) =>
    unions.every((union) => {
      const isInside = error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`);
      const branch = meant.find((choice) => choice.union === union);
      return !isInside || (branch !== undefined && error.schemaPath.startsWith(branch.at));
    });
  const remaining = errors.filter(isOfInterest);
  return remaining.find((error) => error.keyword !== 'anyOf') ?? remaining[0];
}

function textOf(error: ErrorObject): string {
  const { keyword, params, data, schema } = error;
  const isForeignKey = error.instancePath.endsWith('/foreign_key_constraint_on');
  switch (keyword) {
    case 'required':
      return `key "${params['missingProperty']}" not found`;
    case 'type':
      return isForeignKey ? 'Expecting object { table, columns }.' : textOfType(params['type'], data);
    case 'const':
      return `expected ${JSON.stringify(params['allowedValue'])}, but encountered ${printed(data)}`;
    case 'anyOf':
      return textOfUnion(schema as readonly JsonSchema[], data);
    case 'minLength':
      return 'empty string not allowed';
    case 'maxLength':
      return `expected at most ${params['limit']} characters, but encountered ${String(data).length}`;
    case 'pattern':
      if (data === '') return 'empty string not allowed';
      return params['pattern'] === GRAPHQL_NAME
        ? `${printed(data)} is not a valid GraphQL name`
        : `${printed(data)} does not match ${params['pattern']}`;
    case 'minItems':
      return 'empty list not allowed';
    case 'minProperties':
    case 'maxProperties':
      return textOfChoice(error);
    case 'minimum':
      return params['limit'] === 0 ? 'unexpected negative value' : `expected at least ${params['limit']}`;
    case 'maximum':
      return `expected at most ${params['limit']}`;
    default:
      return error.message ?? `does not fit: ${keyword}`;
  }
}

/** JSON Schema's type → the name of the type being parsed, and of the JSON it is parsed from. */
const TYPES: Readonly<Record<string, readonly [string, string]>> = {
  string: ['Text', 'String'],
  integer: ['Int', 'Number'],
  number: ['Double', 'Number'],
  boolean: ['Bool', 'Boolean'],
  array: ['[]', 'Array'],
  object: ['Object', 'Object'],
  null: ['()', 'Null'],
};

function textOfType(type: unknown, data: unknown): string {
  const [name, json] = TYPES[String(type)] ?? [String(type), String(type)];
  if (type === 'integer' && typeof data === 'number') return `expected an integer, but encountered ${data}`;
  return `parsing ${name} failed, expected ${json}, but encountered ${nameOfJson(data)}`;
}

function textOfUnion(branches: readonly JsonSchema[], data: unknown): string {
  const names = branches.map((branch) =>
    branch.const === undefined ? (TYPES[branch.type ?? '']?.[1] ?? 'a value') : JSON.stringify(branch.const),
  );
  const choice = [...new Set(names)];
  const isEnum = branches.every((branch) => branch.const !== undefined);
  const expected = isEnum ? `one of ${choice.join(', ')}` : choice.join(' or ');
  return `expected ${expected}, but encountered ${isEnum ? printed(data) : nameOfJson(data)}`;
}

/** Objects limited to one key: a choice. */
function textOfChoice(error: ErrorObject): string {
  const properties = (error.parentSchema as JsonSchema | undefined)?.properties ?? {};
  const names = Object.keys(properties).map((key) => JSON.stringify(key));
  return `expected exactly one of ${names.join(', ')}`;
}

/** Text of a JSON value, cut where a message would become a page. */
function printed(value: unknown): string {
  if (typeof value === 'object' && value !== null) return nameOfJson(value);
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

/** `Object`, `Array`, `String`, `Number`, `Boolean`, `Null`. */
export function nameOfJson(value: unknown): string {
  if (value === null || value === undefined) return 'Null';
  if (Array.isArray(value)) return 'Array';
  const name = typeof value;
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** A JSON pointer into the value as steps: indices of lists are numbers. */
function stepsOf(pointer: string, value: unknown): readonly PathStep[] {
  const segments = pointer.split('/').slice(1);
  let at = value;
  return segments.map((segment) => {
    const key = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    const step = Array.isArray(at) ? Number(key) : key;
    at =
      Array.isArray(at) || isRecord(at)
        ? (at as Readonly<Record<string | number, unknown>>)[step]
        : undefined;
    return step;
  });
}
