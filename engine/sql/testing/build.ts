/** Short names for the pieces hand-built plans are made of. */

import type { OperatorName } from '../../catalog/operators.ts';
import { builtinType, type PgType } from '../../catalog/types.ts';
import type { MutationRoot } from '../../plan/mutation-types.ts';
import type { Field, OrderItem, Select } from '../../plan/query-types.ts';
import type { Plan } from '../../plan/types.ts';
import type { JsonForm } from '../../resolve/model/column.ts';
import { type Join, type Leaf, type Operand, type Predicate, TRUE } from '../../resolve/predicate.ts';

export const int4 = builtinType('int4');
export const textType = builtinType('text');
export const varchar = builtinType('varchar');
export const jsonb = builtinType('jsonb');

export const named = (name: string) => ({ schema: 'public', name });

export function select(table: string, fields: readonly Field[], rest: Partial<Select> = {}): Select {
  return {
    table: named(table),
    fields,
    where: TRUE,
    orderBy: [],
    distinctOn: [],
    limit: null,
    offset: null,
    ...rest,
  };
}

type ColumnField = Extract<Field, { kind: 'column' }>;

export function column(
  name: string,
  type: PgType,
  json: JsonForm,
  rest: Partial<ColumnField> = {},
): ColumnField {
  return { kind: 'column', alias: name, column: name, type, json, isNullable: false, path: null, ...rest };
}

export const int = (name: string, isNullable = false) => column(name, int4, 'bare', { isNullable });
export const text = (name: string, isNullable = false) => column(name, varchar, 'quoted', { isNullable });

export const object = (
  alias: string,
  on: Join,
  fields: readonly Field[],
  where: Predicate = TRUE,
): Field => ({
  kind: 'object',
  alias,
  join: on,
  select: select(on.table.name, fields, { where }),
});

export const array = (
  alias: string,
  on: Join,
  fields: readonly Field[],
  rest: Partial<Select> = {},
): Field => ({
  kind: 'array',
  alias,
  join: on,
  select: select(on.table.name, fields, rest),
});

export const to = (table: string, local: string, remote = local): Join => ({
  table: named(table),
  mapping: [[local, remote]],
  isUnique: true,
});

export const many = (table: string, local: string, remote = local): Join => ({
  ...to(table, local, remote),
  isUnique: false,
});

export const asc = (name: string): OrderItem => ({ path: [], column: name, direction: 'asc', nulls: 'last' });

export const constant = (value: string | null, type: PgType = int4): Leaf => ({
  kind: 'constant',
  value,
  type,
});
export const variable = (name: string, type: PgType = varchar): Leaf => ({
  kind: 'variable',
  path: [name],
  type,
});
export const session = (name: string, type: PgType = int4): Leaf => ({
  kind: 'session',
  variable: name,
  type,
});

export function compare(
  name: string,
  operator: OperatorName,
  right: Operand,
  type: PgType = int4,
): Predicate {
  return { kind: 'compare', left: { column: name, type }, operator, right };
}

export const rows = (alias: string, query: Select): Plan => ({
  operation: 'query',
  roots: [{ kind: 'database', alias, source: 'default', query: { kind: 'rows', select: query } }],
});

export const row = (alias: string, query: Select): Plan => ({
  operation: 'query',
  roots: [{ kind: 'database', alias, source: 'default', query: { kind: 'row', select: query } }],
});

export const mutation = (alias: string, root: MutationRoot): Plan => ({
  operation: 'mutation',
  roots: [{ kind: 'mutation', alias, source: 'default', mutation: root }],
});
