/** The remote relationships of all tables and remote schemas, once every source and remote schema is known. Each that does not
 *  fit is an inconsistency alone. Not here: one of them (remote-relationship.ts). */

import { fail } from '../errors/engine-error.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import {
  type Inconsistencies,
  remoteRelationshipSubject,
  remoteTypeRelationshipSubject,
} from './inconsistency.ts';
import {
  type RemoteSurroundings,
  resolveRemoteRelationship,
  resolveTypeRelationship,
} from './remote-relationship.ts';
import type {
  ResolvedRemoteRelationship,
  ResolvedRemoteSchema,
  ResolvedSource,
  ResolvedTable,
  TypeRelationships,
} from './types.ts';

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
  around: RemoteSurroundings,
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

/** Those that start in a remote schema. */
export function joinTypes(
  definitions: readonly RemoteSchema[],
  around: RemoteSurroundings,
  found: Inconsistencies,
): TypeRelationships {
  const joined = new Map<string, Map<string, Map<string, ResolvedRemoteRelationship>>>();
  for (const { name: schema, remote_relationships: types = [] } of definitions) {
    const remote = around.remoteSchemas.get(schema);
    if (!remote || types.length === 0) continue;
    const byType = new Map<string, Map<string, ResolvedRemoteRelationship>>();
    joined.set(schema, byType);
    for (const { type_name: type, relationships } of types) {
      const own = byType.get(type) ?? new Map<string, ResolvedRemoteRelationship>();
      byType.set(type, own);
      for (const definition of relationships) {
        const { name } = definition;
        const resolved = found.attempt(remoteTypeRelationshipSubject(schema, type, definition), () => {
          if (own.has(name)) fail('remoteTypeRelationshipExists', { type, name });
          return resolveTypeRelationship(definition, remote, type, around);
        });
        if (resolved) own.set(name, resolved);
      }
    }
  }
  return joined;
}
