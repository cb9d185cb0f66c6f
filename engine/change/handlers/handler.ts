/** The type of a handler, and what handlers share: they find the object an operation names, or refuse the operation, and edit it.
 *  A handler is one operation as a pure function from document to document: no database, no clock. Facts that only a database knows
 *  (does the column exist, is there a foreign key) are checked afterwards by resolve.
 *  Not here: the list of operations (metadata/operations.ts), calling handlers (admin/perform.ts). */

import { fail } from '../../errors/engine-error.ts';
import type { Links } from '../../metadata/dependencies.ts';
import { putObject } from '../../metadata/edit.ts';
import { findObject, type ObjectKind, objectKey } from '../../metadata/objects.ts';
import type { ArgsOf, EditOperation } from '../../metadata/operations.ts';
import { printQualified, type QualifiedName } from '../../metadata/schema/common.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import { foreignKindOf, type Source, unservedText } from '../../metadata/schema/source.ts';
import type { Table } from '../../metadata/schema/table.ts';

/** A handler: the operation as a function from document to document. `links` returns the tables that only a database knows, such as the
 *  target of a relationship over a foreign key; without it such objects have no target. Paths of errors are relative to the arguments. */
export type Handler<N extends EditOperation> = (draft: Metadata, args: ArgsOf<N>, links?: Links) => Metadata;

/** Arguments that name a tracked table. */
export type TableArgs = { readonly source: string; readonly table: QualifiedName };

/** Returns the source, which may be of a kind that the engine cannot serve. Raises `sourceNotFound`. */
export function requireAnySource(draft: Metadata, name: string): Source {
  return draft.sources.find((source) => source.name === name) ?? fail('sourceNotFound', { source: name });
}

/** Raises `sourceNotFound`, `notSupported`. */
export function requireSource(draft: Metadata, name: string): Source {
  const source = requireAnySource(draft, name);
  const kind = foreignKindOf(source);
  return kind === undefined ? source : fail('notSupported', { text: unservedText(kind) });
}

/** Raises `sourceNotFound`, `tableNotInSource`. */
export function requireTable(
  draft: Metadata,
  { source, table }: TableArgs,
  missing: 'tableNotInSource' | 'tableOfComputedFieldNotExists' = 'tableNotInSource',
): Table {
  const tracked = requireSource(draft, source).tables.find((entry) => isSameTable(entry.table, table));
  return tracked ?? fail(missing, { table: printQualified(table), source });
}

export function isSameTable(a: QualifiedName, b: QualifiedName): boolean {
  return a.name === b.name && a.schema === b.schema;
}

export function tableKey({ source, table }: TableArgs): string {
  return objectKey('table', source, table.schema, table.name);
}

/** Returns the key of an object of a table. */
export function keyIn(kind: ObjectKind, { source, table }: TableArgs, name: string): string {
  return objectKey(kind, source, table.schema, table.name, name);
}

/** Adds an object to a table or replaces the one with its key. */
export function putIn(
  draft: Metadata,
  kind: ObjectKind,
  args: TableArgs,
  { name, definition }: { readonly name: string; readonly definition: object },
): Metadata {
  const key = keyIn(kind, args, name);
  return putObject(draft, { key, kind, parent: tableKey(args), definition });
}

/** Changes keys of an object's own definition; keys that become undefined are removed. The object must exist. */
export function editObject(
  draft: Metadata,
  key: string,
  changes: Readonly<Record<string, unknown>>,
): Metadata {
  const object = findObject(draft, key);
  if (!object) throw new Error(`no object has the key ${key}`);
  const edited = { ...(object.definition as object), ...changes };
  const definition = Object.fromEntries(Object.entries(edited).filter(([, value]) => value !== undefined));
  return putObject(draft, { ...object, definition });
}
