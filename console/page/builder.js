/** The operation builder without the page: adds a field or an argument to the text of an operation and removes it. The rest of the text, with
 *  its comments and its form, stays as it is.
 *  Pure. In: a text, nodes of its syntax tree with locations, fields of a GraphQL schema. Out: the new text.
 *  Not here: what is shown (builder-pane.jsx). */
import {
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  parse,
} from 'graphql';

const MOST_LEAVES = 3;
const NUMBERS = new Set(['Int', 'Float', 'bigint', 'smallint', 'numeric', 'float8', 'float4']);
const OBJECTS = new Set(['json', 'jsonb']);

/** Returns the operation that runs, null for a text without one, or the mistake in the text: `{operation}` or `{problem}`. */
export function operationIn({ query, operationName }) {
  if (query.replaceAll(/#[^\n]*/g, '').trim() === '') return { operation: null };
  try {
    const { definitions } = parse(query);
    const operations = definitions.filter(({ kind }) => kind === 'OperationDefinition');
    const named = operations.find(({ name }) => name?.value === operationName);
    return { operation: named ?? operations[0] ?? null };
  } catch ({ message }) {
    return { problem: message };
  }
}

/** Returns the fields that an operation or a field selects by themselves, not within a fragment. */
export function fieldsOf(owner) {
  return owner?.selectionSet?.selections.filter(({ kind }) => kind === 'Field') ?? [];
}

/** Returns a new operation with one field. */
export function newOperation(kind, field) {
  return `${kind} {\n${fieldText(field, '  ')}\n}\n`;
}

/** Returns the text in which the owner also selects the field. It takes the place of a lone `__typename`, and that of the only field of a
 *  subscription. */
export function withField(text, owner, field) {
  const { selections, loc } = owner.selectionSet;
  if (selections.length === 0) {
    const outer = indentAt(text, loc.start);
    return replaced(text, loc, `{\n${fieldText(field, `${outer}  `)}\n${outer}}`);
  }
  const [only] = selections;
  const isReplaced =
    selections.length === 1 && (only.name?.value === '__typename' || owner.operation === 'subscription');
  const last = selections.at(-1).loc;
  const indent = indentAt(text, last.start);
  if (isReplaced) return replaced(text, only.loc, fieldText(field, indent).trimStart());
  const isOnOneLine = !text.slice(last.end, loc.end).includes('\n');
  if (isOnOneLine) return inserted(text, last.end, ` ${fieldText(field, '').replaceAll(/\s+/g, ' ')}`);
  const { length } = /^[ \t,]*(#[^\n]*)?/.exec(text.slice(last.end))[0];
  return inserted(text, last.end + length, `\n${fieldText(field, indent)}`);
}

/** Returns the text without a field of the owner, which selects `__typename` where nothing else is left. */
export function withoutField(text, owner, field) {
  if (owner.selectionSet.selections.length === 1) return replaced(text, field.loc, '__typename');
  return without(text, field.loc);
}

/** Returns the text in which the field has the argument, with a value to be completed. */
export function withArgument(text, node, { name, type }) {
  const written = `${name}: ${placeholder(type)}`;
  const last = node.arguments?.at(-1);
  return last
    ? inserted(text, last.loc.end, `, ${written}`)
    : inserted(text, node.name.loc.end, `(${written})`);
}

/** Returns the text in which the field lacks the argument. */
export function withoutArgument(text, node, name) {
  const i = node.arguments.findIndex((argument) => argument.name.value === name);
  const [before, { loc }, after] = [node.arguments[i - 1], node.arguments[i], node.arguments[i + 1]];
  if (after) return replaced(text, { start: loc.start, end: after.loc.start }, '');
  if (before) return replaced(text, { start: before.loc.end, end: loc.end }, '');
  const open = text.lastIndexOf('(', loc.start);
  return replaced(text, { start: open, end: text.indexOf(')', loc.end) + 1 }, '');
}

/** Returns a field with the arguments that it must have, and the first leaves of what it returns. */
function fieldText({ name, type, args }, indent) {
  const given = args.filter(isRequiredArgument).map((each) => `${each.name}: ${placeholder(each.type)}`);
  const call = given.length > 0 ? `${name}(${given.join(', ')})` : name;
  const named = getNamedType(type);
  if (isLeafType(named)) return indent + call;
  const leaves = Object.values(named.getFields?.() ?? {}).filter(
    (field) => isLeafType(getNamedType(field.type)) && !field.args.some(isRequiredArgument),
  );
  const names = leaves.length > 0 ? leaves.slice(0, MOST_LEAVES).map((leaf) => leaf.name) : ['__typename'];
  return `${indent}${call} {\n${names.map((each) => `${indent}  ${each}\n`).join('')}${indent}}`;
}

/** Returns a literal of the type to begin with. */
function placeholder(given) {
  const type = getNullableType(given);
  if (isListType(type)) return isNonNullType(given) ? `[${placeholder(type.ofType)}]` : '[]';
  if (isEnumType(type)) return type.getValues()[0]?.name ?? 'null';
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{${required.map((field) => `${field.name}: ${placeholder(field.type)}`).join(', ')}}`;
  }
  if (type.name === 'Boolean') return 'true';
  if (NUMBERS.has(type.name)) return '10';
  return OBJECTS.has(type.name) ? '{}' : '""';
}

function indentAt(text, position) {
  const line = text.lastIndexOf('\n', position - 1) + 1;
  return /^[ \t]*/.exec(text.slice(line, position))[0];
}

/** Returns the text without a part, and without the line that nothing else is on. */
function without(text, { start, end }) {
  const line = text.lastIndexOf('\n', start - 1) + 1;
  const isFirst = text.slice(line, start).trim() === '';
  const rest = /^[ \t,]*(\n|$)/.exec(text.slice(end));
  if (isFirst && rest) return replaced(text, { start: line, end: end + rest[0].length }, '');
  const space = /[ \t,]*$/.exec(text.slice(0, start))[0].length;
  return replaced(text, { start: start - space, end }, '');
}

function inserted(text, position, part) {
  return replaced(text, { start: position, end: position }, part);
}

function replaced(text, { start, end }, part) {
  return text.slice(0, start) + part + text.slice(end);
}
