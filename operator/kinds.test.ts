/** Tests every kind: its translation, its validation messages, and its schema for the API server. */
import { normaliseObject, OBJECTS, parseKey } from '@pergola/engine/metadata';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import type { TranslateContext } from './kinds/kind.ts';
import { problemsOf } from './kinds/validate.ts';
import { type CustomResource, KINDS, kindOf, type PrinterColumn, REASONS } from './kinds.ts';

const context: TranslateContext = {
  valueFrom: ({ env, file, secretKeyRef }) => {
    if (secretKeyRef) return `${secretKeyRef.key} of ${secretKeyRef.name}`;
    return env ? { from_env: env } : { from_file: file ?? '' };
  },
};

function translate(kind: string, spec: string) {
  const parsed = { engineRef: { name: 'main' }, ...(load(spec) as CustomResource['spec']) };
  const row = kindOf(kind)!;
  expect(problemsOf(row, parsed)).toEqual([]);
  return row.translate(parsed, context).map(({ key, kind: of, definition }) => ({
    key,
    definition: normaliseObject(of, JSON.parse(JSON.stringify(definition))),
  }));
}

function refuse(kind: string, spec: string): readonly string[] {
  return problemsOf(kindOf(kind)!, { engineRef: { name: 'main' }, ...(load(spec) as object) });
}

test('a Table translates to a tracked table with its names, relationships and permissions', () => {
  const objects = translate(
    'Table',
    `
source: default
table: article
configuration:
  customName: Article
  columns: [{name: author_id, customName: authorId, comment: who wrote it, nullable: false}]
  rootFields: {select: {name: articles, comment: All articles}, selectByPk: {name: article}, insert: {comment: New}}
objectRelationships:
- {name: author, foreignKey: {columns: [author_id]}}
arrayRelationships:
- {name: comments, foreignKey: {columns: [article_id], table: comment}}
- {name: peers, manual: {table: article, columnMapping: {author_id: author_id}}}
permissions:
- role: user
  select: {columns: [id, title], filter: {author_id: {_eq: X-Engine-User-Id}}, allowAggregations: true}
  insert: {columns: [title], check: {a_b: {_eq: 1}}, set: {author_id: X-Engine-User-Id}}
`,
  );
  expect(objects).toEqual([
    {
      key: 'table/default/public/article',
      definition: {
        table: { schema: 'public', name: 'article' },
        configuration: {
          custom_name: 'Article',
          custom_root_fields: {
            select: { name: 'articles', comment: 'All articles' },
            select_by_pk: 'article',
            insert: { comment: 'New' },
          },
          column_config: { author_id: { custom_name: 'authorId', comment: 'who wrote it', nullable: false } },
        },
      },
    },
    {
      key: 'object_relationship/default/public/article/author',
      definition: { name: 'author', using: { foreign_key_constraint_on: ['author_id'] } },
    },
    {
      key: 'array_relationship/default/public/article/comments',
      definition: {
        name: 'comments',
        using: {
          foreign_key_constraint_on: {
            table: { schema: 'public', name: 'comment' },
            columns: ['article_id'],
          },
        },
      },
    },
    {
      key: 'array_relationship/default/public/article/peers',
      definition: {
        name: 'peers',
        using: {
          manual_configuration: {
            remote_table: { schema: 'public', name: 'article' },
            column_mapping: { author_id: 'author_id' },
          },
        },
      },
    },
    {
      key: 'insert_permission/default/public/article/user',
      definition: {
        role: 'user',
        // Boolean expressions and presets are in the engine's own format and are not translated.
        permission: {
          check: { a_b: { _eq: 1 } },
          columns: ['title'],
          set: { author_id: 'X-Engine-User-Id' },
        },
      },
    },
    {
      key: 'select_permission/default/public/article/user',
      definition: {
        role: 'user',
        permission: {
          columns: ['id', 'title'],
          filter: { author_id: { _eq: 'X-Engine-User-Id' } },
          allow_aggregations: true,
        },
      },
    },
  ]);
});

test('a TablePermission translates to one object for each of its operations', () => {
  const objects = translate(
    'TablePermission',
    `
source: default
schema: sales
table: order
role: auditor
comment: for the yearly report
select: {columns: ["*"], filter: {}, maxRows: 10, queryRootFields: [], subscriptionRootFields: [SelectStream]}
update: {columns: [state], filter: {}, check: {}, backendOnly: true}
delete: {filter: {state: {_eq: draft}}}
`,
  );
  expect(objects.map(({ key, definition }) => [key, definition['permission']])).toEqual([
    [
      'select_permission/default/sales/order/auditor',
      {
        columns: '*',
        filter: {},
        limit: 10,
        query_root_fields: [],
        subscription_root_fields: ['select_stream'],
      },
    ],
    [
      'update_permission/default/sales/order/auditor',
      { columns: ['state'], filter: {}, check: {}, backend_only: true },
    ],
    ['delete_permission/default/sales/order/auditor', { filter: { state: { _eq: 'draft' } } }],
  ]);
});

