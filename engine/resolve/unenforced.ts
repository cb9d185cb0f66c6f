/** Declarations without effect: restrictions that the engine does not enforce, because an option is off, or because they name the
 *  administrator, whom nothing restricts; and stored documents that no client can run. The engine keeps such objects, because documents of
 *  the reference engine have them, and reports them: a warning in the response, a line in the log, a resource that is not Ready.
 *  In: Metadata × ResolveOptions. Out: one entry per object. Pure, total. Not here: restrictions that are inconsistent while an
 *  option is off (remote-schema.ts), objects that cannot work (without-effect.ts), names that GraphQL reserves (reserved-names.ts), who receives the report (admin/). */
import { parse } from 'graphql';
import { objectKey } from '../metadata/objects.ts';
import type { AllowListScope, QueryCollection } from '../metadata/schema/collection.ts';
import { printQualified } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { ApiLimits } from '../metadata/schema/policy.ts';
import type { Table } from '../metadata/schema/table.ts';
import { OPERATIONS } from './grant.ts';
import { Memo } from './memo.ts';
import type { Unenforced } from './model/inconsistency.ts';
import type { ResolveOptions } from './model/options.ts';
import { reservedNamesIn } from './reserved-names.ts';
import { ADMIN_ROLE } from './session.ts';
import { withoutEffectIn } from './without-effect.ts';

const ALLOW_LIST_OFF =
  'the allow list is declared, not enforced: start the engine with --enable-allowlist, or remove the entry';
const REMOTE_PERMISSIONS_OFF =
  'declared, not enforced: every role has access to all of the remote schema; start the engine with ' +
  '--enable-remote-schema-permissions, or remove the permission';
const OF_ADMINISTRATOR =
  `declared, not enforced: nothing restricts the role ${ADMIN_ROLE}; ` +
  'use another role, or remove the declaration';
const HAS_ANYWAY =
  `has no effect, because the role ${ADMIN_ROLE} has every permission: ` +
  'use another role, or remove the permission';

/** One row per restriction that can be declared without effect. */
const ROWS: readonly ((metadata: Metadata, options: ResolveOptions, memo: Memo) => readonly Unenforced[])[] =
  [
    ({ allowlist = [] }, { enableAllowlist = false }) =>
      allowlist
        .filter(({ scope }) => !enableAllowlist || isOnlyForAdministrator(scope))
        .map(({ collection }) => ({
          key: objectKey('allowlist', collection),
          type: 'allowlist',
          name: `allowlist ${collection}`,
          reason: enableAllowlist ? OF_ADMINISTRATOR : ALLOW_LIST_OFF,
        })),
    ({ sources }, _, memo) =>
      sources.flatMap(({ name, tables }) =>
        tables.flatMap((table) => memo.of(permissionsOfAdministrator, table, name)),
      ),
    ({ sources }) =>
      sources.flatMap(({ name, logical_models = [] }) =>
        logical_models.flatMap(({ name: model, select_permissions = [] }) =>
          ofAdministrator(select_permissions).map(() => ({
            key: objectKey('logical_model_permission', name, model, ADMIN_ROLE),
            type: 'logical_model_permission',
            name: `permission ${ADMIN_ROLE} of logical model ${model} in source ${name}`,
            reason: OF_ADMINISTRATOR,
          })),
        ),
      ),
    ({ remote_schemas = [] }, { enableRemoteSchemaPermissions = true, opensRemoteSchemas = false }) =>
      remote_schemas.flatMap(({ name, permissions = [] }) =>
        permissions
          .filter(({ role }) => role === ADMIN_ROLE || (opensRemoteSchemas && !enableRemoteSchemaPermissions))
          .map(({ role }) => ({
            key: objectKey('remote_schema_permission', name, role),
            type: 'remote_schema_permission',
            name: `remote_schema_permission ${role} in remote schema ${name}`,
            reason: role === ADMIN_ROLE ? OF_ADMINISTRATOR : REMOTE_PERMISSIONS_OFF,
          })),
      ),
    ({ sources }) =>
      sources.flatMap(({ name: source, functions = [] }) =>
        functions.flatMap(({ function: { schema, name }, permissions = [] }) =>
          ofAdministrator(permissions).map(() => ({
            key: objectKey('function_permission', source, schema, name, ADMIN_ROLE),
            type: 'function_permission',
            name: `function_permission ${ADMIN_ROLE} of function ${printQualified({ schema, name })} in source ${source}`,
            reason: HAS_ANYWAY,
          })),
        ),
      ),
    ({ actions = [] }) =>
      actions.flatMap(({ name, permissions = [] }) =>
        ofAdministrator(permissions).map(() => ({
          key: objectKey('action_permission', name, ADMIN_ROLE),
          type: 'action_permission',
          name: `action_permission ${ADMIN_ROLE} of action ${name}`,
          reason: HAS_ANYWAY,
        })),
      ),
    ({ inherited_roles = [] }) =>
      inherited_roles
        .filter(({ role_name }) => role_name === ADMIN_ROLE)
        .map(() => ({
          key: objectKey('inherited_role', ADMIN_ROLE),
          type: 'inherited_role',
          name: `inherited role ${ADMIN_ROLE}`,
          reason: OF_ADMINISTRATOR,
        })),
    ({ query_collections = [] }, _, memo) =>
      query_collections.flatMap((collection) => memo.of(unreadableDocuments, collection)),
    ({ graphql_schema_introspection }) =>
      graphql_schema_introspection?.disabled_for_roles.includes(ADMIN_ROLE)
        ? [single('introspection', `graphql_schema_introspection for the role ${ADMIN_ROLE}`)]
        : [],
    ({ api_limits }) =>
      api_limits && limitsAdministrator(api_limits)
        ? [single('api_limits', `api_limits for the role ${ADMIN_ROLE}`)]
        : [],
    withoutEffectIn,
    (metadata, _, memo) => reservedNamesIn(metadata, memo),
  ];

