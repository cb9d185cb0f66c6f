/** Query → the text of a GraphQL request, and the shape of its answer. */

import type { Choices } from './choices.ts';
import { toArgument, valueArgument } from './condition-text.ts';
import { type Argument, Word, Writer } from './graphql-text.ts';
import { SCALAR, type Shape } from './json.ts';
import type { Names } from './names.ts';
import type { AggregatePart, Call, Field, Groups, Order, Query, Root, Rows } from './request.ts';
import type { ColumnType, Value } from './types.ts';
import { ARGUMENT } from './world.ts';
import type { Table } from './world-types.ts';

export type Request = { readonly query: string; readonly variables: Readonly<Record<string, unknown>> };

export function queryRequest({ roots }: Query, choices: Choices, names: Names): Request {
  const writer = new Writer(choices, names);
  const text = roots.map((root) => rootText(root, writer)).join(' ');
  return { query: `query q${writer.declarations} { ${text} }`, variables: writer.variables };
}

function rootText(root: Root, writer: Writer): string {
  const { alias, table } = root;
  const { names } = writer;
  switch (root.kind) {
    case 'rows': {
      const given = writer.arguments([
        ...callArguments(root.call, names),
        ...rowsArguments(root.rows, table, names),
      ]);
      return `${alias}: ${names.root(root.call?.to ?? table)}${given} ${fieldsText(root.fields, writer)}`;
    }
    case 'by key': {
      const given = root.key.map((value, i): Argument => {
        const column = table.key[i]!;
        const { type } = column;
        return {
          name: names.column(column),
          type: `${type.graphql}!`,
          value: valueArgument(value, type, names),
        };
      });
      return `${alias}: ${names.root(table, '', 'by_pk')}${writer.arguments(given)} ${fieldsText(root.fields, writer)}`;
    }
    case 'aggregate': {
      const given = writer.arguments([
        ...callArguments(root.call, names),
        ...rowsArguments(root.rows, table, names),
      ]);
      const name = names.root(root.call?.to ?? table, '', 'aggregate');
      return `${alias}: ${name}${given} ${partsText(root.parts, writer)}`;
    }
    case 'groups':
      return groupsText(alias, table, root.groups, writer);
    default:
      return root satisfies never;
  }
}

export function fieldsText(fields: readonly Field[], writer: Writer): string {
  return `{ ${fields.map((field) => fieldText(field, writer)).join(' ')} }`;
}

function fieldText(field: Field, writer: Writer): string {
  const named = (name: string) => (name === field.alias ? name : `${field.alias}: ${name}`);
  switch (field.kind) {
    case 'column': {
      const { column, argument, path } = field;
      const given: Argument[] = path ? [{ name: 'path', type: 'String', value: path.graphql }] : [];
      // The type of the argument is the function's own, which nobody asks with here.
      if (argument) given.unshift(argsOf(argument, column.type, writer.names));
      return `${named(writer.names.column(column))}${writer.arguments(given)}`;
    }
    case 'typename':
      return '__typename';
    case 'object':
      return `${named(field.relationship.name)} ${fieldsText(field.fields, writer)}`;
    case 'array': {
      const { name, to } = field.relationship;
      return `${named(name)}${rowsText(field.rows, to, writer)} ${fieldsText(field.fields, writer)}`;
    }
    case 'aggregate': {
      const { to } = field.relationship;
      return `${named(writer.names.aggregate(field.relationship))}${rowsText(field.rows, to, writer)} ${partsText(field.parts, writer)}`;
    }
    default:
      return field satisfies never;
  }
}

function argsOf(argument: Value, type: ColumnType, names: Names): Argument {
  return { name: 'args', type: null, value: { [ARGUMENT]: valueArgument(argument, type, names) } };
}

function callArguments(call: Call | null, names: Names): Argument[] {
  return call?.argument ? [argsOf(call.argument, call.to.by.type, names)] : [];
}

function rowsText(rows: Rows, table: Table, writer: Writer): string {
  return writer.arguments(rowsArguments(rows, table, writer.names));
}

function rowsArguments(
  { where, order, distinct, limit, offset }: Rows,
  table: Table,
  names: Names,
): Argument[] {
  const given: Argument[] = [];
  if (distinct.length > 0) {
    const value = distinct.map((column) => new Word(names.column(column)));
    given.push({ name: names.word('distinct_on'), type: `[${names.type(table, 'select_column')}!]`, value });
  }
  if (limit !== null) given.push({ name: 'limit', type: 'Int', value: limit });
  if (offset !== null) given.push({ name: 'offset', type: 'Int', value: offset });
  if (order.length > 0) {
    const value = order.map((each) => orderValue(each, names));
    given.push({ name: names.word('order_by'), type: `[${names.type(table, 'order_by')}!]`, value });
  }
  if (where)
    given.push({ name: 'where', type: names.type(table, 'bool_exp'), value: toArgument(where, names) });
  return given;
}

