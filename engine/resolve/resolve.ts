/** Resolves metadata against catalogs into a Model, in steps: sources, tables, names, native queries, enums, relationships, computed
 *  fields, permissions, inherited roles, event triggers, actions, remote schemas, remote relationships, REST endpoints, cron
 *  triggers. Each step receives only what the steps before it kept.
 *  Never fails: an object that does not fit becomes an Inconsistency and is left out, with everything that depends on it.
 *  Not here: the steps themselves (one file each). */
import type { Catalog } from '../catalog/types.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { InheritedRole } from '../metadata/schema/policy.ts';
import type { QueryTags, Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { finish, type Steps } from '../metadata/steps.ts';
import { resolveActions } from './action.ts';
import { withClusterWrites } from './cluster-writes.ts';
import type { TakenNames } from './conflicts.ts';
import { mapValues, type PartialSource, type ResolveContext } from './context.ts';
import { resolveCronTriggers } from './cron-trigger.ts';
import { resolveCustomTypes } from './custom-type.ts';
import { distributionsOf } from './distributions.ts';
import { VariableRules } from './environment-variables.ts';
import { eventTriggersOf } from './event-trigger.ts';
import { OPERATIONS } from './grant.ts';
import { Inconsistencies, openTelemetrySubject } from './inconsistency.ts';
import { inheritedRolesOf, withInheritedPermissions, withInheritedRoles } from './inherited-roles.ts';
import { Memo } from './memo.ts';
import type { Inconsistency, Unreached } from './model/inconsistency.ts';
import type { Model } from './model/model.ts';
import type { ResolveOptions, TypeDefinitions } from './model/options.ts';
import { trackNativeQueries } from './native-query.ts';
import { reactionsOf } from './reactions.ts';
import { joinSources, joinTypes } from './remote-relationship.ts';
import { resolveRemoteSchemas, type Upstreams } from './remote-schema.ts';
import { DEFAULT_BOUNDS, resolveRequestPolicies } from './request-policy.ts';
import { resolveEndpoints } from './rest-endpoint.ts';
import { Routes } from './routes.ts';
import { resolveScheduledEvents } from './scheduled-event.ts';
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
  withStrictWrites,
} from './source.ts';
import type { TypeDefinition } from './type-definition.ts';

export type { ResolveOptions };

export type Resolution = { readonly model: Model; readonly inconsistencies: readonly Inconsistency[] };

/** Resolves a document at once. */
export function resolve(...args: Parameters<typeof resolving>): Resolution {
  return finish(resolving(...args));
}

/** Resolves a document in steps. `catalogs` are by source name, `upstreams` by the name of the remote schema; `{error}` says why one is
 *  missing. With the `memo` of an earlier call, what has not changed since is not resolved again. */
export function* resolving(
  metadata: Metadata,
  catalogs: ReadonlyMap<string, Catalog | Unreached>,
  options: ResolveOptions,
  upstreams: Upstreams = new Map(),
  memo: Memo = new Memo(),
): Steps<Resolution> {
  const found = new Inconsistencies();
  const features = memo.of(featuresOf, options);
  const variables = memo.next(
    sameRules,
    options,
    new VariableRules(metadata, options.env, options.references),
  )!;
  const context: ResolveContext = { options, features, variables, memo, found };
  const roles = rolesOf(metadata, memo);
  const { sources, names, inheritedRoles } = yield* resolvingSources(metadata, catalogs, roles, context);
  const scope = { sources, catalogs: catalogs.values(), names, inheritedRoles };
  const customTypes = resolveCustomTypes(metadata.custom_types ?? {}, scope, found);
  const actions = resolveActions(metadata.actions ?? [], { ...scope, types: customTypes }, context);
  const { enableAllowlist = false, requestBounds = DEFAULT_BOUNDS } = options;
  const requestPolicies = resolveRequestPolicies(metadata, enableAllowlist, options);
  const own: Model = {
    sources,
    actions,
    customTypes,
    remoteSchemas: new Map(),
    ...NOTHING_SCHEDULED,
    typeNames: names.types,
    typeRelationships: new Map(),
    roles,
    features,
    requestPolicies,
    requestBounds,
    routes: new Routes(),
  };
  const definitionOf = definitionsIn(own, options);
  const remoteScope = { ...scope, upstreams, definitionOf };
  yield;
  const remoteSchemas = yield* resolveRemoteSchemas(metadata.remote_schemas ?? [], remoteScope, context);
  const joined = joinSources(sources, remoteSchemas, metadata.sources, found);
  const typeRelationships = joinTypes(metadata.remote_schemas ?? [], { sources, remoteSchemas }, found);
  const routes = resolveEndpoints(metadata, (inconsistency) => found.all.push(inconsistency));
  const scheduled = resolveScheduled(metadata, context);
  checkOpenTelemetry(metadata, context);
  const model: Model = { ...own, ...scheduled, sources: joined, remoteSchemas, typeRelationships, routes };
  return { model, inconsistencies: found.all };
}

type ResolvedSources = {
  readonly sources: Model['sources'];
  readonly names: TakenNames;
  readonly inheritedRoles: readonly InheritedRole[];
};

