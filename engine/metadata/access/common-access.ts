/** Changes of objects that concern every role: the database of a source or the service of a remote schema is another one, and a function without
 *  permissions runs in another way.
 *  In: the key of a changed object, the objects before and after. Out: a change without a role, or null. Pure.
 *  Not here: permissions (access-change.ts). Which roles may call a function without permissions is known to the model (change/request-effects.ts). */
import { isRecord, isSameJson, type JsonRecord } from '../../json/value.ts';
import { type ObjectKind, parseKey } from '../objects.ts';
import { type AccessChange, together } from './access-change.ts';
import type { Objects } from './inherited-access.ts';
import { functionParts } from './used-objects.ts';

/** Returns what the change of an object means for every role; null when nothing. */
export function commonChange(key: string, before: Objects, after: Objects): AccessChange | null {
  const identity = parseKey(key);
  const [old, next] = [before, after].map((objects) => objects.get(key)?.definition);
  if (!identity || !isRecord(old) || !isRecord(next)) return null;
  if (identity.kind === 'function') return openFunctionChange(key, before, after);
  const addressOf = ADDRESSES[identity.kind];
  if (!addressOf || isSameJson(addressOf(old), addressOf(next))) return null;
  // The address may be a secret, so it has no words.
  const part = { name: 'address', verdict: 'other', before: null, after: 'another' } as const;
  return {
    ...{ key, role: null, on: identity.segments[0]!, operation: 'connect' },
    ...{ change: 'changed', verdict: 'other', parts: [part] },
  };
}

/** How the definition of an object says where its data are. */
const ADDRESSES: Partial<Record<ObjectKind, (definition: JsonRecord) => unknown>> = {
  source: ({ configuration }) => databasesOf(isRecord(configuration) ? configuration : {}),
  remote_schema: ({ definition }) => {
    const { url, url_from_env, url_from_value, url_from_file } = isRecord(definition) ? definition : {};
    return [url, url_from_env, url_from_value, url_from_file].map((value) => value ?? null);
  },
};

function databasesOf(configuration: JsonRecord): unknown {
  const {
    connection_info: main,
    read_replicas: replicas,
    connection_set: members,
    connection_template: template,
  } = configuration;
  return {
    main: databaseOf(main),
    replicas: listOf(replicas).map(databaseOf),
    members: listOf(members).map((member) => {
      return isRecord(member) ? [member['name'], databaseOf(member['connection_info'])] : member;
    }),
    template: template ?? null,
  };
}

/** Returns where a connection leads and as whom. A password alone is no other database. */
function databaseOf(connection: unknown): unknown {
  const url = isRecord(connection) ? connection['database_url'] : undefined;
  if (typeof url === 'string') return url.replace(/^(\w+:\/\/[^:@/]*):[^@/]*@/, '$1@');
  const parameters = isRecord(url) ? url['connection_parameters'] : undefined;
  if (!isRecord(parameters)) return url ?? null;
  const { password: _, ...others } = parameters;
  return others;
}

/** Returns the change of a function that has no permissions before and after. One that is exposed as a mutation needs permissions. */
function openFunctionChange(key: string, before: Objects, after: Objects): AccessChange | null {
  const { segments } = parseKey(key)!;
  const [old, next] = [before, after].map((objects) => objects.get(key)!.definition as JsonRecord) as [
    JsonRecord,
    JsonRecord,
  ];
  const parts = functionParts(key, old, next);
  if (parts.length === 0 || (isMutation(old) && isMutation(next))) return null;
  const permissions = key.replace('function/', 'function_permission/');
  const hasPermission = (objects: Objects) =>
    [...objects.keys()].some((other) => other.startsWith(`${permissions}/`));
  if (hasPermission(before) || hasPermission(after)) return null;
  const on = segments.slice(1).join('.');
  return { key, role: null, on, operation: 'call', change: 'changed', verdict: together(parts), parts };
}

function isMutation({ configuration }: JsonRecord): boolean {
  return isRecord(configuration) && configuration['exposed_as'] === 'mutation';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
