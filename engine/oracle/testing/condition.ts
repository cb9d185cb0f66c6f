/** A random condition over the rows of a table, in three spellings: the JSON of a permission, an argument of a request, and
 *  plain SQL. The SQL is the oracle's: it is written here from the reference's words, and shares nothing with engine/sql.
 *  Spec: BoolExp. Not here: requests (request.ts), policies (policies.ts). */
import pg from 'pg';
import type { Choices } from './choices.ts';
import { Typed } from './graphql-text.ts';
import {
  arrayText,
  COMPARISONS,
  type ColumnType,
  type Comparison,
  isArray,
  JSONB,
  TEXT,
  type Value,
} from './types.ts';
import type { Column, Relationship, Table } from './world.ts';

type Operand =
  | { readonly kind: 'value'; readonly type: ColumnType; readonly value: Value }
  | { readonly kind: 'list'; readonly type: ColumnType; readonly values: readonly Value[] }
  | { readonly kind: 'session'; readonly type: ColumnType; readonly isList: boolean };

export type Condition =
  | { readonly kind: 'and'; readonly all: readonly Condition[] }
  | { readonly kind: 'or'; readonly any: readonly Condition[] }
  | { readonly kind: 'not'; readonly not: Condition }
  | {
      readonly kind: 'compare';
      readonly column: Column;
      readonly comparison: Comparison;
      readonly operand: Operand;
      /** Compared as text: `_cast`. */
      readonly isCast: boolean;
      readonly spelling: number;
    }
  | { readonly kind: 'null'; readonly column: Column; readonly isNull: boolean }
  | {
      readonly kind: 'columns';
      readonly left: Column;
      readonly comparison: Comparison;
      readonly right: Column;
      readonly isRoot: boolean;
    }
  | { readonly kind: 'related'; readonly relationship: Relationship; readonly where: Condition }
  | { readonly kind: 'exists'; readonly table: Table; readonly where: Condition };

export const EVERYTHING: Condition = { kind: 'and', all: [] };

/** What may stand in a condition. */
export type Vocabulary = {
  readonly columns: (table: Table) => readonly Column[];
  readonly relationships: (table: Table) => readonly Relationship[];
  /** Of a permission: column comparisons, `_exists` and session variables, too. */
  readonly permission: { readonly root: Table; readonly tables: readonly Table[] } | null;
};

const DEEPEST = 4;

