/** Operations on remote schemas that need the service or its introspection: add, reload, introspect, and add a permission. Errors are
 *  raised as such, before they would be inconsistencies.
 *  Not here: the other operations (change/handlers/remote-schemas.ts). Spec: "Remote schema operations";
 *  docs/reference/behaviour/remote-schemas.md, docs/reference/behaviour/metadata-api.md. */
import { requireRemoteSchema } from '../change/handlers/remote-schemas.ts';
import { fail } from '../errors/engine-error.ts';
import { putObject } from '../metadata/edit.ts';
import { findObject, objectKey } from '../metadata/objects.ts';
import type { QualifiedName } from '../metadata/schema/common.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import { remoteFieldsIn } from '../resolve/conflicts.ts';
import { readPermission } from '../resolve/remote-permission.ts';
import { resolveRemoteSchema, type Upstream } from '../resolve/remote-schema.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import type { Performer } from './request.ts';
import { SUCCESS } from './request.ts';

/** Adds a remote schema. Raises `remoteSchemaExists`, and the reason if the schema cannot be used. */
export const addRemoteSchema: Performer<'add_remote_schema'> = async (
  work,
  { comment, ...args },
  request,
) => {
  const { name } = args;
  if (findObject(work.document, objectKey('remote_schema', name))) fail('remoteSchemaExists', { name });
  const remote: RemoteSchema = { ...args, ...(typeof comment === 'string' ? { comment } : {}) };
  resolveRemoteSchema(remote, await work.introspectRemote(remote));
  const others = work.document.remote_schemas ?? [];
  work.edit(request.path, { ...work.document, remote_schemas: [...others, remote] });
  return SUCCESS;
};

/** Introspects a remote schema again. Raises `remoteSchemaNotExists`, and the reason if it cannot be used; its previous schema then
 *  stays in use. */
export const reloadRemoteSchema: Performer<'reload_remote_schema'> = async (work, { name }) => {
  const remote = remoteSchemaIn(work, name);
  resolveRemoteSchema(remote, await work.introspectRemote(remote));
  work.touchesCatalog = true;
  return SUCCESS;
};

/** Returns the introspection as the service answered it. Raises `remoteSchemaNotExists`, and the reason if there is none. */
export const introspectRemoteSchema: Performer<'introspect_remote_schema'> = (work, { name }) => {
  remoteSchemaIn(work, name);
  const { introspection } = answered(work.upstreams.get(name));
  return () => ({ data: introspection });
};

/** Raises `remoteSchemaPermissionsOff`, `remoteSchemaNotExists`, `remoteSchemaPermissionExists`,
 *  `remoteSchemaPermissionOfAdmin`, `remoteSchemaPermissionInvalid`. */
export const addRemoteSchemaPermission: Performer<'add_remote_schema_permissions'> = async (
  work,
  { remote_schema: name, comment, ...args },
  request,
) => {
  if (!work.gateway.enableRemoteSchemaPermissions) fail('remoteSchemaPermissionsOff', {});
  const parent = requireRemoteSchema(work.document, name);
  const key = objectKey('remote_schema_permission', name, args.role);
  if (args.role === ADMIN_ROLE) fail('remoteSchemaPermissionOfAdmin', {});
  if (findObject(work.document, key)) fail('remoteSchemaPermissionExists', { name, role: args.role });
  await work.ensureCatalogs();
  readPermission(
    args.definition.schema,
    answered(work.upstreams.get(name)).schema,
    work.gateway.headerPrefix,
  );
  const definition = { ...args, ...(typeof comment === 'string' ? { comment } : {}) };
  const permission = { key, kind: 'remote_schema_permission', parent, definition } as const;
  work.edit(request.path, putObject(work.document, permission));
  return SUCCESS;
};

/** Raises `remoteNodeExists` when a remote schema already has a root field of queries with the table's own name. Other fields that
 *  the two have in common make the remote schema inconsistent. */
export async function refuseRemoteNode(
  work: UnitOfWork,
  { schema, name: table }: QualifiedName,
): Promise<void> {
  const { remote_schemas: remotes = [] } = work.metadata;
  if (remotes.length === 0) return;
  const name = schema === 'public' ? table : `${schema}_${table}`;
  const isBase = remotes === work.base.metadata.remote_schemas;
  const { remoteSchemas } = isBase ? work.base.model : (await work.resolution()).model;
  for (const remote of remoteSchemas.values()) {
    if (remoteFieldsIn(remote, 'query_root').includes(name)) fail('remoteNodeExists', { name });
  }
}

function remoteSchemaIn(work: UnitOfWork, name: string): RemoteSchema {
  const remote = work.metadata.remote_schemas?.find((each) => each.name === name);
  return remote ?? fail('remoteSchemaNotExists', { name });
}

function answered(upstream: Upstream | undefined): Exclude<Upstream, { error: unknown }> {
  if (!upstream) throw new Error('a remote schema was not introspected');
  if ('error' in upstream) throw upstream.error;
  return upstream;
}
