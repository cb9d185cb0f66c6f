/** Generates requests of every kind an engine accepts: operations from their schemas, GraphQL from the current schema, and arbitrary bytes
 *  for every endpoint. In: choices. Out: a request as data, so that it can be printed. Not here: sending requests (send.ts). */
import type { GraphQLSchema } from 'graphql';
import { namesAt, OPERATION_NAMES, OPERATIONS } from '../../engine/metadata/operations.ts';
import { asJsonSchema } from '../../engine/metadata/walk-schema.ts';
import type { Choices } from '../../engine/oracle/testing/choices.ts';
import { graphqlText, variablesOf } from './graphql-text.ts';
import { anyJson, anyText, valueFor } from './hostile-values.ts';
import { ADMIN_SECRET } from './subject.ts';
import { ROLES } from './world.ts';

export type HttpRequest = {
  readonly kind: 'http';
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
};
export type FuzzRequest =
  | HttpRequest
  | { readonly kind: 'raw'; readonly bytes: string }
  /** A request whose client disconnects before the answer: after `sent` bytes of it, or after all of it. */
  | { readonly kind: 'abandoned'; readonly request: HttpRequest; readonly sent: number | null }
  | {
      readonly kind: 'websocket';
      readonly path: string;
      readonly protocol: string;
      readonly messages: readonly string[];
      /** True when the client terminates the connection instead of closing the WebSocket. */
      readonly isCut: boolean;
    }
  | { readonly kind: 'directory'; readonly files: Readonly<Record<string, string>> };

export type Ground = { readonly schema: GraphQLSchema; readonly directory: ReadonlyMap<string, string> };

const PATHS = [
  '/v1/query',
  '/v1/metadata',
  '/v2/query',
  '/v1/graphql',
  '/v1alpha1/graphql',
  '/v1beta1/relay',
  '/v1/graphql/explain',
  '/v1alpha1/config',
  '/v1/version',
  '/v1/metrics',
  '/v1alpha1/pg_dump',
  '/healthz',
  '/healthz/sources',
  '/api/swagger/json',
  '/api/rest/authors/1',
  '/console',
  '/',
] as const;
const METHODS = ['POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'] as const;
const ADMIN_ENDPOINTS = ['/v1/query', '/v1/metadata', '/v2/query'] as const;
const GRAPHQL_PATHS = ['/v1/graphql', '/v1/graphql', '/v1alpha1/graphql', '/v1beta1/relay'] as const;

/** Operations that are rare, because they delete what later requests of a block use. */
const ENDS_WORLD: ReadonlySet<string> = new Set([
  'clear_metadata',
  'replace_metadata',
  'rollback_metadata',
  'pg_add_source',
  'pg_update_source',
  'pg_drop_source',
  'rename_source',
  'untrack_table',
  'untrack_tables',
  'set_graphql_schema_introspection_options',
  'set_api_limits',
]);

export function makeRequest(choices: Choices, ground: Ground): FuzzRequest {
  return choices.of(MAKERS)(choices, ground);
}

const MAKERS: readonly ((choices: Choices, ground: Ground) => FuzzRequest)[] = [
  operation,
  operation,
  operation,
  graphql,
  graphql,
  graphql,
  explain,
  rest,
  anywhere,
  anywhere,
  websocket,
  directory,
  raw,
  abandoned,
  manyFields,
];

function operation(choices: Choices): HttpRequest {
  const path = choices.of(ADMIN_ENDPOINTS);
  const body = oneOperation(choices, path, 0);
  const version = choices.chance(5)
    ? { resource_version: choices.of([0, 1, 1e9, '1', null, -1, 2 ** 53, 1e21]) }
    : {};
  return post(choices, path, { ...body, ...version });
}

function oneOperation(choices: Choices, path: (typeof ADMIN_ENDPOINTS)[number], depth: number): object {
  const offered = OPERATION_NAMES.filter(
    (name) => namesAt(name, path).length > 0 && (!ENDS_WORLD.has(name) || choices.chance(5)),
  );
  const name = choices.of(offered);
  const type = choices.chance(3) ? anyText(choices) : choices.of(namesAt(name, path));
  const { effect, args, versions } = OPERATIONS[name];
  const made =
    effect === 'batch' && depth < 3
      ? choices.times(choices.below(4), () => oneOperation(choices, path, depth + 1))
      : valueFor(asJsonSchema(args), choices);
  const version = choices.chance(20) ? { version: choices.of([...versions, 2, 0, '1']) } : {};
  return { type, args: made, ...version };
}