test('an input validation of a permission takes its URL and headers as values', () => {
  const [validated] = translate(
    'TablePermission',
    `
table: order
role: clerk
insert:
  check: {}
  validateInput:
    url: {value: "{{CHECKS_URL}}/order"}
    headers: [{name: a, value: b}, {name: c, env: C}, {name: d, secretKeyRef: {name: e, key: f}}]
    forwardClientHeaders: true
    timeoutSeconds: 3
`,
  );
  expect(validated?.definition['permission']).toEqual({
    check: {},
    validate_input: {
      type: 'http',
      definition: {
        url: '{{CHECKS_URL}}/order',
        headers: [
          { name: 'a', value: 'b' },
          { name: 'c', value_from_env: 'C' },
          { name: 'd', value: 'f of e' },
        ],
        forward_client_headers: true,
        timeout: 3,
      },
    },
  });
});

test('a table that names no source and no schema is of source default and schema public', () => {
  expect(translate('Table', 'table: a').map(({ key }) => key)).toEqual(['table/default/public/a']);
  expect(translate('Table', 'source: b\nschema: c\ntable: a').map(({ key }) => key)).toEqual(['table/b/c/a']);
});

test('relationships along columns, and of several schemas, have the fields of the metadata', () => {
  const objects = translate(
    'Table',
    `
table: a
federation: {enabled: true}
objectRelationships:
- {name: b, foreignKey: {columns: [a_id], schema: s, table: b}}
- {name: c, manual: {schema: s, table: c, columnMapping: {x: y}, insertionOrder: AfterParent}}
- {name: d, manual: {nativeQuery: d, columnMapping: {x: y}}}
`,
  );
  expect(objects.map(({ definition }) => definition)).toEqual([
    { table: { schema: 'public', name: 'a' }, apollo_federation_config: { enable: 'v1' } },
    {
      name: 'b',
      using: { foreign_key_constraint_on: { columns: ['a_id'], table: { schema: 's', name: 'b' } } },
    },
    {
      name: 'c',
      using: {
        manual_configuration: {
          remote_table: { schema: 's', name: 'c' },
          column_mapping: { x: 'y' },
          insertion_order: 'after_parent',
        },
      },
    },
    { name: 'd', using: { manual_configuration: { remote_native_query: 'd', column_mapping: { x: 'y' } } } },
  ]);
});

test('a NativeQuery and its LogicalModel translate to a query, a model and a permission for each role', () => {
  const query = `
name: overdue
sql: SELECT id FROM invoice WHERE due < {{day}}
returns: invoice
arguments: [{name: day, type: date, nullable: true, comment: the day}]
arrayRelationships: [{name: lines, manual: {schema: s, table: line, columnMapping: {id: invoice_id}}}]
comment: late
`;
  expect(translate('NativeQuery', query)).toEqual([
    {
      key: 'native_query/default/overdue',
      definition: {
        root_field_name: 'overdue',
        code: 'SELECT id FROM invoice WHERE due < {{day}}',
        returns: 'invoice',
        arguments: { day: { type: 'date', nullable: true, description: 'the day' } },
        array_relationships: [
          {
            name: 'lines',
            using: { remote_table: { schema: 's', name: 'line' }, column_mapping: { id: 'invoice_id' } },
          },
        ],
        description: 'late',
      },
    },
  ]);
  const model = `
source: far
name: invoice
fields:
- {name: id, type: integer}
- {name: tags, type: text, list: true, nullable: true}
- {name: customer, logicalModel: customer, nullable: true, comment: who pays}
- {name: lines, logicalModel: line, list: true}
permissions: [{role: clerk, select: {columns: ["*"], filter: {}, maxRows: 5}}]
`;
  expect(translate('LogicalModel', model)).toEqual([
    {
      key: 'logical_model/far/invoice',
      definition: {
        name: 'invoice',
        fields: [
          { name: 'id', type: 'integer' },
          { name: 'tags', type: { array: 'text', nullable: true } },
          { name: 'customer', type: { logical_model: 'customer', nullable: true }, description: 'who pays' },
          { name: 'lines', type: { array: { logical_model: 'line' } } },
        ],
      },
    },
    {
      key: 'logical_model_permission/far/invoice/clerk',
      definition: { role: 'clerk', permission: { columns: '*', filter: {}, limit: 5 } },
    },
  ]);
});

