/** Mutation → the text of a GraphQL request, and the shape of its answer. */

import { OPERATORS } from './change-operators.ts';
import type { Choices } from './choices.ts';
import { toArgument, valueArgument } from './condition-text.ts';
import { type Argument, Typed, Word, Writer } from './graphql-text.ts';
import { SCALAR, type Shape } from './json.ts';
import { answersWithRow } from './mutation.ts';
import type { Action, Change, Mutation, MutationRoot, Row, Update } from './mutation-types.ts';
import type { Names } from './names.ts';
import { fieldsShape, fieldsText, type Request } from './query-text.ts';
import type { Value } from './types.ts';
import type { Table } from './world-types.ts';

export function mutationRequest({ roots }: Mutation, choices: Choices, names: Names): Request {
  const writer = new Writer(choices, names);
  const text = roots.map((root) => rootText(root, writer)).join(' ');
  return { query: `mutation m${writer.declarations} { ${text} }`, variables: writer.variables };
}

function rootText({ alias, table, action, returning }: MutationRoot, writer: Writer): string {
  const { names } = writer;
  const [name, given] = callOf(action, table, names);
  const call = `${alias}: ${name}${writer.arguments(given)}`;
  const fields = returning ? fieldsText(returning, writer) : '';
  if (answersWithRow(action)) return `${call} ${fields}`;
  return `${call} { ${names.word('affected_rows')} ${returning ? `returning ${fields}` : ''} }`;
}

function callOf(action: Action, table: Table, names: Names): readonly [string, Argument[]] {
  const where = (type: string, condition: Update['where']): Argument => {
    return { name: 'where', type, value: toArgument(condition, names) };
  };
  const boolExp = `${names.type(table, 'bool_exp')}!`;
  const insertInput = names.type(table, 'insert_input');
  switch (action.kind) {
    case 'insert': {
      const objects = action.objects.map((object) => objectValue(object, names));
      const given: Argument[] = action.isOne
        ? [{ name: 'object', type: `${insertInput}!`, value: objects[0] }]
        : [{ name: 'objects', type: `[${insertInput}!]!`, value: objects }];
      if (action.conflict) given.push(conflictArgument(action.conflict, table, names));
      return [names.root(table, 'insert', action.isOne ? 'one' : ''), given];
    }
    case 'update':
      return [
        names.root(table, 'update'),
        [where(boolExp, action.where), ...updateArguments(action, table, names)],
      ];
    case 'update by key': {
      const key: Argument = {
        name: names.word('pk_columns'),
        type: `${names.type(table, 'pk_columns_input')}!`,
        value: Object.fromEntries(keyValues(action.key, table, names)),
      };
      return [names.root(table, 'update', 'by_pk'), [key, ...updateArguments(action, table, names)]];
    }
    case 'update many': {
      const value = action.updates.map((update) => updatesValue(update, table, names));
      const type = `[${names.type(table, 'updates')}!]!`;
      return [names.root(table, 'update', 'many'), [{ name: 'updates', type, value }]];
    }
    case 'delete':
      return [names.root(table, 'delete'), [where(boolExp, action.where)]];
    case 'delete by key': {
      const given = keyValues(action.key, table, names).map(([column, value], i): Argument => {
        return { name: column, type: `${table.key[i]!.type.graphql}!`, value };
      });
      return [names.root(table, 'delete', 'by_pk'), given];
    }
    default:
      return action satisfies never;
  }
}

function keyValues(key: readonly Value[], table: Table, names: Names): (readonly [string, Typed])[] {
  return table.key.map((column, i) => [names.column(column), valueArgument(key[i]!, column.type, names)]);
}

function objectValue({ given, related }: Row, names: Names): Record<string, unknown> {
  const columns = [...given].map(([column, value]): [string, unknown] => [
    names.column(column),
    value && valueArgument(value, column.type, names),
  ]);
  const nested = related.map(({ relationship, rows, conflict }): [string, unknown] => {
    const data = rows.map((row) => objectValue(row, names));
    const rest = conflict ? [conflictArgument(conflict, relationship.to, names)] : [];
    const value = { data: relationship.kind === 'object' ? data[0] : data };
    return [relationship.name, { ...value, ...byName(rest) }];
  });
  return Object.fromEntries([...columns, ...nested]);
}

function byName(given: readonly Argument[]): Record<string, unknown> {
  return Object.fromEntries(given.map(({ name, value }) => [name, value]));
}

/** What an update does to its rows, and to those related to them. */
function updateArguments(update: Omit<Update, 'where'>, table: Table, names: Names): Argument[] {
  const { changes, related } = update;
  if (related.length === 0) return changeArguments(changes, table, names);
  const value = Object.fromEntries(
    related.map(({ relationship: { name, to }, deletes, updates }) => [
      name,
      {
        ...(deletes.length > 0
          ? { delete: deletes.map((where) => ({ where: toArgument(where, names) })) }
          : {}),
        ...(updates.length > 0 ? { update: updates.map((each) => updatesValue(each, to, names)) } : {}),
      },
    ]),
  );
  const type = names.type(table, 'related_input');
  return [...changeArguments(changes, table, names), { name: names.word('_related'), type, value }];
}

function updatesValue(update: Update, table: Table, names: Names): Record<string, unknown> {
  return { where: toArgument(update.where, names), ...byName(updateArguments(update, table, names)) };
}

function conflictArgument(
  { constraint, update, where }: NonNullable<Extract<Action, { kind: 'insert' }>['conflict']>,
  table: Table,
  names: Names,
): Argument {
  const value = {
    constraint: new Word(constraint),
    [names.word('update_columns')]: update.map((column) => new Word(names.column(column))),
    ...(where ? { where: toArgument(where, names) } : {}),
  };
  return { name: names.word('on_conflict'), type: names.type(table, 'on_conflict'), value };
}

function changeArguments(changes: readonly Change[], table: Table, names: Names): Argument[] {
  return OPERATORS.flatMap(({ name }): Argument[] => {
    const own = changes.filter(({ operator }) => operator === name);
    const value = Object.fromEntries(
      own.map(({ column, value: to, type }) => {
        const given = to && type === column.type.graphql ? valueArgument(to, column.type, names) : null;
        return [names.column(column), given ?? (to && new Typed(to.json, type))];
      }),
    );
    const type = names.type(table, `${name.slice(1)}_input`);
    return own.length > 0 ? [{ name: names.word(name), type, value }] : [];
  });
}

export function mutationShape({ roots }: Mutation, names: Names): Shape {
  const shapes = roots.map(({ alias, action, returning }): [string, Shape] => {
    const fields = returning ? fieldsShape(returning) : new Map<string, Shape>();
    if (answersWithRow(action)) return [alias, { fields, isUnordered: false }];
    const rows: Shape = { fields, isUnordered: true };
    const members = new Map([
      [names.word('affected_rows'), SCALAR],
      ...(returning ? [['returning', rows] as const] : []),
    ]);
    return [alias, { fields: members, isUnordered: false }];
  });
  return { fields: new Map(shapes), isUnordered: false };
}
