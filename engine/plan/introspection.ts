/** `__schema` and `__type`, from the role's schema. Planning compiles the selection once; the plan holds a SchemaText, which applies it to
 *  thousands of types in steps when the plan runs. The library's `resolve` functions provide the values of introspection fields; the
 *  traversal is ours, and lists of named things are sorted by name.
 *  Not here: fields of the data, when the steps run (execute/schema-text.ts). Source: GraphQL specification, "Introspection". */
import {
  type FieldNode,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNullableType,
  isLeafType,
  isListType,
  isNamedType,
  isNonNullType,
  isObjectType,
  isWrappingType,
  print,
  SchemaMetaFieldDef,
} from 'graphql';
import { withPath } from '../errors/engine-error.ts';
import type { Steps } from '../metadata/steps.ts';
import { fieldsOnLoan, type ReachedSchema } from '../schema/whole-schema.ts';
import { readArguments } from './arguments.ts';
import type { PlanContext, SelectedNodes } from './context.ts';
import { type Arguments, valueByValue } from './input.ts';
import { SchemaText, type TextOutput } from './schema-text.ts';
import { selectedFields, subselections } from './selection.ts';

/** The number of fields that a field of introspection counts as, because it is written for each of hundreds of types. The standard
 *  introspection selects 250 fields. */
const FIELD_WEIGHT = 20;
/** The number of fields that a list of all types counts as, however little it selects of each. */
const TYPES_WEIGHT = 1_000;

/** The state that the writers of one text share. */
type Run = {
  readonly schema: ReachedSchema;
  readonly output: TextOutput;
  /** The texts of references to types: tens of thousands of fields and arguments refer to the same few types. */
  readonly references: Map<Write, Map<unknown, string>>;
};

/** Returns a value of introspection (a schema, a type, a field, …) as JSON text. */
type Write = (value: unknown, run: Run) => string;

/** Adds a value to the output in steps. */
type WriteSteps = (value: unknown, run: Run) => Steps<void>;

/** A value with lists of types, of their fields or of their values is written in steps, however deep in it they are. */
type Writer =
  | { readonly inSteps: false; readonly write: Write }
  | { readonly inSteps: true; readonly write: WriteSteps };

type Member = {
  readonly writer: Writer;
  /** The comma before it, its name and a colon. */
  readonly key: string;
};

export function isIntrospection(name: string): boolean {
  return name === '__schema' || name === '__type';
}

/** Returns the text of one introspection root field. Fields that select the same have the same text. Writing it builds every type of the role and keeps none of them. */
export function introspectionText(at: SelectedNodes, context: PlanContext): SchemaText {
  const { role } = context.document;
  const writer = writerOf(at.field.type, at.nodes, context);
  const isSchema = at.field.name === SchemaMetaFieldDef.name;
  const name = isSchema ? '' : String(plainValues(readArguments(at, context), context)['name']);
  const selected = at.nodes.map((node) => print({ ...node, alias: undefined })).join(' ');
  const known = context.schemaTexts.get(selected);
  if (known) return known;
  const text = new SchemaText(role, context.schemaTexts, function* (output) {
    const schema = yield* role.reachedSchema();
    output.limit(schema.mostCharacters, ['selectionSet', at.field.name]);
    const value = isSchema ? schema : schema.types.get(name);
    const run = { schema, output, references: new Map() };
    if (writer.inSteps) yield* writer.write(value, run);
    else output.add(writer.write(value, run));
  });
  context.schemaTexts.set(selected, text);
  return text;
}

/** Returns the writer of values of a type; `owner` is the type with the field that has them. */
function writerOf(
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  context: PlanContext,
  owner = '',
): Writer {
  if (isNonNullType(type)) return writerOf(type.ofType, nodes, context, owner);
  if (isListType(type)) {
    const item = writerOf(type.ofType, nodes, context);
    // Only the list of arguments of a field is short.
    if (owner === '__Schema') return longList(onLoan(item));
    if (item.inSteps || owner === '__Type') return longList(item);
    return orNull((values, run) => `[${inOrder(values).map((value) => item.write(value, run))}]`);
  }
  if (isLeafType(type)) return orNull((value) => JSON.stringify(value));
  if (!isObjectType(type)) throw new Error(`introspection has no ${type}`);
  return withPath('selectionSet', () => {
    const selection = selectedFields(subselections(nodes), type, context);
    context.countFields(selection.length * (FIELD_WEIGHT - 1));
    const members = selection.map(({ alias, field, nodes: selected }, i): Member => {
      const key = `${i === 0 ? '' : ','}${JSON.stringify(alias)}:`;
      const typeName: Writer = { inSteps: false, write: () => JSON.stringify(type.name) };
      if (!field) return { key, writer: typeName };
      const at = { field, nodes: selected };
      return { key, writer: withPath(field.name, () => memberOf(at, type.name, context)) };
    });
    const isReference = selection.every(({ field }) => !field || !isListType(getNullableType(field.type)));
    return objectOf(members, type.name === '__Type' && isReference);
  });
}

