/** Tests that the resources described from metadata stand for exactly that metadata. */
import {
  isRecord,
  type Metadata,
  type MetadataObject,
  objectsOf,
  parseMetadata,
} from '@pergola/engine/metadata';
import { expect, test } from 'vitest';
import { desire } from '../decide/desired.ts';
import { hashOf, normalised } from '../objects/normal-form.ts';
import { ownerOfValues } from '../objects/value-name.ts';
import { OPTIONS, resource, snapshotOf } from '../testing/resources.ts';
import { describeMetadata } from './describe.ts';

const describe = (metadata: Metadata) => describeMetadata(metadata, { name: 'main' });

/** Returns the hashes of a document's objects by key. */
function hashesOf(metadata: Metadata): Readonly<Record<string, string>> {
  return Object.fromEntries([...objectsOf(metadata).values()].map((o) => [o.key, hashOf(normalised(o))]));
}

/** Returns the hashes of the objects that the described resources stand for, by key. */
function asked(metadata: Metadata): Readonly<Record<string, string>> {
  const { resources, secrets } = describe(metadata);
  const values = new Map(secrets.map((secret) => [secret.name, secret.values]));
  const desired = desire(
    snapshotOf(
      resources.map(({ kind, name, spec }) => resource(kind, name, spec)),
      {
        references: { secret: (_, name, key) => values.get(name)?.[key], configMap: () => undefined },
      },
    ),
    { manager: OPTIONS.manager, objects: new Map() },
    new Map(),
    OPTIONS,
  );
  expect([...desired.outcomes.values()]).toEqual([]);
  return Object.fromEntries(
    [...desired.claims].map(([key, { object }]) => {
      const definition = withValues(object.definition, desired.values);
      return [key, hashOf({ ...object, definition } as MetadataObject)];
    }),
  );
}

/** Puts values of Secrets in the position of their names. */
function withValues(value: unknown, values: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withValues(item, values));
  if (!isRecord(value)) return value;
  const named = value['from_value'];
  if (typeof named === 'string') return values.get(named);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withValues(item, values)]));
}

const kindsOf = (metadata: Metadata) => [...new Set(describe(metadata).resources.map(({ kind }) => kind))];

const ACTION = {
  handler: 'http://a',
  arguments: [{ name: 'id', type: 'Int!', description: 'whose' }],
  output_type: '[Quote!]',
};
const webhook = { headers: [{ name: 'a', value_from_env: 'B' }], webhook: 'http://a' };
const transform = {
  version: 1,
  body: '{{$body}}',
  query_params: 'a=1',
  request_headers: { add_headers: { a: 'b' }, remove_headers: ['c'] },
};

