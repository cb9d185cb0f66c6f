/** Metadata + catalogs → Model, in stages: sources, tables, names, native queries, relationships, permissions, roles, event
 *  triggers, actions, remote schemas, remote relationships, REST endpoints,
 *  cron triggers. Each stage sees only what the one before it kept.
 *  Never fails: what does not fit becomes an Inconsistency and is left out of the model, with everything that hangs on it. */
import type { Catalog } from '../catalog/types.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { QueryTags, Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { resolveActions } from './action.ts';
import { resolveCronTriggers } from './cron-trigger.ts';
import { resolveCustomTypes } from './custom-type.ts';
import { eventTriggersOf } from './event-trigger.ts';
import { heirsOf, withInherited } from './heirs.ts';
import { Inconsistencies, openTelemetrySubject } from './inconsistency.ts';
import { mapValues } from './map-values.ts';
import { trackNativeQueries } from './native-queries.ts';
import { joinSources, joinTypes } from './remote-relationships.ts';
import { resolveRemoteSchemas, type Upstreams } from './remote-schema.ts';
import { resolveRequestPolicies } from './request-policy.ts';
import { resolveEndpoints } from './rest-endpoint.ts';
import { withHeirs } from './role.ts';
import { ADMIN_ROLE } from './session.ts';
import {
  functionsOf,
  reachedSources,
  trackTables,
  withComputedFields,
  withDistinctNames,
  withEnumColumns,
  withPermissions,
  withRelationships,
} from './stages.ts';
import { withStrictWrites } from './strict-writes.ts';
import type { Inconsistency, Model, ResolveOptions, Unreached } from './types.ts';
import { VariableRules } from './variables.ts';

export type { ResolveOptions };

export type Resolution = { readonly model: Model; readonly inconsistencies: readonly Inconsistency[] };

/** `catalogs` by source name, `upstreams` by that of the remote schema; `{error}` says why one could not be asked. */
export function resolve(
  metadata: Metadata,
  catalogs: ReadonlyMap<string, Catalog | Unreached>,
  options: ResolveOptions,
  upstreams: Upstreams = new Map(),
): Resolution {
  const found = new Inconsistencies();
  const features = new Set(options.features);
  const roles = rolesOf(metadata);
  const variables = new VariableRules(metadata, options.env);
  const reached = reachedSources(metadata.sources, catalogs, options, found);
  const tracked = reached.map((source) => trackTables(source, options, found));
  const { names, sources: distinct } = withDistinctNames(tracked, options, found);
  const queried = distinct.map((source) => {
    return { ...source, ...trackNativeQueries(source, names, options, found) };
  });
  const typed = queried.map((source) => withEnumColumns(source, found));
  const related = typed.map((source) => withRelationships(source, found));
  const computed = related.map((source) => withComputedFields(source, names, options, found));
  const permitted = computed.map((source) =>
    withPermissions(source, { variables, prefix: options.headerPrefix }, found),
  );
  const heirs = heirsOf(metadata, roles, found);
  const inherited = permitted.map((source) => withStrictWrites(withInherited(source, heirs, found), options));
  const triggerNames = new Set<string>();
  const sources = inherited.map((source) => {
    const { name, naming, tables, nativeQueries } = source;
    const functions = mapValues(functionsOf(source, names, options, found), (fn) => {
      return { ...fn, roles: withHeirs(fn.roles, heirs) };
    });
    const eventTriggers = eventTriggersOf(source, triggerNames, variables, found);
    const hasTriggers = source.catalog.hasTriggers || eventTriggers.size > 0;
    const resolved = { name, naming, tables, nativeQueries, functions, eventTriggers, hasTriggers };
    return [name, { ...resolved, queryTags: queryTagsOf(source.source) }] as const;
  });
  const around = { sources: new Map(sources), catalogs: catalogs.values(), names };
  const types = resolveCustomTypes(metadata.custom_types ?? {}, around, found);
  const actions = resolveActions(metadata.actions ?? [], { types, names, heirs, variables }, found);
  const remoteSchemas = resolveRemoteSchemas(
    metadata.remote_schemas ?? [],
    { upstreams, names, heirs, options, variables },
    found,
  );
  const joined = joinSources(around.sources, remoteSchemas, metadata.sources, found);
  const typeRelationships = joinTypes(
    metadata.remote_schemas ?? [],
    { sources: around.sources, remoteSchemas },
    found,
  );
  const { enforcesAllowList = false, defaultTimeLimitMs = null } = options;
  const requestPolicies = resolveRequestPolicies(metadata, enforcesAllowList, defaultTimeLimitMs);
  const routes = resolveEndpoints(metadata, (inconsistency) => found.all.push(inconsistency));
  const cronTriggers = resolveCronTriggers(metadata.cron_triggers ?? [], variables, found);
  const { opentelemetry } = metadata;
  const fault = variables.faultOf('opentelemetry', opentelemetry);
  if (opentelemetry && fault) found.add(openTelemetrySubject(opentelemetry), fault);
  const objects = {
    sources: joined,
    actions,
    customTypes: types,
    remoteSchemas,
    typeRelationships,
    cronTriggers,
  };
  return {
    model: { ...objects, typeNames: names.types, roles, features, requestPolicies, routes },
    inconsistencies: found.all,
  };
}

/** Also of objects that do not resolve: such a role exists, with an empty schema. */
function rolesOf(metadata: Metadata): ReadonlySet<string> {
  const roles = new Set([ADMIN_ROLE, ...(metadata.inherited_roles ?? []).map(({ role_name }) => role_name)]);
  for (const { permissions } of [...(metadata.actions ?? []), ...(metadata.remote_schemas ?? [])])
    for (const { role } of permissions ?? []) roles.add(role);
  for (const source of metadata.sources) {
    for (const model of source.logical_models ?? [])
      for (const { role } of model.select_permissions ?? []) roles.add(role);
    for (const fn of source.functions ?? []) for (const { role } of fn.permissions ?? []) roles.add(role);
    for (const table of source.tables) for (const role of rolesOfTable(table)) roles.add(role);
  }
  return roles;
}

/** Remembered, as there are thousands. */
function rolesOfTable(table: Table): readonly string[] {
  const known = rolesBefore.get(table);
  if (known) return known;
  const kinds = ['select', 'insert', 'update', 'delete'] as const;
  const roles = kinds.flatMap((kind) => (table[`${kind}_permissions`] ?? []).map(({ role }) => role));
  rolesBefore.set(table, [...new Set(roles)]);
  return roles;
}

const rolesBefore = new WeakMap<Table, readonly string[]>();

function queryTagsOf({ query_tags: tags }: Source): QueryTags | null {
  return tags && !tags.disabled ? tags : null;
}
