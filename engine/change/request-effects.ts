/** Finds what a draft changes for requests of roles, besides permissions: queries on the allow list, REST endpoints, limits and introspection,
 *  functions that every role may call that reads their table, and remote schemas that every role sees.
 *  In: the models before and after. Out: changes of access. The allow list counts only where the engine enforces it. Pure.
 *  Not here: permissions (metadata/access), the schemas of roles (schema/schema-changes.ts). */
import { stripIgnoredCharacters } from 'graphql';
import { isSameJson } from '../json/value.ts';
import type { AccessChange } from '../metadata/access/access-change.ts';
import type { AccessPart, AccessVerdict } from '../metadata/access/compare-filters.ts';
import { objectKey } from '../metadata/objects.ts';
import { compareDocuments } from '../plan/compare-documents.ts';
import { textsOf } from '../plan/request-policy.ts';
import type { ResolvedFunction } from '../resolve/model/function.ts';
import type { Model } from '../resolve/model/model.ts';
import { type RequestPolicy, requestPolicyOf } from '../resolve/request-policy.ts';
import type { ResolvedEndpoint } from '../resolve/routes.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';

/** Returns the changes for requests, in the order of their keys. */
export function requestChanges(before: Requested, after: Requested): readonly AccessChange[] {
  const models = [before, after] as const;
  return [
    ...byRole(models, allowedChanges),
    ...byRole(models, limitChanges),
    ...endpointChanges(models),
    ...functionChanges(models),
    ...remoteSchemaChanges(models),
  ].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** The parts of a model that decide about requests besides the schema. */
export type Requested = Pick<Model, 'requestPolicies' | 'routes' | 'sources' | 'remoteSchemas'>;

type Pair<T> = readonly [before: T, after: T];

/** A change without the roles that it concerns. */
type Change = Omit<AccessChange, 'role' | 'except'>;

/** Returns the changes of the policies of roles: one for every role, with the roles that it does not concern, and those of single roles. */
function byRole(
  models: Pair<Requested>,
  compare: (policies: Pair<RequestPolicy>) => readonly Change[],
): readonly AccessChange[] {
  const named = new Set(models.flatMap(({ requestPolicies }) => [...requestPolicies.byRole.keys()]));
  named.delete(ADMIN_ROLE);
  const [before, after] = models;
  const ofOthers = compare([before.requestPolicies.others, after.requestPolicies.others]);
  const ofNamed = [...named].toSorted().map((role) => {
    return [role, compare([requestPolicyOf(before, role), requestPolicyOf(after, role)])] as const;
  });
  const has = (changes: readonly Change[], change: Change) =>
    changes.some((other) => isSameJson(other, change));
  const common = ofOthers.map((change) => {
    const except = ofNamed.filter(([, changes]) => !has(changes, change)).map(([role]) => role);
    return { ...change, role: null, ...(except.length > 0 ? { except } : {}) };
  });
  const single = ofNamed.flatMap(([role, changes]) =>
    changes.filter((change) => !has(ofOthers, change)).map((change) => ({ ...change, role })),
  );
  return [...common, ...single];
}

/** A query that a role may run: its collection and its name. */
type Allowed = { readonly collection: string; readonly name: string };

/** Returns the queries that are allowed, or no longer. A text that replaces another one under its name is one change. */
function allowedChanges([before, after]: Pair<RequestPolicy>): readonly Change[] {
  const [old, next] = [allowedIn(before), allowedIn(after)];
  // An option of the engine, which no draft changes.
  if (!old || !next) return [];
  const lost = [...old].filter(([text]) => !next.has(text));
  const gained = [...next].filter(([text]) => !old.has(text));
  const isSame = (a: Allowed, b: Allowed) => a.collection === b.collection && a.name === b.name;
  return [
    ...lost.map(([text, allowed]) => {
      const replaced = gained.find(([, other]) => isSame(allowed, other));
      return runChange(allowed, replaced ? [textPart('other', text, replaced[0])] : 'revoked');
    }),
    ...gained
      .filter(([, allowed]) => !lost.some(([, other]) => isSame(allowed, other)))
      .map(([, allowed]) => runChange(allowed, 'granted')),
  ];
}

function allowedIn({ allowed }: RequestPolicy): ReadonlyMap<string, Allowed> | null {
  if (!allowed) return null;
  return new Map(
    allowed.flatMap((collection) =>
      [...textsOf(collection)].map(([text, name]) => [text, { collection: collection.name, name }] as const),
    ),
  );
}

function runChange(
  { collection, name }: Allowed,
  how: readonly AccessPart[] | 'granted' | 'revoked',
): Change {
  const key = objectKey('query_collection', collection);
  return { key, on: `${collection}.${name}`, operation: 'run', ...changeOf(how) };
}

/** Returns how much a role gains or loses. */
function changeOf(how: readonly AccessPart[] | 'granted' | 'revoked') {
  if (how === 'granted') return { change: how, verdict: 'wider', parts: [] } as const;
  if (how === 'revoked') return { change: how, verdict: 'narrower', parts: [] } as const;
  const verdicts = new Set(how.map(({ verdict }) => verdict));
  return { change: 'changed', verdict: verdicts.size === 1 ? how[0]!.verdict : 'other', parts: how } as const;
}

function textPart(verdict: AccessVerdict, before: string, after: string): AccessPart {
  return { name: 'query', verdict, before: compact(before), after: compact(after) };
}

function compact(text: string): string {
  try {
    return stripIgnoredCharacters(text);
  } catch {
    return text;
  }
}

/** How a limit is read from a policy, null for no limit, and printed. */
type Limit = {
  readonly of: (policy: RequestPolicy) => number | null;
  readonly words: (limit: number) => string;
};

const LIMITS: Readonly<Record<string, Limit>> = {
  depth: { of: ({ mostDepth }) => mostDepth, words: String },
  nodes: { of: ({ mostNodes }) => mostNodes, words: String },
  batch: { of: ({ mostInBatch }) => mostInBatch, words: String },
  time: { of: ({ timeLimitMs }) => timeLimitMs, words: (ms) => `${ms / 1000} s` },
  response: {
    of: ({ mostResponseBytes, defaultResponseBytes }) => mostResponseBytes ?? defaultResponseBytes,
    words: (bytes) => `${bytes} bytes`,
  },
  rate: { of: ({ rate }) => rate?.mostPerMinute ?? null, words: (most) => `${most} a minute` },
};

function limitChanges([before, after]: Pair<RequestPolicy>): readonly Change[] {
  const limits = Object.entries(LIMITS).flatMap(([name, { of, words }]) => {
    const [old, next] = [of(before), of(after)];
    if (old === next) return [];
    const verdict =
      (old ?? Number.POSITIVE_INFINITY) < (next ?? Number.POSITIVE_INFINITY) ? 'wider' : 'narrower';
    const text = (limit: number | null) => (limit === null ? 'no limit' : words(limit));
    return [part(name, verdict, text(old), text(next))];
  });
  const parts = [...limits, ...rateKeyPart(before, after)];
  const limited = parts.length > 0 ? [sendChange('api_limits', parts)] : [];
  if (before.mayIntrospect === after.mayIntrospect) return limited;
  const verdict = after.mayIntrospect ? 'wider' : 'narrower';
  const [old, next] = after.mayIntrospect ? ['no', 'yes'] : ['yes', 'no'];
  return [...limited, sendChange('introspection', [part('introspection', verdict, old!, next!)])];
}

/** Compares how clients of a role are counted apart, where the rate stays a limit. */
function rateKeyPart({ rate: old }: RequestPolicy, { rate: next }: RequestPolicy): readonly AccessPart[] {
  if (!old || !next || isSameJson(old.by, next.by)) return [];
  const words = ({ by }: typeof old) => (by === 'address' ? 'address' : by.join(', ') || 'role');
  return [part('rate_by', 'other', words(old), words(next))];
}

function sendChange(kind: 'api_limits' | 'introspection', parts: readonly AccessPart[]): Change {
  return { key: kind, on: 'requests', operation: 'send', ...changeOf(parts) };
}

function part(name: string, verdict: AccessVerdict, before: string, after: string): AccessPart {
  return { name, verdict, before, after };
}

function endpointChanges([before, after]: Pair<Requested>): readonly AccessChange[] {
  const byName = ({ routes }: Requested) => new Map(routes.endpoints.map((one) => [one.name, one]));
  const [old, next] = [byName(before), byName(after)];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((name) => {
    const how = endpointChange(old.get(name), next.get(name));
    if (how.length === 0) return [];
    const key = objectKey('rest_endpoint', name);
    return [{ key, role: null, on: name, operation: 'request', ...changeOf(how) } as const];
  });
}

function endpointChange(
  before: ResolvedEndpoint | undefined,
  after: ResolvedEndpoint | undefined,
): readonly AccessPart[] | 'granted' | 'revoked' {
  if (!before || !after) return after ? 'granted' : 'revoked';
  const query = compareDocuments(before.query, after.query);
  return [
    ...(before.url === after.url ? [] : [part('url', 'other', before.url, after.url)]),
    ...methodsPart(before.methods, after.methods),
    ...(query === 'same' ? [] : [textPart(query, before.query, after.query)]),
  ];
}

function methodsPart(before: readonly string[], after: readonly string[]): readonly AccessPart[] {
  const keeps = before.every((method) => after.includes(method));
  const addsNone = after.every((method) => before.includes(method));
  if (keeps && addsNone) return [];
  const verdict = keeps ? 'wider' : addsNone ? 'narrower' : 'other';
  return [part('methods', verdict, before.join(', '), after.join(', '))];
}

/** Returns the functions that every role may call that reads their table, or no longer: a function has no permissions, or got the first. */
function functionChanges([before, after]: Pair<Requested>): readonly AccessChange[] {
  const [old, next] = [functionsIn(before), functionsIn(after)];
  return [...new Set([...old.keys(), ...next.keys()])].flatMap((key) => {
    const [was, is] = [old.get(key), next.get(key)];
    const [isOpen, wasOpen] = [is?.isForReaders ?? false, was?.isForReaders ?? false];
    if (isOpen === wasOpen) return [];
    const how = isOpen ? 'granted' : 'revoked';
    const except = [...((isOpen ? was : is)?.roles ?? [])].toSorted();
    const { schema, name } = (is ?? was)!.function;
    const concerned = { role: null, ...(except.length > 0 ? { except } : {}) };
    return [{ key, ...concerned, on: `${schema}.${name}`, operation: 'call', ...changeOf(how) } as const];
  });
}

function functionsIn({ sources }: Requested): ReadonlyMap<string, ResolvedFunction> {
  return new Map(
    [...sources].flatMap(([source, { functions }]) =>
      [...functions.values()].map((one) => {
        return [objectKey('function', source, one.function.schema, one.function.name), one] as const;
      }),
    ),
  );
}

/** Returns the remote schemas that every role sees as a whole, or no longer: the engine has no permissions for remote schemas, and the document
 *  has none for this one. */
function remoteSchemaChanges([before, after]: Pair<Requested>): readonly AccessChange[] {
  const [old, next] = [openSchemasIn(before), openSchemasIn(after)];
  return [...new Set([...old, ...next])].flatMap((name) => {
    if (old.has(name) && next.has(name)) return [];
    const key = objectKey('remote_schema', name);
    const how = changeOf(next.has(name) ? 'granted' : 'revoked');
    return [{ key, role: null, on: name, operation: 'call', ...how } as const];
  });
}

function openSchemasIn({ remoteSchemas }: Requested): ReadonlySet<string> {
  return new Set([...remoteSchemas.values()].flatMap((one) => (one.permissions === null ? [one.name] : [])));
}
