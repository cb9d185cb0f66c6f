/** Remote schemas of the metadata × the introspection of their services → ResolvedRemoteSchema, with our names and the part that
 *  each role sees. A remote schema that does not fit or cannot be introspected is inconsistent, and nothing else is affected. A
 *  role whose part no longer fits sees nothing of the remote schema.
 *  Not here: asking (remote/request.ts), names that are taken (conflicts.ts). Reference: docs/reference/behaviour/remote-schemas.md. */

import { type EngineError, fail } from '../errors/engine-error.ts';
import { isRecord } from '../json/value.ts';
import { siblingReferences } from '../metadata/references.ts';
import { timerSeconds } from '../metadata/schema/number.ts';
import type { InheritedRole } from '../metadata/schema/policy.ts';
import type {
  RemoteSchema,
  RemoteSchemaDefinition,
  RemoteSchemaPermission,
} from '../metadata/schema/remote-schema.ts';
import type { Steps } from '../metadata/steps.ts';
import type { TakenNames } from './conflicts.ts';
import type { ResolveContext } from './context.ts';
import {
  type Inconsistencies,
  inheritedConflict,
  remoteSchemaPermissionSubject,
  remoteSchemaSubject,
} from './inconsistency.ts';
import type { ResolveOptions } from './model/options.ts';
import type { RemoteEndpoint, ResolvedRemoteSchema } from './model/remote-schema.ts';
import { canBeUrl } from './outbound-url.ts';
import { remoteNames } from './remote-names.ts';
import { readPermission } from './remote-permission.ts';
import { ADMIN_ROLE } from './session.ts';
import type { TypeDefinition } from './type-definition.ts';
import type { UpstreamSchema } from './upstream.ts';

/** The introspection of a service, as received and as parsed, or the reason why there is none. */
export type Upstream =
  | {
      readonly introspection: unknown;
      readonly schema: UpstreamSchema;
      /** Present when the service has not answered since its definition changed: the schema is the earlier one. */
      readonly late?: EngineError;
      readonly awaits?: object;
    }
  | { readonly error: EngineError; readonly awaits?: object };

/** The introspections, by name of the remote schema. */
export type Upstreams = ReadonlyMap<string, Upstream>;

type RemoteSchemaScope = {
  readonly upstreams: Upstreams;
  readonly names: TakenNames;
  readonly inheritedRoles: readonly InheritedRole[];
  /** Finds the definition of a type of the engine. */
  readonly definitionOf: (type: string) => TypeDefinition | undefined;
};

/** Each remote schema, and the part of each role, is a step. */
export function* resolveRemoteSchemas(
  definitions: readonly RemoteSchema[],
  { upstreams, names, inheritedRoles, definitionOf }: RemoteSchemaScope,
  { options, variables, found }: ResolveContext,
): Steps<ReadonlyMap<string, ResolvedRemoteSchema>> {
  const resolved = new Map<string, ResolvedRemoteSchema>();
  for (const definition of definitions) {
    yield;
    const { name, permissions = [] } = definition;
    const subject = remoteSchemaSubject(definition);
    const upstream = upstreams.get(name);
    if (upstream && 'late' in upstream && upstream.late) found.add(subject, upstream.late);
    const remote = found.attempt(subject, () => {
      variables.require('remote_schema', definition);
      return resolveRemoteSchema(definition, upstream, options);
    });
    if (!remote) continue;
    yield;
    const { reasons, rivals } = names.addRemoteSchema(remote, definitionOf);
    if (reasons.length > 0) {
      found.addConflict(subject, reasons.join(', '), rivals);
      continue;
    }
    if (options.enableRemoteSchemaPermissions === false) {
      const isOpen = options.opensRemoteSchemas === true;
      resolved.set(name, isOpen ? remote : unenforced(remote, permissions, found));
      continue;
    }
    const own = yield* permissionsOf(remote, permissions, options.headerPrefix, found);
    const parts = withInherited(own, permissions, inheritedRoles, name, found);
    resolved.set(name, { ...remote, permissions: parts });
  }
  return resolved;
}