export function makeCondition(choices: Choices, table: Table, words: Vocabulary, depth = 0): Condition {
  const columns = words.columns(table);
  const relationships = words.relationships(table);
  const inner = (on: Table) => makeCondition(choices, on, words, depth + 1);
  const compare = () => (columns.length === 0 ? EVERYTHING : comparison(choices, columns, words));
  if (depth >= DEEPEST) return compare();
  switch (choices.below(words.permission ? 11 : 9)) {
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
      const other = choices.of(words.permission!.tables);
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
    const alike = (isRoot ? permission.root.columns : columns).filter(({ type }) => type === column.type);
    const row = COMPARISONS[choices.below(6)]!;
    if (alike.length > 0)
      return { kind: 'columns', left: column, comparison: row, right: choices.of(alike), isRoot };
  }
  const isCast = column.type === JSONB && choices.chance(15);
  const type = isCast ? TEXT : column.type;
  const row = choices.of(COMPARISONS.filter(({ suits }) => suits(type)));
  return {
    kind: 'compare',
    column,
    comparison: row,
    operand: makeOperand(choices, row, type, permission !== null && !isCast),
    isCast,
    spelling: choices.below(3),
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

/** As a permission says it. */
export function toRule(condition: Condition): unknown {
  switch (condition.kind) {
    case 'and':
      return condition.all.length === 0 ? {} : { _and: condition.all.map(toRule) };
    case 'or':
      return { $or: condition.any.map(toRule) };
    case 'not':
      return { _not: toRule(condition.not) };
    case 'compare': {
      const { column, comparison: row, operand, isCast, spelling } = condition;
      const value = operandRule(operand);
      const isBare = spelling === 2 && row.name === 'eq' && !isCast && typeof value !== 'object';
      if (isBare) return { [column.name]: value };
      const operation = { [`${spelling === 1 ? '$' : '_'}${row.name}`]: value };
      return { [column.name]: isCast ? { _cast: { String: operation } } : operation };
    }
    case 'null':
      return { [condition.column.name]: { _is_null: condition.isNull } };
    case 'columns': {
      const { left, right, comparison: row, isRoot } = condition;
      return { [left.name]: { [`_c${row.name}`]: isRoot ? ['$', right.name] : right.name } };
    }
    case 'related':
      return { [condition.relationship.name]: toRule(condition.where) };
    case 'exists': {
      const _table = { schema: 'public', name: condition.table.name };
      return { _exists: { _table, _where: toRule(condition.where) } };
    }
    default:
      return condition satisfies never;
  }
}

function operandRule(operand: Operand): unknown {
  if (operand.kind === 'session') return `X-Engine-${sessionVariableOf(operand.type, operand.isList)}`;
  return operand.kind === 'value' ? operand.value.json : operand.values.map(({ json }) => json);
}

/** As a `where` argument says it. */
export function toArgument(condition: Condition): unknown {
  switch (condition.kind) {
    case 'and':
      return condition.all.length === 0 ? {} : { _and: condition.all.map(toArgument) };
    case 'or':
      return { _or: condition.any.map(toArgument) };
    case 'not':
      return { _not: toArgument(condition.not) };
    case 'compare': {
      const { column, comparison: row, operand, isCast } = condition;
      const operation = { [`_${row.name}`]: operandArgument(operand) };
      return { [column.name]: isCast ? { _cast: { String: operation } } : operation };
    }
    case 'null':
      return { [condition.column.name]: { _is_null: condition.isNull } };
    case 'related':
      return { [condition.relationship.name]: toArgument(condition.where) };
    default:
      throw new Error(`a request has no ${condition.kind}`);
  }
}

function operandArgument(operand: Operand): unknown {
  if (operand.kind === 'session') throw new Error('a request has no session variables');
  const { type } = operand;
  if (operand.kind === 'value') return new Typed(operand.value.json, type.graphql);
  return new Typed(
    operand.values.map(({ json }) => json),
    type.graphql && `[${type.graphql}!]`,
  );
}

/** Where rows of a table are found, and what ties them to others. */
export type Ground = {
  readonly rowsOf: (table: Table) => string;
  readonly link: (relationship: Relationship, here: string, there: string) => string;
};

let aliases = 0;
export const nextAlias = (): string => `x${aliases++}`;

/** As SQL over the row with that alias. */
export function toSql(condition: Condition, ground: Ground, row: string, root = row): string {
  switch (condition.kind) {
    case 'and':
      return ['true', ...condition.all.map((each) => `(${toSql(each, ground, row, root)})`)].join(' and ');
    case 'or':
      return ['false', ...condition.any.map((each) => `(${toSql(each, ground, row, root)})`)].join(' or ');
    case 'not':
      return `not (${toSql(condition.not, ground, row, root)})`;
    case 'compare': {
      const { column, comparison: row_, operand, isCast } = condition;
      return row_.sql(`${row}.${column.name}${isCast ? '::text' : ''}`, operandSql(operand));
    }
    case 'null':
      return `${row}.${condition.column.name} is ${condition.isNull ? '' : 'not '}null`;
    case 'columns': {
      const right = `${condition.isRoot ? root : row}.${condition.right.name}`;
      return condition.comparison.sql(`${row}.${condition.left.name}`, right);
    }
    case 'related': {
      const { relationship, where } = condition;
      const other = nextAlias();
      const tie = ground.link(relationship, row, other);
      const holds = toSql(where, ground, other, root);
      return `exists (select from ${ground.rowsOf(relationship.to)} ${other} where ${tie} and (${holds}))`;
    }
    case 'exists': {
      const other = nextAlias();
      const holds = toSql(condition.where, ground, other, root);
      return `exists (select from ${ground.rowsOf(condition.table)} ${other} where ${holds})`;
    }
    default:
      return condition satisfies never;
  }
}

/** Several arrays: an array of them would be one of their elements. */
function listSql(values: readonly Value[], type: ColumnType): string {
  const rows = values.map((value) => `select ${literal(value, type)}`);
  return [`select null::${type.sql} where false`, ...rows].join(' union all ');
}

function operandSql(operand: Operand): string {
  const { type } = operand;
  switch (operand.kind) {
    case 'value':
      return literal(operand.value, type);
    case 'list':
      if (isArray(type)) return listSql(operand.values, type);
      return `${pg.escapeLiteral(arrayText(operand.values.map(({ text }) => text)))}::${type.sql}[]`;
    case 'session': {
      const setting = `current_setting(${pg.escapeLiteral(settingOf(type, operand.isList))})`;
      return `${setting}::${type.sql}${operand.isList ? '[]' : ''}`;
    }
    default:
      return operand satisfies never;
  }
}

export function settingOf(type: ColumnType, isList: boolean): string {
  return `oracle.${sessionVariableOf(type, isList)}`;
}

export function literal({ text }: Value, type: ColumnType): string {
  return `${pg.escapeLiteral(text)}::${type.sql}`;
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
    default:
      return false;
  }
}