function graphql(choices: Choices, ground: Ground): HttpRequest {
  const one = () => graphqlBody(choices, ground);
  const body = choices.chance(5) ? choices.times(choices.below(4), one) : one();
  return post(choices, choices.of(GRAPHQL_PATHS), body);
}

function graphqlBody(choices: Choices, { schema }: Ground): object {
  const query = graphqlText(choices, schema);
  const variables = query.includes('($id') || choices.chance(10) ? { variables: variablesOf(choices) } : {};
  return { query, ...variables, ...(choices.chance(5) ? { operationName: anyJson(choices) } : {}) };
}

function explain(choices: Choices, ground: Ground): HttpRequest {
  const user = choices.chance(50)
    ? { 'x-engine-role': choices.of(ROLES), 'x-engine-user-id': anyJson(choices) }
    : {};
  const isRelay = choices.chance(20) ? { is_relay: anyJson(choices) } : {};
  const body = choices.chance(10)
    ? anyJson(choices)
    : { query: graphqlBody(choices, ground), user, ...isRelay };
  return post(choices, '/v1/graphql/explain', body);
}

function rest(choices: Choices): HttpRequest {
  const id = choices.of([
    '1',
    '',
    'x',
    '%00',
    '%zz',
    '1e400',
    '1e21',
    '9007199254740993',
    encodeURIComponent(anyWellFormed(choices)),
  ]);
  const query = choices.of([
    '',
    '?id=1',
    '?id=1&id=2',
    '?%',
    `?${encodeURIComponent(anyWellFormed(choices))}`,
  ]);
  const path = choices.of([`/api/rest/authors/${id}${query}`, `/api/rest/${id}`, '/api/rest/', '/api/rest']);
  const method = choices.of(METHODS);
  return { kind: 'http', method, path, headers: headersOf(choices), body: bodyOf(choices, anyJson(choices)) };
}

function anywhere(choices: Choices): HttpRequest {
  const suffix = choices.of(['', '', '', '/', '?a=b', '//', '/../x', '%2e%2e', '?%', ';x']);
  const path = choices.of(PATHS) + suffix;
  const body =
    choices.of([{ type: 'export_metadata', args: {} }, { query: '{ __typename }' }, null]) ??
    anyJson(choices);
  const method = choices.of(METHODS);
  return { kind: 'http', method, path, headers: headersOf(choices), body: bodyOf(choices, body) };
}

function websocket(choices: Choices, ground: Ground): FuzzRequest {
  const protocol = choices.of(['graphql-transport-ws', 'graphql-ws', 'graphql-ws', 'nothing']);
  const isNewer = protocol === 'graphql-transport-ws';
  const start = isNewer ? 'subscribe' : 'start';
  const message = (): unknown => {
    const id = choices.of(['1', '1', '2', '', 'x']);
    switch (choices.below(8)) {
      case 0:
        return {
          type: choices.of([isNewer ? 'complete' : 'stop', 'ping', 'pong', 'connection_terminate']),
          id,
        };
      case 1:
        return { type: start, id, payload: anyJson(choices) };
      case 2:
        return anyJson(choices);
      case 3:
        return { type: anyText(choices), id: anyJson(choices), payload: { query: '{' } };
      default: {
        const payload = graphqlBody(choices, ground) as { query: string };
        const query = choices.chance(40) ? payload.query.replace(/^\w*/, 'subscription') : payload.query;
        return { type: start, id, payload: { ...payload, query } };
      }
    }
  };
  const headers = choices.chance(80) ? secretHeaders(choices) : anyJson(choices);
  const init = choices.chance(90) ? [{ type: 'connection_init', payload: { headers } }] : [];
  const messages = [...init, ...choices.times(1 + choices.below(5), message)];
  const texts = messages.map((one) =>
    choices.chance(5) ? damaged(JSON.stringify(one) ?? '', choices) : JSON.stringify(one),
  );
  const several = choices.chance(5) ? Array.from({ length: 50 }, (_, i) => subscriptionOf(start, i)) : [];
  const large = choices.chance(3)
    ? [`{"type":"ping","payload":"${'x'.repeat(choices.of([20_000, 200_000]))}"}`]
    : [];
  return {
    kind: 'websocket',
    path: choices.of(GRAPHQL_PATHS),
    protocol,
    messages: [...(choices.chance(50) ? large : []), ...texts, ...several, ...large],
    isCut: choices.chance(30),
  };
}

