/** A random condition over the rows of a table. It has three spellings: the JSON of a permission and an argument of a request
 *  (condition-text.ts), and plain SQL (condition-sql.ts). Spec: BoolExp. Not here: requests (request.ts). */

import { AGGREGATED, type Aggregated, COUNT } from './aggregates.ts';
import type { Choices } from './choices.ts';
import { COMPARISONS, type ColumnType, type Comparison, isArray, JSONB, TEXT, type Value } from './types.ts';
import type { Column, Condition, Operand, Relationship, Table } from './world-types.ts';

export const EVERYTHING: Condition = { kind: 'and', all: [] };

/** What may stand in a condition. */
export type Vocabulary = {
  readonly columns: (table: Table) => readonly Column[];
  readonly relationships: (table: Table) => readonly Relationship[];
  /** Columns that aggregates may be made of; null: none may. */
  readonly aggregated: (table: Table) => readonly Column[] | null;
  /** Comparisons besides COMPARISONS. */
  readonly more?: readonly Comparison[];
  /** Of a permission: column comparisons, `_exists` and session variables, too. */
  readonly permission: { readonly root: Table; readonly tables: readonly Table[] } | null;
};

const DEEPEST = 4;

export function makeCondition(choices: Choices, table: Table, words: Vocabulary, depth = 0): Condition {
  const columns = words.columns(table);
  const relationships = words.relationships(table);
  const arrays = relationships.filter(isAggregated);
  const inner = (on: Table) => makeCondition(choices, on, words, depth + 1);
  const compare = () => (columns.length === 0 ? EVERYTHING : comparison(choices, columns, words));
  if (depth >= DEEPEST) return compare();
  switch (choices.below(11)) {
    case 0:
      return choices.chance(30) ? EVERYTHING : compare();
    case 5:
      return { kind: 'and', all: choices.times(choices.below(4), () => inner(table)) };
    case 6:
      return { kind: 'or', any: choices.times(choices.below(4), () => inner(table)) };
    case 7:
      return { kind: 'not', not: inner(table) };
    case 8:
    case 9: {
      if (relationships.length === 0) return compare();
      const relationship = choices.of(relationships);
      return { kind: 'related', relationship, where: inner(relationship.to) };
    }
    case 10: {
      if (!words.permission) {
        const able = arrays.filter(({ to }) => words.aggregated(to));
        return able.length === 0
          ? compare()
          : makeAggregateCondition(choices, choices.of(able), words, depth);
      }
      const other = choices.of(words.permission.tables);
      return { kind: 'exists', table: other, where: inner(other) };
    }
    default:
      return compare();
  }
}

function comparison(choices: Choices, columns: readonly Column[], words: Vocabulary): Condition {
  const column = choices.of(columns);
  if (choices.chance(12)) return { kind: 'null', column, isNull: choices.chance(50) };
  const { permission } = words;
  if (permission && choices.chance(20)) {
    const isRoot = choices.chance(60);
    const others = isRoot ? permission.root.columns : columns.filter(({ computed }) => !computed);
    const alike = others.filter(({ type }) => type === column.type);
    const row = COMPARISONS[choices.below(6)]!;
    if (alike.length > 0)
      return { kind: 'columns', left: column, comparison: row, right: choices.of(alike), isRoot };
  }
  const isCast = column.type === JSONB && choices.chance(15);
  const type = isCast ? TEXT : column.type;
  const isText = permission !== null;
  const row = choices.of(
    [...COMPARISONS, ...(words.more ?? [])].filter(
      ({ suits, isEquality }) => suits(type) && (isText || isEquality || !type.isEnum),
    ),
  );
  return {
    kind: 'compare',
    column,
    argument: makeArgument(choices, column, permission !== null),
    comparison: row,
    operand: makeOperand(choices, row, type, permission !== null && !isCast),
    isCast,
    spelling: choices.below(3),
  };
}

/** A permission gives none. */
function makeArgument(choices: Choices, { computed, type }: Column, isPermission: boolean): Value | null {
  return computed?.hasArgument && !isPermission && choices.chance(50) ? choices.of(type.values) : null;
}

/** Rows that a function returns have no aggregates. */
function isAggregated({ kind, using }: Relationship): boolean {
  return kind === 'array' && using !== 'function';
}

