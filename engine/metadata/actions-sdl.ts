/** Actions and custom types as SDL, with settings for what SDL cannot express: handlers, kinds, headers, permissions, relationships
 *  of types. Both are printed from the document and parsed back into it.
 *  In and out: the document's JSON. Pure. Raises `parseFailed` for SDL and settings that do not belong together.
 *  Not here: files (directory.ts), what an action means. Spec: "actions.graphql", "actions.yaml". */
// Not from 'graphql': the operator loads this file, and needs none of the 140 modules that execute requests.
import {
  type DefinitionNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type InputValueDefinitionNode,
  Kind,
  print,
} from 'graphql/language';
import { fail } from '../errors/engine-error.ts';
import { isRecord, type JsonRecord } from '../json/value.ts';
import { parseGraphql } from './graphql-syntax.ts';
import type { CUSTOM_TYPE_CATEGORIES } from './locations.ts';
import { own } from './own.ts';

type Category = (typeof CUSTOM_TYPE_CATEGORIES)[number];
type Named = JsonRecord & { readonly name: string };

/** Actions and types as SDL, and their settings: `{actions, custom_types}` without the parts in the SDL. */
export function splitActions(document: JsonRecord): { readonly sdl: string; readonly settings: JsonRecord } {
  const actions = (document['actions'] ?? []) as readonly Named[];
  const types = (document['custom_types'] ?? {}) as Readonly<Record<Category, readonly Named[] | undefined>>;
  const printed = PRINTED_CATEGORIES.flatMap((category) =>
    (types[category] ?? []).map((type) => PRINTERS[category](type)),
  );
  const settingsOfTypes = PRINTED_CATEGORIES.map((category) => [
    category,
    (types[category] ?? []).map((type) => pick(type, TYPE_SETTINGS)),
  ]);
  return {
    sdl: `${[...printActions(actions), ...printed].join('\n\n')}\n`,
    settings: { actions: actions.map(settingsOfAction), custom_types: Object.fromEntries(settingsOfTypes) },
  };
}

/** The order of categories in both files and of keys in actions.yaml, as the command line of the reference writes it. */
const PRINTED_CATEGORIES = ['enums', 'input_objects', 'objects', 'scalars'] as const;
const TYPE_SETTINGS = ['name', 'description', 'values', 'relationships'];
const ACTION_SETTINGS = ['name', 'definition', 'permissions', 'comment'];
const DEFINITION_SETTINGS = [
  'kind',
  'handler',
  'forward_client_headers',
  'headers',
  'ignored_client_headers',
  'timeout',
  'request_transform',
  'response_transform',
];

function pick(record: JsonRecord, keys: readonly string[]): JsonRecord {
  return Object.fromEntries(keys.flatMap((key) => (record[key] === undefined ? [] : [[key, record[key]]])));
}

/** The actions and custom types of a document; either may be absent. */
export function printActionsSdl(document: JsonRecord): string {
  return splitActions({ actions: [], custom_types: {}, ...document }).sdl;
}

export type ActionsSdl = { readonly actions: readonly ReadAction[]; readonly types: readonly ReadType[] };

/** Parses actions, as fields of Query and Mutation, and types. Raises `parseFailed`. */
export function readActionsSdl(sdl: string): ActionsSdl {
  const { definitions } = parseSdl(sdl);
  return { actions: definitions.flatMap(actionsIn), types: definitions.flatMap(typeIn) };
}

/** Parses what `splitActions` returns. Raises `parseFailed` for an action or type that only one of the two files has. */
export function joinActions(sdl: string, settings: JsonRecord): JsonRecord {
  const found = readActionsSdl(sdl);
  const ofActions = byName(settings['actions']);
  const ofTypes = byName(
    Object.values(isRecord(settings['custom_types']) ? settings['custom_types'] : {}).flat(),
  );
  refuseMissing('action', ofActions, found.actions);
  refuseMissing(
    'type',
    ofTypes,
    found.types.map(({ type }) => type),
  );
  const actions = found.actions.map(({ name, definition }) => {
    const said =
      ofActions.get(name) ?? fail('parseFailed', { text: `action ${name} is not present in actions.yaml` });
    return { ...said, definition: { ...(said['definition'] as object), ...definition } };
  });
  const types = Object.groupBy(found.types, ({ category }) => category);
  const joined = Object.entries(types).map(([category, list]) => [
    category,
    list.map(({ type }) => joinType(ofTypes.get(type.name) ?? {}, type)),
  ]);
  return { actions, custom_types: Object.fromEntries(joined) };
}