/** Resolves a remote schema without its permissions. Raises the error of its introspection, or of a customization that does not fit. */
export function resolveRemoteSchema(
  { name, definition }: RemoteSchema,
  upstream: Upstream | undefined,
  options: Pick<ResolveOptions, 'remoteSchemaPrioritizeData' | 'remoteSchemaSkipNulls'> = {},
): ResolvedRemoteSchema {
  const endpoint = endpointOf(definition);
  if (!upstream) return fail('remoteSchemaUnreachable', { url: endpoint.url });
  if ('error' in upstream) throw upstream.error;
  const { schema } = upstream;
  return {
    name,
    endpoint,
    names: remoteNames(schema, definition.customization),
    schema,
    permissions: null,
    prioritizesData: options.remoteSchemaPrioritizeData ?? false,
    skipsNulls: options.remoteSchemaSkipNulls ?? false,
  };
}

/** Returns where requests are sent. Raises `remoteSchemaInvalid` unless there is exactly one URL, which can be one of HTTP. */
export function endpointOf(definition: RemoteSchemaDefinition): RemoteEndpoint {
  const { url, headers = [] } = definition;
  const references = siblingReferences(definition, 'url');
  if (references.length + (url === undefined ? 0 : 1) !== 1) {
    fail('remoteSchemaInvalid', { text: 'exactly one of "url" and "url_from_env" has to be there' });
  }
  if (url !== undefined && !canBeUrl(url)) {
    fail('remoteSchemaInvalid', { text: `"${url}" is no URL that begins with http:// or https://` });
  }
  return {
    url: url ?? `{{${references[0]}}}`,
    headers,
    forwardsClientHeaders: definition.forward_client_headers ?? false,
    timeoutSeconds: timerSeconds(definition.timeout_seconds || DEFAULT_TIMEOUT_SECONDS),
  };
}

const DEFAULT_TIMEOUT_SECONDS = 60;

/** Returns the remote schema while permissions are off. Every role sees a remote schema without permissions. One with permissions is
 *  visible to administrators only and its permissions are inconsistent, so no role sees more than they would allow. */
function unenforced(
  remote: ResolvedRemoteSchema,
  permissions: readonly RemoteSchemaPermission[],
  found: Inconsistencies,
): ResolvedRemoteSchema {
  if (permissions.length === 0) return remote;
  for (const permission of permissions) {
    const subject = remoteSchemaPermissionSubject(remote.name, permission);
    found.attempt(subject, () => fail('remoteSchemaPermissionsOff', {}));
  }
  return { ...remote, permissions: new Map() };
}

type Parts = ReadonlyMap<string, UpstreamSchema>;

function* permissionsOf(
  remote: ResolvedRemoteSchema,
  permissions: readonly RemoteSchemaPermission[],
  prefix: string | undefined,
  found: Inconsistencies,
): Steps<Parts> {
  const parts = new Map<string, UpstreamSchema>();
  for (const permission of permissions) {
    yield;
    if (permission.role === ADMIN_ROLE) continue;
    const subject = remoteSchemaPermissionSubject(remote.name, permission);
    const part = found.attempt(subject, () =>
      readPermission(permission.definition.schema, remote.schema, prefix),
    );
    if (part) parts.set(permission.role, part);
  }
  return parts;
}

/** Adds the parts of inherited roles: a role inherits the part of its parents when all parents that have a part have an equal one. */
function withInherited(
  own: Parts,
  permissions: readonly RemoteSchemaPermission[],
  inheritedRoles: readonly InheritedRole[],
  remote_schema: string,
  found: Inconsistencies,
): Parts {
  const parts = new Map(own);
  const unclear = new Set<string>();
  for (const { role_name: role, role_set: parents } of inheritedRoles) {
    if (permissions.some((permission) => permission.role === role)) continue;
    const lent = parents.flatMap((parent) => parts.get(parent) ?? []);
    const [first, ...others] = lent;
    const text = first && others.length > 0 ? canonical(first) : undefined;
    if (parents.some((parent) => unclear.has(parent)) || others.some((other) => canonical(other) !== text)) {
      unclear.add(role);
      found.all.push(inheritedConflict(role, { remote_schema }));
    } else if (first) parts.set(role, first);
  }
  return parts;
}

/** Returns a text that is equal for parts that differ only in order and descriptions. */
function canonical({ types, roots }: UpstreamSchema): string {
  const write = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map((item) => JSON.stringify(write(item))).sort();
    if (!isRecord(value)) return value;
    const members = Object.entries(value).filter(([key]) => key !== 'description');
    return members
      .map(([key, inner]) => [key, JSON.stringify(key === 'preset' ? inner : write(inner))])
      .sort();
  };
  return JSON.stringify([write([...types.values()]), write(roots)]);
}
