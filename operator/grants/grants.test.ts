/** Tests what grants cover: patterns, absent fields, the Engine's own namespace, and the message of a refusal. */
import {
  ancestry,
  type MetadataObject,
  OBJECT_KINDS,
  OBJECTS,
  type ObjectKind,
  objectKey,
} from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { type Grant, isGrantFor, isMatch, objectionTo } from './grants.ts';
import { needsOf } from './needs.ts';

test.each([
  ['*', 'anything', true],
  ['*', '*', true],
  ['team-*', 'team-a', true],
  ['team-*', 'team-', true],
  ['team-*', 'my-team-a', false],
  ['*.team-a.svc', 'auth.team-a.svc', true],
  ['*.team-a.svc', 'team-a.svc', false],
  ['*.team-a.svc', 'auth.team-a.svc.evil.org', false],
  ['public.*', 'public.author', true],
  ['public.*', 'publication.author', false],
  ['public.*', '*', false],
  ['*audit*', 'public.audit_log', true],
  ['public.author', 'public.author', true],
  ['public.author', 'public.author2', false],
  ['public.author', 'PUBLIC.author', false],
  ['a*b', 'axb', false],
  ['', '', true],
  ['reader', '*', false],
])('the pattern %s matches %s: %s', (pattern, value, expected) => {
  expect(isMatch(pattern, value)).toBe(expected);
});

test.each<[string, Omit<Grant, 'name'>, boolean]>([
  ['the name of the namespace', { namespaces: ['team-a'] }, true],
  ['a pattern of its name', { namespaces: ['x', 'team-*'] }, true],
  ['another name', { namespaces: ['team-b'] }, false],
  ['no name', { namespaces: [] }, false],
  ['its labels', { namespaceSelector: { matchLabels: { tier: 'product' } } }, true],
  ['other labels', { namespaceSelector: { matchLabels: { tier: 'product', zone: 'x' } } }, false],
  ['no labels', { namespaceSelector: { matchLabels: {} } }, false],
  ["the Engine's own namespace", {}, false],
])('a grant applies only to the namespaces it selects: %s', (_, grant, expected) => {
  const candidate = { namespace: 'team-a', isHome: false, labels: { tier: 'product' } };
  expect(isGrantFor({ name: 'g', ...grant }, candidate)).toBe(expected);
});

test("a grant without namespaces applies to the Engine's own namespace", () => {
  expect(isGrantFor({ name: 'g' }, { namespace: 'api', isHome: true, labels: undefined })).toBe(true);
});

test('a selector matches no namespace while labels are unknown', () => {
  const grant = { name: 'g', namespaceSelector: { matchLabels: { tier: 'product' } } };
  expect(isGrantFor(grant, { namespace: 'team-a', isHome: false, labels: undefined })).toBe(false);
});

const SEGMENTS: Partial<Record<ObjectKind, readonly string[]>> = {
  action: ['team_a_login'],
  remote_schema: ['team_a_billing'],
  cron_trigger: ['team_a_nightly'],
  allowlist: ['team_a_mobile'],
  custom_type: ['teamALogin'],
  rest_endpoint: ['team_a_authors'],
  query_collection: ['team_a_mobile'],
  remote_schema_permission: ['team_a_billing', 'team-a-user'],
  remote_schema_relationship: ['team_a_billing', 'Invoice', 'author'],
  inherited_role: ['team-a-both'],
  opentelemetry: [],
  action_permission: ['team_a_login', 'team-a-user'],
  native_query: ['default', 'spy'],
  source: ['default'],
  table: ['default', 'public', 'author'],
  function: ['default', 'public', 'search'],
};

function object(kind: ObjectKind, definition: object, ...segments: readonly string[]): MetadataObject {
  const names = segments.length > 0 ? segments : (SEGMENTS[kind] ?? ['default', 'public', 'author', 'x']);
  return { key: objectKey(kind, ...names), kind, parent: null, definition };
}

