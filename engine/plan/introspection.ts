/** `__schema` and `__type`, answered while planning from the role's schema: the plan holds their JSON text. The library's
 *  `resolve` functions provide the values of introspection fields; the traversal is ours: the selection is compiled once and
 *  applied to thousands of types, and lists of named things are sorted by name. Not here: fields of the data. Source: GraphQL
 *  specification, "Introspection". */
import {
  type FieldNode,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNullableType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  SchemaMetaFieldDef,
} from 'graphql';
import { withPath } from '../errors/engine-error.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext, SelectedNodes } from './context.ts';
import { type Arguments, valueByValue } from './input.ts';
import { selectedFields, subselections } from './selection.ts';

/** Writes a value of introspection (a schema, a type, a field, …) as JSON text. */
type Writer = (value: unknown) => string;

export function isIntrospection(name: string): boolean {
  return name === '__schema' || name === '__type';
}

/** Returns the JSON text of one introspection root field. Builds every type of the role and keeps none of them. */
export function introspectionJson(at: SelectedNodes, context: PlanContext): string {
  const schema = context.document.role.schema();
  const write = writerOf(at.field.type, at.nodes, context, schema);
  if (at.field.name === SchemaMetaFieldDef.name) return write(schema);
  return write(schema.getType(String(plainValues(readArguments(at, context), context)['name'])));
}

function writerOf(
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  context: PlanContext,
  schema: GraphQLSchema,
): Writer {
  if (isNonNullType(type)) return writerOf(type.ofType, nodes, context, schema);
  if (isListType(type)) return orNull(listOf(writerOf(type.ofType, nodes, context, schema)));
  if (isLeafType(type)) return orNull((value) => JSON.stringify(value));
  if (!isObjectType(type)) throw new Error(`introspection has no ${type}`);
  return withPath('selectionSet', () => {
    const selection = selectedFields(subselections(nodes), type, context);
    const members = selection.map((selected, i): Writer => {
      const key = `${i === 0 ? '' : ','}${JSON.stringify(selected.alias)}:`;
      const { field } = selected;
      if (!field) return () => `${key}${JSON.stringify(type.name)}`;
      const write = withPath(field.name, () => memberOf({ field, nodes: selected.nodes }, context, schema));
      return (value) => key + write(value);
    });
    const write = orNull(objectOf(members));
    const isReference = selection.every(({ field }) => !field || !isListType(getNullableType(field.type)));
    return type.name === '__Type' && isReference ? cached(write) : write;
  });
}

/** Returns the writer of a field of the object that it is given. */
function memberOf({ field, nodes }: SelectedNodes, context: PlanContext, schema: GraphQLSchema): Writer {
  const values = plainValues(readArguments({ field, nodes }, context), context);
  const write = writerOf(field.type, nodes, context, schema);
  const resolve = field.resolve!;
  // The library's introspection resolvers read nothing else.
  const info = { schema } as GraphQLResolveInfo;
  return (value) => write(resolve(value, values, undefined, info));
}

function listOf(writeItem: Writer): Writer {
  return (values) => {
    let text = '';
    for (const value of inOrder(values as readonly unknown[])) text += (text && ',') + writeItem(value);
    return `[${text}]`;
  };
}

function objectOf(members: readonly Writer[]): Writer {
  return (value) => {
    let text = '{';
    for (const member of members) text += member(value);
    return `${text}}`;
  };
}

/** Caches the text of each type: tens of thousands of fields and arguments refer to the same few types. */
function cached(write: Writer): Writer {
  const known = new Map<unknown, string>();
  return (type) => {
    const text = known.get(type) ?? write(type);
    known.set(type, text);
    return text;
  };
}

function orNull(write: Writer): Writer {
  return (value) => (value === undefined || value === null ? 'null' : write(value));
}

/** Sorts named things by name; a list of texts keeps its order. */
function inOrder(values: readonly unknown[]): readonly unknown[] {
  return typeof values[0] === 'object' ? values.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)) : values;
}

function nameOf(value: unknown): string {
  return (value as { name: string }).name;
}

/** Returns the values of the arguments of an introspection field. They decide the response, so they belong to the plan. */
function plainValues(given: Arguments, context: PlanContext): Record<string, unknown> {
  return Object.fromEntries(
    [...given].map(([name, input]) => [
      name,
      input.kind === 'leaf' ? valueByValue(input, context) : undefined,
    ]),
  );
}
