/** Validates values in normal form against their JSON Schema. Out: nothing, or the first problem as `parseFailed`, with its path.
 *  It implements the keywords that our schemas use: compiling validators with ajv takes longer at every start than validating a
 *  large document takes here. The operator validates custom resources with ajv (operator/kinds/validate.ts), against schemas that
 *  are derived from the same ones; it needs keywords of Kubernetes, unknown fields and every problem at once.
 *  Objects are validated before the objects nested in them.
 *  Not here: lenient forms (normal-form.ts). Wording: docs/reference/behaviour/errors.md. JSON Schema, "Validation". */
import { fail, type PathStep } from '../errors/engine-error.ts';
import { isRecord, type JsonRecord, nameOfJson } from '../json/value.ts';
import { CHOICE_MARK, GraphqlName } from './schema/common.ts';
import { asJsonSchema, chooseBranch, hasType, type JsonSchema } from './walk-schema.ts';

/** Raises `parseFailed` unless the value fits the schema. Paths are relative to the value. A stored value may be older than the choices
 *  of a schema, which are not checked then. */
export function validate(schema: JsonSchema, value: unknown, from: 'client' | 'store' = 'client'): void {
  const problem = problemOf(schema, value);
  if (!problem || (problem.keyword === 'choice' && from === 'store')) return;
  fail('parseFailed', { text: textOf(problem) }, { path: problem.path });
}

/** True when the value fits the schema. An object that fits is not validated again inside of others. */
export function isValid(schema: JsonSchema, value: unknown): boolean {
  if (problemOf(schema, value)) return false;
  if (isRecord(value)) valid.set(value, schema);
  return true;
}

/** Objects, which are immutable, and the schema that they were found to fit. */
const valid = new WeakMap<JsonRecord, JsonSchema>();

type Word =
  | 'anyOf'
  | 'type'
  | 'const'
  | 'required'
  | 'choice'
  | 'maxLength'
  | 'minLength'
  | 'pattern'
  | 'maximum'
  | 'minimum'
  | 'maxItems'
  | 'minItems'
  | 'maxProperties'
  | 'minProperties';

/** The keyword of `schema` that `value` violates. */
type Problem = {
  readonly keyword: Word;
  readonly schema: JsonSchema;
  readonly value: unknown;
  readonly path: readonly PathStep[];
  /** The missing key of a `required`. */
  readonly missing?: string;
};

function problemOf(schema: JsonSchema, value: unknown): Problem | undefined {
  if (isRecord(value) && valid.get(value)?.properties === schema.properties && schema.properties)
    return undefined;
  if (schema.anyOf) return problemOfUnion(schema, schema.anyOf, value);
  const keyword = brokenWord(schema, value);
  if (keyword) return { keyword, schema, value, path: [] };
  if (Array.isArray(value)) return schema.items && problemOfItems(schema.items, value);
  return isRecord(value) ? problemOfFields(schema, value) : undefined;
}

/** Returns the problem of the branch of a union that the value is meant to be. */
function problemOfUnion(
  schema: JsonSchema,
  branches: readonly JsonSchema[],
  value: unknown,
): Problem | undefined {
  const meant = chooseBranch(branches, value);
  if (!meant) return { keyword: 'anyOf', schema, value, path: [] };
  const problem = problemOf(meant, value);
  return problem && branches.every((branch) => problemOf(branch, value)) ? problem : undefined;
}

function problemOfItems(items: JsonSchema, list: readonly unknown[]): Problem | undefined {
  if (isDeep(items)) {
    const stranger = list.findIndex((item) => !hasType(items, item));
    if (stranger >= 0) return at(stranger, problemOf(items, list[stranger]));
  }
  const isText = items.type === 'string' && items.const === undefined;
  for (let i = 0; i < list.length; i++) {
    const item = list[i];
    // Most values of a document are texts in its lists of columns.
    if (isText && typeof item === 'string' && !brokenByText(items, item)) continue;
    const problem = problemOf(items, item);
    if (problem) return at(i, problem);
  }
  return undefined;
}

