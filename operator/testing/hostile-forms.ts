/** Creates hostile custom resources for tests: some written by hand against the good resources (good-world.ts), some generated
 *  from the schemas of KINDS, with values that are invalid, odd, huge, or taken from the good resources.
 *  Not here: what they must not affect (end-to-end/noninterference.test.ts). */
import fc from 'fast-check';
import { type CustomResource, KINDS } from '../kinds.ts';
import { resource } from './resources.ts';

type Spec = Readonly<Record<string, unknown>>;
type Form = readonly [kind: string, spec: Spec];
type Schema = Readonly<Record<string, unknown>>;

const onTable = (name: string, schema = 'public') => ({ source: 'default', schema, table: name });
const bundle = (...objects: readonly { readonly key: string; readonly definition: unknown }[]): Form => [
  'MetadataBundle',
  { objects },
];
const select = { columns: ['id'], filter: {} };
const foreignTable = (name: string, customName: string): Form => [
  'Table',
  { ...onTable(name), configuration: { customName } },
];

function nested(levels: number): unknown {
  let value: unknown = { id: { _eq: 1 } };
  for (let level = 0; level < levels; level++) value = { _not: value };
  return value;
}

/** `url`: a GraphQL service that has the same root fields and types as the good resources. */
const WRITTEN = (url: string): readonly Form[] => [
  // Cycles of inherited roles.
  ['InheritedRole', { role: 'selfish', roles: ['selfish'] }],
  ['InheritedRole', { role: 'reader', roles: ['editor'] }],
  ['InheritedRole', { role: 'auditor', roles: ['reader', 'editor'] }],
  ['InheritedRole', { role: 'constructor', roles: ['__proto__', 'toString'] }],
  ['InheritedRole', { role: 'admin', roles: ['reader'] }],
  ['InheritedRole', { role: 'missing', roles: ['no_such_role'] }],
  ['InheritedRole', { role: 'many', roles: Array.from({ length: 500 }, (_, i) => `role-${i}`) }],
  bundle(
    { key: 'inherited_role/x', definition: { role_name: 'x', role_set: ['y'] } },
    { key: 'inherited_role/y', definition: { role_name: 'y', role_set: ['x', 'reader'] } },
  ),
  // Keys that differ from those of their definitions.
  bundle({ key: 'inherited_role/x', definition: { role_name: 'editor', role_set: ['reader'] } }),
  bundle({ key: 'table/default/public/x', definition: { table: { schema: 'public', name: 'author' } } }),
  bundle({ key: 'query_collection/x', definition: { name: 'mobile', definition: { queries: [] } } }),
  bundle({
    key: 'select_permission/default/public/author/x',
    definition: { role: 'reader', permission: select },
  }),
  bundle({ key: 'tls/a/b', definition: { host: 'legacy.internal', suffix: '443' } }),
  bundle({
    key: 'custom_type/x',
    definition: { category: 'objects', definition: { name: 'Quote', fields: [] } },
  }),
  bundle({ key: 'custom_type/x', definition: { category: 'constructor', definition: { name: 'x' } } }),
  bundle({ key: 'custom_type/x', definition: { category: 'scalars', definition: null } }),
  bundle({ key: 'source/default', definition: { name: 'default', kind: 'postgres', configuration: {} } }),
  bundle({ key: '', definition: {} }),
  bundle({ key: 'constructor/x', definition: {} }),
  bundle({ key: '__proto__', definition: {} }),
  bundle({ key: 'table/default/public/%', definition: {} }),
  bundle({ key: 'table/default/public', definition: {} }),
  bundle({ key: 'api_limits/x', definition: {} }),
  bundle({ key: 'backend_configs', definition: JSON.parse('{"__proto__": {"a": 1}, "constructor": 1}') }),
  bundle({ key: 'metrics_config', definition: { analyze_query_variables: 'yes' } }),
  bundle({
    key: 'opentelemetry',
    definition: { status: 'enabled', exporter_otlp: { otlp_traces_endpoint: 'x' } },
  }),
  // Objects that depend on missing objects, and on objects of other resources.
  bundle({ key: 'select_permission/nowhere/public/author/x', definition: { role: 'x', permission: select } }),
  bundle({
    key: 'object_relationship/default/public/author/id',
    definition: { name: 'id', using: { foreign_key_constraint_on: ['x'] } },
  }),
  bundle({
    key: 'native_query/default/author',
    definition: { root_field_name: 'author', code: 'select 1', returns: 'm' },
  }),
  bundle(
    {
      key: 'logical_model/default/author',
      definition: { name: 'author', fields: [{ name: 'id', type: 'integer' }] },
    },
    {
      key: 'native_query/default/author',
      definition: { root_field_name: 'author', code: 'select 1 as id', returns: 'author', arguments: {} },
    },
  ),
  bundle({
    key: 'logical_model/default/l',
    definition: { name: 'l', fields: [{ name: 'l', type: { logical_model: 'l' } }] },
  }),
  ['MetadataBundle', { metadata: { version: 3, sources: 'none' } }],
  ['MetadataBundle', { metadata: { version: 4, sources: [] } }],
  [
    'MetadataBundle',
    { metadata: { version: 3, sources: [], inherited_roles: [{ role_name: 'a', role_set: ['a'] }] } },
  ],
  [
    'MetadataBundle',
    {
      metadata: {
        version: 3,
        sources: [{ name: 'default', kind: 'postgres', configuration: {}, tables: [] }],
      },
    },
  ],
  ['MetadataBundle', { metadata: { version: 1, tables: [{ table: 'author' }], functions: ['x'] } }],
  ['MetadataBundle', { from: [{ configMapKeyRef: { name: 'none', key: 'none' } }] }],
  // Names of root fields, types and paths of good resources.
  foreignTable('spare', 'author'),
  foreignTable('spare', 'login'),
  foreignTable('spare', 'quote'),
  foreignTable('spare', 'Quote'),
  foreignTable('spare', 'searchArticles'),
  foreignTable('spare', 'query_root'),
  foreignTable('spare', '__schema'),
  foreignTable('spare', 'constructor'),
  foreignTable('spare', 'Currency'),
  foreignTable('spare', 'archive_author'),
  foreignTable('spare', 'invoices'),
  ['Table', { ...onTable('spare'), configuration: { customName: 'a b' } }],
  ['Table', { ...onTable('spare'), configuration: { columns: [{ name: 'id', customName: 'note' }] } }],
  ['Table', { ...onTable('spare'), isEnum: true }],
  ['Table', { ...onTable('constructor') }],
  ['Table', { ...onTable('author', 'pg_catalog') }],
  ['Table', { ...onTable('author'), configuration: { customName: 'Writer' } }],
  ['Table', { ...onTable('spare'), objectRelationships: [{ name: 'id', foreignKey: { columns: ['id'] } }] }],
  [
    'Table',
    {
      ...onTable('spare'),
      arrayRelationships: [{ name: 'self', foreignKey: { columns: ['id'], table: 'spare' } }],
    },
  ],
  [
    'Table',
    {
      ...onTable('spare'),
      computedFields: [{ name: 'note', function: 'article_excerpt' }],
    },
  ],
  ['Action', { sdl: 'type Query { author: String }', handler: { value: 'http://127.0.0.1:9/' } }],
  ['Action', { sdl: 'type Query { invoices: String }', handler: { value: 'http://127.0.0.1:9/' } }],
  [
    'Action',
    {
      sdl: 'type Mutation { login: LoginOutput } type LoginOutput { other: Int }',
      handler: { value: 'http://127.0.0.1:9/' },
    },
  ],
  ['Action', { sdl: 'type Query { mine: Quote }', handler: { value: 'http://127.0.0.1:9/' } }],
  [
    'Action',
    { sdl: 'type Query { a: A } type A { b: B } type B { a: A }', handler: { value: 'http://127.0.0.1:9/' } },
  ],
  ['Action', { sdl: 'type Query { mine(x: Nothing): author }', handler: { value: 'not a url' } }],
  [
    'Action',
    {
      sdl: 'type Mutation { insert_author: String }',
      handler: { value: '{{NO_SUCH_VARIABLE}}/x' },
      kind: 'asynchronous',
    },
  ],
  ['Action', { sdl: 'type Query { constructor: __proto__ }', handler: { value: 'http://127.0.0.1:9/' } }],
  ['Action', { sdl: 'type Query {', handler: { value: 'http://127.0.0.1:9/' } }],
  ['Action', { sdl: '', handler: { value: 'x' } }],
  ['CustomTypes', { sdl: 'type Quote { other: Int }' }],
  ['CustomTypes', { sdl: 'type author { id: Int }' }],
  ['CustomTypes', { sdl: 'scalar Money scalar Int scalar String' }],
  ['CustomTypes', { sdl: 'type query_root { a: Int } type Query { a: Int }' }],
  ['CustomTypes', { sdl: 'type A { a: A! } input I { i: I! } enum E { A A }' }],
  ['CustomTypes', { sdl: 'type BillingInvoice { id: ID } type archive_author { id: Int }' }],
  ['CustomTypes', { sdl: 'type constructor { toString: __proto__ }' }],
  [
    'CustomTypes',
    {
      sdl: 'type A { a: Int }',
      relationships: [
        {
          typeName: 'A',
          name: 'a',
          type: 'object',
          table: 'author',
          fieldMapping: { a: 'constructor' },
        },
      ],
    },
  ],
  [
    'RestEndpoint',
    {
      name: 'other',
      url: 'articles/:id',
      methods: ['GET'],
      query: { collection: 'mobile', name: 'article' },
    },
  ],
  [
    'RestEndpoint',
    { name: 'article', url: 'x', methods: ['GET'], query: { collection: 'mobile', name: 'article' } },
  ],
  [
    'RestEndpoint',
    {
      name: 'other',
      url: 'articles/:other',
      methods: ['GET', 'POST'],
      query: { collection: 'mobile', name: 'article' },
    },
  ],
  [
    'RestEndpoint',
    { name: 'any', url: ':a/:b', methods: ['GET'], query: { collection: 'mobile', name: 'none' } },
  ],
  [
    'RestEndpoint',
    {
      name: 'odd',
      url: '///:/%00/..',
      methods: ['GET'],
      query: { collection: 'constructor', name: '__proto__' },
    },
  ],
  ['QueryCollection', { name: 'mobile', queries: [{ name: 'article', query: '{ author { id } }' }] }],
  [
    'QueryCollection',
    {
      name: 'odd',
      queries: [
        { name: 'constructor', query: '{' },
        { name: '__proto__', query: 'query a { author { id } }' },
      ],
    },
  ],
  [
    'QueryCollection',
    { name: 'deep', queries: [{ name: 'deep', query: `query d ${'{ a '.repeat(3000)}${'}'.repeat(3000)}` }] },
  ],
  ['AllowListEntry', { collection: 'mobile', scope: { global: true } }],
  ['AllowListEntry', { collection: 'none', scope: { global: false, roles: [] } }],
  ['RemoteSchema', { name: 'clash', url: { value: url } }],
  ['RemoteSchema', { name: 'billing', url: { value: url } }],
  ['RemoteSchema', { name: 'clash', url: { value: url }, customization: { rootFieldsNamespace: 'author' } }],
  ['RemoteSchema', { name: 'clash', url: { value: 'http://127.0.0.1:9/' } }],
  ['RemoteSchema', { name: 'constructor', url: { env: 'NO_SUCH_VARIABLE' } }],
  [
    'RemoteSchema',
    {
      name: 'clash',
      url: { value: url },
      permissions: [{ role: 'reader', sdl: 'type Query { nothing: Int }' }],
    },
  ],
  [
    'RemoteRelationship',
    {
      ...onTable('author'),
      name: 'id',
      toSource: {
        source: 'archive',
        table: 'author',
        relationshipType: 'Object',
        fieldMapping: { id: 'id' },
      },
    },
  ],
  [
    'RemoteRelationship',
    {
      ...onTable('author'),
      name: 'invoices',
      toSource: {
        source: 'default',
        table: 'author',
        relationshipType: 'Array',
        fieldMapping: { constructor: 'id' },
      },
    },
  ],
  [
    'EventTrigger',
    {
      ...onTable('author'),
      name: 'article_changed',
      webhook: { value: 'http://127.0.0.1:9/' },
      insert: { columns: ['*'] },
    },
  ],
  [
    'EventTrigger',
    {
      ...onTable('author'),
      name: 'x'.repeat(42),
      webhook: { value: 'http://127.0.0.1:9/' },
      insert: { columns: ['*'] },
    },
  ],
  [
    'EventTrigger',
    {
      ...onTable('author'),
      name: 'a"; drop table author; --',
      webhook: { value: 'http://127.0.0.1:9/' },
      update: { columns: ['constructor'] },
    },
  ],
  [
    'EventTrigger',
    {
      ...onTable('spare_view'),
      name: 'on_view',
      webhook: { value: 'http://127.0.0.1:9/' },
      insert: { columns: ['*'] },
    },
  ],
  [
    'EventTrigger',
    { ...onTable('spare'), name: 'env', webhook: { env: 'NO_SUCH_VARIABLE' }, insert: { columns: ['*'] } },
  ],
  ['CronTrigger', { name: 'nightly', schedule: '* * * * *', webhook: { value: 'http://127.0.0.1:9/' } }],
  ['CronTrigger', { name: 'never', schedule: '0 0 31 2 *', webhook: { value: 'http://127.0.0.1:9/' } }],
  [
    'CronTrigger',
    { name: 'odd', schedule: 'constructor', webhook: { value: '{{' }, payload: { a: nested(200) } },
  ],
  ['TablePermission', { ...onTable('author'), role: 'reader', select: { columns: ['*'], filter: {} } }],
  [
    'TablePermission',
    { ...onTable('author'), role: 'intruder', select: { columns: ['*'], filter: nested(5000) } },
  ],
  [
    'TablePermission',
    { ...onTable('author'), role: 'intruder', select: { columns: ['*'], filter: nested(200) } },
  ],
  [
    'TablePermission',
    {
      ...onTable('author'),
      role: 'intruder',
      select: { columns: ['constructor'], filter: JSON.parse('{"__proto__": {"_eq": 1}, "toString": 1}') },
    },
  ],
  ['TablePermission', { ...onTable('author'), role: 'admin', select }],
  [
    'TablePermission',
    {
      ...onTable('comment'),
      role: 'reader',
      select: { columns: ['id'], filter: { said_by: { _eq: 'x' } }, maxRows: 1 },
    },
  ],
  [
    'TablePermission',
    {
      ...onTable('comment'),
      role: 'editor',
      select,
      insert: { columns: ['*'], check: {} },
      delete: { filter: {} },
    },
  ],
  [
    'TablePermission',
    {
      ...onTable('author'),
      role: 'intruder',
      select: { columns: Array.from({ length: 1600 }, (_, i) => `${'c'.repeat(150)}${i}`), filter: {} },
    },
  ],
  ['Function', { source: 'default', function: 'search_articles' }],
  [
    'Function',
    {
      source: 'default',
      function: 'article_excerpt',
      configuration: { customName: 'author' },
    },
  ],
  [
    'Function',
    {
      source: 'default',
      schema: 'pg_catalog',
      function: 'pg_sleep',
      configuration: { exposedAs: 'Mutation' },
    },
  ],
  ['Source', { name: 'default', connection: { url: { env: 'ARCHIVE_URL' } } }],
  ['Source', { name: 'archive', connection: { url: { env: 'NO_SUCH_VARIABLE' } } }],
  [
    'Source',
    {
      name: 'same',
      connection: { url: { env: 'ARCHIVE_URL' } },
      customization: { rootFields: { namespace: 'author' } },
    },
  ],
  ['Source', { name: 'dead', connection: { url: { env: 'AUTH_URL' } } }],
  ['Source', { name: 'constructor', connection: { url: { file: '/no/such/file' } } }],
  [
    'Source',
    {
      name: 'odd',
      connection: { url: { env: 'ARCHIVE_URL' } },
      connectionTemplate: { template: '{{ constructor' },
    },
  ],
  ['ApiLimits', { depth: { global: 1 } }],
  ['EngineSettings', { introspection: { disabledForRoles: ['reader', 'constructor'] } }],
  ['Nothing', { constructor: 1 }],
];

