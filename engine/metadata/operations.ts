/** OPERATIONS: every operation of the admin API, one row each: its names, versions, arguments and effect.
 *  The rows are in operations/, one file for each group.
 *  Rows are in the order of docs/reference/operations.md. Types of arguments, validators, the map of handlers and the operator's
 *  client are derived from it. `/v1/query` accepts the key of a row and, when it concerns a source, the newer name with `pg_`;
 *  `/v1/metadata` accepts the newer name.
 *  Not here: performing an operation (admin/). Spec: "Operation list"; newer ones: docs/reference/behaviour/metadata-api.md. */

import { ACTION_OPERATIONS } from './operations/actions.ts';
import { ACTIVITY_OPERATIONS } from './operations/activity.ts';
import { BATCH_OPERATIONS } from './operations/batches.ts';
import { COLLECTION_OPERATIONS, REST_ENDPOINT_OPERATIONS } from './operations/collections.ts';
import { DOCUMENT_OPERATIONS } from './operations/document.ts';
import { EVENT_TRIGGER_OPERATIONS, WEBHOOK_OPERATIONS } from './operations/event-triggers.ts';
import { FUNCTION_OPERATIONS } from './operations/functions.ts';
import { NATIVE_QUERY_OPERATIONS } from './operations/native-queries.ts';
import { PERMISSION_OPERATIONS, ROLE_OPERATIONS } from './operations/permissions.ts';
import { RELATIONSHIP_OPERATIONS } from './operations/relationships.ts';
import { REMOTE_SCHEMA_OPERATIONS } from './operations/remote-schemas.ts';
import type { Endpoint, OperationDeclaration } from './operations/row.ts';
import { ROW_OPERATIONS } from './operations/rows.ts';
import { SCHEDULED_EVENT_OPERATIONS } from './operations/scheduled-events.ts';
import { SETTING_OPERATIONS } from './operations/settings.ts';
import { SOURCE_OPERATIONS } from './operations/sources.ts';
import { SQL_OPERATIONS } from './operations/sql.ts';
import { TABLE_OPERATIONS } from './operations/tables.ts';
import { VALUE_OPERATIONS } from './operations/values.ts';
import { SOURCE_KINDS, type SourceKind } from './schema/source.ts';
import type { Static } from './schema/type.ts';

/** Every operation, in the order of docs/reference/operations.md. */
export const OPERATIONS = {
  ...BATCH_OPERATIONS,
  ...SQL_OPERATIONS,
  ...SOURCE_OPERATIONS,
  ...TABLE_OPERATIONS,
  ...RELATIONSHIP_OPERATIONS,
  ...PERMISSION_OPERATIONS,
  ...FUNCTION_OPERATIONS,
  ...NATIVE_QUERY_OPERATIONS,
  ...COLLECTION_OPERATIONS,
  ...REST_ENDPOINT_OPERATIONS,
  ...ACTION_OPERATIONS,
  ...EVENT_TRIGGER_OPERATIONS,
  ...SCHEDULED_EVENT_OPERATIONS,
  ...ACTIVITY_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...SETTING_OPERATIONS,
  ...ROLE_OPERATIONS,
  ...REMOTE_SCHEMA_OPERATIONS,
  ...ROW_OPERATIONS,
  ...DOCUMENT_OPERATIONS,
  ...VALUE_OPERATIONS,
} as const satisfies Record<string, OperationDeclaration>;

export type OperationName = keyof typeof OPERATIONS;

export type ArgsOf<N extends OperationName> = Static<(typeof OPERATIONS)[N]['args']>;

/** The operations that edit the document. */
export type EditOperation = {
  [N in OperationName]: (typeof OPERATIONS)[N]['effect'] extends 'edit' ? N : never;
}[OperationName];

/** The edits of several objects, each of which may fail without the others. */
export type ListOperation = 'track_tables' | 'untrack_tables' | 'track_functions' | 'untrack_functions';

/** The row of an operation of a request. */
export type OperationRow = OperationDeclaration & { readonly name: OperationName; readonly version: number };

/** Returns the newer name: `pg_track_table` for `track_table`, `bulk` for `bulk`. */
export function newerName(name: OperationName): string {
  return OPERATIONS[name].isPrefixed ? `pg_${name}` : name;
}

/** Returns the names of an operation on an endpoint; none when the endpoint does not offer it. */
export function namesAt(name: OperationName, endpoint: Endpoint): readonly string[] {
  const { endpoints, aliases = [] }: OperationDeclaration = OPERATIONS[name];
  if (!endpoints.includes(endpoint)) return [];
  if (endpoint === '/v1/metadata') return [newerName(name)];
  return [...new Set([name, newerName(name), ...aliases])];
}

export function findOperation(type: string, version: number, endpoint: Endpoint): OperationRow | undefined {
  const name = BY_NAME[endpoint].get(type);
  if (!name) return undefined;
  const declaration: OperationDeclaration = OPERATIONS[name];
  return declaration.versions.includes(version) ? { ...declaration, name, version } : undefined;
}

export const OPERATION_NAMES = Object.keys(OPERATIONS) as readonly OperationName[];

const PREFIX = /^(pg|citus|cockroach|alloy)_/;

const BY_NAME = {
  '/v1/query': namesOf('/v1/query'),
  '/v1/metadata': namesOf('/v1/metadata'),
  '/v2/query': namesOf('/v2/query'),
} as const satisfies Record<Endpoint, ReadonlyMap<string, OperationName>>;

function namesOf(endpoint: Endpoint): ReadonlyMap<string, OperationName> {
  const all = (name: OperationName) => namesAt(name, endpoint).flatMap(namesByKind);
  return new Map(OPERATION_NAMES.flatMap((name) => all(name).map((known) => [known, name])));
}

/** Returns the names of an operation on sources of each kind: `pg_track_table`, `citus_track_table`. */
function namesByKind(name: string): readonly string[] {
  if (!name.startsWith('pg_')) return [name];
  return Object.values(SOURCE_KINDS).map(({ prefix }) => name.replace(PREFIX, `${prefix}_`));
}

/** Returns the kind of source that the name of an operation says, if it says one. */
export function kindOfOperation(type: string): SourceKind | undefined {
  const prefix = PREFIX.exec(type)?.[1];
  return (Object.keys(SOURCE_KINDS) as SourceKind[]).find((kind) => SOURCE_KINDS[kind].prefix === prefix);
}
