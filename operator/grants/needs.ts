/** Computes the grants that a namespace needs to own a metadata object: kinds, a source, tables, roles, hosts, variables.
 *  Pure. Not here: whether a grant covers them (grants.ts). */
import {
  isRecord,
  type MetadataObject,
  type ObjectKind,
  parseKey,
  parseReference,
  referencesOf,
  variablesOf,
} from '@pergola/engine/metadata';
import { IdentityCache } from '../identity-cache.ts';
import { REGISTRY } from '../kinds/migration.ts';
import { reachedBySource } from './database-hosts.ts';

/** The needs of one object. Each value must match a pattern of the grant; `ALL` matches only the pattern `*`. */
export type Needs = {
  /** The kinds that must be granted besides that of the resource: objects that concern the whole engine need their kind. */
  readonly kinds: readonly string[];
  readonly sources: readonly string[];
  /** The tables and functions of the object, as `schema.name`. */
  readonly tables: readonly string[];
  /** The tables that its relationships and conditions refer to. */
  readonly references: readonly string[];
  /** The names of objects outside of sources: actions, types, remote schemas, cron triggers, endpoints, collections. */
  readonly names: readonly string[];
  readonly roles: readonly string[];
  /** The hosts that the engine calls for the object. */
  readonly webhookHosts: readonly string[];
  /** The hosts that receive headers of clients, tokens and cookies included, and the variables and files that hold the URL of one. */
  readonly clientHeaders: readonly string[];
  /** The hosts of the databases of a source. */
  readonly databaseHosts: readonly string[];
  /** The registries that the operator requests artifacts from, with their port if they have one. */
  readonly registries: readonly string[];
  /** The environment variables of the engine that the object names, its files as `file:PATH`, and named values as `value:NAME`. */
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
  'clientHeaders',
  'databaseHosts',
  'registries',
  'variables',
] as const satisfies readonly (keyof Needs)[];
export type Dimension = (typeof DIMENSIONS)[number];

/** A need that only the pattern `*` covers. */
export const ALL = '*';

type Row = {
  /** The kind that must be granted for an object that concerns the whole engine. */
  readonly kind?: string;
  /** True when the first segment of the key is a name that all namespaces share. */
  readonly isNamed?: true;
  /** The tables of the object. Absent for objects outside of sources. */
  readonly tables?: (segments: readonly string[], definition: Fields) => readonly string[];
  readonly roles?: (segments: readonly string[], definition: Fields) => readonly string[];
  /** The addresses that the engine calls. */
  readonly urls?: (definition: Fields) => readonly unknown[];
  /** The URL of a request transform, which replaces the address of the webhook. */
  readonly transformed?: (definition: Fields) => unknown;
  /** True when the headers of clients are sent there. */
  readonly forwards?: (definition: Fields) => unknown;
  readonly hasReferences?: true;
  /** The registries of artifacts. Undefined for none. */
  readonly registries?: (definition: Fields) => readonly unknown[];
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
  forwards: (d) => at(d, 'permission', 'validate_input', 'definition', 'forward_client_headers'),
  hasReferences: true,
};

const WEBHOOK: Row = {
  urls: (d) => [d['webhook']],
  transformed: (d) => at(d, 'request_transform', 'url'),
};