const COMPLETE = {
  sources: ['default'],
  tables: ['public.*'],
  names: ['team_a_*', 'teamA*'],
  roles: ['team-a-*'],
  variables: ['TEAM_A_*'],
  webhookHosts: ['*.team-a.svc'],
};

const objection = (
  kind: string,
  objects: readonly MetadataObject[],
  grant: Partial<Grant> | undefined,
  namespace = 'team-a',
) => {
  const grants = grant ? [{ name: 'a', namespaces: ['team-a'], ...grant }] : [];
  return objectionTo({ engine: 'api/main', namespace, isHome: namespace === 'api', grants }, kind, objects);
};

const permission = (role: string, filter: object = {}, more: object = {}) =>
  object(
    'select_permission',
    { role, permission: { columns: '*', filter, ...more } },
    'default',
    'public',
    'author',
    role,
  );
const action = (handler: string, more: object = {}) =>
  object('action', { name: 'login', definition: { handler, ...more } });
const trigger = (more: object) => object('event_trigger', { name: 'x', ...more });
const transform = (url: string) => ({ request_transform: { version: 2, url } });
const exists = (name: string) => ({ _exists: { _table: { schema: 'secret', name }, _where: {} } });
const relationship = (schema: string) =>
  object('object_relationship', {
    name: 'x',
    using: {
      manual_configuration: { remote_table: { schema, name: 'other' }, column_mapping: { id: 'id' } },
    },
  });

