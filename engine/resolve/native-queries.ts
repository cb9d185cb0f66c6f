/** The native queries and logical models of one source, stage by stage with its tables: which there are, what they are related
 *  to, who may read them. What does not fit is left out with everything that needs it.
 *  Not here: one query (native-query.ts), one model (logical-model.ts), the order of the stages (resolve.ts). */
import type { Catalog } from '../catalog/types.ts';
import { fail } from '../errors/engine-error.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { NativeQuery } from '../metadata/schema/native-query.ts';
import type { Source } from '../metadata/schema/source.ts';
import { TakenNames } from './conflicts.ts';
import {
  Inconsistencies,
  logicalModelPermissionSubject,
  logicalModelSubject,
  nativeQuerySubject,
} from './inconsistency.ts';
import { type ResolvedLogicalModel, resolveLogicalModel, resolveModelPermission } from './logical-model.ts';
import { type Naming, namingOf } from './naming.ts';
import {
  asManual,
  hasRelationships,
  type NativeTable,
  nativeName,
  resolveNativeQuery,
  rowsOf,
  signatureOf,
} from './native-query.ts';
import { resolveRelationship, type Surroundings } from './relationship.ts';
import type { ResolvedRelationship, ResolvedTable, ResolveOptions, TableAccess } from './types.ts';

type Tables = ReadonlyMap<string, ResolvedTable>;
type Models = ReadonlyMap<string, ResolvedLogicalModel>;
type Place = { readonly source: Source; readonly naming: Naming; readonly catalog: Catalog };

/** Models by name, rows by qualifiedKey; both without relationships and permissions. */
export function trackNativeQueries(
  { source, naming, catalog }: Place,
  names: TakenNames,
  options: ResolveOptions,
  found: Inconsistencies,
): { readonly models: Models; readonly nativeQueries: ReadonlyMap<string, NativeTable> } {
  const declared = source.logical_models ?? [];
  const around = { catalog, options, models: new Set(declared.map(({ name }) => name)) };
  const models = new Map<string, ResolvedLogicalModel>();
  for (const definition of declared) {
    const subject = logicalModelSubject(source.name, definition);
    const model = found.attempt(subject, () => resolveLogicalModel(definition, around));
    if (model) models.set(model.name, model);
  }
  const nativeQueries = new Map<string, NativeTable>();
  for (const definition of source.native_queries ?? []) {
    const rows = found.attempt(nativeQuerySubject(source.name, definition), () => {
      const resolved = resolveNativeQuery({ source: source.name, naming, catalog }, definition, models);
      const reason = catalog.preparedQueries.get(signatureOf(resolved));
      if (reason) fail('nativeQueryInvalid', { reason });
      const conflict = names.addNativeQuery(resolved, definition.returns, hasRelationships(definition));
      if (conflict) throw conflict;
      return resolved;
    });
    if (rows) nativeQueries.set(qualifiedKey(rows.table), rows);
  }
  return { models, nativeQueries };
}

/** Those that make sense as far as the metadata says, for whoever asks the database about them. */
export function nativeQueriesOf(
  source: Source,
  catalog: Catalog,
  options: ResolveOptions,
): readonly NativeTable[] {
  const found = new Inconsistencies();
  const place = { source, catalog, naming: namingOf(source.customization, options.namingConvention) };
  return [
    ...trackNativeQueries(
      place,
      new TakenNames(new Set(options.features)),
      options,
      found,
    ).nativeQueries.values(),
  ];
}

/** The rows with their relationships. A query that cannot have one of its own goes, and so do those that lead to it. */
export function relateNativeQueries(
  at: Place & { readonly tables: Tables; readonly nativeQueries: Tables },
  found: Inconsistencies,
): Tables {
  const definitions = new Map(
    (at.source.native_queries ?? []).map((query) => [qualifiedKey(nativeName(query.root_field_name)), query]),
  );
  let left = at.nativeQueries;
  for (;;) {
    const around = { source: at.source.name, tables: at.tables, nativeQueries: left, catalog: at.catalog };
    const related = new Map<string, ResolvedTable>();
    for (const [key, rows] of left) {
      const definition = definitions.get(key)!;
      const whole = found.attempt(nativeQuerySubject(at.source.name, definition), () => {
        return { ...rows, relationships: relationshipsOf(definition, rows, around) };
      });
      if (whole) related.set(key, whole);
    }
    if (related.size === left.size) return related;
    left = new Map([...left].filter(([key]) => related.has(key)));
  }
}

function relationshipsOf(
  definition: NativeQuery,
  rows: ResolvedTable,
  around: Surroundings,
): ReadonlyMap<string, ResolvedRelationship> {
  const relationships = new Map<string, ResolvedRelationship>();
  for (const kind of ['object', 'array'] as const) {
    for (const relationship of definition[`${kind}_relationships`] ?? []) {
      const { name } = relationship;
      if (relationships.has(name))
        fail('fieldConflict', { table: rows.table.name, with: `relationship "${name}"` });
      relationships.set(name, resolveRelationship(kind, asManual(relationship), rows, around));
    }
  }
  return relationships;
}

/** By model, then by role. */
export function modelPermissions(
  at: Place & { readonly tables: Tables; readonly models: Models; readonly prefix: string | undefined },
  found: Inconsistencies,
): ReadonlyMap<string, ReadonlyMap<string, TableAccess>> {
  const { name: source, logical_models: definitions = [] } = at.source;
  return new Map(
    definitions.map(({ name, select_permissions: permissions = [] }) => {
      const model = at.models.get(name);
      const accesses = permissions.flatMap((permission): [string, TableAccess][] => {
        if (!model) return [];
        const subject = logicalModelPermissionSubject(source, name, permission);
        const select = found.attempt(subject, () =>
          resolveModelPermission(permission.permission, model, {
            table: rowsOf({ source, naming: at.naming }, model),
            tables: at.tables,
            prefix: at.prefix,
          }),
        );
        return select ? [[permission.role, { select, insert: null, update: null, delete: null }]] : [];
      });
      return [name, new Map(accesses)];
    }),
  );
}
