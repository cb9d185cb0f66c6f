/** Parses the response of a GraphQL service to an introspection query into an UpstreamSchema, in steps. Raises `remoteSchemaInvalid`
 *  for a response that is no introspection, for one that describes no valid schema (an object that lacks a field of its interface,
 *  an empty union), and for a schema that is too large. Not here: the request (remote/request.ts). Reference: GraphQL specification, "Introspection";
 *  message texts: docs/reference/behaviour/errors.md. */

import { parseConstValue } from 'graphql';
import { fail } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import { finish, type Steps } from '../metadata/steps.ts';
import type {
  UpstreamField,
  UpstreamInput,
  UpstreamSchema,
  UpstreamType,
  UpstreamValue,
} from './upstream.ts';
import { checkUpstream } from './upstream-check.ts';

const TYPE_DEPTH = 9;

/** The introspection query that the engine sends. */
export const INTROSPECTION_QUERY = `query IntrospectionQuery { __schema {
  queryType { name } mutationType { name } subscriptionType { name }
  types { kind name description
    fields(includeDeprecated: true) { name description isDeprecated deprecationReason
      args { ...Input } type { ...Type } }
    inputFields { ...Input } interfaces { name }
    enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
    possibleTypes { name } }
  directives { name description locations args { ...Input } } } }
fragment Input on __InputValue { name description type { ...Type } defaultValue }
fragment Type on __Type { kind name ${'ofType { kind name '.repeat(TYPE_DEPTH)}${'}'.repeat(TYPE_DEPTH)} }`;

/** Parses the `data` of the response at once: `{__schema: …}`. */
export function readIntrospection(data: unknown): UpstreamSchema {
  return finish(readingIntrospection(data));
}

/** Parses the `data` of the response. A schema of more than `most` types, fields, arguments, values and members is refused. */
export function* readingIntrospection(data: unknown, most = Number.POSITIVE_INFINITY): Steps<UpstreamSchema> {
  const schema = objectAt(objectAt(data, [])['__schema'], []);
  const size = { left: most, most };
  const listed = listAt(schema, 'types', []);
  takeSize(size, listed.length);
  const types: UpstreamType[] = [];
  for (const [i, type] of listed.entries()) types.push(yield* typeOf(type, ['types', i], size));
  const root = (key: string) => (schema[key] ? nameAt(objectAt(schema[key], [key]), [key]) : null);
  const upstream: UpstreamSchema = {
    types: new Map(types.filter(({ name }) => !name.startsWith('__')).map((type) => [type.name, type])),
    roots: {
      query: root('queryType'),
      mutation: root('mutationType'),
      subscription: root('subscriptionType'),
    },
  };
  yield* checkUpstream(upstream);
  return upstream;
}

/** How many types, fields, arguments, values and members a schema may still have. */
type Size = { left: number; readonly most: number };

function takeSize(size: Size, count: number): void {
  size.left -= count;
  if (size.left >= 0) return;
  const limit = `${size.most}, the limit of --max-remote-schema-size`;
  fail('remoteSchemaInvalid', {
    text: `the schema has more types, fields, arguments and values than ${limit}`,
  });
}

type Path = readonly (string | number)[];
type Json = Readonly<Record<string, unknown>>;

function* typeOf(json: unknown, path: Path, size: Size): Steps<UpstreamType> {
  const type = objectAt(json, path);
  const about = { name: nameAt(type, path), description: textOrNull(type['description']) };
  const kind = String(type['kind']);
  const each = <T>(key: string, read: Read<T>) => eachOf(type, key, path, read, size);
  switch (kind) {
    case 'SCALAR':
      return { ...about, kind: 'scalar' };
    case 'ENUM':
      return { ...about, kind: 'enum', values: yield* each('enumValues', namedValueOf) };
    case 'OBJECT':
    case 'INTERFACE':
      return {
        ...about,
        kind: kind === 'OBJECT' ? 'object' : 'interface',
        fields: yield* each('fields', fieldOf),
        interfaces: yield* each('interfaces', nameAt),
      };
    case 'UNION':
      return { ...about, kind: 'union', members: yield* each('possibleTypes', nameAt) };
    case 'INPUT_OBJECT':
      return { ...about, kind: 'input', fields: yield* each('inputFields', inputOf) };
    default:
      return refuse([...path, 'kind'], `unknown kind: ${kind}`);
  }
}