test.each<[string, string, MetadataObject, boolean]>([
  ['a table of the source and schema', 'Table', object('table', {}), true],
  ['a table of another schema', 'Table', object('table', {}, 'default', 'secret', 'author'), false],
  ['a table whose schema has a dot', 'Table', object('table', {}, 'default', 'public.x', 'author'), false],
  ['a table of another source', 'Table', object('table', {}, 'other', 'public', 'author'), false],
  ['a function of the schema', 'Function', object('function', {}), true],
  ['a function of another schema', 'Function', object('function', {}, 'default', 'secret', 'f'), false],
  ['a permission for its role', 'TablePermission', permission('team-a-user'), true],
  ['a permission for another role', 'TablePermission', permission('reader'), false],
  ['a condition on another table', 'TablePermission', permission('team-a-user', exists('salary')), false],
  [
    'validation at another host',
    'TablePermission',
    object(
      'insert_permission',
      {
        role: 'team-a-user',
        permission: {
          check: {},
          validate_input: { type: 'http', definition: { url: 'http://evil.org' } },
        },
      },
      ...['default', 'public', 'author', 'team-a-user'],
    ),
    false,
  ],
  ['a relationship within the schema', 'Table', relationship('public'), true],
  ['a relationship out of it', 'Table', relationship('secret'), false],
  [
    'a computed field of a foreign function',
    'Table',
    object('computed_field', { name: 'x', definition: { function: { schema: 'secret', name: 'f' } } }),
    false,
  ],
  ['a handler of its own', 'Action', action('http://auth.team-a.svc:8080/login'), true],
  ['a handler in capitals, with a final dot', 'Action', action('HTTP://AUTH.TEAM-A.SVC./'), true],
  ['a handler elsewhere', 'Action', action('http://evil.org/.team-a.svc'), false],
  ['a handler with a user that looks like a host', 'Action', action('http://x.team-a.svc@evil.org'), false],
  ['a handler that a backslash ends', 'Action', action('http://evil.org\\.team-a.svc'), false],
  ['a granted variable as the base', 'Action', action('{{TEAM_A_URL}}/login'), true],
  ['another variable as the base', 'Action', action('{{PAYMENTS_URL}}/login'), false],
  ['a variable that a foreign host follows', 'Action', action('{{TEAM_A_URL}}@evil.org/'), false],
  ['a variable that slashes follow', 'Action', action('{{TEAM_A_URL}}//evil.org/'), false],
  ['a variable in the path', 'Action', action('http://x.team-a.svc/{{TEAM_A_KEY}}'), true],
  ['a variable within the host', 'Action', action('http://{{TEAM_A_URL}}.team-a.svc/'), false],
  ['no URL at all', 'Action', action('login'), false],
  ['a transform of the address', 'Action', action('http://x.team-a.svc', transform('{{$base_url}}/a')), true],
  [
    'a transform to another host',
    'Action',
    action('http://x.team-a.svc', transform('http://evil.org')),
    false,
  ],
  ['a transform to any host', 'Action', action('http://x.team-a.svc', transform('{{$body.url}}')), false],
  [
    'a header from a variable',
    'Action',
    action('http://x.team-a.svc', { headers: [{ name: 'x', value_from_env: 'TEAM_A_KEY' }] }),
    true,
  ],
  [
    'a header from another variable',
    'Action',
    action('http://x.team-a.svc', { headers: [{ name: 'x', value_from_env: 'DATABASE_URL' }] }),
    false,
  ],
  ['an event trigger of its own', 'EventTrigger', trigger({ webhook: 'http://x.team-a.svc' }), true],
  ['an event trigger elsewhere', 'EventTrigger', trigger({ webhook: 'http://evil.org' }), false],
  ['an event trigger to a variable', 'EventTrigger', trigger({ webhook_from_env: 'OTHER_URL' }), false],
  ['a cron trigger elsewhere', 'CronTrigger', object('cron_trigger', { webhook: 'http://evil.org' }), false],
  [
    'a remote schema elsewhere',
    'RemoteSchema',
    object('remote_schema', { name: 'billing', definition: { url: 'http://evil.org' } }),
    false,
  ],
  [
    'queries allowed for its roles',
    'QueryCollection',
    object('allowlist', { collection: 'mobile', scope: { global: false, roles: ['team-a-user'] } }),
    true,
  ],
  ['queries allowed for everyone', 'QueryCollection', object('allowlist', { collection: 'mobile' }), false],
  ['an action for its role', 'Action', object('action_permission', { role: 'team-a-user' }), true],
  ['a type of its name', 'CustomTypes', object('custom_type', {}), true],
  ['a type of another name', 'CustomTypes', object('custom_type', {}, 'Money'), false],
  ['an endpoint of its name', 'RestEndpoint', object('rest_endpoint', {}), true],
  ['an endpoint of another name', 'RestEndpoint', object('rest_endpoint', {}, 'authors'), false],
  ['a collection of another name', 'QueryCollection', object('query_collection', {}, 'mobile'), false],
  [
    'its role on the action of others',
    'Action',
    object('action_permission', {}, 'login', 'team-a-user'),
    false,
  ],
  ['a permission on its remote schema', 'RemoteSchema', object('remote_schema_permission', {}), true],
  [
    'its role on the remote schema of others',
    'RemoteSchema',
    object('remote_schema_permission', {}, 'billing', 'team-a-user'),
    false,
  ],
  [
    'a relationship of a remote schema of others',
    'RemoteRelationship',
    object('remote_schema_relationship', {}, 'billing', 'Invoice', 'author'),
    false,
  ],
  ['a source', 'Source', object('source', {}), false],
  ['a native query in a bundle', 'MetadataBundle', object('native_query', {}), false],
  ['telemetry', 'EngineSettings', object('opentelemetry', {}), false],
  ['an inherited role', 'InheritedRole', object('inherited_role', { role_set: ['team-a-user'] }), false],
])('a grant without kinds covers only what its other fields name: %s', (_, kind, needed, expected) => {
  expect(objection(kind, [needed], COMPLETE) === undefined).toBe(expected);
});