/** Values of good resources, and values that often cause errors. */
const WORDS = [
  'author',
  'article',
  'comment',
  'spare',
  'public',
  'default',
  'archive',
  'billing',
  'mobile',
  'reader',
  'auditor',
  'editor',
  'admin',
  'id',
  'name',
  'login',
  'Quote',
  'nightly',
  'article_changed',
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'query_root',
  '__typename',
  '',
  ' ',
  '*',
  '/',
  '%',
  '%2F',
  'a/b',
  '$',
  '{{',
  '}}',
  'null',
  '🙂',
  '\u202e',
  'é',
  '"',
  "'",
  '\\',
  '\n',
  'x'.repeat(64),
  'x'.repeat(255),
  'x'.repeat(5000),
  'http://127.0.0.1:9/',
  'type Query { author: Int }',
  '* * * * *',
  'ARCHIVE_URL',
] as const;

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...WORDS, null, true, 0, -1, 1e308, Number.MAX_SAFE_INTEGER, [], {}, [[]], {
    constructor: {},
  }),
  fc.object({ maxDepth: 2, maxKeys: 4, key: fc.constantFrom(...WORDS) }),
);

/** Generates values of a schema, a tenth of them invalid. */
function anyValueOf(schema: Schema): fc.Arbitrary<unknown> {
  return fc.oneof({ arbitrary: rightValueOf(schema), weight: 19 }, { arbitrary: junk, weight: 1 });
}

