/** Compares the schema that each role has at two endpoints, by introspection. In: two endpoints, the roles of a document. Out: one report per role.
 *  Not here: the comparison of two schemas (engine/schema/schema-changes.ts). */
import {
  buildClientSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  type IntrospectionQuery,
} from 'graphql';
import { isRecord, type JsonRecord } from '../../engine/json/value.ts';
import { PLACEHOLDER_FIELD } from '../../engine/schema/build.ts';
import { changesBetween } from '../../engine/schema/schema-changes.ts';
import type { EngineAddress } from '../../operator/engine/address.ts';
import { displayUrl } from '../../operator/engine/problem.ts';
import { requestGraphql } from './graphql-request.ts';
import { type GivenObject, givenObjects } from './objects.ts';
import type { RoleReport } from './report.ts';

/** Returns the roles that a document has permissions for, in alphabetical order, and the administrator. */
function rolesOf(objects: readonly GivenObject[]): readonly string[] {
  const roles = objects.flatMap(({ kind, value }) => {
    if (kind === 'inherited_role') return [String(value['role_name'])];
    return kind.endsWith('_permission') ? [String(value['role'])] : [];
  });
  return [...new Set(['admin', ...roles.toSorted()])];
}

/** Returns the roles that have permissions for trusted backends only. */
function backendRoles(objects: readonly GivenObject[]): ReadonlySet<string> {
  const found = objects.filter(
    ({ value: { permission } }) => isRecord(permission) && permission['backend_only'] === true,
  );
  return new Set(found.map(({ value }) => String(value['role'])));
}

function rolesWithoutIntrospection({ graphql_schema_introspection: rule }: JsonRecord): ReadonlySet<unknown> {
  const roles = isRecord(rule) ? rule['disabled_for_roles'] : [];
  return new Set(Array.isArray(roles) ? roles : []);
}

/** Compares one role after another, because a schema may have megabytes. Throws EngineProblem when an endpoint does not answer. */
export async function compareSchemas(
  from: EngineAddress,
  to: EngineAddress,
  document: JsonRecord,
): Promise<readonly RoleReport[]> {
  const objects = givenObjects(document);
  const ofBackend = backendRoles(objects);
  const closed = rolesWithoutIntrospection(document);
  const reports: RoleReport[] = [];
  for (const role of rolesOf(objects)) {
    if (closed.has(role)) {
      const reason = 'the metadata disable introspection for the role';
      reports.push({ role, verdict: 'skipped', reason, changes: [] });
      continue;
    }
    const ways = ofBackend.has(role) ? [false, true] : [false];
    reports.push(await compareRole(from, to, role, ways));
  }
  return reports;
}

async function compareRole(
  from: EngineAddress,
  to: EngineAddress,
  role: string,
  ways: readonly boolean[],
): Promise<RoleReport> {
  const changes = new Map<string, RoleReport['changes'][number]>();
  for (const isBackend of ways) {
    const [before, after] = [await schemaOf(from, role, isBackend), await schemaOf(to, role, isBackend)];
    const reason = [before, after].find((one) => typeof one === 'string');
    if (typeof before === 'string' || typeof after === 'string') {
      return { role, verdict: 'unknown', changes: [], ...(reason ? { reason: reason as string } : {}) };
    }
    for (const { severity, type, description } of changesBetween(before, after)) {
      if (isVisible(description)) changes.set(description, { severity, type, description });
    }
  }
  const all = [...changes.values()];
  const hurts = all.some(({ severity }) => severity !== 'safe');
  return { role, verdict: hurts ? 'differs' : 'same', changes: all };
}

/** The directives that GraphQL has for SDL. No request uses them, and servers list them or not. */
const OF_SDL = /^Directive @(deprecated|specifiedBy|oneOf) /;

/** False for changes that no client sees: directives of SDL, and the only field of a schema without queries. */
function isVisible(description: string): boolean {
  return !OF_SDL.test(description) && !description.includes(PLACEHOLDER_FIELD);
}

/** Returns the schema of a role, or why there is none. */
async function schemaOf(
  address: EngineAddress,
  role: string,
  isBackend: boolean,
): Promise<GraphQLSchema | string> {
  const query = getIntrospectionQuery({ descriptions: false });
  const session = isBackend ? { 'use-backend-only-permissions': 'true' } : {};
  const { body } = await requestGraphql(address, { query, role, session });
  const { data, errors } = body as { readonly data?: JsonRecord; readonly errors?: unknown };
  if (!isRecord(data) || !isRecord(data['__schema'])) return `${displayUrl(address)}: ${messageOf(errors)}`;
  try {
    return buildClientSchema(data as unknown as IntrospectionQuery, { assumeValid: true });
  } catch (error) {
    return `${displayUrl(address)}: ${(error as Error).message}`;
  }
}

function messageOf(errors: unknown): string {
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  return isRecord(first) ? String(first['message']) : 'it did not answer the introspection';
}