test('a Source refers to its URL by an environment variable', () => {
  const [source] = translate(
    'Source',
    `
name: app
type: Postgres
connection:
  url: {env: PG_URL}
  usePreparedStatements: true
  isolationLevel: Serializable
  pool: {maxConnections: 50, idleTimeoutSeconds: 180}
customization: {rootFields: {namespace: app}, namingConvention: GraphqlDefault}
deletionPolicy: Delete
`,
  );
  expect(source).toEqual({
    key: 'source/app',
    definition: {
      name: 'app',
      kind: 'postgres',
      configuration: {
        connection_info: {
          database_url: { from_env: 'PG_URL' },
          use_prepared_statements: true,
          isolation_level: 'serializable',
          pool_settings: { max_connections: 50, idle_timeout: 180 },
        },
      },
      customization: { root_fields: { namespace: 'app' }, naming_convention: 'graphql-default' },
    },
  });
});

test('a Source can have connection parameters, a password from a Secret, a template, query tags and a health check', () => {
  const [source] = translate(
    'Source',
    `
name: app
connection:
  parameters: {host: db, port: 5432, database: app, username: me, password: {secretKeyRef: {name: db, key: password}}}
readReplicas: [{name: near, parameters: {host: near, port: 5433, database: app, username: me}}]
connectionTemplate: {template: "{{$.default}}"}
connectionSet: [{name: west, url: {env: WEST_URL}}]
queryTags: {format: SqlCommenter, omitRequestId: true}
healthCheck: {sql: SELECT 2, intervalSeconds: 5, timeoutSeconds: 2, retry: {limit: 1, intervalSeconds: 3}}
`,
  );
  const parts = { database: 'app', username: 'me' };
  expect(source?.definition).toMatchObject({
    configuration: {
      connection_info: {
        database_url: {
          connection_parameters: { ...parts, host: 'db', port: 5432, password: 'password of db' },
        },
      },
      connection_template: { template: '{{$.default}}' },
      connection_set: [{ name: 'west', connection_info: { database_url: { from_env: 'WEST_URL' } } }],
      read_replicas: [{ database_url: { connection_parameters: { ...parts, host: 'near', port: 5433 } } }],
    },
    query_tags: { format: 'sqlcommenter', omit_request_id: true },
    health_check: { test: { sql: 'SELECT 2' }, interval: 5, timeout: 2, retries: 1, retry_interval: 3 },
  });
});

test('a Source refers to the certificates of its connections by environment variables of the engine', () => {
  const [source] = translate(
    'Source',
    `
name: app
connection: {url: {env: PG_URL}, tls: {mode: VerifyFull, rootCertificate: {env: CA}}}
readReplicas: [{name: near, url: {env: NEAR_URL}, tls: {mode: Require}}]
`,
  );
  expect(source?.definition).toMatchObject({
    configuration: {
      connection_info: { ssl_configuration: { sslmode: 'verify-full', sslrootcert: { from_env: 'CA' } } },
      read_replicas: [{ ssl_configuration: { sslmode: 'require' } }],
    },
  });
});

test('a QueryCollection with an allow list entry translates to two objects', () => {
  const spec = `
name: mobile
queries: [{name: articles, query: "query articles { article { id } }"}]
`;
  expect(translate('QueryCollection', spec).map(({ key }) => key)).toEqual(['query_collection/mobile']);
  expect(translate('QueryCollection', `${spec}\nallowlist: {scope: {roles: [user]}}`)[1]).toEqual({
    key: 'allowlist/mobile',
    definition: { collection: 'mobile', scope: { global: false, roles: ['user'] } },
  });
  expect(translate('QueryCollection', `${spec}\nallowlist: {}`)[1]?.definition).toEqual({
    collection: 'mobile',
  });
});

test('an Engine translates to no metadata object', () => {
  const row = kindOf('Engine')!;
  const spec = { endpoint: { service: { name: 'engine', port: 8080 } } };
  expect(problemsOf(row, spec)).toEqual([]);
  expect(row.translate(spec, context)).toEqual([]);
});