function subscriptionOf(start: string, id: number): string {
  const payload = { query: `subscription { author(where: {age: {_gt: ${id}}}) { id name } }` };
  return JSON.stringify({ type: start, id: String(id), payload });
}

/** Generates an ordinary request whose client disconnects; some of them take long. */
function abandoned(choices: Choices, ground: Ground): FuzzRequest {
  const slow = () =>
    post(choices, '/v2/query', {
      type: 'run_sql',
      args: { sql: 'select pg_sleep(0.2)', read_only: choices.chance(50) },
    });
  const request = choices.of([() => graphql(choices, ground), () => operation(choices), slow])();
  const sent = choices.chance(50) ? choices.below((request.body ?? '').length + 1) : null;
  return { kind: 'abandoned', request, sent };
}

/** Generates more fields than a row of Postgres has columns, at the root, in a row, or as conditions. */
function manyFields(choices: Choices): HttpRequest {
  const count = choices.of([99, 101, 1_600, 1_665, 3_000]);
  const repeated = (one: (i: number) => string) => Array.from({ length: count }, (_, i) => one(i)).join(' ');
  const query = choices.of([
    () => `{ ${repeated((i) => `a${i}: author(limit: 1) { id }`)} }`,
    () => `{ author(limit: 1) { ${repeated((i) => `a${i}: name`)} } }`,
    () => `{ author(limit: 1) { ${repeated((i) => `a${i}: books { title }`)} } }`,
    () => `{ author(where: {_or: [${repeated((i) => `{id: {_eq: ${i}}}`)}]}) { id } }`,
    () => `{ author(where: {id: {_in: [${repeated(String)}]}}) { id } }`,
    () => `mutation { ${repeated((i) => `a${i}: delete_author(where: {id: {_eq: -1}}) { affected_rows }`)} }`,
  ])();
  return post(choices, choices.of(GRAPHQL_PATHS), { query });
}

/** Generates a damaged directory of the world's own metadata. */
function directory(choices: Choices, ground: Ground): FuzzRequest {
  const files = Object.fromEntries(ground.directory);
  const names = Object.keys(files);
  for (let i = choices.below(3); i >= 0; i--) {
    const name = choices.of(names);
    const text = files[name] ?? '';
    files[name] = choices.of([
      () => damaged(text, choices),
      () => anyText(choices),
      () => `!include ${choices.of([...names, name, '../x', '/etc/passwd', ''])}`,
      () => `a: &a [*a]\n${text}`,
      () => `${text}\n${text}`,
      () => `- ${text.replaceAll('\n', '\n  ')}`,
      () => JSON.stringify(anyJson(choices)) ?? '',
    ])();
  }
  return { kind: 'directory', files };
}