/** Metadata with an object of every kind. */
const EVERYTHING = parseMetadata({
  version: 3,
  sources: [
    {
      name: 'default',
      kind: 'postgres',
      configuration: {
        connection_info: { database_url: 'postgres://secret', pool_settings: { max_connections: 3 } },
        read_replicas: [
          { database_url: { from_env: 'REPLICA' } },
          {
            database_url: {
              connection_parameters: { host: 'h', port: 5432, database: 'd', username: 'u', password: 'p' },
            },
          },
        ],
        connection_template: { version: 1, template: '{{$.default}}' },
        connection_set: [{ name: 'west', connection_info: { database_url: { from_env: 'WEST' } } }],
      },
      customization: { root_fields: { prefix: 'a_' }, naming_convention: 'graphql-default' },
      query_tags: { disabled: false, format: 'standard', omit_request_id: true },
      health_check: { test: { sql: 'SELECT 3' }, interval: 7, retries: 2 },
      tables: [
        {
          table: { schema: 'public', name: 'a' },
          is_enum: false,
          configuration: {
            custom_name: 'Ay',
            custom_root_fields: {
              select: 'ays',
              insert: { name: 'putA', comment: 'in' },
              delete: { comment: 'out' },
            },
            column_config: { x: { custom_name: 'ex', comment: 'an x' } },
          },
          object_relationships: [
            { name: 'b', using: { foreign_key_constraint_on: 'b_id' } },
            { name: 'c', using: { foreign_key_constraint_on: { table: 'c', column: 'a_id' } } },
          ],
          array_relationships: [
            {
              name: 'ds',
              using: {
                manual_configuration: {
                  remote_table: 'd',
                  column_mapping: { x: 'y' },
                  insertion_order: 'after_parent',
                },
              },
            },
            {
              name: 'ns',
              using: { manual_configuration: { remote_native_query: 'n', column_mapping: { x: 'y' } } },
            },
          ],
          computed_fields: [{ name: 'f', definition: { function: 'f', session_argument: 's' } }],
          remote_relationships: [
            {
              name: 'r',
              definition: {
                to_remote_schema: {
                  remote_schema: 'r',
                  lhs_fields: ['x'],
                  remote_field: { q: { arguments: {} } },
                },
              },
            },
          ],
          select_permissions: [{ role: 'u', permission: { columns: '*', filter: {} }, comment: 'all' }],
          insert_permissions: [
            { role: 'u', permission: { check: { x: { _eq: 1 } }, set: { y: 2 } }, comment: 'all' },
          ],
          event_triggers: [
            {
              name: 'e',
              definition: {
                insert: { columns: '*' },
                update: { columns: ['x'], payload: ['y'] },
                enable_manual: true,
              },
              retry_conf: { num_retries: 1, interval_sec: 2, timeout_sec: 3 },
              cleanup_config: { schedule: '0 0 * * *', clear_older_than: 5, paused: true },
              request_transform: transform,
              ...webhook,
            },
          ],
        },
      ],
      functions: [
        {
          function: 'g',
          configuration: { exposed_as: 'mutation', custom_root_fields: { function: 'gee' } },
          permissions: [{ role: 'u' }],
        },
      ],
      native_queries: [
        { root_field_name: 'n', code: 'select 1 as x', returns: 'm', arguments: {} },
        {
          root_field_name: 'o',
          code: 'select {{a}} as x',
          returns: 'm',
          arguments: { a: { type: 'integer', nullable: true, description: 'an a' }, b: { type: 'text' } },
          object_relationships: [
            { name: 'model', using: { remote_native_query: 'n', column_mapping: { x: 'x' } } },
          ],
          array_relationships: [
            { name: 'models', using: { remote_table: 'd', column_mapping: { x: 'x' } }, comment: 'd' },
          ],
          description: 'o',
        },
      ],
      logical_models: [
        { name: 'm', fields: [{ name: 'x', type: 'integer' }] },
        {
          name: 'k',
          description: 'k',
          fields: [
            { name: 'a', type: { scalar: 'text', nullable: true }, description: 'a' },
            { name: 'b', type: { array: 'text', nullable: true } },
            { name: 'model', type: { logical_model: 'm', nullable: true } },
            { name: 'models', type: { array: { logical_model: 'm' } } },
          ],
          select_permissions: [{ role: 'u', permission: { columns: '*', filter: {}, limit: 3 } }],
        },
        // Only a bundle can say this.
        { name: 'nested', fields: [{ name: 'x', type: { array: { array: 'text' } } }] },
      ],
    },
  ],
  remote_schemas: [
    {
      name: 'r',
      definition: {
        url_from_env: 'R',
        timeout_seconds: 5,
        headers: [{ name: 'a', value: 'b' }],
        customization: {
          type_names: { prefix: 'R', mapping: { A: 'B' } },
          field_names: [{ parent_type: 'A', prefix: 'f' }],
        },
      },
      permissions: [{ role: 'u', definition: { schema: 'type Query { q: Int }' } }],
      remote_relationships: [
        {
          type_name: 'A',
          relationships: [
            {
              name: 'a',
              definition: {
                to_source: {
                  source: 'default',
                  table: 'a',
                  relationship_type: 'object',
                  field_mapping: { x: 'x' },
                },
              },
            },
          ],
        },
      ],
    },
  ],
  query_collections: [{ name: 'q', comment: 'c', definition: { queries: [{ name: 'x', query: '{ x }' }] } }],
  allowlist: [{ collection: 'q', scope: { global: false, roles: ['u'] } }, { collection: 'elsewhere' }],
  rest_endpoints: [
    {
      name: 'e',
      url: 'e/:id',
      methods: ['GET'],
      definition: { query: { collection_name: 'q', query_name: 'x' } },
    },
  ],
  actions: [
    {
      name: 'quote',
      definition: { ...ACTION, type: 'query', request_transform: transform },
      permissions: [{ role: 'u' }],
    },
    { name: 'order', definition: { ...ACTION, kind: 'asynchronous', timeout: 5 }, comment: 'slow' },
  ],
  custom_types: {
    scalars: [{ name: 'Money' }],
    enums: [{ name: 'E', values: [{ value: 'A', is_deprecated: true }] }],
    input_objects: [{ name: 'I', fields: [{ name: 'x', type: 'Int' }] }],
    objects: [
      {
        name: 'Quote',
        description: 'A price.',
        fields: [{ name: 'price', type: 'Money!' }],
        relationships: [{ name: 'a', type: 'object', remote_table: 'a', field_mapping: { price: 'x' } }],
      },
    ],
  },
  cron_triggers: [
    {
      name: 'c',
      schedule: '* * * * *',
      include_in_metadata: true,
      webhook: { from_env: 'W' },
      payload: [1],
      comment: 'x',
    },
  ],
  inherited_roles: [{ role_name: 'i', role_set: ['u'] }],
  api_limits: {
    depth_limit: { global: 1, per_role: { u: 2 } },
    time_limit: { global: 3 },
    response_limit: { global: 5, per_role: { u: 6 } },
    rate_limit: {
      global: { max_reqs_per_min: 4, unique_params: 'IP' },
      per_role: { u: { max_reqs_per_min: 1, unique_params: ['x'] } },
    },
  },
  graphql_schema_introspection: { disabled_for_roles: ['u'] },
  network: { tls_allowlist: [{ host: 'h' }, { host: 'h', suffix: '443', permissions: ['self-signed'] }] },
  metrics_config: { analyze_query_variables: true },
  opentelemetry: {
    status: 'enabled',
    exporter_otlp: { otlp_traces_endpoint: 'http://o', headers: [{ name: 'a', value: 'b' }] },
  },
  backend_configs: { other: { x: 1 } },
});