/** The needs of an object, by its kind. */
const ROWS: Readonly<Record<ObjectKind, Row>> = {
  source: { kind: 'Source', tables: wholeSource, registries: (d) => [d[REGISTRY]] },
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
  // Its SQL may read everything that the connection may read.
  native_query: { tables: wholeSource },
  remote_schema: {
    isNamed: true,
    urls: (d) => [at(d, 'definition', 'url')],
    forwards: (d) => at(d, 'definition', 'forward_client_headers'),
  },
  remote_schema_permission: { isNamed: true, roles: lastSegment },
  remote_schema_relationship: { isNamed: true },
  query_collection: { isNamed: true },
  allowlist: { isNamed: true, roles: (_, d) => listedRoles(at(d, 'scope')) },
  custom_type: { isNamed: true },
  action: {
    isNamed: true,
    urls: (d) => [at(d, 'definition', 'handler')],
    transformed: (d) => at(d, 'definition', 'request_transform', 'url'),
    forwards: (d) => at(d, 'definition', 'forward_client_headers'),
  },
  action_permission: { isNamed: true, roles: lastSegment },
  cron_trigger: { isNamed: true, ...WEBHOOK },
  scheduled_event: { isNamed: true, ...WEBHOOK },
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

/** An empty list, shared to save memory: there are tens of thousands of objects. */
const NONE: readonly string[] = [];

export function needsOf(object: MetadataObject): Needs {
  return needs.get(object, () => derivedNeeds(object));
}

function derivedNeeds(object: MetadataObject): Needs {
  const { kind, isNamed, tables, roles, urls, transformed, forwards, hasReferences, registries } =
    ROWS[object.kind];
  const segments = parseKey(object.key)?.segments ?? [];
  const definition = isRecord(object.definition) ? object.definition : {};
  const hosts = [
    ...(urls?.(definition) ?? NONE).flatMap((url) => hostsOf(url, FROM_VARIABLE)),
    ...hostsOf(transformed?.(definition), FROM_WEBHOOK),
    ...(hasSecretUrl(object) ? [ALL] : NONE),
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
    clientHeaders: forwards?.(definition) === true ? shared([...hosts, ...urlVariablesOf(object)]) : NONE,
    databaseHosts: object.kind === 'source' ? shared([...new Set(reachedBySource(definition).hosts)]) : NONE,
    registries: shared((registries?.(definition) ?? NONE).filter((host) => typeof host === 'string')),
    variables: variablesNeeded(object),
  };
}

/** Returns the environment variables of the engine that the object names, and its files. The namespace of the Engine needs grants only for
 *  these. */
export function variablesNeeded(object: MetadataObject): readonly string[] {
  return variables.get(object, () =>
    shared([...variablesOf(object.kind, object.definition).map(({ name }) => name), ...filesOfUrls(object)]),
  );
}

/** Returns the files that the parameters of connection URLs name. */
function filesOfUrls({ kind, definition }: MetadataObject): readonly string[] {
  return kind === 'source' ? reachedBySource(definition).files.map((path) => `file:${path}`) : NONE;
}

/** Returns the needs that earlier versions did not have, of an object that a namespace has already (grants.ts). */
export function recentNeedsOf(
  object: MetadataObject,
): Pick<Needs, 'clientHeaders' | 'databaseHosts' | 'variables'> {
  const { clientHeaders, databaseHosts } = needsOf(object);
  const files = variablesOf(object.kind, object.definition)
    .filter(({ name, use }) => use !== 'outbound' && parseReference(name).from === 'file')
    .map(({ name }) => name);
  return { clientHeaders, databaseHosts, variables: [...files, ...filesOfUrls(object)] };
}

/** The fields of definitions that hold a URL, or name where it is. */
const URL_FIELDS = /^(url|handler|webhook|from_(env|file|value))$|^(url|handler|webhook)_from_/;

/** Returns the variables, named values and files that hold a URL of the object. */
function urlVariablesOf({ kind, definition }: MetadataObject): readonly string[] {
  return variablesOf(kind, definition)
    .filter(({ use, path }) => use === 'outbound' && URL_FIELDS.test(String(path.at(-1))))
    .map(({ name }) => name);
}

/** True when a URL of the object is a named value. Its author chooses the text, which may be any host. */
function hasSecretUrl({ kind, definition }: MetadataObject): boolean {
  return variablesOf(kind, definition).some(
    ({ name, use, path }) =>
      use === 'outbound' &&
      parseReference(name).from === 'value' &&
      /^(from_value|(url|webhook)_from_value)$/.test(String(path.at(-1))),
  );
}

function shared(values: readonly string[] | undefined): readonly string[] {
  return values === undefined || values.length === 0 ? NONE : values;
}

/** Returns `public.author`. A name that contains a dot or a quote is quoted as in SQL, so two different tables never have the same text. */
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

/** Returns the tables that the object refers to. A relationship on a foreign key of its own table refers to none: the database decides. */
function tablesReferredTo(object: MetadataObject): readonly string[] {
  return referencesOf(object).flatMap((key) => {
    const identity = parseKey(key);
    if (identity?.kind === 'native_query') return [ALL];
    if (identity?.kind !== 'table') return [];
    const [, schema = '', name = ''] = identity.segments;
    return [qualified(schema, name)];
  });
}

/** Returns the roles of an allow list entry; ALL for a global entry, the default. */
function listedRoles(scope: unknown): readonly string[] {
  return at(scope, 'global') === false ? texts(at(scope, 'roles')) : [ALL];
}

/** Matches a URL whose host is an environment variable or a file and whose remainder cannot change the host: `{{AUTH_URL}}/login`. */
const FROM_VARIABLE = /^\{\{\s*(?:[A-Za-z_]\w*|file:[^{}]+)\s*\}\}(?:$|\/(?!\/)|[?#])/;
/** Matches the URL of a transform that starts from the webhook's address. */
const FROM_WEBHOOK = /^\{\{\s*\$base_url\s*\}\}(?:$|\/(?!\/)|[?#])/;

/** Returns the host of an address: none when it comes `fromElsewhere`, a separate need; ALL when a template may produce any host. */
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
