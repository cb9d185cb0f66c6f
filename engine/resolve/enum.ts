/** What a table must look like to be an enum (`is_enum`): one text key, at most one text comment.
 *  Not here yet: its rows becoming a GraphQL enum; until then such a table is served as a plain one.
 *  Source: features.md row 78. */
import type { CatalogColumn, CatalogTable } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import { printQualified } from '../metadata/schema/common.ts';

/** Raises `invalidConfiguration` with every reason. */
export function checkEnumTable(table: CatalogTable): void {
  const reasons = [...keyReasons(table), ...commentReasons(table)];
  if (reasons.length === 0) return;
  const subject = `the table "${printQualified(table)}" cannot be used as an enum`;
  const text =
    reasons.length === 1
      ? `${subject} because ${reasons[0]}`
      : `${subject} for the following reasons:\n${reasons.map((reason) => `  • ${reason}\n`).join('')}`;
  fail('invalidConfiguration', { text });
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

/** The standard's names, where Postgres has shorter ones of its own. */
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