function* resolvingSources(
  metadata: Metadata,
  catalogs: ReadonlyMap<string, Catalog | Unreached>,
  roles: ReadonlySet<string>,
  context: ResolveContext,
): Steps<ResolvedSources> {
  const { memo, found } = context;
  const reached = reachedSources(metadata.sources, catalogs, context);
  const tracked = yield* mapped(reached, (source) => trackTables(source, context));
  const { names, sources: distinct } = yield* withDistinctNames(tracked, context);
  const typed: readonly PartialSource[] = distinct
    .map((source) => trackNativeQueries(source, names, context))
    .map((source) => withEnumColumns(source, context));
  yield;
  const related = yield* mapped(typed, (source) => withRelationships(source, context));
  const computed = related.map((source) => withComputedFields(source, names, context));
  yield;
  const valid = yield* mapped(computed, (source) => withPermissions(source, computed, context));
  const permitted = valid.map((source) => withClusterWrites(source, context));
  const inheritedRoles = inheritedRolesOf(metadata, roles, found);
  const inheriting = yield* mapped(permitted, (source) => {
    return withInheritedPermissions(source, inheritedRoles, found);
  });
  const triggerNames = new Set<string>();
  const resolvedSources = inheriting
    .map((source) => withStrictWrites(source, context))
    .map((source) => {
      const { name, naming, tables, nativeQueries } = source;
      const functions = mapValues(functionsOf(source, names, context), (fn) => {
        return { ...fn, roles: withInheritedRoles(fn.roles, inheritedRoles) };
      });
      const eventTriggers = eventTriggersOf(source, triggerNames, context);
      const reactions = reactionsOf(source.catalog, eventTriggers.values());
      const distributions = memo.of(distributionsOf, source.catalog);
      const resolved = {
        name,
        naming,
        tables,
        nativeQueries,
        functions,
        eventTriggers,
        reactions,
        distributions,
      };
      return [name, { ...resolved, queryTags: queryTagsOf(source.source) }] as const;
    });
  yield;
  return { sources: new Map(resolvedSources), names, inheritedRoles };
}

function* mapped<T, R>(items: readonly T[], steps: (item: T) => Steps<R>): Steps<R[]> {
  const results: R[] = [];
  for (const item of items) results.push(yield* steps(item));
  return results;
}

type Scheduled = Pick<Model, 'cronTriggers' | 'scheduledEvents'>;
const NOTHING_SCHEDULED: Scheduled = { cronTriggers: new Map(), scheduledEvents: new Map() };

function resolveScheduled(
  { cron_triggers = [], scheduled_events = [] }: Metadata,
  context: ResolveContext,
): Scheduled {
  return {
    cronTriggers: resolveCronTriggers(cron_triggers, context),
    scheduledEvents: resolveScheduledEvents(scheduled_events, context),
  };
}

function checkOpenTelemetry({ opentelemetry }: Metadata, { variables, found }: ResolveContext): void {
  const fault = variables.faultOf('opentelemetry', opentelemetry);
  if (opentelemetry && fault) found.add(openTelemetrySubject(opentelemetry), fault);
}

/** Returns a function that finds the definition of a type. The types are built when the first one is requested. */
function definitionsIn(model: Model, { typeDefinitions }: ResolveOptions) {
  let find: ReturnType<TypeDefinitions> | undefined;
  return (type: string): TypeDefinition | undefined => {
    find ??= typeDefinitions?.(model);
    return find?.(type);
  };
}

function featuresOf({ features }: ResolveOptions): ReadonlySet<string> {
  return new Set(features);
}

/** Returns the previous rules when they are equal, so that they are the same input for computations. */
function sameRules(_: ResolveOptions, rules: VariableRules, previous: VariableRules | undefined) {
  return previous?.identity === rules.identity ? previous : rules;
}

/** Returns every role that an object names. The role of an object that does not resolve exists too, with an empty schema. */
function rolesOf(metadata: Metadata, memo: Memo): ReadonlySet<string> {
  const roles = new Set([ADMIN_ROLE, ...(metadata.inherited_roles ?? []).map(({ role_name }) => role_name)]);
  for (const { permissions } of [...(metadata.actions ?? []), ...(metadata.remote_schemas ?? [])])
    for (const { role } of permissions ?? []) roles.add(role);
  for (const source of metadata.sources) {
    for (const model of source.logical_models ?? [])
      for (const { role } of model.select_permissions ?? []) roles.add(role);
    for (const fn of source.functions ?? []) for (const { role } of fn.permissions ?? []) roles.add(role);
    for (const table of source.tables) for (const role of memo.of(rolesOfTable, table)) roles.add(role);
  }
  return roles;
}

function rolesOfTable(table: Table): ReadonlySet<string> {
  return new Set(OPERATIONS.flatMap((kind) => (table[`${kind}_permissions`] ?? []).map(({ role }) => role)));
}

function queryTagsOf({ query_tags: tags }: Source): QueryTags | null {
  return tags && !tags.disabled ? tags : null;
}
