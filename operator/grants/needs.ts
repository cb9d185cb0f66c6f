/** Metadata objects → what a namespace must have been granted to own them: kinds, a source, tables, roles, hosts, variables.
 *  Pure. Not here: the grants and whether they cover it (grants.ts). */
import {
  isRecord,
  type MetadataObject,
  type ObjectKind,
  parseKey,
  referencesOf,
  variablesOf,
} from '@pergola/engine/metadata';
import { IdentityCache } from '../identity-cache.ts';

/** The needs of one object. Each value must match a pattern of the grant; `ALL` matches only the pattern `*`. */
export type Needs = {
  /** Kinds of resources besides that of the resource itself: an object that concerns the whole engine needs its kind. */
  readonly kinds: readonly string[];
  readonly sources: readonly string[];
  /** Tables and functions it is about, as `schema.name`. */
  readonly tables: readonly string[];
  /** Tables it refers to in relationships and conditions. */
  readonly references: readonly string[];
  /** Names of objects outside of sources: actions, types, remote schemas, cron triggers, endpoints, collections. */
  readonly names: readonly string[];
  readonly roles: readonly string[];
  /** Hosts the engine calls for it. */
  readonly webhookHosts: readonly string[];
  /** Environment variables of the engine it names. */
  readonly variables: readonly string[];
};

export const DIMENSIONS = [
  'kinds',
  'sources',
  'tables',
  'references',
  'names',
  'roles',
  'webhookHosts',
  'variables',
] as const satisfies readonly (keyof Needs)[];
export type Dimension = (typeof DIMENSIONS)[number];

/** A need that only the pattern `*` covers. */
export const ALL = '*';

type Row = {
  /** The kind that must be granted, where the object concerns the whole engine. */
  readonly kind?: string;
  /** The first segment of the key is a name everybody shares. */
  readonly isNamed?: true;
  /** Absent: the object is in no source. */
  readonly tables?: (segments: readonly string[], definition: Fields) => readonly string[];
  readonly roles?: (segments: readonly string[], definition: Fields) => readonly string[];
  /** Addresses the engine calls. */
  readonly urls?: (definition: Fields) => readonly unknown[];
  /** The address a transform puts in the place of the webhook. */
  readonly transformed?: (definition: Fields) => unknown;
  readonly hasReferences?: true;
};

type Fields = Readonly<Record<string, unknown>>;

const ownTable: Row['tables'] = ([, schema = '', name = '']) => [qualified(schema, name)];
const wholeSource: Row['tables'] = () => [ALL];
const lastSegment: Row['roles'] = (segments) => [segments.at(-1) ?? ''];
const everyRole: Row['roles'] = () => [ALL];

const PERMISSION: Row = {
  tables: ownTable,
  roles: lastSegment,
  urls: (d) => [at(d, 'permission', 'validate_input', 'definition', 'url')],
  hasReferences: true,
};

const WEBHOOK: Row = {
  urls: (d) => [d['webhook']],
  transformed: (d) => at(d, 'request_transform', 'url'),
};

/** The needs of an object, by its kind. */
const ROWS: Readonly<Record<ObjectKind, Row>> = {
  source: { kind: 'Source', tables: wholeSource },
  table: { tables: ownTable },
  object_relationship: { tables: ownTable, hasReferences: true },
  array_relationship: { tables: ownTable, hasReferences: true },
  computed_field: {
    tables: (segments, d) => [...ownTable(segments, d), functionOf(at(d, 'definition', 'function'))],
  },
  remote_relationship: { tables: ownTable },
  insert_permission: PERMISSION,
  select_permission: PERMISSION,
  update_permission: PERMISSION,
  delete_permission: PERMISSION,
  event_trigger: { tables: ownTable, ...WEBHOOK },
  function: { tables: ownTable },
  function_permission: { tables: ownTable, roles: lastSegment },
  logical_model: { tables: wholeSource },
  logical_model_permission: { tables: wholeSource, roles: lastSegment },
  // Its SQL reads whatever the connection may read.
  native_query: { tables: wholeSource },
  remote_schema: { isNamed: true, urls: (d) => [at(d, 'definition', 'url')] },
  remote_schema_permission: { isNamed: true, roles: lastSegment },
  remote_schema_relationship: { isNamed: true },
  query_collection: { isNamed: true },
  allowlist: { isNamed: true, roles: (_, d) => listedRoles(at(d, 'scope')) },
  custom_type: { isNamed: true },
  action: {
    isNamed: true,
    urls: (d) => [at(d, 'definition', 'handler')],
    transformed: (d) => at(d, 'definition', 'request_transform', 'url'),
  },
  action_permission: { isNamed: true, roles: lastSegment },
  cron_trigger: { isNamed: true, ...WEBHOOK },
  rest_endpoint: { isNamed: true },
  inherited_role: { kind: 'InheritedRole', roles: ([name = ''], d) => [name, ...texts(d['role_set'])] },
  api_limits: { kind: 'ApiLimits', roles: everyRole },
  introspection: { kind: 'EngineSettings', roles: everyRole },
  tls: { kind: 'EngineSettings', roles: everyRole },
  metrics_config: { kind: 'EngineSettings', roles: everyRole },
  opentelemetry: {
    kind: 'EngineSettings',
    roles: everyRole,
    urls: (d) =>
      Object.entries((d['exporter_otlp'] ?? {}) as Fields)
        .filter(([key]) => key.endsWith('_endpoint'))
        .map(([, url]) => url),
  },
  backend_configs: { kind: 'MetadataBundle', roles: everyRole },
};

