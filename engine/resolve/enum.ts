/** Enum tables (`is_enum`). An enum table has one text key, at most one text comment, and rows whose keys are GraphQL names. Its
 *  rows are the values of a GraphQL enum, and columns with a foreign key to it are of that enum; its own columns stay text.
 *  In: a table and its rows. Out: ResolvedEnum, and tables with columns of enums. Not here: reading the rows (catalog/enum-rows.ts).
 *  Source: docs/reference/behaviour/functions.md. */

import type { Scalar } from '../catalog/scalars.ts';
import type { Catalog, CatalogColumn, CatalogTable, EnumRow } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import { isLiteral, LITERAL_KEY } from '../metadata/bool-exp.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import { refuseBecause } from './inconsistency.ts';
import type { ResolvedColumn } from './model/column.ts';
import type { ResolvedEnum } from './model/enum.ts';
import type { ResolvedTable } from './model/table.ts';
import { derivedTypeName, type TableNames } from './names.ts';
import { enumValueName } from './naming.ts';
import { SESSION_PREFIX, sessionVariableOf } from './session.ts';

/** Returns the enum of an enum table. `rows` is undefined when they could not be read. Raises `invalidConfiguration` with every
 *  reason why the table cannot be an enum. */
export function resolveEnum(
  table: CatalogTable,
  rows: readonly EnumRow[] | undefined,
  names: TableNames,
): ResolvedEnum {
  const shape = [...keyReasons(table), ...commentReasons(table)];
  refuseFor(shape.length > 0 ? shape : rowReasons(rows), table);
  const values = (rows ?? []).map(({ value, comment }) => {
    return { name: enumValueName(names.naming, value), value, description: comment };
  });
  refuseFor(sharedNameReasons(values), table);
  return {
    typeName: derivedTypeName(names, 'enum'),
    comparisonName: derivedTypeName(names, 'enum_comparison_exp'),
    values,
    valueByName: new Map(values.map(({ name, value }) => [name, value])),
    isRespelled: values.some(({ name, value }) => name !== value),
  };
}

/** Returns the table with the enums of its columns. `tables` are all tables of the source. Raises `invalidConfiguration` for a
 *  column that refers to several enum tables. */
export function withEnums(
  table: ResolvedTable,
  tables: ReadonlyMap<string, ResolvedTable>,
  catalog: Catalog,
): ResolvedTable {
  const { foreignKeys } = catalog.tables.get(qualifiedKey(table.table))!;
  const found = foreignKeys.flatMap(({ columns, foreignColumns, table: name }) => {
    const target = columns.length === 1 ? tables.get(qualifiedKey(name)) : undefined;
    const isToKey = target?.enum && target.primaryKey?.[0]?.name === foreignColumns[0];
    return isToKey ? [[columns[0]!, target.enum] as const] : [];
  });
  if (found.length === 0) return table;
  const byColumn = new Map(found);
  for (const [name, type] of found) if (byColumn.get(name) !== type) refuseSeveral(table, name);
  const typed = (column: ResolvedColumn): ResolvedColumn => {
    const type = byColumn.get(column.name);
    if (!type) return column;
    const json = type.isRespelled ? 'capitals' : column.json;
    return { ...column, enum: type, scalar: enumScalar(column, type), json };
  };
  return {
    ...table,
    columns: table.columns.map(typed),
    columnByName: new Map([...table.columnByName].map(([name, column]) => [name, typed(column)])),
    primaryKey: table.primaryKey?.map(typed) ?? null,
  };
}

/** Returns the scalar of a column of an enum: its values have equality and no order. */
function enumScalar({ scalar }: ResolvedColumn, { typeName }: ResolvedEnum): Scalar {
  return { ...scalar, name: typeName, family: 'other', comparison: 'equality', isOrderable: false };
}

/** Checks a value that a permission compares with, or writes to, a column of an enum. Raises `unexpectedPayload` when the enum does
 *  not have it. The value of a session variable cannot be checked here. */