/** Returns the first problem of an object: its own values come before nested objects, and keys are in the order of the schema. */
function problemOfFields(schema: JsonSchema, value: JsonRecord): Problem | undefined {
  const missing = schema.required?.find((key) => value[key] === undefined);
  if (missing !== undefined) return { keyword: 'required', schema, value, path: [], missing };
  const choice = schema[CHOICE_MARK];
  if (choice && choice.filter((key) => value[key] !== undefined).length !== 1) {
    return { keyword: 'choice', schema, value, path: [] };
  }
  const nested: string[] = [];
  for (const key of Object.keys(value)) {
    const field = fieldOf(schema, key);
    if (!field || value[key] === undefined) continue;
    if (isDeep(field) && hasType(field, value[key])) {
      nested.push(key);
      continue;
    }
    const problem = problemOf(field, value[key]);
    if (problem) return at(key, problem);
  }
  for (const key of nested) {
    const problem = problemOf(fieldOf(schema, key)!, value[key]);
    if (problem) return at(key, problem);
  }
  return undefined;
}

function at(step: PathStep, problem: Problem | undefined): Problem | undefined {
  return problem && { ...problem, path: [step, ...problem.path] };
}

/** Returns the schema of the values of a record, or of a property of an object. */
function fieldOf({ properties, patternProperties }: JsonSchema, key: string): JsonSchema | undefined {
  if (patternProperties) return Object.values(patternProperties)[0];
  return properties && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

/** True when values are objects, or lists or records of objects, which are validated after their owner. */
function isDeep(schema: JsonSchema): boolean {
  if (schema.properties) return true;
  const inner = schema.items ?? (schema.patternProperties && Object.values(schema.patternProperties)[0]);
  return inner !== undefined && isDeep(inner);
}

/** Returns the keyword that the value violates, without looking into it. */
function brokenWord(schema: JsonSchema, value: unknown): Word | undefined {
  if (!hasType(schema, value) || (schema.type === 'integer' && !Number.isInteger(value))) return 'type';
  if (schema.const !== undefined && schema.const !== value) return 'const';
  if (typeof value === 'string') return brokenByText(schema, value);
  if (typeof value === 'number') return brokenBy(NUMBER_WORDS, schema, value);
  if (Array.isArray(value)) return brokenBy(LIST_WORDS, schema, value);
  return isRecord(value) ? brokenBy(OBJECT_WORDS, schema, value) : undefined;
}

type Words<T> = readonly (readonly [Word, (schema: JsonSchema, value: T) => boolean])[];

const NUMBER_WORDS: Words<number> = [
  ['maximum', ({ maximum }, number) => maximum !== undefined && number > maximum],
  ['minimum', ({ minimum }, number) => minimum !== undefined && number < minimum],
];
const LIST_WORDS: Words<readonly unknown[]> = [
  ['maxItems', ({ maxItems }, list) => maxItems !== undefined && list.length > maxItems],
  ['minItems', ({ minItems }, list) => minItems !== undefined && list.length < minItems],
];
const OBJECT_WORDS: Words<JsonRecord> = [
  ['maxProperties', ({ maxProperties: most }, value) => most !== undefined && sizeOf(value) > most],
  ['minProperties', ({ minProperties: least }, value) => least !== undefined && sizeOf(value) < least],
];

function brokenBy<T>(words: Words<T>, schema: JsonSchema, value: T): Word | undefined {
  for (const [word, isBroken] of words) if (isBroken(schema, value)) return word;
  return undefined;
}

/** Returns the keyword that a text violates. */
function brokenByText({ maxLength, minLength, pattern }: JsonSchema, text: string): Word | undefined {
  if (maxLength !== undefined && text.length > maxLength && lengthOf(text) > maxLength) return 'maxLength';
  if (minLength !== undefined && text.length < 2 * minLength && lengthOf(text) < minLength)
    return 'minLength';
  return pattern !== undefined && !regExpOf(pattern).test(text) ? 'pattern' : undefined;
}

const regExps = new Map<string, RegExp>();

function regExpOf(pattern: string): RegExp {
  const known = regExps.get(pattern) ?? new RegExp(pattern, 'u');
  regExps.set(pattern, known);
  return known;
}

/** Returns the length in characters, which JSON Schema counts, not in code units. */
function lengthOf(text: string): number {
  let length = text.length;
  for (let i = 0; i < text.length; i++) if (isHighSurrogate(text.charCodeAt(i))) length--;
  return length;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function sizeOf(value: JsonRecord): number {
  return Object.keys(value).length;
}

const GRAPHQL_NAME = asJsonSchema(GraphqlName).pattern;

function textOf({ keyword, schema, value, path, missing }: Problem): string {
  switch (keyword) {
    case 'required':
      return `key "${missing}" not found`;
    case 'choice': {
      // The specification's text names the text and the variable only.
      const names = schema[CHOICE_MARK]!;
      const isNone = names.every((key) => (value as JsonRecord)[key] === undefined);
      return `expecting ${isNone ? '' : 'only one of '}${names.slice(0, 2).join(' or ')} keys`;
    }
    case 'type':
      return path.at(-1) === 'foreign_key_constraint_on'
        ? 'Expecting object { table, columns }.'
        : textOfType(schema.type, value);
    case 'const':
      return `expected ${JSON.stringify(schema.const)}, but encountered ${printed(value)}`;
    case 'anyOf':
      return textOfUnion(schema.anyOf!, value);
    case 'minLength':
      return 'empty string not allowed';
    case 'maxLength':
      return `expected at most ${schema.maxLength} characters, but encountered ${String(value).length}`;
    case 'pattern':
      if (value === '') return 'empty string not allowed';
      return schema.pattern === GRAPHQL_NAME
        ? `${printed(value)} is not a valid GraphQL name`
        : `${printed(value)} does not match ${schema.pattern}`;
    case 'maxItems':
      return `expected at most ${schema.maxItems} items, but encountered ${(value as readonly unknown[]).length}`;
    case 'minItems':
      return 'empty list not allowed';
    case 'minProperties':
    case 'maxProperties':
      return textOfChoice(schema);
    case 'minimum':
      return schema.minimum === 0 ? 'unexpected negative value' : `expected at least ${schema.minimum}`;
    case 'maximum':
      return `expected at most ${schema.maximum}`;
  }
}

/** The name of each type of JSON Schema in messages, and the name of its JSON. */
const TYPES: Readonly<Record<string, readonly [string, string]>> = {
  string: ['Text', 'String'],
  integer: ['Int', 'Number'],
  number: ['Double', 'Number'],
  boolean: ['Bool', 'Boolean'],
  array: ['[]', 'Array'],
  object: ['Object', 'Object'],
  null: ['()', 'Null'],
};

function textOfType(type = '', data: unknown): string {
  const [name, json] = TYPES[type] ?? [type, type];
  if (type === 'integer' && typeof data === 'number') return `expected an integer, but encountered ${data}`;
  return `parsing ${name} failed, expected ${json}, but encountered ${nameOfJson(data)}`;
}

function textOfUnion(branches: readonly JsonSchema[], data: unknown): string {
  const [only, ...others] = branches.filter(({ type }) => type !== 'null');
  if (only?.type !== undefined && others.length === 0) return textOfType(only.type, data);
  const names = branches.map((branch) =>
    branch.const === undefined ? (TYPES[branch.type ?? '']?.[1] ?? 'a value') : JSON.stringify(branch.const),
  );
  const choice = [...new Set(names)];
  const isEnum = branches.every((branch) => branch.const !== undefined);
  const expected = isEnum ? `one of ${choice.join(', ')}` : choice.join(' or ');
  return `expected ${expected}, but encountered ${isEnum ? printed(data) : nameOfJson(data)}`;
}

/** Returns the message for objects that are limited to one key. */
function textOfChoice({ properties = {} }: JsonSchema): string {
  const names = Object.keys(properties).map((key) => JSON.stringify(key));
  return `expected exactly one of ${names.join(', ')}`;
}

/** Returns the text of a JSON value, shortened for messages. */
function printed(value: unknown): string {
  if (typeof value === 'object' && value !== null) return nameOfJson(value);
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
