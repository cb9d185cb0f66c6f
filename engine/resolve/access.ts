/** Look-ups in a model: the access of a role to a table, its part of a remote schema, and the table that a relationship leads to.
 *  The administrator has no permissions in the metadata; everything the database allows is open to it.
 *  Not here: how permissions resolve (permission.ts). */
import { fail } from '../errors/engine-error.ts';
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { Cells, SelectAccess, TableAccess } from './model/access.ts';
import type { ResolvedColumn } from './model/column.ts';
import type { Model } from './model/model.ts';
import type { ResolvedRemoteSchema } from './model/remote-schema.ts';
import type { ResolvedTable } from './model/table.ts';
import { TRUE } from './predicate.ts';
import { ADMIN_ROLE } from './session.ts';
import type { UpstreamSchema } from './upstream.ts';

/** The access of a role without permissions. */
export const NO_ACCESS: TableAccess = { select: null, insert: null, update: null, delete: null };

/** Every cell of a granted column is visible. */
export const ALL_CELLS: Cells = { columns: new Map(), computedFields: new Map() };

/** Returns what `role` may do with `table`. It is never more than the database can do: a read-only view has no insert part. */
export function accessOf(table: ResolvedTable, role: string): TableAccess {
  return role === ADMIN_ROLE ? table.adminAccess : (table.permissions.get(role) ?? NO_ACCESS);
}

/** Returns what a role may read of a table. Raises `selectNotPermitted`; `needs` names the operation that reads. */
export function readAccess(table: ResolvedTable, role: string, needs?: string): SelectAccess {
  const access = accessOf(table, role).select;
  return access ?? fail('selectNotPermitted', { name: table.table.name, role, ...(needs ? { needs } : {}) });
}

/** The ways to read rows of a table that do not start at a row of another table, as `query_root_fields` names them. `node` and
 *  `_entities` count as reading by key, `count` of the admin API and groups as aggregating. */
export type RootRead = 'select' | 'select_by_pk' | 'select_aggregate' | 'select_stream';

/** True when a role with this access may read rows of the table in this way. GraphQL, Relay, federation and the admin API all use
 *  this check. */
export function mayReadAtRoot(
  access: SelectAccess | null,
  way: RootRead,
  operation: 'query' | 'subscription' = 'query',
): boolean {
  if (access === null || (way === 'select_aggregate' && !access.allowsAggregation)) return false;
  const shown = operation === 'query' ? access.queryRootFields : access.subscriptionRootFields;
  return shown === null || shown.has(way);
}

/** Returns the access of a role that reads at the root through the admin API. Raises `selectNotPermitted` or
 *  `rootReadNotPermitted`; `needs` names the operation that reads. */
export function rootAccess(table: ResolvedTable, role: string, way: RootRead, needs?: string): SelectAccess {
  const access = readAccess(table, role, needs);
  if (mayReadAtRoot(access, way)) return access;
  const { name } = table.table;
  const isHidden = access.queryRootFields !== null && !access.queryRootFields.has(way);
  return fail('rootReadNotPermitted', { name, role, way, isHidden });
}

/** Returns the part of a remote schema that a role sees; null when it sees none of it. */
export function remoteSchemaFor(remote: ResolvedRemoteSchema, role: string): UpstreamSchema | null {
  if (role === ADMIN_ROLE || remote.permissions === null) return remote.schema;
  return remote.permissions.get(role) ?? null;
}

/** Returns the table, or the rows of a native query, that a join leads to. It always exists: a relationship to a table that is not
 *  in the model does not resolve. */
export function targetOf(model: Model, source: string, table: QualifiedName): ResolvedTable {
  const { tables, nativeQueries } = model.sources.get(source) ?? {};
  const target = tables?.get(qualifiedKey(table)) ?? nativeQueries?.get(qualifiedKey(table));
  if (!target) throw new Error(`no table ${qualifiedKey(table)} in the model of source ${source}`);
  return target;
}

/** Returns everything the database allows with a table: the access of the administrator. */
export function adminAccess(
  columns: readonly ResolvedColumn[],
  allowed: Pick<ResolvedTable, 'isInsertable' | 'isUpdatable' | 'isDeletable'> & {
    readonly allowsAggregation: boolean;
  },
): TableAccess {
  const writable = columns.filter((column) => column.isWritable);
  const updatable = writable.filter((column) => !column.isFixed);
  const namesOf = (some: readonly ResolvedColumn[]) => new Set(some.map(({ name }) => name));
  const [presets, backendOnly] = [new Map(), false];
  return {
    select: {
      columns: namesOf(columns),
      computedFields: null,
      cells: ALL_CELLS,
      filter: TRUE,
      limit: null,
      allowsAggregation: allowed.allowsAggregation,
      queryRootFields: null,
      subscriptionRootFields: null,
    },
    insert: allowed.isInsertable ? { columns: namesOf(writable), check: TRUE, presets, backendOnly } : null,
    update: allowed.isUpdatable
      ? { columns: namesOf(updatable), filter: TRUE, check: TRUE, presets, backendOnly }
      : null,
    delete: allowed.isDeletable ? { filter: TRUE, backendOnly } : null,
  };
}