test('metadata with every kind of object becomes resources that stand for the same objects', () => {
  expect(asked(EVERYTHING)).toEqual(hashesOf(EVERYTHING));
});

test('a bundle contains only objects without a kind of their own', () => {
  const bundles = describe(EVERYTHING).resources.filter(({ kind }) => kind === 'MetadataBundle');
  const keys = bundles.flatMap(({ spec }) => (spec['objects'] as { key: string }[]).map(({ key }) => key));
  expect(keys).toEqual(['logical_model/default/nested', 'backend_configs']);
});

test('a connection URL of the metadata is written to a Secret, never to a resource', () => {
  const { resources, secrets } = describe(EVERYTHING);
  expect(secrets).toEqual([
    { name: 'source-default', values: { url: 'postgres://secret', 'replica-2': 'p' } },
  ]);
  expect(JSON.stringify(resources)).not.toContain('postgres://');
});

const sourceWith = (table: object) =>
  parseMetadata({
    version: 3,
    sources: [
      {
        name: 's',
        kind: 'postgres',
        configuration: { connection_info: { database_url: { from_env: 'S' } } },
        tables: [{ table: 't', ...table }],
      },
    ],
  });

test('a permission that its table cannot contain is a resource of its own, such as one with another comment', () => {
  const metadata = sourceWith({
    select_permissions: [{ role: 'u', permission: { columns: '*', filter: {} }, comment: 'one' }],
    delete_permissions: [{ role: 'u', permission: { filter: {} }, comment: 'another' }],
  });
  expect(asked(metadata)).toEqual(hashesOf(metadata));
  expect(describe(metadata).resources.map(({ kind, name }) => [kind, name])).toEqual([
    ['Source', 's'],
    ['Table', 't'],
    ['TablePermission', 't-u-delete'],
  ]);
});