export function unenforcedIn(
  metadata: Metadata,
  options: ResolveOptions,
  memo: Memo = new Memo(),
): readonly Unenforced[] {
  return ROWS.flatMap((find) => find(metadata, options, memo));
}

function ofAdministrator<P extends { readonly role: string }>(permissions: readonly P[]): readonly P[] {
  return permissions.filter(({ role }) => role === ADMIN_ROLE);
}

function isOnlyForAdministrator(scope: AllowListScope | undefined): boolean {
  return scope?.global === false && scope.roles.every((role) => role === ADMIN_ROLE);
}

function limitsAdministrator({ disabled: _, ...limits }: ApiLimits): boolean {
  return Object.values(limits).some((limit) => Object.hasOwn(limit?.per_role ?? {}, ADMIN_ROLE));
}

/** Returns the entry of a collection with documents that are not GraphQL. */
function unreadableDocuments({ name, definition }: QueryCollection): readonly Unenforced[] {
  const problems = definition.queries.flatMap((stored) => {
    const problem = syntaxProblem(stored.query);
    return problem === undefined ? [] : [`the query ${stored.name} is not GraphQL (${problem})`];
  });
  if (problems.length === 0) return [];
  const reason = `${problems.join('; ')}: no client can run it; correct or remove it`;
  return [
    {
      key: objectKey('query_collection', name),
      type: 'query_collection',
      name: `query_collection ${name}`,
      reason,
    },
  ];
}

function syntaxProblem(text: string): string | undefined {
  try {
    parse(text, { noLocation: true, maxTokens: MOST_TOKENS });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

/** The limit of a document of a request. */
const MOST_TOKENS = 100_000;

function single(kind: 'introspection' | 'api_limits', name: string): Unenforced {
  return { key: objectKey(kind), type: kind, name, reason: OF_ADMINISTRATOR };
}

function permissionsOfAdministrator(table: Table, source: string): readonly Unenforced[] {
  const { schema, name } = table.table;
  return OPERATIONS.flatMap((kind) => {
    const type = `${kind}_permission` as const;
    return ofAdministrator<{ readonly role: string }>(table[`${type}s`] ?? []).map(() => ({
      key: objectKey(type, source, schema, name, ADMIN_ROLE),
      type,
      name: `${type} ${ADMIN_ROLE} in table ${printQualified(table.table)} in source ${source}`,
      reason: OF_ADMINISTRATOR,
    }));
  });
}
