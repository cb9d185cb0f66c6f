/** GraphQL types → types of an OpenAPI 3.0 description, for variables and for the selection of a document. Pure. A scalar
 *  whose JSON form depends on options has no `type`, which allows any. Not here: the description (openapi.ts). Source: OpenAPI
 *  specification 3.0.0, "Schema Object". */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLInputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLScalarType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
  isScalarType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import { own } from '../metadata/own.ts';
import { scalarOrigin } from '../schema/origin.ts';
import type { Fragments, PreparedDocument } from './context.ts';
import { definitionOf, subselections } from './selection.ts';

export type OpenapiType = {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly items?: OpenapiType;
  readonly properties?: Readonly<Record<string, OpenapiType>>;
  readonly required?: readonly string[];
  readonly nullable?: boolean;
};

/** Returns the type of a variable; null is an unused variable, which accepts any value. */
export function inputType(type: GraphQLInputType | null): OpenapiType {
  if (type === null) return {};
  return isNonNullType(type) ? inputOf(type.ofType) : { ...inputOf(type), nullable: true };
}

function inputOf(type: GraphQLInputType): OpenapiType {
  if (isListType(type)) return { type: 'array', items: inputType(type.ofType) };
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  if (isInputObjectType(type)) return { type: 'object', description: type.name };
  return isScalarType(type) ? scalarType(type) : {};
}

/** Returns the type of the `data` in a response. */
export function outputType({ operation, rootType, fragments }: PreparedDocument): OpenapiType {
  return objectType([operation.selectionSet], rootType, { fragments, left: MOST_FIELDS });
}

/** The most fields of a description: nested fragments can select more fields than any text could spell out. */
const MOST_FIELDS = 5000;

type Walk = { readonly fragments: Fragments; left: number };

function objectType(sets: readonly SelectionSetNode[], type: GraphQLObjectType, walk: Walk): OpenapiType {
  const nodes = new Map<string, FieldNode[]>();
  const pending = new Map(walk.fragments);
  for (const set of sets) collect(set, pending, nodes);
  walk.left -= nodes.size;
  if (walk.left < 0) return { type: 'object' };
  const properties = [...nodes].map(([alias, same]) => {
    const field = definitionOf(type, same[0]!.name.value);
    const schema: OpenapiType = field ? nullableOutput(field.type, same, walk) : { type: 'string' };
    return [alias, schema] as const;
  });
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** Collects the fields of a selection set. Each fragment counts once: `pending` holds those not yet seen. */
function collect(
  set: SelectionSetNode,
  pending: Map<string, FragmentDefinitionNode>,
  nodes: Map<string, FieldNode[]>,
): void {
  for (const selection of set.selections) {
    switch (selection.kind) {
      case Kind.FIELD: {
        const alias = (selection.alias ?? selection.name).value;
        nodes.set(alias, [...(nodes.get(alias) ?? []), selection]);
        break;
      }
      case Kind.INLINE_FRAGMENT:
        collect(selection.selectionSet, pending, nodes);
        break;
      case Kind.FRAGMENT_SPREAD: {
        const fragment = pending.get(selection.name.value);
        pending.delete(selection.name.value);
        if (fragment) collect(fragment.selectionSet, pending, nodes);
        break;
      }
      default:
        selection satisfies never;
    }
  }
}

function nullableOutput(type: GraphQLOutputType, nodes: readonly FieldNode[], walk: Walk): OpenapiType {
  if (isNonNullType(type)) return outputOf(type.ofType, nodes, walk);
  return { ...outputOf(type, nodes, walk), nullable: true };
}

function outputOf(type: GraphQLOutputType, nodes: readonly FieldNode[], walk: Walk): OpenapiType {
  if (isListType(type)) return { type: 'array', items: nullableOutput(type.ofType, nodes, walk) };
  if (isObjectType(type)) return objectType(subselections(nodes), type, walk);
  if (isEnumType(type)) return { type: 'string', enum: type.getValues().map(({ name }) => name) };
  return isScalarType(type) ? scalarType(type) : {};
}

const BUILT_IN: Readonly<Record<string, OpenapiType>> = {
  Int: { type: 'integer' },
  Float: { type: 'number' },
  Boolean: { type: 'boolean' },
  String: { type: 'string' },
  ID: { type: 'string' },
};

/** Scalars whose format OpenAPI and JSON Schema define. */
const FORMATS: Readonly<Record<string, string>> = { uuid: 'uuid', date: 'date', timestamptz: 'date-time' };

function scalarType(type: GraphQLScalarType): OpenapiType {
  const scalar = scalarOrigin(type);
  const format = own(FORMATS, type.name);
  const builtIn = own(BUILT_IN, type.name);
  if (builtIn) return builtIn;
  if (scalar?.input === 'string') {
    return { type: 'string', ...(format === undefined ? { description: type.name } : { format }) };
  }
  return { ...(scalar?.input === 'geojson' ? { type: 'object' } : {}), description: type.name };
}