test.each([
  ['Table', 'source: default', 'spec.table is required'],
  ['Table', 'source: default\ntable: 3', 'spec.table must be a string, and is 3'],
  [
    'Table',
    'source: default\ntable: {schema: public, name: a}\nfliter: {}',
    'spec.fliter is not a field; there are engineRef, source, schema, table,',
  ],
  [
    'Table',
    'source: default\ntable: {schema: public, name: a}\nobjectRelationships: [{name: b}]',
    'spec.objectRelationships[0]: a relationship has either foreignKey or manual; name one of them',
  ],
  [
    'Table',
    'source: default\ntable: {schema: public, name: a}\npermissions: [{role: r}]',
    'spec.permissions[0]: a permission without select, insert, update and delete allows nothing',
  ],
  [
    'Table',
    'source: d\ntable: {schema: p, name: a}\npermissions: [{role: r, delete: {filter: {}}}, {role: r, delete: {filter: {}}}]',
    'spec.permissions has two items with the role "r"',
  ],
  [
    'Table',
    'source: default\ntable: {schema: public, name: a}\ndriftPolicy: Fix',
    'spec.driftPolicy must be Correct or Report or Ignore, and is "Fix"',
  ],
  [
    'TablePermission',
    'source: default\ntable: {schema: public, name: a}\nrole: r\nselect: {columns: "*", filter: {}}',
    'spec.select.columns must be an array, and is "*"',
  ],
  [
    'TablePermission',
    'source: default\ntable: {schema: public, name: a}\nrole: r\nselect: {columns: [a]}',
    'spec.select.filter is required',
  ],
  [
    'Source',
    'name: a\nconnection: {url: {env: A, file: /b}}',
    'spec.connection.url: a value has exactly one of value, env, file, secretKeyRef and configMapKeyRef; name one of them',
  ],
  ['Source', 'name: a\nconnection: {url: {}}', 'spec.connection.url: a value has exactly one of value, env'],
  [
    'QueryCollection',
    'name: a\nqueries: []\nallowlist: {scope: {global: true, roles: [a]}}',
    'spec.allowlist.scope: scope has either global: true or roles; name one of them',
  ],
])('the kind %s rejects an invalid spec: %s', (kind, spec, expected) => {
  expect(refuse(kind, spec).join('\n')).toContain(expected);
});

test('several mistakes are reported at once, up to a limit', () => {
  const columns = Array.from({ length: 20 }, (_, i) => `wrong${i}: 1`).join('\n');
  expect(refuse('Table', columns)).toHaveLength(6);
});

test('every translated key is of a kind in OBJECTS, and names, plurals and short names of kinds are unique', () => {
  // Some plurals are equal to their singular.
  const names = KINDS.flatMap((row) => [...new Set([row.plural, row.singular]), ...row.shortNames]);
  expect(new Set(names).size).toBe(names.length);
  const [object] = kindOf('TablePermission')!.translate(
    { source: 'a/b', schema: 's', table: 't.u', role: 'r', delete: { filter: {} } },
    context,
  );
  expect(parseKey(object!.key)).toEqual({ kind: 'delete_permission', segments: ['a/b', 's', 't.u', 'r'] });
  expect(Object.keys(OBJECTS)).toContain(object!.kind);
});

type Shape = {
  readonly type?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly items?: Shape;
  readonly [word: string]: unknown;
};

/** Returns every schema inside a spec, with its path. */
function shapesIn(shape: Shape, path: string): readonly (readonly [string, Shape])[] {
  return [
    [path, shape],
    ...Object.entries(shape.properties ?? {}).flatMap(([key, inner]) => shapesIn(inner, `${path}.${key}`)),
    ...(shape.items ? shapesIn(shape.items, `${path}[]`) : []),
  ];
}

test.each(KINDS)(
  'the schema of $kind has no defaults, and every list has a limit and a list type',
  ({ spec }) => {
    for (const [path, shape] of shapesIn(spec as unknown as Shape, 'spec')) {
      expect([path, shape.default]).toEqual([path, undefined]);
      if (shape.type !== 'array') continue;
      expect([path, typeof shape['maxItems']]).toEqual([path, 'number']);
      const isKeyed = shape.items?.properties && shape.items['x-kubernetes-map-type'] !== 'atomic';
      expect([path, shape['x-kubernetes-list-type']]).toEqual([path, isKeyed ? 'map' : 'atomic']);
    }
  },
);

test.each(KINDS)('the message of each validation rule of $kind says what to do', ({ spec }) => {
  for (const [, shape] of shapesIn(spec as unknown as Shape, 'spec')) {
    const rules = (shape['x-kubernetes-validations'] ?? []) as readonly { message: string; rule: string }[];
    for (const { message } of rules) expect(message).toMatch(/name one of them|add |change the other/);
  }
});

test('the columns of `kubectl get` fit 80 characters with a name of 24 and the longest reason', () => {
  const reasons = Object.keys(REASONS).map(({ length }) => length);
  const widest: Readonly<Record<string, number>> = {
    Ready: 'Unknown'.length,
    Reason: Math.max(...reasons),
    Drift: 'True'.length,
    Passed: 'Unknown'.length,
    Age: '365d'.length,
    Failing: '99999'.length,
  };
  const widthOf = ({ name }: PrinterColumn) => Math.max(name.length, widest[name] ?? Number.NaN);
  for (const { kind, columns } of KINDS) {
    const shown: readonly PrinterColumn[] = columns.filter(
      ({ priority }: PrinterColumn) => (priority ?? 0) === 0,
    );
    const width = 24 + shown.reduce((sum, column) => sum + 3 + widthOf(column), 0);
    expect([kind, width <= 80]).toEqual([kind, true]);
    expect(columns.map(({ name }) => name)).toContain('Message');
  }
});