test.each<[string, Partial<Grant>, string, MetadataObject, boolean]>([
  ['the kind', { kinds: ['Table'] }, 'Table', object('table', {}), true],
  ['another kind', { kinds: ['Action'] }, 'Table', object('table', {}), false],
  ['no kind', { kinds: [] }, 'Table', object('table', {}), false],
  [
    'a kind of the whole engine',
    { kinds: ['InheritedRole'] },
    'InheritedRole',
    object('inherited_role', { role_set: ['team-a-user'] }),
    true,
  ],
  [
    'that kind, and a role that is not granted',
    { kinds: ['InheritedRole'] },
    'InheritedRole',
    object('inherited_role', { role_set: ['finance'] }),
    false,
  ],
  ['bundles, and a table in one', { kinds: ['MetadataBundle'] }, 'MetadataBundle', object('table', {}), true],
  [
    'bundles, and telemetry in one',
    { kinds: ['MetadataBundle'], roles: ['*'] },
    'MetadataBundle',
    object('opentelemetry', {}),
    false,
  ],
  [
    'both, and telemetry in one',
    { kinds: ['MetadataBundle', 'EngineSettings'], roles: ['*'] },
    'MetadataBundle',
    object('opentelemetry', {}),
    true,
  ],
  [
    'telemetry to another host',
    { kinds: ['EngineSettings'], roles: ['*'] },
    'EngineSettings',
    object('opentelemetry', { exporter_otlp: { otlp_traces_endpoint: 'http://evil.org' } }),
    false,
  ],
  [
    'references to another schema',
    { references: ['secret.*'] },
    'TablePermission',
    permission('team-a-user', exists('salary')),
    true,
  ],
])('a grant covers only the kinds and objects it names: %s', (_, grant, kind, needed, expected) => {
  expect(objection(kind, [needed], { ...COMPLETE, ...grant }) === undefined).toBe(expected);
});

test.each(['sources', 'tables', 'roles'] as const)('a grant without %s covers no permission', (field) => {
  const { [field]: _, ...rest } = COMPLETE;
  expect(objection('TablePermission', [permission('team-a-user')], rest)).toBeDefined();
});

test('every kind of object needs a source, a name, a role or a kind in the grant', () => {
  const segments = (kind: ObjectKind) =>
    ancestry(kind).flatMap((step) => Array<string>(OBJECTS[step].identity.width).fill('x'));
  const needs = OBJECT_KINDS.map((kind) => needsOf(object(kind, {}, ...segments(kind))));
  const isFree = needs.map(({ sources, names, roles, kinds }) =>
    [sources, names, roles, kinds].every((x) => x.length === 0),
  );
  expect(OBJECT_KINDS.filter((_, i) => isFree[i])).toEqual([]);
});

test('a single grant must cover the whole object, and two grants do not add up', () => {
  const granted = {
    engine: 'api/main',
    namespace: 'team-a',
    isHome: false,
    grants: [
      { name: 'a', namespaces: ['team-a'], sources: ['default'], tables: ['*'] },
      { name: 'b', namespaces: ['team-a'], sources: ['default'], roles: ['*'] },
    ],
  };
  expect(objectionTo(granted, 'TablePermission', [permission('r')])).toBeDefined();
  expect(objectionTo(granted, 'Table', [object('table', {})])).toBeUndefined();
});

test("the Engine's own namespace may own everything but needs a grant for environment variables", () => {
  const own = (needed: MetadataObject, grant?: Partial<Grant>) =>
    objection('Source', [needed], grant && { namespaces: ['api'], ...grant }, 'api');
  const source = object('source', {
    configuration: { connection_info: { database_url: { from_env: 'PG_URL' } } },
  });
  expect(own(permission('anyone', exists('salary')))).toBeUndefined();
  expect(own(object('opentelemetry', {}))).toBeUndefined();
  expect(own(source)).toBe(
    'source default names environment variables that Engine api/main does not grant; ' +
      'allow it with a grant in its spec.grants: {name: api, variables: [PG_URL]}',
  );
  expect(own(source, { variables: ['PG_*'] })).toBeUndefined();
  expect(own(source, { variables: ['TEAM_*'] })).toContain('variables: [PG_URL]');
});