/** Returns a type with its settings. The SDL says which values an enum has; a value in the settings that agrees with it is kept as given:
 *  `is_deprecated: null`. */
function joinType(said: JsonRecord, type: Named): JsonRecord {
  const { values } = type;
  if (!Array.isArray(values)) return { ...said, ...type };
  const given = Array.isArray(said['values']) ? said['values'].filter(isRecord) : [];
  const joined = (values as readonly JsonRecord[]).map((value) => {
    const same = given.find((other) => other['value'] === value['value']);
    const isSame =
      (same?.['description'] ?? undefined) === value['description'] &&
      (same?.['is_deprecated'] === true) === (value['is_deprecated'] === true);
    return same && isSame ? same : value;
  });
  return { ...said, ...type, values: joined };
}

/** Returns the part of an action for actions.yaml. The kind is always there: empty where the definition has none. */
function settingsOfAction(action: Named): JsonRecord {
  const definition = pick({ kind: '', ...(action['definition'] as JsonRecord) }, DEFINITION_SETTINGS);
  return pick({ ...action, definition }, ACTION_SETTINGS);
}

// ── printing ──

type Field = {
  readonly name: string;
  readonly type: string;
  readonly description?: string;
  readonly arguments?: unknown;
};

function printActions(actions: readonly Named[]): readonly string[] {
  return (['query', 'mutation'] as const).flatMap((type) => {
    const fields = actions.flatMap((action) => {
      const definition = action['definition'] as JsonRecord & { readonly output_type: string };
      if ((definition['type'] ?? 'mutation') !== type) return [];
      return [{ name: action.name, type: definition.output_type, arguments: definition['arguments'] }];
    });
    return fields.length === 0
      ? []
      : [printFields(type === 'query' ? 'type Query' : 'type Mutation', fields)];
  });
}

const PRINTERS: Readonly<Record<Category, (type: Named) => string>> = {
  scalars: (type) => described(type, `scalar ${type.name}`),
  enums: (type) => {
    const values = type['values'] as readonly (JsonRecord & { readonly value: string })[];
    const lines = values.map((value) =>
      described(value, value['is_deprecated'] === true ? `${value.value} @deprecated` : value.value),
    );
    return described(type, block(`enum ${type.name}`, lines));
  },
  input_objects: (type) =>
    described(type, printFields(`input ${type.name}`, type['fields'] as readonly Field[])),
  objects: (type) => described(type, printFields(`type ${type.name}`, type['fields'] as readonly Field[])),
};

function printFields(head: string, fields: readonly Field[]): string {
  return block(
    head,
    fields.map((field) => described(field, `${field.name}${printArguments(field.arguments)}: ${field.type}`)),
  );
}

function printArguments(given: unknown): string {
  const list = Array.isArray(given) ? (given as readonly Field[]) : [];
  if (list.length === 0) return '';
  const printed = list.map((argument) => described(argument, `${argument.name}: ${argument.type}`));
  const isShort = list.every(({ description }) => description === undefined);
  return isShort ? `(${printed.join(', ')})` : `(\n${indent(printed.join('\n'))}\n)`;
}

function block(head: string, lines: readonly string[]): string {
  return `${head} {\n${lines.map(indent).join('\n')}\n}`;
}

function described(item: JsonRecord, text: string): string {
  const { description } = item;
  if (typeof description !== 'string') return text;
  // A block string keeps neither white space at its ends nor characters that need an escape.
  const isBlock = /^\S(?:[^\p{Cc}]|[\t\n])*$/u.test(description) && /\S$/.test(description);
  return `${print({ kind: Kind.STRING, value: description, block: isBlock })}\n${text}`;
}

