/** How a resource names a table or a function of a database: the name, with its schema and its source beside it. Schema and source may
 *  be absent. Every kind uses these fields and functions, so that a table is named in the same way everywhere.
 *  Not here: the names of tables in the metadata, which always have a schema (engine/metadata/schema/common.ts). */
import type { TSchema } from '@pergola/engine/metadata';
import { Identifier, MetadataName, type Rule } from './annotate.ts';
import { type FieldValues, inForm, optional, required } from './mapping.ts';

/** The source of a resource that names none. */
const DEFAULT_SOURCE = 'default';
/** The schema of a table or function that names none. */
const DEFAULT_SCHEMA = 'public';

/** Returns the schema of a name that may be absent. The metadata has `name` for it, if that is needed in the object of the field. */
function named<T extends TSchema>(schema: T, name: string, isNeeded: (owner: FieldValues) => boolean): T {
  return inForm(schema, {
    write: (given: string) => given,
    read: (given: string) => (given === name ? undefined : given),
    absent: (owner) => (isNeeded(owner) ? name : undefined),
  });
}

/** Returns the optional field `source`. `what` is what the source contains: `the table`. `to` is its path in the object, if that has one, and
 *  `isNeeded` is false if the object may be without. */
export function sourceField(what: string, to: string | null = null, isNeeded = true) {
  const type = named(MetadataName, DEFAULT_SOURCE, () => isNeeded);
  return optional(`The name of the source of ${what}. Absent: ${DEFAULT_SOURCE}.`, type, to);
}

/** Returns the optional field `schema`. `what` is what the schema contains: `the table`. `to` is the member of the object with the name, and
 *  `name` the field beside it. */
export function schemaField(what: string, to: string | null = null, name = 'table') {
  const type = named(Identifier, DEFAULT_SCHEMA, (owner) => name in owner);
  return optional(`The database schema of ${what}. Absent: ${DEFAULT_SCHEMA}.`, type, to && `${to}.schema`);
}

/** Returns the fields `schema` and `table`, in this order. `to` is the member of the object with the name of the table. */
export function tableFields(description: string, to: string | null = null, what = 'the table') {
  return { schema: schemaField(what, to), table: required(description, Identifier, to && `${to}.name`) };
}

/** Returns the fields of `tableFields` for an object with or without a table. */
export function optionalTable(description: string, to: string | null = null, what = 'the table') {
  return { schema: schemaField(what, to), table: optional(description, Identifier, to && `${to}.name`) };
}

/** The rule for objects in which `table` is optional. */
export const SCHEMA_OF_TABLE: Rule = {
  rule: '!has(self.schema) || has(self.table)',
  message: 'schema is the schema of a table; add table, or remove schema',
  holds: (value) => !('schema' in value) || 'table' in value,
};

type Qualified = { readonly schema: string; readonly name: string };
type GivenTable = { readonly schema?: string | undefined; readonly table: string };

/** Returns the name of the source that the field `source` stands for. */
export function sourceNamed(source: string | undefined): string {
  return source ?? DEFAULT_SOURCE;
}

/** Returns the name of a table or function as the metadata has it. */
export function qualifiedName(schema: string | undefined, name: string): Qualified {
  return { schema: schema ?? DEFAULT_SCHEMA, name };
}

/** Returns the name of the table of the fields `schema` and `table`, as the metadata has it. */
export function tableNamed({ schema, table }: GivenTable): Qualified {
  return qualifiedName(schema, table);
}

/** Returns the field `source` for the name of a source, the inverse of `sourceNamed`. */
export function describeSource(name: string | undefined): { readonly source?: string } {
  return name === undefined || name === DEFAULT_SOURCE ? {} : { source: name };
}

/** Returns the fields `schema` and `table` for the name of a table, the inverse of `tableNamed`. */
export function describeTableName({ schema, name }: Qualified): GivenTable {
  return { ...(schema === DEFAULT_SCHEMA ? {} : { schema }), table: name };
}

/** Returns a table or function as the column Target shows it: `default/public.author`. Throws for an invalid name: the target of an invalid
 *  spec is not shown. */
export function printTarget(source: string | undefined, { schema, name }: Qualified): string {
  if (typeof name !== 'string') throw new TypeError('the name is not text');
  return `${sourceNamed(source)}/${schema}.${name}`;
}