test('the message of a refusal has the grant to add, or what the nearest grant lacks', () => {
  const author = [object('table', {}), permission('reader')];
  expect(objection('Table', author, undefined)).toBe(
    'Engine api/main does not let namespace team-a have table default/public/author; allow it with a grant in its spec.grants: ' +
      '{name: team-a, namespaces: [team-a], sources: [default], tables: [public.author], roles: [reader]}',
  );
  expect(objection('Table', author, COMPLETE)).toBe(
    'Engine api/main does not let namespace team-a have select permission default/public/author/reader; ' +
      'its grant a would also need roles: [reader]',
  );
  const many = Array.from({ length: 9 }, (_, i) => permission(`r${i}`));
  expect(objection('Table', many, COMPLETE)).toContain('roles: [r0, r1, r2, r3, r4] and 4 more');
});

const HOSTS = { webhookHosts: ['hooks.example.org'] };
const actionOf = (definition: object) =>
  object('action', { name: 'team_a_login', definition: { output_type: 'teamALogin', ...definition } });
const withHeader = (header: object) =>
  actionOf({ handler: 'https://hooks.example.org/x', headers: [{ name: 'authorization', ...header }] });

test.each<[string, MetadataObject, Omit<Grant, 'name'>, string | undefined]>([
  [
    'a value of its own namespace',
    withHeader({ value_from_value: 'team-a/0a/keys/token' }),
    HOSTS,
    undefined,
  ],
  [
    'a value of another namespace',
    withHeader({ value_from_value: 'team-b/0a/keys/token' }),
    HOSTS,
    '"value:team-b/0a/keys/token"',
  ],
  [
    'a value of a namespace whose name begins like its own',
    withHeader({ value_from_value: 'team-a-b/0a/keys/token' }),
    HOSTS,
    '"value:team-a-b/0a/keys/token"',
  ],
  [
    'a shared value that is granted',
    withHeader({ value_from_value: 'shared/token' }),
    { ...HOSTS, variables: ['value:shared/*'] },
    undefined,
  ],
  ['a file', withHeader({ value_from_file: '/run/secrets/token' }), HOSTS, '"file:/run/secrets/token"'],
  [
    'a variable within the value of a header',
    withHeader({ value: 'Bearer {{PAYMENTS_KEY}}' }),
    HOSTS,
    'variables: [PAYMENTS_KEY]',
  ],
  [
    'a value of another namespace within the value of a header',
    withHeader({ value: 'Bearer {{value:team-b/0a/keys/token}}' }),
    HOSTS,
    '"value:team-b/0a/keys/token"',
  ],
  [
    'a granted variable within the value of a header',
    withHeader({ value: 'Bearer {{PAYMENTS_KEY}}' }),
    { ...HOSTS, variables: ['PAYMENTS_KEY'] },
    undefined,
  ],
  [
    'a value of another namespace in a template',
    actionOf({ handler: 'https://hooks.example.org/{{value:team-b/0a/keys/token}}' }),
    HOSTS,
    '"value:team-b/0a/keys/token"',
  ],
  [
    'a value of its own as the host of a template',
    actionOf({ handler: '{{value:team-a/0a/hook/url}}/x' }),
    HOSTS,
    'webhookHosts: ["*"]',
  ],
  [
    'a value of its own as a URL',
    object('remote_schema', {
      name: 'team_a_billing',
      definition: { url_from_value: 'team-a/0a/hook/url' },
    }),
    HOSTS,
    'webhookHosts: ["*"]',
  ],
])('a namespace that names %s', (_, one, grant, lacks) => {
  const granted = {
    engine: 'api/main',
    namespace: 'team-a',
    isHome: false,
    grants: [{ name: 'g', names: ['team_a_*'], roles: ['*'], ...grant }],
  };
  const refusal = objectionTo(granted, one.kind === 'action' ? 'Action' : 'RemoteSchema', [one]);
  if (lacks === undefined) expect(refusal).toBeUndefined();
  else expect(refusal).toContain(lacks);
});