function makeAggregateCondition(
  choices: Choices,
  relationship: Relationship,
  words: Vocabulary,
  depth: number,
): Condition {
  const { to } = relationship;
  const where = choices.chance(35) ? makeCondition(choices, to, words, depth + 1) : null;
  // Of numbers, conditions on related rows take those of double precision only.
  const isCompared = ({ type }: Column) => !type.isNumber || type.sql === 'float8';
  return { ...makeAggregateOf(choices, words.aggregated(to)!, isCompared), relationship, where };
}

/** Over the rows of a group. */
export function makeHaving(choices: Choices, table: Table, words: Vocabulary, depth = 0): Condition {
  const inner = () => makeHaving(choices, table, words, depth + 1);
  const kind = depth < 2 ? choices.below(6) : 0;
  if (kind === 3) return { kind: 'and', all: choices.times(choices.below(3), inner) };
  if (kind === 4) return { kind: 'or', any: choices.times(choices.below(3), inner) };
  if (kind === 5) return { kind: 'not', not: inner() };
  const where = choices.chance(35) ? makeCondition(choices, table, words, 2) : null;
  return { ...makeAggregateOf(choices, words.aggregated(table)!), relationship: null, where };
}

type AggregateOf = Omit<Extract<Condition, { kind: 'aggregate' }>, 'relationship' | 'where'>;

function makeAggregateOf(
  choices: Choices,
  columns: readonly Column[],
  isCompared: (column: Column) => boolean = () => true,
): AggregateOf {
  const row: Aggregated = choices.of(AGGREGATED);
  const suited = columns.filter((column) => row.suits(column.type) && isCompared(column));
  const isCount = row === COUNT || suited.length === 0;
  const counted = choices.chance(50) ? choices.some(columns, 30) : [];
  const type = isCount ? COUNT.value : row.value;
  const comparison = choices.of(COMPARISONS.filter(({ suits }) => suits(type)));
  const over = isCount ? counted : [choices.of(suited)];
  return {
    kind: 'aggregate',
    fn: isCount ? COUNT.name : row.name,
    columns: over,
    isDistinct: over.length > 0 && choices.chance(25),
    comparison,
    operand: makeOperand(choices, comparison, type, false),
  };
}

function makeOperand(choices: Choices, row: Comparison, own: ColumnType, maySession: boolean): Operand {
  const { operand } = row;
  const type = typeof operand === 'object' ? operand.type : own;
  const isList = operand === 'list' || (typeof operand === 'object' && operand.isList);
  const isOwn = typeof operand !== 'object';
  // A variable holds text: JSON and arrays have other ways to say the same, which are tried as constants.
  if (maySession && isOwn && type !== JSONB && !isArray(type) && choices.chance(35)) {
    return { kind: 'session', type, isList };
  }
  if (!isList) return { kind: 'value', type, value: choices.of(type.values) };
  return { kind: 'list', type, values: choices.times(choices.below(4), () => choices.of(type.values)) };
}

/** The session variable that holds a value of the type, or an array of such values. */
export function sessionVariableOf(type: ColumnType, isList: boolean): string {
  return `${type.sql.replace('[]', '_array')}${isList ? 's' : ''}`;
}

export function settingOf(type: ColumnType, isList: boolean): string {
  return `oracle.${sessionVariableOf(type, isList)}`;
}

/** Does it read rows of the table, other than the row it is about? */
export function readsRowsOf(condition: Condition, table: Table): boolean {
  const within = (each: Condition) => readsRowsOf(each, table);
  const isSame = (other: Table) => other === table || other.of === table;
  switch (condition.kind) {
    case 'and':
      return condition.all.some(within);
    case 'or':
      return condition.any.some(within);
    case 'not':
      return within(condition.not);
    case 'related':
      return isSame(condition.relationship.to) || within(condition.where);
    case 'exists':
      return isSame(condition.table) || within(condition.where);
    case 'aggregate':
      return isSame(condition.relationship!.to) || (condition.where !== null && within(condition.where));
    default:
      return false;
  }
}

/** Does it depend on other rows than the one it is about? */
export function looksAround(condition: Condition): boolean {
  switch (condition.kind) {
    case 'and':
      return condition.all.some(looksAround);
    case 'or':
      return condition.any.some(looksAround);
    case 'not':
      return looksAround(condition.not);
    case 'related':
    case 'exists':
    case 'aggregate':
      return true;
    default:
      return false;
  }
}
