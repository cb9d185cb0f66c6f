/** Operations on tracked tables: track, untrack, names, enums. Spec: "track_table" to "untrack_table".
 *  Not here: does the table exist in the database (resolve/). */
import { fail } from '../../errors/engine-error.ts';
import { foreignDependentsOf, type Links, removeObjects } from '../../metadata/dependencies.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { normalMetadata } from '../../metadata/normal-form.ts';
import { parentKeyOf } from '../../metadata/objects.ts';
import { own } from '../../metadata/own.ts';
import { printQualified } from '../../metadata/schema/common.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Table } from '../../metadata/schema/table.ts';
import { printDependents } from '../dependents.ts';
import type { Handler } from './handler.ts';
import { editObject, isSameTable, requireSource, requireTable, type TableArgs, tableKey } from './handler.ts';

type Tracked = TableArgs & Pick<Table, 'configuration' | 'is_enum' | 'apollo_federation_config'>;

/** Raises `alreadyTracked`. */
export const trackTable: Handler<'track_table'> = (draft, args) => track(draft, args);

/** Raises `alreadyUntracked`, `cannotDropDependents`. */
export const untrackTable: Handler<'untrack_table'> = (draft, args, links) => untrack(draft, args, links);

export const setTableCustomization: Handler<'set_table_customization'> = (draft, args) => {
  requireTable(draft, args);
  return editObject(draft, tableKey(args), { configuration: args.configuration });
};

/** Replaces custom root fields and column names. Keeps the table's own custom name and other settings of columns, which this older
 *  operation does not know. */
export const setTableCustomFields: Handler<'set_table_custom_fields'> = (draft, args) => {
  const { configuration = {} } = requireTable(normalMetadata(draft), args);
  const { custom_root_fields, custom_column_names = {} } = args;
  const { custom_root_fields: _, column_config: columns = {}, ...kept } = configuration;
  const column_config = renamed(columns, custom_column_names);
  const next = {
    ...kept,
    ...(custom_root_fields ? { custom_root_fields } : {}),
    ...(Object.keys(column_config).length > 0 ? { column_config } : {}),
  };
  return editObject(draft, tableKey(args), {
    configuration: Object.keys(next).length > 0 ? next : undefined,
  });
};

/** Sets the federation of a table. Without a configuration the table is not federated. */
export const setFederation: Handler<'set_apollo_federation_config'> = (draft, args) => {
  requireTable(draft, args);
  return editObject(draft, tableKey(args), {
    apollo_federation_config: args.apollo_federation_config ?? undefined,
  });
};

export const setTableIsEnum: Handler<'set_table_is_enum'> = (draft, args) => {
  requireTable(draft, args);
  return editObject(draft, tableKey(args), { is_enum: args.is_enum ? true : undefined });
};

function track(draft: Metadata, args: Tracked): Metadata {
  const { source, table, configuration, is_enum, apollo_federation_config } = args;
  const { tables, functions } = requireSource(draft, source);
  if (tables.some((entry) => isSameTable(entry.table, table))) {
    fail('alreadyTracked', { table: printQualified(table) });
  }
  if (functions?.some((entry) => isSameTable(entry.function, table))) {
    fail('notSupported', { text: `function with name "${printQualified(table)}" already exists` });
  }
  const definition = {
    table,
    ...(is_enum ? { is_enum } : {}),
    ...(configuration ? { configuration } : {}),
    ...(apollo_federation_config ? { apollo_federation_config } : {}),
  };
  return putObject(draft, { key: tableKey(args), kind: 'table', parent: null, definition });
}

/** Untracks a table and removes everything that belongs to it. Objects that refer to it refuse the operation, or are removed with
 *  `cascade`, or when they belong to an object that is leaving as well. */
export function untrack(
  draft: Metadata,
  args: TableArgs & { readonly cascade?: boolean },
  links?: Links,
  leaving: ReadonlySet<string> = new Set(),
): Metadata {
  const { tables } = requireSource(draft, args.source);
  if (!tables.some((entry) => isSameTable(entry.table, args.table))) {
    fail('alreadyUntracked', { table: printQualified(args.table) });
  }
  const key = tableKey(args);
  const foreign = foreignDependentsOf(draft, key, links);
  const kept = foreign.filter((other) => !leaving.has(other) && !leaving.has(parentKeyOf(other) ?? ''));
  if (kept.length > 0 && !args.cascade) {
    fail('cannotDropDependents', { dependents: printDependents(kept) });
  }
  return removeObject(removeObjects(draft, foreign), key);
}

type Columns = NonNullable<NonNullable<Table['configuration']>['column_config']>;

/** Returns the columns with these custom names and no others. Other settings of columns are kept. */
function renamed(columns: Columns, names: Readonly<Record<string, string>>): Columns {
  const all = [...new Set([...Object.keys(columns), ...Object.keys(names)])];
  const config = all.map((column) => {
    const { comment, nullable } = own(columns, column) ?? {};
    const said = { custom_name: own(names, column), comment: comment ?? undefined, nullable };
    return [column, Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined))];
  });
  return Object.fromEntries(config.filter(([, said]) => Object.keys(said as object).length > 0));
}
