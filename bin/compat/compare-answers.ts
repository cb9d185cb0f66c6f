/** Compares the data of two answers to one operation. Lists of objects are compared in any order where the operation promises none: without `order_by`.
 *  In: the operation and both data. Out: the paths that differ, without values, which belong to users. Pure.
 *  Not here: errors and status of the answers (replay.ts). Reference: docs/guides/coming-from-hasura.md. */
import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { isRecord, isSameJson, type JsonRecord } from '../../engine/json/value.ts';

export type AnswerDifference = {
  /** True when both answers may be right, because the operation does not say which rows it wants. */
  readonly isUndetermined: boolean;
  readonly text: string;
};

/** The variables of the request, with their defaults, and the fragments of the document. */
export type Comparing = {
  readonly variables: JsonRecord;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
};

/** A field of an answer. */
type Field = {
  readonly nodes: readonly FieldNode[];
  /** True when the operation orders the rows of the field above. */
  readonly isBelowOrdered: boolean;
  readonly path: string;
};

/** The fields of lists that have the order of the field above, and of those that always have one. */
const ORDERED_AS_ABOVE: ReadonlySet<string> = new Set(['nodes']);
const ALWAYS_ORDERED: ReadonlySet<string> = new Set(['edges', '_entities']);
/** The arguments that choose some of the rows. */
const CHOOSING = ['limit', 'offset', 'distinct_on'];
/** The most paths that are listed of one list. */
const MOST_PATHS = 5;

export function compareData(
  selections: SelectionSetNode,
  comparing: Comparing,
  a: unknown,
  b: unknown,
): readonly AnswerDifference[] {
  if (!isRecord(a) || !isRecord(b)) return leaves(a, b, 'data');
  return objects(comparing, { sets: [selections], isBelowOrdered: false, path: 'data' }, a, b);
}

function differs(path: string, how?: string): AnswerDifference {
  return { isUndetermined: false, text: how === undefined ? `${path} differs` : `${path}: ${how}` };
}

function leaves(a: unknown, b: unknown, path: string): readonly AnswerDifference[] {
  return isSameJson(a, b) ? [] : [differs(path)];
}

function objects(
  comparing: Comparing,
  above: {
    readonly sets: readonly SelectionSetNode[];
    readonly isBelowOrdered: boolean;
    readonly path: string;
  },
  a: JsonRecord,
  b: JsonRecord,
): readonly AnswerDifference[] {
  const fields = fieldsOf(comparing, above.sets);
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((key) => {
    const path = `${above.path}.${key}`;
    const nodes = fields.get(key);
    if (nodes === undefined) return leaves(a[key], b[key], path);
    return values(comparing, { nodes, isBelowOrdered: above.isBelowOrdered, path }, a[key], b[key]);
  });
}

function values(comparing: Comparing, field: Field, a: unknown, b: unknown): readonly AnswerDifference[] {
  const sets = setsOf(field);
  if (sets.length > 0 && Array.isArray(a) && Array.isArray(b)) return rows(comparing, field, a, b);
  if (sets.length === 0 || !isRecord(a) || !isRecord(b)) return leaves(a, b, field.path);
  return objects(comparing, { sets, isBelowOrdered: isOrdered(comparing, field), path: field.path }, a, b);
}

function rows(
  comparing: Comparing,
  field: Field,
  a: readonly unknown[],
  b: readonly unknown[],
): readonly AnswerDifference[] {
  const { path } = field;
  if (a.length !== b.length) return [differs(path, `${a.length} and ${b.length} rows`)];
  const unmatched = unmatchedRows(comparing, field, a, b);
  if (!isOrdered(comparing, field)) return freeRows(comparing, field, unmatched, a.length);
  const pairs = a.map((row, i) => values(comparing, { ...field, path: `${path}[${i}]` }, row, b[i]));
  if (unmatched > 0) return pairs.flat().slice(0, MOST_PATHS);
  const isSame = pairs.every((found) => found.length === 0) || isTie(comparing, field, a, b);
  return isSame ? [] : [differs(path, 'the order of the rows differs')];
}

