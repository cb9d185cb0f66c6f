/** The tables and views that the draft does not track yet, with names for what GraphQL cannot spell, and their enum tables. A table whose
 *  name another one has taken is given a longer name. In: a draft. Out: the draft with them. Pure.
 *  Not here: which tables are selected (selection.ts), their relationships (relationships.ts). */
import type { CatalogTable } from '../../engine/catalog/types.ts';
import { type MetadataObject, objectKey, type Table } from '../../engine/metadata/index.ts';
import { printQualified, qualifiedKey } from '../../engine/metadata/schema/common.ts';
import { baseName, isGraphqlName } from '../../engine/resolve/names.ts';
import { type Draft, tryAdditions } from './draft.ts';
import { freeName, graphqlName } from './words.ts';

/** How a table is tracked: each attempt follows the refusal of the one before. */
type Attempt = (table: CatalogTable, plain: Table) => Table | undefined;

const ATTEMPTS: readonly Attempt[] = [
  (_, plain) => plain,
  (_, { is_enum, ...plain }) => (is_enum ? plain : undefined),
  (table, { is_enum: _, ...plain }) => ({ ...plain, configuration: renamed(table, plain.configuration) }),
];

export function withTables(draft: Draft, enums: ReadonlySet<string>): Draft {
  const { wishes, selection, source } = draft;
  const wanted = [...selection.tables.values()].filter(
    (table) => !source.tables.has(qualifiedKey(table)) && !wishes.offered.has(tableKey(table, wishes.source)),
  );
  const plain = wanted.map((table) => ({
    table,
    plain: trackedTable(table, enums.has(qualifiedKey(table))),
  }));
  const start: Tracking = { draft, pending: plain, reasons: new Map() };
  const { draft: made, pending, reasons } = ATTEMPTS.reduce(attempted, start);
  const leftOut = pending.map(({ table }) => ({
    what: printQualified(table),
    why: reasons.get(tableKey(table, wishes.source)) ?? 'the engine refuses it',
  }));
  return { ...made, leftOut: [...made.leftOut, ...leftOut] };
}

/** The tables that the engine has refused so far, with the reasons of the last attempt. */
type Tracking = {
  readonly draft: Draft;
  readonly pending: readonly { readonly table: CatalogTable; readonly plain: Table }[];
  readonly reasons: ReadonlyMap<string, string>;
};

function attempted({ draft, pending, reasons }: Tracking, attempt: Attempt): Tracking {
  const { source } = draft.wishes;
  const objects = pending.flatMap(({ table, plain }): MetadataObject[] => {
    const definition = attempt(table, plain);
    const parent = objectKey('source', source);
    return definition ? [{ key: tableKey(table, source), kind: 'table', parent, definition }] : [];
  });
  if (objects.length === 0) return { draft, pending, reasons };
  const tried = tryAdditions(draft, objects);
  const kept = objects.filter(({ key }) => !tried.refused.has(key));
  const { refused: _, ...next } = tried.refused.size === 0 ? tried : tryAdditions(draft, kept);
  return {
    draft: { ...draft, ...next },
    pending: pending.filter(({ table }) => !next.added.has(tableKey(table, source))),
    reasons: new Map([...reasons, ...tried.refused]),
  };
}

function tableKey({ schema, name }: CatalogTable, source: string): string {
  return objectKey('table', source, schema, name);
}

/** Returns the definition of a table, with names for what GraphQL cannot spell. */
function trackedTable(table: CatalogTable, isEnum: boolean): Table {
  const { schema, name, columns } = table;
  const base = baseName(table);
  const taken = new Set(columns.map((column) => column.name).filter(isGraphqlName));
  const columnConfig = columns
    .filter((column) => !isGraphqlName(column.name))
    .map((column) => {
      const free = freeName(graphqlName(column.name, `column_${column.position}`), taken);
      taken.add(free);
      return [column.name, { custom_name: free }] as const;
    });
  const configuration = {
    ...(isGraphqlName(base) ? {} : { custom_name: graphqlName(base, `table_${table.oid}`) }),
    ...(columnConfig.length > 0 ? { column_config: Object.fromEntries(columnConfig) } : {}),
  };
  return {
    table: { schema, name },
    ...(isEnum ? { is_enum: true } : {}),
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
  };
}

/** Returns the configuration with a name that says what the table is, for a table whose name another one has taken. */
function renamed(
  table: CatalogTable,
  configuration: Table['configuration'],
): NonNullable<Table['configuration']> {
  const base = configuration?.custom_name ?? baseName(table);
  const kind = table.kind.endsWith('view') ? 'view' : 'table';
  return { ...configuration, custom_name: graphqlName(`${base}_${kind}`, `table_${table.oid}`) };
}
