/** The tables and views that the draft does not track yet, with names for what GraphQL cannot spell, and their enum tables. A table whose
 *  name another one has taken is given a longer name. In: a draft. Out: the draft with them. Pure.
 *  Not here: which tables are selected (selection.ts), their relationships (relationships.ts). */
import type { CatalogTable } from '../../engine/catalog/types.ts';
import { type MetadataObject, objectKey, type Table } from '../../engine/metadata/index.ts';
import { printQualified, qualifiedKey } from '../../engine/metadata/schema/common.ts';
import { baseName, isGraphqlName } from '../../engine/resolve/names.ts';
import { type Draft, tryAdditions } from './draft.ts';
import { apiName, freeName, graphqlName, spell, styleOf, wordsOf } from './words.ts';

/** How a table is tracked: each attempt follows the refusal of the one before. `taken` has the names of tables that are tracked. */
type Attempt = (table: CatalogTable, plain: Table, taken: Set<string>) => Table | undefined;

const ATTEMPTS: readonly Attempt[] = [
  (_, plain) => plain,
  (_, { is_enum, ...plain }) => (is_enum ? plain : undefined),
  (table, { is_enum: _, ...plain }, taken) => {
    const name = longerName(table, plain.configuration?.custom_name ?? baseName(table), taken);
    taken.add(name);
    return { ...plain, configuration: { ...plain.configuration, custom_name: name } };
  },
];

export function withTables(draft: Draft, enums: ReadonlySet<string>): Draft {
  const { wishes, selection, source } = draft;
  const wanted = [...selection.tables.values()].filter(
    (table) => !source.tables.has(qualifiedKey(table)) && !wishes.offered.has(tableKey(table, wishes.source)),
  );
  const taken = typeNamesIn(draft);
  const plain = wanted.map((table) => {
    const name = apiName(table, freeName('unnamed_table', taken));
    taken.add(name);
    return { table, plain: trackedTable(table, name, enums.has(qualifiedKey(table))) };
  });
  // Of two tables with one name, the engine refuses the second: a table keeps its own name.
  const [others, own] = [true, false].map((isOther) =>
    plain.filter((each) => hasOtherName(each) === isOther),
  );
  const start: Tracking = { draft, pending: [...own!, ...others!], reasons: new Map() };
  const { draft: made, pending, reasons } = ATTEMPTS.reduce(attempted, start);
  const leftOut = pending.map(({ table }) => ({
    what: printQualified(table),
    why: reasons.get(tableKey(table, wishes.source)) ?? 'the engine refuses it',
  }));
  return { ...made, leftOut: [...made.leftOut, ...leftOut] };
}

function hasOtherName({ plain }: { readonly plain: Table }): boolean {
  return plain.configuration?.custom_name !== undefined;
}

/** The tables that the engine has refused so far, with the reasons of the last attempt. */
type Tracking = {
  readonly draft: Draft;
  readonly pending: readonly { readonly table: CatalogTable; readonly plain: Table }[];
  readonly reasons: ReadonlyMap<string, string>;
};

function attempted({ draft, pending, reasons }: Tracking, attempt: Attempt): Tracking {
  const { source } = draft.wishes;
  const taken = typeNamesIn(draft);
  const objects = pending.flatMap(({ table, plain }): MetadataObject[] => {
    const definition = attempt(table, plain, taken);
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

function typeNamesIn({ source }: Draft): Set<string> {
  return new Set([...source.tables.values()].map(({ typeName }) => typeName));
}

function tableKey({ schema, name }: CatalogTable, source: string): string {
  return objectKey('table', source, schema, name);
}

/** Returns the definition of a table with a name in the API, and with names for columns that GraphQL cannot spell. */
function trackedTable(table: CatalogTable, base: string, isEnum: boolean): Table {
  const { schema, name, columns } = table;
  const taken = new Set(columns.map((column) => column.name).filter(isGraphqlName));
  const columnConfig = columns
    .filter((column) => !isGraphqlName(column.name))
    .map((column) => {
      const free = freeName(graphqlName(column.name, `column_${column.position}`), taken);
      taken.add(free);
      return [column.name, { custom_name: free }] as const;
    });
  const configuration = {
    ...(base === baseName(table) ? {} : { custom_name: base }),
    ...(columnConfig.length > 0 ? { column_config: Object.fromEntries(columnConfig) } : {}),
  };
  return {
    table: { schema, name },
    ...(isEnum ? { is_enum: true } : {}),
    ...(Object.keys(configuration).length > 0 ? { configuration } : {}),
  };
}

/** Returns a name that says what the table is, for a table whose name another one has taken. */
function longerName({ kind }: CatalogTable, name: string, taken: ReadonlySet<string>): string {
  const noun = kind.endsWith('view') ? 'view' : 'table';
  return freeName(spell([...wordsOf(name), noun], styleOf([name])), taken);
}
