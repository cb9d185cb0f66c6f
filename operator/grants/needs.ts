/** Computes the grants that a namespace needs to own a metadata object: kinds, a source, tables, roles, hosts, variables.
 *  Pure. Not here: whether a grant covers them (grants.ts). */
import {
  ancestry,
  type CalledUrl,
  callsOf,
  isRecord,
  type MetadataObject,
  namesIn,
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

/** The kinds of resources that must be granted for objects that concern the whole engine. They concern every role. */
const ENGINE_WIDE: Partial<Record<ObjectKind, string>> = {
  api_limits: 'ApiLimits',
  introspection: 'EngineSettings',
  tls: 'EngineSettings',
  metrics_config: 'EngineSettings',
  opentelemetry: 'EngineSettings',
  backend_configs: 'MetadataBundle',
};
/** The kinds of resources that must be granted for other objects than those of the resource. */
const GRANTED_KINDS: Partial<Record<ObjectKind, string>> = {
  ...ENGINE_WIDE,
  source: 'Source',
  inherited_role: 'InheritedRole',
};

/** The kinds of objects of a source that may read all its tables. The SQL of a native query may read everything that the connection may. */
const OF_WHOLE_SOURCE: readonly ObjectKind[] = [
  'source',
  'logical_model',
  'logical_model_permission',
  'native_query',
];

/** The kinds of objects of a table that must be granted the other tables that they refer to. */
const FOLLOWED = /^((object|array)_relationship|(insert|select|update|delete)_permission)$/;

type Fields = Readonly<Record<string, unknown>>;

const needs = new IdentityCache<MetadataObject, Needs>();
const variables = new IdentityCache<MetadataObject, readonly string[]>();

/** An empty list, shared to save memory: there are tens of thousands of objects. */
const NONE: readonly string[] = [];

export function needsOf(object: MetadataObject): Needs {
  return needs.get(object, () => derivedNeeds(object));
}

function derivedNeeds(object: MetadataObject): Needs {
  const { kind } = object;
  const segments = parseKey(object.key)?.segments ?? [];
  const definition = isRecord(object.definition) ? object.definition : {};
  const { urls, transformedUrls, sendsClientHeaders } = callsOf(kind, definition);
  const hosts = [
    ...urls.flatMap(hostsOfUrl),
    ...transformedUrls.flatMap((url) => hostsOf(url, FROM_WEBHOOK)),
    ...(urls.some(({ form }) => form === 'value') ? [ALL] : NONE),
  ];
  const isOfSource = ancestry(kind)[0] === 'source';
  const granted = GRANTED_KINDS[kind];
  const first = [segments[0] ?? ''];
  return {
    kinds: granted === undefined ? NONE : [granted],
    sources: isOfSource ? first : NONE,
    tables: shared(isOfSource ? tablesOf(object, segments) : NONE),
    references: shared(FOLLOWED.test(kind) ? tablesReferredTo(object) : NONE),
    names: isOfSource || granted !== undefined ? NONE : first,
    roles: shared(rolesOf(object)),
    webhookHosts: shared(hosts),
    clientHeaders: sendsClientHeaders
      ? shared([...hosts, ...urls.flatMap(({ references }) => references)])
      : NONE,
    databaseHosts: kind === 'source' ? shared([...new Set(reachedBySource(definition).hosts)]) : NONE,
    registries: shared(registriesOf(definition)),
    variables: variablesNeeded(object),
  };
}

function registriesOf(definition: Fields): readonly string[] {
  const registry = definition[REGISTRY];
  return typeof registry === 'string' ? [registry] : NONE;
}

/** Returns the tables and functions of an object of a source. */
function tablesOf(object: MetadataObject, [, schema = '', name = '']: readonly string[]): readonly string[] {
  if (OF_WHOLE_SOURCE.includes(object.kind)) return [ALL];
  const functions = ownNamesIn(object).flatMap((one) =>
    one.kind === 'sql_function' ? [qualified(one.name.schema, one.name.name)] : [],
  );
  return [qualified(schema, name), ...functions];
}

/** Returns the roles that an object names; ALL for one that concerns every role. */
function rolesOf(object: MetadataObject): readonly string[] {
  const { kind, definition } = object;
  if (kind in ENGINE_WIDE) return [ALL];
  if (kind === 'allowlist' && at(definition, 'scope', 'global') !== false) return [ALL];
  return ownNamesIn(object).flatMap((one) => (one.kind === 'role' ? [one.name] : []));
}

function ownNamesIn(object: MetadataObject) {
  return namesIn(object, () => undefined);
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

function shared(values: readonly string[] | undefined): readonly string[] {
  return values === undefined || values.length === 0 ? NONE : values;
}

/** Returns `public.author`. A name that contains a dot or a quote is quoted as in SQL, so two different tables never have the same text. */
export function qualified(schema: string, name: string): string {
  return [schema, name]
    .map((part) => (/[."]/.test(part) ? `"${part.replaceAll('"', '""')}"` : part))
    .join('.');
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

/** Matches a URL whose host is an environment variable or a file and whose remainder cannot change the host: `{{AUTH_URL}}/login`. */
const FROM_VARIABLE = /^\{\{\s*(?:[A-Za-z_]\w*|file:[^{}]+)\s*\}\}(?:$|\/(?!\/)|[?#])/;
/** Matches the URL of a transform that starts from the webhook's address. */
const FROM_WEBHOOK = /^\{\{\s*\$base_url\s*\}\}(?:$|\/(?!\/)|[?#])/;

function hostsOfUrl({ form, text }: CalledUrl): readonly string[] {
  return form === 'template' ? hostsOf(text, FROM_VARIABLE) : NONE;
}

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