type Read<T> = (item: Json, path: Path, size: Size) => T;

/** Reads the items of a list. A hundred of them are a step, because a type may have a hundred thousand. */
function* eachOf<T>(type: Json, key: string, path: Path, read: Read<T>, size: Size): Steps<readonly T[]> {
  const items = listAt(type, key, path);
  takeSize(size, items.length);
  if (items.length > MOST_ITEMS) refuse([...path, key], `more than ${MOST_ITEMS} items`);
  const found: T[] = [];
  for (const [i, item] of items.entries()) {
    const at = [...path, key, i];
    found.push(read(objectAt(item, at), at, size));
    if (i % ITEMS_OF_STEP === 0) yield;
  }
  return found;
}

const ITEMS_OF_STEP = 100;

/** The library builds the fields of a type at once: a quarter of a second for this number. */
const MOST_ITEMS = 40_000;

function namedValueOf(json: Json, path: Path): UpstreamValue {
  const reason = textOrNull(json['deprecationReason']) ?? '';
  return {
    name: nameAt(json, path),
    description: textOrNull(json['description']),
    deprecation: json['isDeprecated'] === true ? reason : null,
  };
}

function fieldOf(json: Json, path: Path, size: Size): UpstreamField {
  return {
    ...namedValueOf(json, path),
    type: printedType(json['type'], [...path, 'type']),
    arguments: finish(eachOf(json, 'args', path, inputOf, size)),
  };
}

function inputOf(json: Json, path: Path): UpstreamInput {
  return {
    name: nameAt(json, path),
    description: textOrNull(json['description']),
    type: printedType(json['type'], [...path, 'type']),
    default: literalOrNull(json['defaultValue'], [...path, 'defaultValue']),
  };
}

function printedType(json: unknown, path: Path, levels = TYPE_DEPTH): string {
  const type = objectAt(json, path);
  const inner = () =>
    levels > 0
      ? printedType(type['ofType'], [...path, 'ofType'], levels - 1)
      : refuse(path, `lists and non-null types are nested more than ${TYPE_DEPTH} levels deep`);
  if (type['kind'] === 'NON_NULL') return `${inner()}!`;
  if (type['kind'] === 'LIST') return `[${inner()}]`;
  return nameAt(type, path);
}

function objectAt(value: unknown, path: Path): Json {
  if (isRecord(value)) return value;
  return refuse(path, `expected Object, but encountered ${nameOf(value)}`);
}

/** Returns the list; null is an empty list. */
function listAt(json: Json, key: string, path: Path): readonly unknown[] {
  const value = json[key] ?? [];
  if (Array.isArray(value)) return value;
  return refuse([...path, key], `expected Array, but encountered ${nameOf(value)}`);
}

function nameAt(json: Json, path: Path): string {
  const { name } = json;
  if (typeof name === 'string' && /^[_A-Za-z][_0-9A-Za-z]*$/.test(name)) return name;
  const what =
    typeof name === 'string'
      ? `${name} is not a GraphQL name`
      : `expected String, but encountered ${nameOf(name)}`;
  return refuse([...path, 'name'], `parsing Name failed, ${what}`);
}

function refuse(path: Path, text: string): never {
  const steps = path.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
  return fail('remoteSchemaInvalid', { text: `Error in $${steps}: ${text}` });
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return 'Null';
  if (Array.isArray(value)) return 'Array';
  const name = typeof value;
  return name.charAt(0).toUpperCase() + name.slice(1);
}

function literalOrNull(value: unknown, path: Path): string | null {
  if (typeof value !== 'string') return null;
  try {
    parseConstValue(value, { maxTokens: MOST_TOKENS });
    return value;
  } catch {
    return refuse(path, `${value} is not a GraphQL value`);
  }
}

/** Longer default values are refused: reading one that is nested as deeply would overflow the stack. */
const MOST_TOKENS = 1000;

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
