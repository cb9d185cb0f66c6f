/** Parses the response of a GraphQL service to an introspection query into an UpstreamSchema. Raises `remoteSchemaInvalid` for a
 *  response that is no introspection, and for one that describes no valid schema (an object that lacks a field of its interface,
 *  an empty union). Not here: the request (remote/request.ts). Reference: GraphQL specification, "Introspection";
 *  message texts: docs/reference/behaviour/errors.md. */

import { parseConstValue } from 'graphql';
import { fail } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
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

/** Parses the `data` of the response: `{__schema: …}`. */
export function readIntrospection(data: unknown): UpstreamSchema {
  const schema = objectAt(objectAt(data, [])['__schema'], []);
  const types = listAt(schema, 'types', []).map((type, i) => typeOf(type, ['types', i]));
  const root = (key: string) => (schema[key] ? nameAt(objectAt(schema[key], [key]), [key]) : null);
  const upstream: UpstreamSchema = {
    types: new Map(types.filter(({ name }) => !name.startsWith('__')).map((type) => [type.name, type])),
    roots: {
      query: root('queryType'),
      mutation: root('mutationType'),
      subscription: root('subscriptionType'),
    },
  };
  checkUpstream(upstream);
  return upstream;
}

type Path = readonly (string | number)[];
type Json = Readonly<Record<string, unknown>>;

function typeOf(json: unknown, path: Path): UpstreamType {
  const type = objectAt(json, path);
  const about = { name: nameAt(type, path), description: textOrNull(type['description']) };
  const kind = String(type['kind']);
  switch (kind) {
    case 'SCALAR':
      return { ...about, kind: 'scalar' };
    case 'ENUM':
      return { ...about, kind: 'enum', values: eachOf(type, 'enumValues', path, namedValueOf) };
    case 'OBJECT':
    case 'INTERFACE':
      return {
        ...about,
        kind: kind === 'OBJECT' ? 'object' : 'interface',
        fields: eachOf(type, 'fields', path, fieldOf),
        interfaces: eachOf(type, 'interfaces', path, nameAt),
      };
    case 'UNION':
      return { ...about, kind: 'union', members: eachOf(type, 'possibleTypes', path, nameAt) };
    case 'INPUT_OBJECT':
      return { ...about, kind: 'input', fields: eachOf(type, 'inputFields', path, inputOf) };
    default:
      return refuse([...path, 'kind'], `unknown kind: ${kind}`);
  }
}

function eachOf<T>(type: Json, key: string, path: Path, read: (item: Json, path: Path) => T): readonly T[] {
  return listAt(type, key, path).map((item, i) => {
    const at = [...path, key, i];
    return read(objectAt(item, at), at);
  });
}

function namedValueOf(json: Json, path: Path): UpstreamValue {
  const reason = textOrNull(json['deprecationReason']) ?? '';
  return {
    name: nameAt(json, path),
    description: textOrNull(json['description']),
    deprecation: json['isDeprecated'] === true ? reason : null,
  };
}

function fieldOf(json: Json, path: Path): UpstreamField {
  return {
    ...namedValueOf(json, path),
    type: printedType(json['type'], [...path, 'type']),
    arguments: eachOf(json, 'args', path, inputOf),
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

function printedType(json: unknown, path: Path): string {
  const type = objectAt(json, path);
  if (type['kind'] === 'NON_NULL') return `${printedType(type['ofType'], [...path, 'ofType'])}!`;
  if (type['kind'] === 'LIST') return `[${printedType(type['ofType'], [...path, 'ofType'])}]`;
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
    parseConstValue(value);
    return value;
  } catch {
    return refuse(path, `${value} is not a GraphQL value`);
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