function freeRows(
  comparing: Comparing,
  field: Field,
  unmatched: number,
  count: number,
): readonly AnswerDifference[] {
  if (unmatched === 0) return [];
  const how = `${unmatched} of ${count} rows differ`;
  const isUndetermined = CHOOSING.some((name) => (argumentOf(comparing, field, name) ?? null) !== null);
  if (!isUndetermined) return [differs(field.path, how)];
  return [{ isUndetermined, text: `${field.path}: ${how}, and without order_by any rows may be returned` }];
}

/** Returns how many rows of one list have no equal row in the other. */
function unmatchedRows(
  comparing: Comparing,
  field: Field,
  a: readonly unknown[],
  b: readonly unknown[],
): number {
  const texts = (list: readonly unknown[]) =>
    list.map((row) => JSON.stringify(canonical(comparing, field, row)));
  const left = new Map(
    [...Map.groupBy(texts(b), (text) => text)].map(([text, { length }]) => [text, length]),
  );
  return texts(a).filter((text) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  }).length;
}

/** Returns the value with sorted keys, and with the rows of lists that have no order sorted. */
function canonical(comparing: Comparing, field: Field | undefined, value: unknown): unknown {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(comparing, field, item));
    const isFree = field !== undefined && setsOf(field).length > 0 && !isOrdered(comparing, field);
    return isFree ? items.toSorted((x, y) => (JSON.stringify(x) < JSON.stringify(y) ? -1 : 1)) : items;
  }
  if (!isRecord(value)) return value;
  const fields = field ? fieldsOf(comparing, setsOf(field)) : new Map<string, FieldNode[]>();
  const isBelowOrdered = field !== undefined && isOrdered(comparing, field);
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(
    keys.map((key) => {
      const nodes = fields.get(key);
      return [key, canonical(comparing, nodes && { nodes, isBelowOrdered, path: '' }, value[key])];
    }),
  );
}

/** True when the rows at each position are equal in all that `order_by` names, so that both orders are right. False where the answer
 *  does not show it. */
function isTie(comparing: Comparing, field: Field, a: readonly unknown[], b: readonly unknown[]): boolean {
  const fields = [...fieldsOf(comparing, setsOf(field))];
  const names = keysOf(argumentOf(comparing, field, 'order_by')).map((column) => {
    const found = fields.find(([, [node]]) => node!.name.value === column && !node!.arguments?.length);
    return found?.[0];
  });
  if (names.length === 0 || names.includes(undefined)) return false;
  const keyOf = (row: unknown) => names.map((name) => (row as JsonRecord)[name!]);
  return a.every((row, i) => isSameJson(keyOf(row), keyOf(b[i])));
}

function isOrdered(comparing: Comparing, field: Field): boolean {
  const name = field.nodes[0]!.name.value;
  if (ALWAYS_ORDERED.has(name)) return true;
  if (ORDERED_AS_ABOVE.has(name)) return field.isBelowOrdered;
  return keysOf(argumentOf(comparing, field, 'order_by')).length > 0;
}

/** Returns the names in `order_by`: `[{name: asc}, {id: desc}]`. */
function keysOf(orderBy: unknown): readonly string[] {
  return [orderBy]
    .flat()
    .filter(isRecord)
    .flatMap((one) => Object.keys(one));
}

function argumentOf({ variables }: Comparing, { nodes: [node] }: Field, argument: string): unknown {
  const given = node?.arguments?.find(({ name }) => name.value === argument)?.value;
  return given && valueFromASTUntyped(given, variables);
}

function setsOf({ nodes }: Pick<Field, 'nodes'>): readonly SelectionSetNode[] {
  return nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
}

/** Returns the fields of selections by their name in the answer. Conditions of fragments and directives are not evaluated. */
function fieldsOf(
  { fragments }: Comparing,
  sets: readonly SelectionSetNode[],
): ReadonlyMap<string, readonly FieldNode[]> {
  const found = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  const visit = (set: SelectionSetNode): void => {
    for (const node of set.selections) {
      if (node.kind === Kind.FIELD) {
        const name = (node.alias ?? node.name).value;
        found.set(name, [...(found.get(name) ?? []), node]);
      } else if (node.kind === Kind.INLINE_FRAGMENT) visit(node.selectionSet);
      else if (!visited.has(node.name.value)) {
        visited.add(node.name.value);
        const fragment = fragments.get(node.name.value);
        if (fragment) visit(fragment.selectionSet);
      }
    }
  };
  for (const set of sets) visit(set);
  return found;
}