/** Splits text into the lines of GraphQL. For a regular expression, U+2028 in a description would end a line. */
function indent(text: string): string {
  const lines = text.split('\n').map((line) => (line === '' ? line : `  ${line}`));
  return lines.join('\n');
}

// ── reading ──

function parseSdl(sdl: string): Pick<DocumentNode, 'definitions'> {
  if (sdl.replaceAll(/#.*$/gm, '').trim() === '') return { definitions: [] };
  const parsed = parseGraphql(sdl);
  return 'problem' in parsed ? fail('parseFailed', { text: parsed.problem }) : parsed.document;
}

type ReadAction = {
  readonly name: string;
  /** The description of the field. A metadata directory has it as the comment of the action in actions.yaml. */
  readonly description?: string;
  readonly definition: JsonRecord;
};
type ReadType = { readonly category: Category; readonly type: Named };

const ROOTS: Readonly<Record<string, 'query' | 'mutation'>> = { Query: 'query', Mutation: 'mutation' };

function actionsIn(node: DefinitionNode): readonly ReadAction[] {
  if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.OBJECT_TYPE_EXTENSION) return [];
  const type = own(ROOTS, node.name.value);
  if (type === undefined) return [];
  return (node.fields ?? []).map((field) => ({
    ...headOf(field),
    definition: { type, arguments: field.arguments?.map(readInput), output_type: print(field.type) },
  }));
}

function typeIn(node: DefinitionNode): readonly ReadType[] {
  switch (node.kind) {
    case Kind.SCALAR_TYPE_DEFINITION:
      return [{ category: 'scalars', type: headOf(node) }];
    case Kind.ENUM_TYPE_DEFINITION: {
      const values = node.values?.map((value) => ({
        value: value.name.value,
        ...descriptionOf(value),
        ...(value.directives?.some(({ name }) => name.value === 'deprecated') ? { is_deprecated: true } : {}),
      }));
      return [{ category: 'enums', type: { ...headOf(node), values: values ?? [] } }];
    }
    case Kind.INPUT_OBJECT_TYPE_DEFINITION:
      return [
        { category: 'input_objects', type: { ...headOf(node), fields: (node.fields ?? []).map(readInput) } },
      ];
    case Kind.OBJECT_TYPE_DEFINITION:
    case Kind.OBJECT_TYPE_EXTENSION:
      if (own(ROOTS, node.name.value) !== undefined) return [];
      return [{ category: 'objects', type: { ...headOf(node), fields: (node.fields ?? []).map(readField) } }];
    default:
      return fail('parseFailed', { text: `${node.kind} has no place among actions and custom types` });
  }
}

type Described = { readonly description?: { readonly value: string } | undefined };

function headOf(node: Described & { readonly name: { readonly value: string } }): Named {
  return { name: node.name.value, ...descriptionOf(node) };
}

function descriptionOf({ description }: Described): { readonly description?: string } {
  return description ? { description: description.value } : {};
}

function readInput(node: InputValueDefinitionNode): Field {
  return { ...headOf(node), type: print(node.type) };
}

function readField(node: FieldDefinitionNode): Field {
  const given = node.arguments ?? [];
  return {
    ...readInput({ ...node, kind: Kind.INPUT_VALUE_DEFINITION }),
    ...(given.length > 0 ? { arguments: given.map(readInput) } : {}),
  };
}

function byName(items: unknown): ReadonlyMap<string, JsonRecord> {
  const named = Array.isArray(items) ? items.filter(isRecord) : [];
  return new Map(named.map((item) => [String(item['name']), item]));
}

function refuseMissing(
  what: string,
  said: ReadonlyMap<string, unknown>,
  found: readonly { readonly name: string }[],
): void {
  const names = new Set(found.map(({ name }) => name));
  const missing = [...said.keys()].find((name) => !names.has(name));
  if (missing !== undefined)
    fail('parseFailed', { text: `${what} ${missing} is not present in actions.graphql` });
}