const needs = new IdentityCache<MetadataObject, Needs>();
const variables = new IdentityCache<MetadataObject, readonly string[]>();

/** Shared by all needs without a value: there are tens of thousands of objects. */
const NONE: readonly string[] = [];

export function needsOf(object: MetadataObject): Needs {
  return needs.get(object, () => derivedNeeds(object));
}

function derivedNeeds(object: MetadataObject): Needs {
  const { kind, isNamed, tables, roles, urls, transformed, hasReferences } = ROWS[object.kind];
  const segments = parseKey(object.key)?.segments ?? [];
  const definition = isRecord(object.definition) ? object.definition : {};
  const hosts = [
    ...(urls?.(definition) ?? NONE).flatMap((url) => hostsOf(url, FROM_VARIABLE)),
    ...hostsOf(transformed?.(definition), FROM_WEBHOOK),
  ];
  const first = [segments[0] ?? ''];
  return {
    kinds: kind === undefined ? NONE : [kind],
    sources: tables ? first : NONE,
    tables: shared(tables?.(segments, definition)),
    references: shared(hasReferences ? tablesReferredTo(object) : NONE),
    names: isNamed ? first : NONE,
    roles: shared(roles?.(segments, definition)),
    webhookHosts: shared(hosts),
    variables: variablesNeeded(object),
  };
}

/** The environment variables of the engine that the object names: all that the Engine's own namespace must be granted. */
export function variablesNeeded(object: MetadataObject): readonly string[] {
  return variables.get(object, () =>
    shared(variablesOf(object.kind, object.definition).map(({ name }) => name)),
  );
}

function shared(values: readonly string[] | undefined): readonly string[] {
  return values === undefined || values.length === 0 ? NONE : values;
}

/** `public.author`. A name that has a dot or a quote is quoted as in SQL, so that two different tables never read the same. */
export function qualified(schema: string, name: string): string {
  return [schema, name]
    .map((part) => (/[."]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part))
    .join('.');
}

function functionOf(value: unknown): string {
  if (typeof value === 'string') return qualified('public', value);
  const { schema, name } = isRecord(value) ? value : {};
  return qualified(typeof schema === 'string' ? schema : 'public', String(name ?? ''));
}

/** Reads no document: a relationship on a foreign key of its own table leads where the database says. */
function tablesReferredTo(object: MetadataObject): readonly string[] {
  return referencesOf(object, new Map()).flatMap((key) => {
    const identity = parseKey(key);
    if (identity?.kind === 'native_query') return [ALL];
    if (identity?.kind !== 'table') return [];
    const [, schema = '', name = ''] = identity.segments;
    return [qualified(schema, name)];
  });
}

/** `scope` of an entry of the allow list: global when absent. */
function listedRoles(scope: unknown): readonly string[] {
  return at(scope, 'global') === false ? texts(at(scope, 'roles')) : [ALL];
}

/** `{{AUTH_URL}}/login`: a variable holds the host, and what follows cannot change it. */
const FROM_VARIABLE = /^\{\{\s*[A-Za-z_]\w*\s*\}\}(?:$|\/(?!\/)|[?#])/;
/** Matches the URL of a transform that starts from the webhook's address. */
const FROM_WEBHOOK = /^\{\{\s*\$base_url\s*\}\}(?:$|\/(?!\/)|[?#])/;

/** The host of an address: none where it comes `fromElsewhere`, which is a need of its own; ALL where a template may make any. */
function hostsOf(url: unknown, fromElsewhere: RegExp): readonly string[] {
  if (typeof url !== 'string' || fromElsewhere.test(url)) return [];
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#\\]*)/i.exec(url.trim())?.[1];
  if (authority === undefined || /[{}]/.test(authority)) return [ALL];
  const parsed = URL.parse(url.replaceAll(/\{\{.*?\}\}/g, 'x'));
  return [parsed && parsed.hostname !== '' ? parsed.hostname.replace(/\.$/, '') : ALL];
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
