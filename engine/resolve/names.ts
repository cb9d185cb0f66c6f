/** The GraphQL names of a table: its object type, its root fields, and the types derived from it; also their descriptions.
 *  In: the table, the names in its metadata, and the naming of its source. Out: TableNames.
 *  Not here: spelling and source customization (naming.ts), conflicts between tables (conflicts.ts).
 *  Reference: docs/reference/behaviour/schema.md. */
import { AGGREGATE_FUNCTIONS } from '../catalog/aggregates.ts';
import { SCALARS } from '../catalog/scalars.ts';
import { fail } from '../errors/engine-error.ts';
import { printQualified, type QualifiedName } from '../metadata/schema/common.ts';
import type { NamingConvention } from '../metadata/schema/source.ts';
import type {
  CustomRootField,
  CustomRootFields,
  RootFieldKind,
  TableConfiguration,
} from '../metadata/schema/table.ts';
import type { ResolvedTable, RootField } from './model/table.ts';
import { fieldName, type Naming, type Part, rootFieldName, sharedTypeName, typeName } from './naming.ts';

export type RootType = 'query_root' | 'mutation_root' | 'subscription_root';

type RootFieldRow = {
  readonly name: (base: Part) => readonly Part[];
  /** `table` is the printed name of the table. */
  readonly description: (table: string) => string;
  readonly types: readonly RootType[];
  readonly isOffered: (table: ResolvedTable) => boolean;
};

const READS: readonly RootType[] = ['query_root', 'subscription_root'];
const WRITES: readonly RootType[] = ['mutation_root'];
const hasKey = (table: ResolvedTable): boolean => table.primaryKey !== null;

