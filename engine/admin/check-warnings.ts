/** Warnings about checks of permissions that depend on rows which their own statement writes: Postgres evaluates a check on the rows as
 *  they were before the statement. In: two documents with their models. Out: one warning for each new check.
 *  Reference: docs/reference/behaviour/permissions.md, "Checks that read other rows". */
import { objectKey } from '../metadata/objects.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import { rowsReadBy } from '../resolve/rows-read.ts';
import type { Catalogs } from '../state/snapshot.ts';
import type { Warning } from '../state/warning.ts';

type Declared = { readonly metadata: Metadata; readonly model: Model; readonly catalogs: Catalogs };

export function checkWarnings(before: Declared, after: Declared): readonly Warning[] {
  if (before.metadata === after.metadata) return [];
  const warnings = warningsIn(after);
  if (warnings.length === 0) return [];
  const known = new Set(warningsIn(before).map(({ name }) => name));
  return warnings.filter(({ name }) => !known.has(name));
}

function warningsIn({ metadata, model, catalogs }: Declared): readonly Warning[] {
  return metadata.sources.flatMap(({ name: source, tables }) => {
    const catalog = catalogs.get(source);
    const isView = (key: string) =>
      catalog !== undefined && !('error' in catalog) && /view/.test(catalog.tables.get(key)?.kind ?? '');
    return tables.flatMap(({ table, insert_permissions = [], update_permissions = [] }) => {
      const resolved = model.sources.get(source)?.tables.get(qualifiedKey(table));
      if (!resolved) return [];
      const warningOf = (operation: 'insert' | 'update', role: string): readonly Warning[] => {
        const problem = problemOf(resolved, operation, role, isView);
        const type = `${operation}_permission` as const;
        const name = objectKey(type, source, table.schema, table.name, role);
        const what = `the check of the ${operation} permission of role ${role} on table ${printQualified(table)}`;
        return problem ? [{ code: 'check-of-other-rows', message: `${what} ${problem}`, type, name }] : [];
      };
      return [
        ...insert_permissions.flatMap(({ role }) => warningOf('insert', role)),
        ...update_permissions.flatMap(({ role }) => warningOf('update', role)),
      ];
    });
  });
}

/** Returns what the check does not do; undefined when it reads no rows that its statement writes. */
function problemOf(
  { table, relationships, permissions }: ResolvedTable,
  operation: 'insert' | 'update',
  role: string,
  isView: (key: string) => boolean,
): string | undefined {
  const access = permissions.get(role)?.[operation];
  const read = access ? rowsReadBy(access.check) : [];
  const later = [...relationships.values()].find(
    ({ insertion, join }) => insertion === 'after' && read.some((rows) => rows.join === join),
  );
  if (operation === 'insert' && later) {
    return `reads the rows of "${later.name}", which can only be inserted after the row that it is about`;
  }
  const own = qualifiedKey(table);
  const found = read
    .map((rows) => rows.table)
    .find((each) => {
      const key = qualifiedKey(each);
      return key === own || isView(key);
    });
  if (!found) return undefined;
  const rows = `reads rows of ${printQualified(found)} as they were before the statement`;
  return `${rows}: rows that the same statement writes do not count`;
}