function rightValueOf(schema: Schema): fc.Arbitrary<unknown> {
  const { anyOf, enum: choices, properties, patternProperties, items } = schema;
  if ('const' in schema) return fc.constant(schema['const']);
  if (Array.isArray(choices)) return fc.constantFrom(...choices);
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((branch) => rightValueOf(branch as Schema)));
  switch (schema['type']) {
    case 'string':
      return fc.constantFrom(...WORDS);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer());
    case 'array':
      return fc.array(anyValueOf((items ?? {}) as Schema), { maxLength: 3 });
    case 'object':
      if (properties) return fieldsOf(properties as Record<string, Schema>, schema['required']);
      return fc.dictionary(
        fc.constantFrom(...WORDS),
        patternProperties ? anyValueOf(Object.values(patternProperties)[0] as Schema) : junk,
        { maxKeys: 3 },
      );
    default:
      return junk;
  }
}

function fieldsOf(properties: Readonly<Record<string, Schema>>, required: unknown): fc.Arbitrary<unknown> {
  const mustHave = Array.isArray(required) ? required : [];
  const fields = Object.fromEntries(
    Object.entries(properties).map(([key, inner]) => [key, anyValueOf(inner)]),
  );
  return fc.record(fields, { requiredKeys: mustHave });
}

const generated: fc.Arbitrary<Form> = fc
  .constantFrom(...KINDS.filter(({ kind }) => kind !== 'Engine'))
  .chain((row) => rightValueOf(row.spec as unknown as Schema).map((spec): Form => [row.kind, spec as Spec]));

/** Returns hostile resources that are newer than all good ones, in a namespace of their own. */
export function hostileResources(url: string, count: number, seed: number): readonly CustomResource[] {
  const written = WRITTEN(url);
  const more = fc.sample(generated, { seed, numRuns: Math.max(0, count - written.length) });
  return [...written, ...more].map(([kind, spec], i) => {
    const given = { namespace: 'intruder', creationTimestamp: '2026-01-01T00:00:00Z' };
    const { metadata, ...rest } = resource(kind, `hostile-${i}`, {}, given);
    const { suspend: _, engineRef: __, ...said } = spec;
    return {
      ...rest,
      metadata: { ...metadata, uid: `hostile-${i}` },
      spec: { engineRef: { name: 'main' }, ...said },
    };
  });
}
