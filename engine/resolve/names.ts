/** GraphQL names of a table: its base name, which is also its object type's, and its root fields.
 *  Out: TableNames, and the conflicts between tables that would define the same name.
 *  Not here yet: source customization (prefixes, suffixes, naming conventions); it will wrap `baseName` and `ROOT_FIELDS`.
 *  Source: features.md rows 1–5 and 15. */
import { EngineError, fail } from '../errors/engine-error.ts';
import { printQualified, type QualifiedName } from '../metadata/schema/common.ts';
import type {
  CustomRootField,
  CustomRootFields,
  RootFieldKind,
  TableConfiguration,
} from '../metadata/schema/table.ts';
import type { ResolvedTable, RootField } from './types.ts';

type RootType = 'query_root' | 'mutation_root' | 'subscription_root';

type RootFieldRow = {
  readonly name: (base: string) => string;
  /** `table` is what people call the table. */
  readonly description: (table: string) => string;
  readonly types: readonly RootType[];
  readonly isOffered: (table: ResolvedTable) => boolean;
};

const READS: readonly RootType[] = ['query_root', 'subscription_root'];
const WRITES: readonly RootType[] = ['mutation_root'];
const hasKey = (table: ResolvedTable): boolean => table.primaryKey !== null;

/** Every root field of a table. Row order is schema order. */
const ROOT_FIELDS: Readonly<Record<RootFieldKind, RootFieldRow>> = {
  select: {
    name: (base) => base,
    description: (table) => `fetch data from the table: "${table}"`,
    types: READS,
    isOffered: () => true,
  },
  select_by_pk: {
    name: (base) => `${base}_by_pk`,
    description: (table) => `fetch data from the table: "${table}" using primary key columns`,
    types: READS,
    isOffered: hasKey,
  },
  select_aggregate: {
    name: (base) => `${base}_aggregate`,
    description: (table) => `fetch aggregated fields from the table: "${table}"`,
    types: READS,
    isOffered: () => true,
  },
  select_stream: {
    name: (base) => `${base}_stream`,
    description: (table) => `fetch data from the table in a streaming manner: "${table}"`,
    types: ['subscription_root'],
    isOffered: () => true,
  },
  insert: {
    name: (base) => `insert_${base}`,
    description: (table) => `insert data into the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isInsertable,
  },
  insert_one: {
    name: (base) => `insert_${base}_one`,
    description: (table) => `insert a single row into the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isInsertable,
  },
  update: {
    name: (base) => `update_${base}`,
    description: (table) => `update data of the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isUpdatable,
  },
  update_by_pk: {
    name: (base) => `update_${base}_by_pk`,
    description: (table) => `update single row of the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isUpdatable && hasKey(table),
  },
  update_many: {
    name: (base) => `update_${base}_many`,
    description: (table) => `update multiples rows of table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isUpdatable,
  },
  delete: {
    name: (base) => `delete_${base}`,
    description: (table) => `delete data from the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isDeletable,
  },
  delete_by_pk: {
    name: (base) => `delete_${base}_by_pk`,
    description: (table) => `delete single row from the table: "${table}"`,
    types: WRITES,
    isOffered: (table) => table.isDeletable && hasKey(table),
  },
};
const ROOT_FIELD_KINDS = Object.keys(ROOT_FIELDS) as RootFieldKind[];

export type TableNames = {
  readonly typeName: string;
  readonly rootFields: Readonly<Record<RootFieldKind, RootField>>;
};

/** Types every schema has; a table cannot be called like one. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  'query_root',
  'mutation_root',
  'subscription_root',
  'order_by',
  'cursor_ordering',
  'Boolean',
  'Float',
  'ID',
  'Int',
  'String',
]);

/** Raises `invalidConfiguration` when a name cannot be spelled in GraphQL, or is one of GraphQL's own. */
export function namesOf(table: QualifiedName, configuration: TableConfiguration | undefined): TableNames {
  const typeName = configuration?.custom_name ?? baseName(table);
  if (!isGraphqlName(typeName)) {
    fail('invalidConfiguration', {
      text:
        `cannot include "${printQualified(table)}" in the GraphQL schema because "${typeName}" ` +
        'is not a valid GraphQL identifier',
    });
  }
  if (OWN_TYPES.has(typeName)) {
    fail('invalidConfiguration', { text: `"${typeName}" is a type of the GraphQL schema itself` });
  }
  const custom: CustomRootFields = configuration?.custom_root_fields ?? {};
  const entries = ROOT_FIELD_KINDS.map((kind) => [kind, rootField(kind, table, typeName, custom[kind])]);
  return { typeName, rootFields: Object.fromEntries(entries) as TableNames['rootFields'] };
}