export function checkEnumValue(
  column: Partial<Pick<ResolvedColumn, 'enum'>>,
  written: unknown,
  prefix: string | null = SESSION_PREFIX,
): void {
  const isName = typeof written === 'string' && prefix !== null && sessionVariableOf(written, prefix);
  if (!column.enum || written === null || isName) return;
  const value = prefix !== null && isLiteral(written) ? written[LITERAL_KEY] : written;
  const values = column.enum.values.map((each) => each.value);
  if (typeof value === 'string' && values.includes(value)) return;
  const expected = values
    .map((each) => `"${each}"`)
    .sort()
    .join(', ');
  const text = `expected one of the values ${expected} for type "${column.enum.typeName}", given ${JSON.stringify(value)}`;
  fail('unexpectedPayload', { text });
}

function refuseSeveral(table: ResolvedTable, column: string): never {
  const text = `column "${column}" of table "${printQualified(table.table)}" references multiple enum tables`;
  return fail('invalidConfiguration', { text });
}

function refuseFor(reasons: readonly string[], table: CatalogTable): void {
  refuseBecause(`the table "${printQualified(table)}" cannot be used as an enum`, reasons);
}

function keyReasons(table: CatalogTable): readonly string[] {
  const key = table.primaryKey?.columns ?? [];
  if (key.length === 0) return ['the table must have a primary key'];
  if (key.length > 1) {
    const names = key.map((name) => `"${name}"`).sort();
    return [`the table’s primary key must not span multiple columns (${names.join(', ')})`];
  }
  const column = table.columns.find(({ name }) => name === key[0])!;
  return textReasons('primary key', column);
}

function commentReasons(table: CatalogTable): readonly string[] {
  if (table.columns.length > 2) {
    const names = table.columns.map((column) => column.name).sort();
    return [
      'the table must have exactly one primary key and optionally one comment column, ' +
        `not ${names.length} columns (${names.join(', ')})`,
    ];
  }
  const comment = table.columns.find(({ name }) => !table.primaryKey?.columns.includes(name));
  return comment && table.primaryKey?.columns.length === 1 ? textReasons('comment column', comment) : [];
}

function textReasons(what: string, { name, type }: CatalogColumn): readonly string[] {
  if (type.schema === 'pg_catalog' && type.name === 'text') return [];
  return [`the table’s ${what} ("${name}") must have type "text", not type "${sqlName(type.name)}"`];
}

function rowReasons(rows: readonly EnumRow[] | undefined): readonly string[] {
  if (!rows) return ['the table’s rows may not be read'];
  if (rows.length === 0) return ['the table must have at least one row'];
  const wrong = rows.map(({ value }) => value).filter((value) => !isEnumValueName(value));
  return wrong.length > 0 ? [`the ${invalidNames(wrong.sort())}`] : [];
}

/** GraphQL specification, "Enum Value". */
function isEnumValueName(value: string): boolean {
  return /^[_A-Za-z][_0-9A-Za-z]*$/.test(value) && !['true', 'false', 'null'].includes(value);
}

function invalidNames(values: readonly string[]): string {
  const quoted = values.map((value) => `"${value}"`);
  if (quoted.length === 1) return `value ${quoted[0]} is not a valid GraphQL enum value name`;
  const others = quoted.slice(0, -1).join(', ') + (quoted.length > 2 ? ',' : '');
  return `values ${others} and ${quoted.at(-1)} are not valid GraphQL enum value names`;
}

/** Returns the values whose names are equal in the naming convention. */
function sharedNameReasons(values: ResolvedEnum['values']): readonly string[] {
  return [...Map.groupBy(values, ({ name }) => name)].flatMap(([name, alike]) => {
    if (alike.length === 1) return [];
    return [`the values ${alike.map(({ value }) => `"${value}"`).join(', ')} are all spelled "${name}"`];
  });
}

/** The names of types in the SQL standard, by the shorter names of Postgres. */
const SQL_NAMES: Readonly<Record<string, string>> = {
  int2: 'smallint',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float8: 'double precision',
  bool: 'boolean',
  bpchar: 'character',
  varchar: 'character varying',
  time: 'time without time zone',
  timetz: 'time with time zone',
  timestamp: 'timestamp without time zone',
  timestamptz: 'timestamp with time zone',
};

function sqlName(typname: string): string {
  return Object.hasOwn(SQL_NAMES, typname) ? SQL_NAMES[typname]! : typname;
}
