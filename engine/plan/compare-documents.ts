/** Compares two forms of the stored document of a REST endpoint, whose clients send variables and read the response: does a client of the one
 *  get from the other what it expects? In: two texts. Out: a verdict: `wider` when all that the first returns is there and its requests stay
 *  valid. What cannot be decided, as what fragments on different types return, is `other`. Pure.
 *  Not here: whether a document fits the schema (stored-query.ts). */
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
} from 'graphql';
import type { AccessVerdict } from '../metadata/access/compare-filters.ts';

/** Returns how what `after` returns relates to what `before` did. */
export function compareDocuments(before: string, after: string): AccessVerdict {
  if (before === after) return 'same';
  const [old, next] = [outlineOf(before), outlineOf(after)];
  if (!old || !next) return 'other';
  const [keeps, addsNone] = [isCovered(old, next), isCovered(next, old)];
  if (keeps && addsNone) return 'same';
  if (keeps) return 'wider';
  return addsNone ? 'narrower' : 'other';
}

/** The parts of a document that clients of its endpoint depend on. */
type Outline = {
  readonly operation: string;
  readonly variables: ReadonlyMap<string, { readonly type: string; readonly text: string }>;
  /** The fields of the response, each with its path, arguments and directives. */
  readonly fields: ReadonlySet<string>;
};

/** True when clients of `a` can use `b`: it takes the same variables and needs no other, and returns the same fields. */
function isCovered(a: Outline, b: Outline): boolean {
  if (a.operation !== b.operation) return false;
  const isTaken = ([name, { type, text }]: readonly [string, { type: string; text: string }]) => {
    const taken = b.variables.get(name);
    return taken !== undefined && (taken.text === text || `${taken.text}!` === type);
  };
  const isNeeded = ([name, { text }]: readonly [string, { text: string }]) =>
    text.endsWith('!') && !a.variables.has(name);
  return (
    [...a.variables].every(isTaken) &&
    ![...b.variables].some(isNeeded) &&
    [...a.fields].every((field) => b.fields.has(field))
  );
}

/** A limit of listed fields: fragments inside fragments multiply. Beyond it nothing is decided. */
const MOST_FIELDS = 10_000;

/** Returns undefined for a text without exactly one operation, and for one with too many fields. */
function outlineOf(text: string): Outline | undefined {
  const document = parsed(text);
  const operations = document?.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION) ?? [];
  const [operation] = operations;
  if (!document || !operation || operations.length > 1) return undefined;
  const fragments = new Map(
    document.definitions
      .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
      .map((node) => [node.name.value, node]),
  );
  const fields = new Set<string>();
  if (!addFields(operation.selectionSet, '', { fragments, fields, spread: [] })) return undefined;
  return {
    operation: `${operation.operation}${directivesText(operation.directives)}`,
    variables: variablesOf(operation),
    fields,
  };
}

function parsed(text: string): DocumentNode | undefined {
  try {
    return parse(text, { noLocation: true, maxTokens: 100_000 });
  } catch {
    return undefined;
  }
}

function variablesOf({ variableDefinitions = [] }: OperationDefinitionNode): Outline['variables'] {
  return new Map(
    variableDefinitions.map(({ variable, type, defaultValue, directives }) => {
      const value = defaultValue ? ` = ${print(defaultValue)}` : '';
      const text = `${print(type)}${value}${directivesText(directives)}`;
      return [variable.name.value, { type: print(type), text }];
    }),
  );
}

type Listing = {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly fields: Set<string>;
  /** The fragments around the selection. */
  readonly spread: readonly string[];
};

/** Adds the fields of a selection. False when there are too many, or a fragment contains itself or is missing. */
function addFields({ selections }: SelectionSetNode, path: string, listing: Listing): boolean {
  const { fragments, fields, spread } = listing;
  return selections.every((selection) => {
    if (fields.size > MOST_FIELDS) return false;
    if (selection.kind === Kind.FIELD) {
      if (selection.name.value === '__typename' && !selection.alias) return true;
      const at = `${path}/${fieldText(selection)}`;
      if (!selection.selectionSet) fields.add(at);
      return !selection.selectionSet || addFields(selection.selectionSet, at, listing);
    }
    const applied = directivesText(selection.directives);
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      const type = selection.typeCondition ? ` on ${selection.typeCondition.name.value}` : '';
      return addFields(selection.selectionSet, `${path}/...${type}${applied}`, listing);
    }
    const name = selection.name.value;
    const fragment = fragments.get(name);
    if (!fragment || spread.includes(name)) return false;
    const at = `${path}/... on ${fragment.typeCondition.name.value}${applied}`;
    return addFields(fragment.selectionSet, at, { ...listing, spread: [...spread, name] });
  });
}

function fieldText({ alias, name, arguments: given = [], directives }: FieldNode): string {
  const args = given.map(print).toSorted().join(', ');
  return `${alias?.value ?? name.value}: ${name.value}(${args})${directivesText(directives)}`;
}

function directivesText(directives: readonly DirectiveNode[] = []): string {
  return directives.map((directive) => ` ${print(directive)}`).join('');
}