/** Every root field of a table, in the order of the schema. */
const ROOT_FIELDS: Readonly<Record<RootFieldKind, RootFieldRow>> = {
  select: {
    name: (base) => [base],
    description: (table) => `fetch data from the table: "${table}"`,
    types: READS,
    isOffered: () => true,
  },
  select_by_pk: {
    name: (base) => [base, 'by_pk'],
    description: (table) => `fetch data from the table: "${table}" using primary key columns`,
    types: READS,
    isOffered: hasKey,
  },
  select_aggregate: {
    name: (base) => [base, 'aggregate'],
    description: (table) => `fetch aggregated fields from the table: "${table}"`,
    types: READS,
    isOffered: () => true,
  },
  select_stream: {
    name: (base) => [base, 'stream'],
    description: (table) => `fetch data from the table in a streaming manner: "${table}"`,
    types: ['subscription_root'],
    isOffered: () => true,
  },
  insert: {
    name: (base) => ['insert', base],
    description: (table) => `insert data into the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isInsertable,
  },
  insert_one: {
    name: (base) => ['insert', base, 'one'],
    description: (table) => `insert a single row into the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isInsertable,
  },
  update: {
    name: (base) => ['update', base],
    description: (table) => `update data of the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isUpdatable,
  },
  update_by_pk: {
    name: (base) => ['update', base, 'by_pk'],
    description: (table) => `update single row of the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isUpdatable && hasKey(table),
  },
  update_many: {
    name: (base) => ['update', base, 'many'],
    description: (table) => `update multiples rows of table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isUpdatable,
  },
  delete: {
    name: (base) => ['delete', base],
    description: (table) => `delete data from the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isDeletable,
  },
  delete_by_pk: {
    name: (base) => ['delete', base, 'by_pk'],
    description: (table) => `delete single row from the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isDeletable && hasKey(table),
  },
};
const ROOT_FIELD_KINDS = Object.keys(ROOT_FIELDS) as RootFieldKind[];

export type TableNames = Pick<ResolvedTable, 'base' | 'naming' | 'typeName' | 'rootFields' | 'isUnnameable'>;

/** Types of every schema. No table can have such a name. */
const OWN_TYPES = [
  'query_root',
  'mutation_root',
  'subscription_root',
  'Boolean',
  'Float',
  'ID',
  'Int',
  'String',
];
/** Types of every schema whose spelling depends on the naming convention. */
const OWN_SPELLED_TYPES = [
  'order_by',
  'cursor_ordering',
  ...Object.values(SCALARS).flatMap(({ name }) => [`${name}_comparison_exp`, `${name}_cast_exp`]),
];
const OWN_TYPES_SPELLED: Readonly<Record<NamingConvention, ReadonlySet<string>>> = {
  default: ownTypes('default'),
  'graphql-default': ownTypes('graphql-default'),
};

function ownTypes(convention: NamingConvention): ReadonlySet<string> {
  return new Set([...OWN_TYPES, ...OWN_SPELLED_TYPES.map((own) => sharedTypeName({ convention }, own))]);
}

/** True for a type that the GraphQL schema may have whatever the metadata is, in either naming convention. */
export function isSchemaType(name: string): boolean {
  return Object.values(OWN_TYPES_SPELLED).some((names) => names.has(name));
}

/** Returns the names of a table. Raises `invalidConfiguration` for a name that every schema has, and for a custom root field that is no
 *  GraphQL name. */
export function namesOf(
  table: QualifiedName,
  configuration: TableConfiguration | undefined,
  naming: Naming,
): TableNames {
  const { custom_name, custom_root_fields } = configuration ?? {};
  const base: Part = custom_name ? { verbatim: custom_name } : baseName(table);
  const type = typeName(naming, base);
  const isUnnameable = !isGraphqlName(type);
  if (OWN_TYPES_SPELLED[naming.convention].has(type))
    fail('invalidConfiguration', { text: `"${type}" is a type of the GraphQL schema itself` });
  const custom: CustomRootFields = custom_root_fields ?? {};
  const entries = ROOT_FIELD_KINDS.map((kind) => {
    const standard = fieldName(naming, ...ROOT_FIELDS[kind].name(base));
    return [kind, rootField(kind, printQualified(table), naming, standard, custom[kind], isUnnameable)];
  });
  const rootFields = Object.fromEntries(entries) as TableNames['rootFields'];
  return { base, naming, typeName: type, rootFields, ...(isUnnameable ? { isUnnameable } : {}) };
}

/** Returns the name of a type derived from a table: `author_bool_exp` for `bool_exp`. */
export function derivedTypeName(
  { base, naming }: Pick<TableNames, 'base' | 'naming'>,
  suffix: string,
): string {
  return typeName(naming, base, suffix);
}

/** Returns the name of a type derived from a computed field: `full_name_author_args`. */
export function computedTypeName(
  { base, naming }: Pick<TableNames, 'base' | 'naming'>,
  field: { readonly name: string },
  suffix: string,
): string {
  return typeName(naming, field.name, base, suffix);
}

/** Returns the name of the input type for the arguments of a native query. */
export function nativeArgumentsTypeName({ table, naming }: ResolvedTable): string {
  return typeName(naming, { verbatim: table.name }, 'arguments');
}

/** Returns the name of a type of the Relay schema: `authorConnection`, without an underscore in every convention. */
export function relayTypeName(
  { base, naming }: Pick<TableNames, 'base' | 'naming'>,
  part: 'Connection' | 'Edge',
): string {
  return typeName(naming, { verbatim: sharedTypeName(naming, base) + part });
}

/** The suffixes of types derived from a table, whether or not a role's schema has them, without those that extend another suffix
 *  (`author_aggregate_bool_exp_count`). */
const DERIVED_TYPES: readonly string[] = [
  'aggregate',
  'aggregate_bool_exp',
  'aggregate_fields',
  'aggregate_order_by',
  'append_input',
  'arr_rel_insert_input',
  'bool_exp',
  'constraint',
  'delete_at_path_input',
  'delete_elem_input',
  'delete_key_input',
  'inc_input',
  'insert_input',
  'mutation_response',
  'obj_rel_insert_input',
  'on_conflict',
  'on_conflict_bool_exp',
  'order_by',
  'pk_columns_input',
  'prepend_input',
  'select_column',
  'set_input',
  'stream_cursor_input',
  'stream_cursor_value_input',
  'update_column',
  'updates',
  ...AGGREGATE_FUNCTIONS.flatMap((fn) => [`${fn}_fields`, `${fn}_order_by`]),
];

/** The suffixes of types that exist with an experimental feature. */
const TYPES_OF_FEATURES = {
  group_by: [
    'group',
    'group_bool_exp',
    'group_column',
    'group_keys',
    'group_keys_order_by',
    'group_order_by',
  ],
  nested_updates: ['deletes', 'related_input', 'related_writes_input'],
} as const;

/** Returns every type name a table takes. Two definitions of one name would be one type, and a wrong one. */
export function typeNamesOf(table: ResolvedTable, features: ReadonlySet<string>): readonly string[] {
  const on = Object.entries(TYPES_OF_FEATURES).filter(([feature]) => features.has(feature));
  const suffixes = [...DERIVED_TYPES, ...on.flatMap(([, types]) => types)];
  const ofEnum = table.enum ? [table.enum.typeName, table.enum.comparisonName] : [];
  return [table.typeName, ...ofEnum, ...suffixes.map((suffix) => derivedTypeName(table, suffix))];
}

/** Returns the name of the root field for groups: `author_group_by`. */
export function groupByField({ base, naming }: Pick<TableNames, 'base' | 'naming'>): string {
  return rootFieldName(naming, fieldName(naming, base, 'group_by'));
}

/** Returns the root fields of rows with a single root field, which then has every kind. */
export function onlyRootField(field: RootField): TableNames['rootFields'] {
  return Object.fromEntries(ROOT_FIELD_KINDS.map((kind) => [kind, field])) as TableNames['rootFields'];
}

/** Returns true for a valid name of a field or type. GraphQL reserves names that begin with two underscores. */
export function isGraphqlName(name: string): boolean {
  return /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/.test(name);
}

/** Returns the default GraphQL name of a table or function. */
export function baseName({ schema, name }: QualifiedName): string {
  return schema === 'public' ? name : `${schema}_${name}`;
}

function rootField(
  kind: RootFieldKind,
  table: string,
  naming: Naming,
  standard: string,
  custom: CustomRootField | undefined,
  isUnnameable: boolean,
): RootField {
  const { name, comment } = typeof custom === 'string' ? { name: custom } : (custom ?? {});
  const final = rootFieldName(naming, name ?? standard);
  if (!isUnnameable && !isGraphqlName(final)) {
    fail('invalidConfiguration', { text: `"${final}" is not a valid GraphQL identifier` });
  }
  return { name: final, description: descriptionOf(comment, ROOT_FIELDS[kind].description(table)) };
}

/** Returns the names of the root fields of a table in a root type, in the order in which conflicts are listed: the last row first. */
export function rootFieldsIn(table: ResolvedTable, type: RootType): readonly string[] {
  if (table.native) return READS.includes(type) ? [table.rootFields.select.name] : [];
  return ROOT_FIELD_KINDS.filter(
    (kind) => ROOT_FIELDS[kind].types.includes(type) && ROOT_FIELDS[kind].isOffered(table),
  )
    .map((kind) => table.rootFields[kind].name)
    .reverse();
}

/** Returns the name under which the rows of a native query are kept. Its schema has no name, so no table can have it. */
export function nativeName(rootField: string): QualifiedName {
  return { schema: '', name: rootField };
}

/** Returns the description in the schema: the comment of the metadata, or the default. An empty comment means no description. */
export function descriptionOf(comment: string | null | undefined, fallback: string | null): string | null {
  return (comment ?? fallback) || null;
}