/** May this name a field or type: GraphQL keeps names that begin with two underscores for itself. */
export function isGraphqlName(name: string): boolean {
  return /^(?!__)[_A-Za-z][_0-9A-Za-z]*$/.test(name);
}

/** What a table or function is called in GraphQL when nobody says otherwise. */
export function baseName({ schema, name }: QualifiedName): string {
  return schema === 'public' ? name : `${schema}_${name}`;
}

function rootField(
  kind: RootFieldKind,
  table: QualifiedName,
  typeName: string,
  custom: CustomRootField | undefined,
): RootField {
  const row = ROOT_FIELDS[kind];
  const { name, comment } = typeof custom === 'string' ? { name: custom } : (custom ?? {});
  const final = name ?? row.name(typeName);
  if (!isGraphqlName(final)) {
    fail('invalidConfiguration', { text: `"${final}" is not a valid GraphQL identifier` });
  }
  // An empty comment hides the description.
  return { name: final, description: (comment ?? row.description(printQualified(table))) || null };
}

/** Names already given, while tables are added one after the other. */
export class NameSpace {
  readonly #fields: Readonly<Record<RootType, Map<string, string>>> = {
    mutation_root: new Map(),
    subscription_root: new Map(),
    query_root: new Map(),
  };
  readonly #types = new Map<string, string>();

  /** Takes the table's names, or none of them: then the error says which are taken and by whom. */
  add(table: ResolvedTable): EngineError | null {
    const owner = `table ${printQualified(table.table)} in source ${table.source}`;
    const conflict = this.#conflict(table, owner);
    if (conflict) return new EngineError('conflictingRootFields', { text: conflict });
    this.#types.set(table.typeName, owner);
    for (const type of Object.keys(this.#fields) as RootType[]) {
      for (const name of fieldsOf(table, type)) this.#fields[type].set(name, owner);
    }
    return null;
  }

  #conflict(table: ResolvedTable, owner: string): string | null {
    for (const type of Object.keys(this.#fields) as RootType[]) {
      const own = new Set<string>();
      const taken = fieldsOf(table, type).flatMap((name) => {
        const other = this.#fields[type].get(name) ?? (own.has(name) ? owner : undefined);
        own.add(name);
        return other === undefined ? [] : [`'${name}' defined in [${[owner, other].sort().join(', ')}]`];
      });
      if (taken.length > 0) return conflictText(type, taken);
    }
    const other = this.#types.get(table.typeName);
    if (other === undefined) return null;
    return (
      `Encountered conflicting definitions of the type '${table.typeName}' in ` +
      `[${[owner, other].sort().join(', ')}]. Types must not be defined more than once across all sources.`
    );
  }
}

/** Last row first, which is the order conflicts are listed in. */
function fieldsOf(table: ResolvedTable, type: RootType): readonly string[] {
  return ROOT_FIELD_KINDS.filter(
    (kind) => ROOT_FIELDS[kind].types.includes(type) && ROOT_FIELDS[kind].isOffered(table),
  )
    .map((kind) => table.rootFields[kind].name)
    .reverse();
}

function conflictText(type: RootType, taken: readonly string[]): string {
  const what =
    taken.length === 1 ? `field ${taken[0]}` : `fields: [${taken.map((line) => `\n  ${line}`).join(',')}\n]`;
  return (
    `Encountered conflicting definitions in the selection set for '${type}' for ${what}. ` +
    'Fields must not be defined more than once across all sources.'
  );
}