function orderValue({ path, by, direction }: Order, names: Names): unknown {
  const word = new Word(names.value(direction));
  const inner = ((): unknown => {
    switch (by.kind) {
      case 'column':
        return { [names.column(by.column)]: by.column.computed?.hasArgument ? { ordering: word } : word };
      case 'count':
        return { [names.aggregate(by.relationship)]: { count: word } };
      case 'function': {
        const value = { [names.word(by.fn)]: { [names.column(by.column)]: word } };
        return { [names.aggregate(by.relationship)]: value };
      }
      default:
        return by satisfies never;
    }
  })();
  return path.reduceRight<unknown>((value, { name }) => ({ [name]: value }), inner);
}

function partsText(parts: readonly AggregatePart[], writer: Writer): string {
  return `{ ${parts.map((part) => partText(part, writer)).join(' ')} }`;
}

function groupsText(alias: string, table: Table, groups: Groups, writer: Writer): string {
  const { names } = writer;
  const { keys, where, having, order, directions, limit, offset, parts } = groups;
  const words = keys.map((column) => new Word(names.column(column)));
  const orders: unknown[] = order.map(({ fn, column, direction }) => {
    const word = new Word(names.value(direction));
    return { aggregate: { [names.word(fn)]: column ? { [names.column(column)]: word } : word } };
  });
  keys.forEach((column, i) => {
    orders.push({ keys: { [names.column(column)]: new Word(names.value(directions[i]!)) } });
  });
  const given: Argument[] = [
    { name: 'keys', type: `[${names.type(table, 'group_column')}!]!`, value: words },
    { name: names.word('order_by'), type: `[${names.type(table, 'group_order_by')}!]`, value: orders },
  ];
  if (limit !== null) given.push({ name: 'limit', type: 'Int', value: limit });
  if (offset !== null) given.push({ name: 'offset', type: 'Int', value: offset });
  if (where)
    given.push({ name: 'where', type: names.type(table, 'bool_exp'), value: toArgument(where, names) });
  if (having) {
    const value = toArgument(having, names);
    given.push({ name: 'having', type: names.type(table, 'group_bool_exp'), value });
  }
  const list = words.map(({ word }) => word).join(' ');
  const rest = parts.map((part) => partText(part, writer)).join(' ');
  return `${alias}: ${names.root(table, '', 'group_by')}${writer.arguments(given)} { keys { ${list} } ${rest} }`;
}

/** Every value is an aggregate of its own, so that each may have its alias. */
function partText(part: AggregatePart, writer: Writer): string {
  const { names } = writer;
  switch (part.kind) {
    case 'count': {
      const columns = part.columns.map((column) => names.column(column)).join(', ');
      const given = part.columns.length > 0 ? `(columns: [${columns}], distinct: ${part.isDistinct})` : '';
      return `${part.alias}: aggregate { count${given} }`;
    }
    case 'function':
      return `${part.alias}: aggregate { ${names.word(part.fn)} { ${part.columns.map((column) => names.column(column)).join(' ')} } }`;
    case 'nodes':
      return `nodes ${fieldsText(part.fields, writer)}`;
    default:
      return part satisfies never;
  }
}

export function queryShape({ roots }: Query): Shape {
  const shapes = roots.map((root): [string, Shape] => {
    if (root.kind === 'aggregate') return [root.alias, partsShape(root.parts, root.rows)];
    if (root.kind === 'groups') return [root.alias, SCALAR];
    const isUnordered = root.kind === 'rows' && !root.rows.isOrdered;
    return [root.alias, { fields: fieldsShape(root.fields), isUnordered }];
  });
  return { fields: new Map(shapes), isUnordered: false };
}

export function fieldsShape(fields: readonly Field[]): ReadonlyMap<string, Shape> {
  return new Map(
    fields.map((field): [string, Shape] => {
      switch (field.kind) {
        case 'column':
        case 'typename':
          return [field.alias, SCALAR];
        case 'object':
          return [field.alias, { fields: fieldsShape(field.fields), isUnordered: false }];
        case 'array':
          return [field.alias, { fields: fieldsShape(field.fields), isUnordered: !field.rows.isOrdered }];
        case 'aggregate':
          return [field.alias, partsShape(field.parts, field.rows)];
        default:
          return field satisfies never;
      }
    }),
  );
}

function partsShape(parts: readonly AggregatePart[], { isOrdered }: Rows): Shape {
  const nodes = parts.flatMap((part): [string, Shape][] =>
    part.kind === 'nodes'
      ? [[part.alias, { fields: fieldsShape(part.fields), isUnordered: !isOrdered }]]
      : [],
  );
  return { fields: new Map(nodes), isUnordered: false };
}
