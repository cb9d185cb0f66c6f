/** Mutation → the text of a GraphQL request, and the shape of its answer. */
import type { Choices } from './choices.ts';
import { toArgument } from './condition.ts';
import { type Argument, Typed, Word, Writer } from './graphql-text.ts';
import { SCALAR, type Shape } from './json.ts';
import {
  type Action,
  answersWithRow,
  type Change,
  type Given,
  type Mutation,
  type MutationRoot,
  OPERATORS,
  type Update,
} from './mutation.ts';
import { fieldsShape, fieldsText, type Request } from './query-text.ts';
import type { Value } from './types.ts';
import type { Table } from './world.ts';

export function mutationRequest({ roots }: Mutation, choices: Choices): Request {
  const writer = new Writer(choices);
  const text = roots.map((root) => rootText(root, writer)).join(' ');
  return { query: `mutation m${writer.declarations} { ${text} }`, variables: writer.variables };
}

function rootText({ alias, table, action, returning }: MutationRoot, writer: Writer): string {
  const [name, given] = callOf(action, table);
  const call = `${alias}: ${name}${writer.arguments(given)}`;
  const fields = returning ? fieldsText(returning, writer) : '';
  if (answersWithRow(action)) return `${call} ${fields}`;
  return `${call} { affected_rows ${returning ? `returning ${fields}` : ''} }`;
}

function callOf(action: Action, table: Table): readonly [string, Argument[]] {
  const { name } = table;
  const where = (type: string, condition: Update['where']): Argument => {
    return { name: 'where', type, value: toArgument(condition) };
  };
  const boolExp = `${name}_bool_exp!`;
  switch (action.kind) {
    case 'insert': {
      const objects = action.objects.map(objectValue);
      const given: Argument[] = action.isOne
        ? [{ name: 'object', type: `${name}_insert_input!`, value: objects[0] }]
        : [{ name: 'objects', type: `[${name}_insert_input!]!`, value: objects }];
      if (action.conflict) given.push(conflictArgument(action.conflict, table));
      return [`insert_${name}${action.isOne ? '_one' : ''}`, given];
    }
    case 'update':
      return [`update_${name}`, [where(boolExp, action.where), ...changeArguments(action.changes, name)]];
    case 'update by key': {
      const key: Argument = {
        name: 'pk_columns',
        type: `${name}_pk_columns_input!`,
        value: Object.fromEntries(keyValues(action.key, table)),
      };
      return [`update_${name}_by_pk`, [key, ...changeArguments(action.changes, name)]];
    }
    case 'update many': {
      const value = action.updates.map((update) => ({
        where: toArgument(update.where),
        ...Object.fromEntries(changeArguments(update.changes, name).map((each) => [each.name, each.value])),
      }));
      return [`update_${name}_many`, [{ name: 'updates', type: `[${name}_updates!]!`, value }]];
    }
    case 'delete':
      return [`delete_${name}`, [where(boolExp, action.where)]];
    case 'delete by key': {
      const given = keyValues(action.key, table).map(([column, value], i): Argument => {
        return { name: column, type: `${table.key[i]!.type.graphql}!`, value };
      });
      return [`delete_${name}_by_pk`, given];
    }
    default:
      return action satisfies never;
  }
}

function keyValues(key: readonly Value[], table: Table): (readonly [string, Typed])[] {
  return table.key.map(({ name, type }, i) => [name, new Typed(key[i]!.json, type.graphql)]);
}

function objectValue(object: Given): unknown {
  return Object.fromEntries(
    [...object].map(([{ name, type }, value]) => [name, value && new Typed(value.json, type.graphql)]),
  );
}

function conflictArgument(
  { constraint, update, where }: NonNullable<Extract<Action, { kind: 'insert' }>['conflict']>,
  { name }: Table,
): Argument {
  const value = {
    constraint: new Word(constraint),
    update_columns: update.map((column) => new Word(column.name)),
    ...(where ? { where: toArgument(where) } : {}),
  };
  return { name: 'on_conflict', type: `${name}_on_conflict`, value };
}

function changeArguments(changes: readonly Change[], table: string): Argument[] {
  return OPERATORS.flatMap(({ name }): Argument[] => {
    const own = changes.filter(({ operator }) => operator === name);
    const value = Object.fromEntries(
      own.map((change) => [change.column.name, change.value && new Typed(change.value.json, change.type)]),
    );
    return own.length > 0 ? [{ name, type: `${table}${name}_input`, value }] : [];
  });
}

export function mutationShape({ roots }: Mutation): Shape {
  const shapes = roots.map(({ alias, action, returning }): [string, Shape] => {
    const fields = returning ? fieldsShape(returning) : new Map<string, Shape>();
    if (answersWithRow(action)) return [alias, { fields, isUnordered: false }];
    const rows: Shape = { fields, isUnordered: true };
    const members = new Map([
      ['affected_rows', SCALAR],
      ...(returning ? [['returning', rows] as const] : []),
    ]);
    return [alias, { fields: members, isUnordered: false }];
  });
  return { fields: new Map(shapes), isUnordered: false };
}
