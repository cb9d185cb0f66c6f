/** Query → the text of a GraphQL request, and the shape of its answer. */
import type { Choices } from './choices.ts';
import { toArgument } from './condition.ts';
import { type Argument, Typed, Word, Writer } from './graphql-text.ts';
import { SCALAR, type Shape } from './json.ts';
import type { AggregatePart, Field, Order, Query, Root, Rows } from './request.ts';
import type { Table } from './world.ts';

export type Request = { readonly query: string; readonly variables: Readonly<Record<string, unknown>> };

export function queryRequest({ roots }: Query, choices: Choices): Request {
  const writer = new Writer(choices);
  const text = roots.map((root) => rootText(root, writer)).join(' ');
  return { query: `query q${writer.declarations} { ${text} }`, variables: writer.variables };
}

function rootText(root: Root, writer: Writer): string {
  const { alias, table } = root;
  switch (root.kind) {
    case 'rows':
      return `${alias}: ${table.name}${rowsText(root.rows, table, writer)} ${fieldsText(root.fields, writer)}`;
    case 'by key': {
      const given = root.key.map(({ json }, i): Argument => {
        const { name, type } = table.key[i]!;
        return { name, type: `${type.graphql}!`, value: new Typed(json, type.graphql) };
      });
      return `${alias}: ${table.name}_by_pk${writer.arguments(given)} ${fieldsText(root.fields, writer)}`;
    }
    case 'aggregate': {
      const given = rowsText(root.rows, table, writer);
      return `${alias}: ${table.name}_aggregate${given} ${partsText(root.parts, writer)}`;
    }
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
      const path: Argument[] = field.path
        ? [{ name: 'path', type: 'String', value: field.path.graphql }]
        : [];
      return `${named(field.column.name)}${writer.arguments(path)}`;
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
      const { name, to } = field.relationship;
      return `${named(`${name}_aggregate`)}${rowsText(field.rows, to, writer)} ${partsText(field.parts, writer)}`;
    }
    default:
      return field satisfies never;
  }
}

function rowsText({ where, order, distinct, limit, offset }: Rows, { name }: Table, writer: Writer): string {
  const given: Argument[] = [];
  if (distinct.length > 0) {
    const value = distinct.map((column) => new Word(column.name));
    given.push({ name: 'distinct_on', type: `[${name}_select_column!]`, value });
  }
  if (limit !== null) given.push({ name: 'limit', type: 'Int', value: limit });
  if (offset !== null) given.push({ name: 'offset', type: 'Int', value: offset });
  if (order.length > 0) {
    given.push({ name: 'order_by', type: `[${name}_order_by!]`, value: order.map(orderValue) });
  }
  if (where) given.push({ name: 'where', type: `${name}_bool_exp`, value: toArgument(where) });
  return writer.arguments(given);
}

function orderValue({ path, by, direction }: Order): unknown {
  const word = new Word(direction);
  const inner = ((): unknown => {
    switch (by.kind) {
      case 'column':
        return { [by.column.name]: word };
      case 'count':
        return { [`${by.relationship.name}_aggregate`]: { count: word } };
      case 'function':
        return { [`${by.relationship.name}_aggregate`]: { [by.fn]: { [by.column.name]: word } } };
      default:
        return by satisfies never;
    }
  })();
  return path.reduceRight<unknown>((value, { name }) => ({ [name]: value }), inner);
}

function partsText(parts: readonly AggregatePart[], writer: Writer): string {
  return `{ ${parts.map((part) => partText(part, writer)).join(' ')} }`;
}

/** Every value is an aggregate of its own, so that each may have its alias. */
function partText(part: AggregatePart, writer: Writer): string {
  switch (part.kind) {
    case 'count': {
      const columns = part.columns.map(({ name }) => name).join(', ');
      const given = part.columns.length > 0 ? `(columns: [${columns}], distinct: ${part.isDistinct})` : '';
      return `${part.alias}: aggregate { count${given} }`;
    }
    case 'function':
      return `${part.alias}: aggregate { ${part.fn} { ${part.columns.map(({ name }) => name).join(' ')} } }`;
    case 'nodes':
      return `nodes ${fieldsText(part.fields, writer)}`;
    default:
      return part satisfies never;
  }
}

export function queryShape({ roots }: Query): Shape {
  const shapes = roots.map((root): [string, Shape] => {
    if (root.kind === 'aggregate') return [root.alias, partsShape(root.parts, root.rows)];
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
