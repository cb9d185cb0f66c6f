/** How a resource names a table or a function of a database: the name, with its schema and its source beside it. Schema and source may
 *  be absent. Every kind uses these fields and functions, so that a table is named in the same way everywhere.
 *  Not here: the names of tables in the metadata, which always have a schema (engine/metadata/schema/common.ts). */
import { Type } from '@pergola/engine/metadata';
import { Identifier, MetadataName, type Rule, withDescription } from './annotate.ts';

/** The source of a resource that names none. */
const DEFAULT_SOURCE = 'default';
/** The schema of a table or function that names none. */
const DEFAULT_SCHEMA = 'public';

/** Returns the optional field `source`. `what` is what the source contains: `the table`. */
export function sourceField(what: string) {
  return Type.Optional(
    withDescription(`The name of the source of ${what}. Absent: ${DEFAULT_SOURCE}.`, MetadataName),
  );
}

/** Returns the optional field `schema`. `what` is what the schema contains: `the table`. */
export function schemaField(what: string) {
  return Type.Optional(
    withDescription(`The database schema of ${what}. Absent: ${DEFAULT_SCHEMA}.`, Identifier),
  );
}

/** Returns the fields `schema` and `table`, in this order. */
export function tableFields(description: string, what = 'the table') {
  return { schema: schemaField(what), table: withDescription(description, Identifier) };
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

/** Returns the field `schema` for the name of a schema; empty for the default. */
export function describeSchema(schema: string): { readonly schema?: string } {
  return schema === DEFAULT_SCHEMA ? {} : { schema };
}

/** Returns the fields `schema` and `table` for the name of a table, the inverse of `tableNamed`. */
export function describeTableName({ schema, name }: Qualified): GivenTable {
  return { ...describeSchema(schema), table: name };
}

/** Returns a table or function as the column Target shows it: `default/public.author`. Throws for an invalid name: the target of an invalid
 *  spec is not shown. */
export function printTarget(source: string | undefined, { schema, name }: Qualified): string {
  if (typeof name !== 'string') throw new TypeError('the name is not text');
  return `${sourceNamed(source)}/${schema}.${name}`;
}
