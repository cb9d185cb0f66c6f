/** The remote relationships of all tables, once every source and remote schema is known. Each that does not fit is an
 *  inconsistency alone. Not here: one of them (remote-relationship.ts). */

import { fail } from '../errors/engine-error.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { type Inconsistencies, remoteRelationshipSubject } from './inconsistency.ts';
import { resolveRemoteRelationship } from './remote-relationship.ts';
import type { ResolvedRemoteRelationship } from './remote-types.ts';
import type { ResolvedRemoteSchema, ResolvedSource, ResolvedTable } from './types.ts';

type Sources = ReadonlyMap<string, ResolvedSource>;

/** The sources, whose tables have their remote relationships. */
export function joinSources(
  sources: Sources,
  remoteSchemas: ReadonlyMap<string, ResolvedRemoteSchema>,
  definitions: readonly Source[],
  found: Inconsistencies,
): Sources {
  const around = { sources, remoteSchemas };
  const joined = new Map(sources);
  for (const { name, tables: listed } of definitions) {
    const source = joined.get(name);
    const related = listed.filter(({ remote_relationships: all = [] }) => all.length > 0);
    if (!source || related.length === 0) continue;
    const tables = new Map(source.tables);
    for (const definition of related) {
      const key = qualifiedKey(definition.table);
      const table = tables.get(key);
      if (!table) continue;
      tables.set(key, { ...table, remoteRelationships: relationshipsOf(definition, table, around, found) });
    }
    joined.set(name, { ...source, tables });
  }
  return joined;
}

function relationshipsOf(
  { remote_relationships: definitions = [] }: Table,
  table: ResolvedTable,
  around: Parameters<typeof resolveRemoteRelationship>[2],
  found: Inconsistencies,
): ReadonlyMap<string, ResolvedRemoteRelationship> {
  const relationships = new Map<string, ResolvedRemoteRelationship>();
  for (const definition of definitions) {
    const { name } = definition;
    const resolved = found.attempt(remoteRelationshipSubject(table.source, table.table, definition), () => {
      if (!relationships.has(name)) return resolveRemoteRelationship(definition, table, around);
      const other = `remote relationship "${name}"`;
      return fail('fieldConflict', { table: printQualified(table.table), with: other });
    });
    if (resolved) relationships.set(name, resolved);
  }
  return relationships;
}
