/** Condition → JSON: as a permission says it, and as an argument of a request does. Spec: BoolExp; docs/reference/behaviour/operators.md.
 *  Not here: the oracle's own SQL (condition-sql.ts). */

import { sessionVariableOf } from './condition.ts';
import { Typed, Word } from './graphql-text.ts';
import type { Names } from './names.ts';
import type { ColumnType, Value } from './types.ts';
import { ARGUMENT } from './world.ts';
import type { Condition, Operand } from './world-types.ts';

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
    case 'aggregate':
      throw new Error('a permission has no aggregates');
    default:
      return condition satisfies never;
  }
}

function operandRule(operand: Operand): unknown {
  if (operand.kind === 'session') return `X-Engine-${sessionVariableOf(operand.type, operand.isList)}`;
  return operand.kind === 'value' ? operand.value.json : operand.values.map(({ json }) => json);
}

/** As a `where` argument says it. */
export function toArgument(condition: Condition, names: Names): unknown {
  const inner = (each: Condition) => toArgument(each, names);
  switch (condition.kind) {
    case 'and':
      return condition.all.length === 0 ? {} : { _and: condition.all.map(inner) };
    case 'or':
      return { _or: condition.any.map(inner) };
    case 'not':
      return { _not: inner(condition.not) };
    case 'compare': {
      const { column, argument, isCast } = condition;
      const operation = operationArgument(condition, names);
      const args = argument ? { args: { [ARGUMENT]: valueArgument(argument, column.type, names) } } : {};
      return {
        [names.column(column)]: isCast ? { _cast: { String: operation } } : { ...args, ...operation },
      };
    }
    case 'null':
      return { [names.column(condition.column)]: { [names.word('_is_null')]: condition.isNull } };
    case 'related':
      return { [condition.relationship.name]: inner(condition.where) };
    case 'aggregate':
      return aggregateArgument(condition, names);
    default:
      throw new Error(`a request has no ${condition.kind}`);
  }
}

type Aggregate = Extract<Condition, { kind: 'aggregate' }>;

function aggregateArgument(condition: Aggregate, names: Names): unknown {
  const { relationship, fn, columns, isDistinct, where } = condition;
  const words = columns.map((column) => new Word(names.column(column)));
  const list = words.length > 0 ? { arguments: words } : {};
  const predicate = {
    ...(fn === 'count' ? list : { arguments: words[0] }),
    ...(isDistinct ? { distinct: true } : {}),
    ...(where ? { filter: toArgument(where, names) } : {}),
    predicate: operationArgument(condition, names),
  };
  const value = { [names.word(fn)]: predicate };
  return relationship ? { [names.aggregate(relationship)]: value } : value;
}

type Compared = Extract<Condition, { kind: 'compare' | 'aggregate' }>;

function operationArgument({ comparison, operand }: Compared, names: Names): Record<string, unknown> {
  return { [names.word(`_${comparison.name}`)]: operandArgument(operand, names) };
}

function operandArgument(operand: Operand, names: Names): unknown {
  if (operand.kind === 'session') throw new Error('a request has no session variables');
  const { type } = operand;
  if (operand.kind === 'value') return valueArgument(operand.value, type, names);
  const items = operand.values.map((value) => jsonOf(value, type, names));
  return new Typed(items, type.graphql && `[${type.graphql}!]`);
}

/** A value of a column, as it is given. */
export function valueArgument(value: Value, type: ColumnType, names: Names): Typed {
  return new Typed(jsonOf(value, type, names), type.graphql);
}

function jsonOf({ json }: Value, { isEnum }: ColumnType, names: Names): unknown {
  return isEnum ? new Word(names.value(String(json))) : json;
}