function raw(choices: Choices): FuzzRequest {
  const head = choices.of([
    'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
    'POST /v1/graphql HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"query"',
    'POST /v1/graphql HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n',
    'POST /v1/query HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    'POST /v1/query HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n1\r\n{\r\n',
    'GET /v1/graphql HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: x\r\n\r\n',
    'GET /v1/graphql HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n',
    `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    'POST /v1/graphql HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n',
    'BREW / HTTP/1.1\r\n\r\n',
    '\u0016\u0003\u0001',
  ]);
  return { kind: 'raw', bytes: choices.chance(40) ? damaged(head, choices) : head };
}

function post(choices: Choices, path: string, body: unknown): HttpRequest {
  const method = choices.chance(2) ? choices.of(METHODS) : 'POST';
  return { kind: 'http', method, path, headers: headersOf(choices), body: bodyOf(choices, body) };
}

function headersOf(choices: Choices): Record<string, string> {
  const strange = choices.of([
    {},
    {},
    {},
    {},
    {
      'content-type': choices.of([
        'text/plain',
        '',
        'application/json; charset=x',
        'multipart/form-data',
        'application/x-www-form-urlencoded',
        'application/graphql',
      ]),
    },
    { host: anyHeader(choices), origin: choices.of(['null', 'http://evil.example', anyHeader(choices)]) },
    { 'transfer-encoding': 'chunked' },
    { 'content-encoding': choices.of(['gzip', 'br']) },
    { 'accept-encoding': choices.of(['gzip', 'br, *', 'gzip;q=0', anyHeader(choices)]) },
    { origin: anyHeader(choices), 'access-control-request-method': 'POST' },
    { 'x-request-id': anyHeader(choices), traceparent: anyHeader(choices), b3: anyHeader(choices) },
    { authorization: `Bearer ${anyHeader(choices)}`, cookie: anyHeader(choices) },
    { 'x-engine-user-id': anyHeader(choices), 'x-engine-use-backend-only-permissions': anyHeader(choices) },
    { 'x-forwarded-for': anyHeader(choices), 'user-agent': anyHeader(choices) },
  ]);
  return { 'content-type': 'application/json', ...secretHeaders(choices), ...strange };
}

function secretHeaders(choices: Choices): Record<string, string> {
  if (choices.chance(6)) return { 'x-engine-admin-secret': anyHeader(choices) };
  const role = choices.chance(30)
    ? {
        'x-engine-role': choices.of<string>([...ROLES, 'anonymous', anyHeader(choices)]),
        'x-engine-user-id': '1',
      }
    : {};
  return choices.chance(4) ? role : { 'x-engine-admin-secret': ADMIN_SECRET, ...role };
}

/** Generates a header value from the characters that a client can send. RFC 9110, 5.5. */
function anyHeader(choices: Choices): string {
  return anyText(choices)
    .replaceAll(/[^\t\u0020-\u007e\u0080-\u00ff]/g, '?')
    .trim()
    .slice(0, 2000);
}

function anyWellFormed(choices: Choices): string {
  return anyText(choices).toWellFormed().slice(0, 200);
}

function bodyOf(choices: Choices, body: unknown): string {
  const text = JSON.stringify(body) ?? '';
  if (!choices.chance(6)) return text;
  return choices.of([
    () => damaged(text, choices),
    () => '['.repeat(50_000),
    () => '['.repeat(50_000) + ']'.repeat(50_000),
    () => `{"type":"bulk","args":${'[{"type":"bulk","args":'.repeat(5000)}[]${'}]'.repeat(5000)}}`,
    () => `{"query":"${'{a'.repeat(5000)}${'}'.repeat(5000)}"}`,
    () => `{"query":"{a(b:${'['.repeat(9000)}${']'.repeat(9000)})}"}`,
    () => `{"query":"query($a: ${'['.repeat(9000)}Int${']'.repeat(9000)}) {a}"}`,
    () => `{"query":"{__typename}","variables":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`,
    () => text.replace('{', '{"__proto__":{"type":1},"constructor":{},'),
    () => text.replaceAll('author', choices.of(['constructor', '__proto__', 'toString', 'hasOwnProperty'])),
    () => text.replace(/\d+/, '123456789012345678901234567890'),
    () => text.replace(/\d+/, '1e999'),
    () => text.replaceAll('"', "'"),
    () => '\ufeff' + text,
    () => '',
  ])();
}

/** Damages a text: cut, doubled, or with something inserted. */
function damaged(text: string, choices: Choices): string {
  const at = choices.below(text.length + 1);
  const end = at + choices.below(20);
  return choices.of([
    text.slice(0, at),
    text.slice(0, at) + text.slice(end),
    text.slice(0, end) + text.slice(at),
    text.slice(0, at) + anyText(choices) + text.slice(at),
    text.slice(0, at) + choices.of(['\u0000', '\ud800', '\r\n', '{', '}', '"', '\\', ':']) + text.slice(at),
  ]);
}
