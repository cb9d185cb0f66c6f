/** Condition → plain SQL, the oracle's own: it is written from the reference's words and shares nothing with engine/sql.
 *  PostgreSQL manual, "Functions and Operators". */

import pg from 'pg';
import { settingOf } from './condition.ts';
import { arrayText, type ColumnType, isArray, type Value } from './types.ts';
import type { Column, Condition, Operand, Relationship, Table } from './world-types.ts';

/** Where rows of a table are found, and what ties them to others. */
export type Ground = {
  readonly rowsOf: (table: Table) => string;
  readonly link: (relationship: Relationship, here: string, there: string) => string;
  /** A computed field of a row. */
  readonly call: (field: Column, row: string, argument: Value | null) => string;
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
      const { column, argument, comparison: row_, operand, isCast } = condition;
      return row_.sql(
        `${cellSql(column, ground, row, argument)}${isCast ? '::text' : ''}`,
        operandSql(operand),
      );
    }
    case 'null':
      return `${cellSql(condition.column, ground, row)} is ${condition.isNull ? '' : 'not '}null`;
    case 'columns': {
      const right = `${condition.isRoot ? root : row}.${condition.right.name}`;
      return condition.comparison.sql(cellSql(condition.left, ground, row), right);
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
    case 'aggregate':
      return aggregateSql(condition, ground, row);
    default:
      return condition satisfies never;
  }
}

export function cellSql(column: Column, ground: Ground, row: string, argument: Value | null = null): string {
  return column.computed ? ground.call(column, row, argument) : `${row}.${column.name}`;
}

function aggregateSql(
  {
    relationship,
    fn,
    columns,
    isDistinct,
    where,
    comparison,
    operand,
  }: Extract<Condition, { kind: 'aggregate' }>,
  ground: Ground,
  row: string,
): string {
  const over = relationship ? nextAlias() : row;
  const cells = columns.map((column) => cellSql(column, ground, over)).join(', ');
  const list = columns.length > 1 ? `(${cells})` : cells || '*';
  const filter = where ? ` filter (where ${toSql(where, ground, over)})` : '';
  const value = `(${fn}(${isDistinct ? 'distinct ' : ''}${list})${filter})::${operand.type.sql}`;
  if (!relationship) return comparison.sql(value, operandSql(operand));
  const from = `${ground.rowsOf(relationship.to)} ${over} where ${ground.link(relationship, row, over)}`;
  return comparison.sql(`(select ${value} from ${from})`, operandSql(operand));
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

export function literal({ text }: Value, type: ColumnType): string {
  return `${pg.escapeLiteral(text)}::${type.sql}`;
}
