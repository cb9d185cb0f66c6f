/** Marks of schemas: what a text, a key or an object of the metadata names. names.ts reads and rewrites names along them, so a schema
 *  that marks what it names has dependencies, cascades and renames.
 *  A mark is a symbol in the schema. JSON Schema printed from the schema does not have it.
 *  Not here: environment variables, named values and files (common.ts). */

/** The kinds of objects whose names are fields of a table, in the order in which a name is looked up. */
export const FIELD_KINDS = [
  'object_relationship',
  'array_relationship',
  'computed_field',
  'remote_relationship',
] as const;
export type FieldKind = (typeof FIELD_KINDS)[number];

/** The kinds of names that have a schema of the database. `sql_function` is a function of the database, tracked or not. */
export type QualifiedKind = 'table' | 'function' | 'sql_function';
/** The kinds of names that are of a table. A `field` is a column or a computed field. */
export type MemberKind = FieldKind | 'column' | 'field';
/** The kinds of what a name stands for. */
export type NameKind =
  | QualifiedKind
  | MemberKind
  | 'source'
  | 'logical_model'
  | 'native_query'
  | 'remote_schema'
  | 'query_collection'
  | 'query'
  | 'custom_type'
  | 'role';

/** True for a name that is of a table. */
export function isMemberKind(kind: NameKind): kind is MemberKind {
  return kind === 'column' || kind === 'field' || (FIELD_KINDS as readonly string[]).includes(kind);
}

/** True for a name that has a schema of the database. */
export function isQualifiedKind(kind: NameKind): kind is QualifiedKind {
  return kind === 'table' || kind === 'function' || kind === 'sql_function';
}

/** How a value of a schema names something. */
export type NameMark = {
  readonly kind: NameKind;
  /** True for the name that an object itself has. */
  readonly isOwn?: boolean;
  /** The table that a column or field is of: the table that the object is nested in, or the one that is named beside it. */
  readonly of?: 'here' | 'there';
  /** The name that a missing member stands for. */
  readonly absent?: string;
  /** `type`: a GraphQL type, `[User!]!`. `variables`: JSON whose texts `$name` are names. Absent: the value is the name. */
  readonly form?: 'type' | 'variables';
};

/** A value that has names by other schemas than its own, which says less, and an expression whose keys are names. */
export type ContentMark = { readonly content: readonly object[] | 'expression' };

/** The key of the mark of a schema. */
export const NAME_MARK = Symbol('name');
/** The key of the mark of the keys of a record, in the schema of the record. */
export const KEY_MARK = Symbol('key');

/** The key of the mark of a value that may contain a secret: a password, a key, or a text in which people write one. */
export const SECRET_MARK = Symbol('secret');

/** Returns the schema of a value that may contain a secret. without-secrets.ts replaces it for those who may not read secrets. */
export function secret<T extends object>(schema: T): T {
  return { ...schema, [SECRET_MARK]: true };
}

function marked<T extends object>(schema: T, mark: NameMark | ContentMark): T {
  return { ...schema, [NAME_MARK]: mark };
}

/** Returns the schema of a reference to an object. */
export function ref<T extends object>(
  kind: NameKind,
  schema: T,
  more: Pick<NameMark, 'absent' | 'form'> = {},
): T {
  return marked(schema, { kind, ...more });
}

/** Returns the schema of the name of the object itself. */
export function ownName<T extends object>(kind: NameKind, schema: T): T {
  return marked(schema, { kind, isOwn: true });
}

/** Returns the schema of a column of a table. */
export function columnOf<T extends object>(of: 'here' | 'there', schema: T): T {
  return marked(schema, { kind: 'column', of });
}

/** Returns the schema of a column or computed field of the table that the object is nested in. */
export function fieldOf<T extends object>(schema: T, more: Pick<NameMark, 'form'> = {}): T {
  return marked(schema, { kind: 'field', of: 'here', ...more });
}

/** Returns the schema of a boolean expression over the table that the object is nested in. */
export function boolExp<T extends object>(schema: T): T {
  return marked(schema, { content: 'expression' });
}

/** Returns the schema of a value that has the names of the other schemas. */
export function withContent<T extends object>(schema: T, ...content: readonly object[]): T {
  return marked(schema, { content });
}