test('only the object that no kind can express is in a bundle, such as a permission with a named value of no Secret', () => {
  const headers = [{ name: 'authorization', value_from_value: 'made/by/hand' }];
  const validate_input = { type: 'http', definition: { url: 'http://a', headers } };
  const metadata = sourceWith({
    select_permissions: [{ role: 'u', permission: { columns: '*', filter: {} } }],
    insert_permissions: [{ role: 'u', permission: { columns: '*', check: {}, validate_input } }],
  });
  expect(asked(metadata)).toEqual(hashesOf(metadata));
  expect(kindsOf(metadata)).toEqual(['Source', 'Table', 'MetadataBundle']);
  const [bundle] = describe(metadata).resources.filter(({ kind }) => kind === 'MetadataBundle');
  expect(bundle!.spec['objects']).toMatchObject([{ key: 'insert_permission/s/public/t/u' }]);
});

test('a named value that an operator stores is described as the key of its Secret, wherever it may stand', () => {
  const stored = `default/${ownerOfValues(OPTIONS.manager)}/hook/token`;
  const from_value = { from_value: stored };
  const headers = [{ name: 'authorization', value_from_value: stored }];
  const metadata = parseMetadata({
    version: 3,
    sources: [
      {
        name: 's',
        kind: 'postgres',
        configuration: {
          connection_info: {
            database_url: from_value,
            ssl_configuration: { sslmode: 'verify-ca', sslrootcert: from_value },
          },
        },
        tables: [
          {
            table: 't',
            event_triggers: [
              { name: 'e', definition: { insert: { columns: '*' } }, webhook_from_value: stored, headers },
            ],
          },
        ],
      },
    ],
    remote_schemas: [{ name: 'r', definition: { url_from_value: stored, headers } }],
    actions: [
      { name: 'a', definition: { ...ACTION, type: 'query', handler: `{{value:${stored}}}`, headers } },
    ],
    cron_triggers: [
      { name: 'c', schedule: '* * * * *', include_in_metadata: true, webhook: from_value, headers },
    ],
    custom_types: { objects: [{ name: 'Quote', fields: [{ name: 'price', type: 'Int' }] }] },
  });
  const { resources, secrets } = describe(metadata);
  expect(resources.map(({ kind }) => kind)).not.toContain('MetadataBundle');
  expect(secrets).toEqual([]);
  const text = JSON.stringify(resources);
  expect(text).not.toContain(stored);
  expect(text.split('"secretKeyRef":{"name":"hook","key":"token"}')).toHaveLength(11);
  // Applied by the same operator they stand for the same objects.
  const desired = desire(
    snapshotOf(
      resources.map(({ kind, name, spec }) => resource(kind, name, spec)),
      { references: { secret: () => 'text', configMap: () => undefined } },
    ),
    { manager: OPTIONS.manager, objects: new Map() },
    new Map(),
    OPTIONS,
  );
  const hashes = Object.fromEntries([...desired.claims].map(([key, { hash }]) => [key, hash]));
  expect(hashes).toEqual(hashesOf(metadata));
});

test('resource names are unique and valid in Kubernetes', () => {
  const roles = ['Ä role', 'a role', 'A-Role', '…'];
  const inherited_roles = roles.map((role_name) => ({ role_name, role_set: ['u'] }));
  const names = describe(parseMetadata({ version: 3, sources: [], inherited_roles })).resources.map(
    (r) => r.name,
  );
  expect(names).toEqual(['role', 'a-role', 'a-role-2', 'unnamed']);
});
