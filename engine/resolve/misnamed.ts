/** Errors about names that do not exist, with the names that exist where each was looked up. The nearest of them are printed for
 *  administrators (state/inconsistencies.ts); the texts are the specification's. */
import { fail, type PathStep } from '../errors/engine-error.ts';
import { printQualified, type QualifiedName } from '../metadata/schema/common.ts';
import type { Lookup } from './memo.ts';
import type { ResolvedTable } from './model/table.ts';

/** Raises `columnNotExists`. */
export function noColumn(
  name: string,
  { columnByName }: Pick<ResolvedTable, 'columnByName'>,
  path: readonly PathStep[] = [],
): never {
  return fail('columnNotExists', { name }, { path, misnamed: { name, known: () => columnByName.keys() } });
}

/** Raises `tableNotTracked`. */
export function noTable(table: QualifiedName, tables: Tables, path: readonly PathStep[] = []): never {
  const name = printQualified(table);
  return fail('tableNotTracked', { table: name }, { path, misnamed: { name, known: namesOf(tables) } });
}

type Tables = Lookup<{ readonly table: QualifiedName }>;

/** Returns a function that lists the names of tables as messages print them. */
export function namesOf(tables: Tables): () => Iterable<string> {
  return () => [...(tables.values?.() ?? [])].map(({ table }) => printQualified(table));
}