function typesOf(schema: unknown): readonly unknown[] {
  return [...(schema as ReachedSchema).types.values()];
}

/** Returns the writer of a field of the object that it is given. */
function memberOf({ field, nodes }: SelectedNodes, owner: string, context: PlanContext): Writer {
  const values = plainValues(readArguments({ field, nodes }, context), context);
  const writer = writerOf(field.type, nodes, context, owner);
  const isTypes = owner === '__Schema' && field.name === 'types';
  if (isTypes) context.countFields(TYPES_WEIGHT);
  const resolve = isTypes ? typesOf : field.resolve!;
  // The library's introspection resolvers read nothing else.
  const resolved = (value: unknown, { schema }: Run) =>
    resolve(value, values, undefined, { schema } as unknown as GraphQLResolveInfo);
  return writer.inSteps
    ? { inSteps: true, write: (value, run) => writer.write(resolved(value, run), run) }
    : { inSteps: false, write: (value, run) => writer.write(resolved(value, run), run) };
}

function objectOf(members: readonly Member[], isReference: boolean): Writer {
  const short = members.flatMap(({ key, writer }) => (writer.inSteps ? [] : [{ key, write: writer.write }]));
  if (short.length < members.length) return longObject(members);
  const write: Write = (value, run) => {
    let text = '{';
    for (const member of short) text += member.key + member.write(value, run);
    return `${text}}`;
  };
  return orNull(isReference ? cached(write) : write);
}

function longObject(members: readonly Member[]): Writer {
  return orNullInSteps(function* (value, run) {
    const { output } = run;
    output.add('{');
    for (const { key, writer } of members) {
      output.add(key);
      if (writer.inSteps) yield* writer.write(value, run);
      else output.add(writer.write(value, run));
    }
    output.add('}');
  });
}

/** Returns the writer of a list in which each item is a step. */
function longList(item: Writer): Writer {
  return orNullInSteps(function* (values, run) {
    const { output } = run;
    output.add('[');
    let isFirst = true;
    for (const value of inOrder(values)) {
      if (!isFirst) output.add(',');
      isFirst = false;
      if (item.inSteps) yield* item.write(value, run);
      else output.add(item.write(value, run));
      yield;
    }
    output.add(']');
  });
}

/** Writes a type, whose fields are in memory only meanwhile; directives, which a schema lists, too, as they are. */
function onLoan(item: Writer): Writer {
  return orNullInSteps(function* (value, run) {
    const drop = isNamedType(value) ? fieldsOnLoan(value) : undefined;
    if (item.inSteps) yield* item.write(value, run);
    else run.output.add(item.write(value, run));
    drop?.();
  });
}

/** Writes each type once. A list or non-null is an object of its own for each field, so that keeping its text saves nothing. */
function cached(write: Write): Write {
  return (value, run) => {
    if (isWrappingType(value)) return write(value, run);
    const known = run.references.get(write) ?? new Map<unknown, string>();
    run.references.set(write, known);
    const text = known.get(value) ?? write(value, run);
    known.set(value, text);
    return text;
  };
}

function orNull(write: Write): Writer {
  return { inSteps: false, write: (value, run) => (isMissing(value) ? 'null' : write(value, run)) };
}

function orNullInSteps(write: WriteSteps): Writer {
  return {
    inSteps: true,
    *write(value, run) {
      if (isMissing(value)) run.output.add('null');
      else yield* write(value, run);
    },
  };
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null;
}

/** Sorts named things by name; a list of texts keeps its order. */
function inOrder(list: unknown): readonly unknown[] {
  const values = list as readonly unknown[];
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
