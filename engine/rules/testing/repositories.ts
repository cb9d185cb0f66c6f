/** Six repositories in the directory format of the reference, as its command line writes it: each a project of its own, with the keys, lists and
 *  quotes of that command line. Not here: what a test expects of them. */
type Repository = Readonly<Record<string, string>>;

const EMPTY: Repository = {
  'version.yaml': 'version: 3\n',
  'allow_list.yaml': '[]\n',
  'api_limits.yaml': '{}\n',
  'cron_triggers.yaml': '[]\n',
  'graphql_schema_introspection.yaml': 'disabled_for_roles: []\n',
  'inherited_roles.yaml': '[]\n',
  'network.yaml': '{}\n',
  'query_collections.yaml': '[]\n',
  'remote_schemas.yaml': '[]\n',
  'rest_endpoints.yaml': '[]\n',
};

const source = (name: string, more = '') => `- name: ${name}
  kind: postgres
  configuration:
    connection_info:
      database_url:
        from_env: ENGINE_GRAPHQL_DATABASE_URL
      isolation_level: read-committed
      pool_settings:
        connection_lifetime: 600
        retries: 1
        idle_timeout: 180
        max_connections: 50
      use_prepared_statements: true
${more}  tables: "!include ${name}/tables/tables.yaml"
`;

const tables = (folder: string, texts: Repository): Repository => ({
  [`databases/${folder}/tables/tables.yaml`]: Object.keys(texts)
    .map((name) => `- "!include ${name}.yaml"\n`)
    .join(''),
  ...Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`databases/${folder}/tables/${name}.yaml`, text]),
  ),
});

const BLOG: Repository = {
  ...EMPTY,
  'databases/databases.yaml': source('default'),
  ...tables('default', {
    public_mood: 'table:\n  name: mood\n  schema: public\nis_enum: true\n',
    public_post: `table:
  name: post
  schema: public
configuration:
  column_config:
    author_id:
      custom_name: authorId
  custom_column_names:
    author_id: authorId
  custom_root_fields:
    select: posts
    select_by_pk: post
object_relationships:
  - name: author
    using:
      foreign_key_constraint_on: author_id
  - name: score
    using:
      manual_configuration:
        column_mapping:
          id: post_id
        insertion_order: null
        remote_table:
          name: score
          schema: public
insert_permissions:
  - role: author
    permission:
      check:
        author_id:
          _eq: X-Engine-User-Id
      set:
        author_id: x-engine-User-Id
      columns:
        - title
        - body
    comment: ""
select_permissions:
  - role: author
    permission:
      columns: '*'
      filter: {}
      limit: 100
      allow_aggregations: true
  - role: visitor
    permission:
      columns:
        - title
        - id
      filter:
        _and:
          - published:
              _eq: true
          - _not:
              hidden_at:
                _is_null: false
      query_root_fields: []
      subscription_root_fields: []
update_permissions:
  - role: author
    permission:
      columns: []
      filter:
        author_id:
          _eq: X-Engine-User-Id
      check: null
delete_permissions:
  - role: author
    permission:
      filter:
        id:
          _in: []
`,
    public_user: `table:
  name: user
  schema: public
array_relationships:
  - name: posts
    using:
      foreign_key_constraint_on:
        column: author_id
        table:
          name: post
          schema: public
`,
  }),
};

const SHOP: Repository = {
  ...EMPTY,
  'databases/databases.yaml': `${source('default')}  functions: "!include default/functions/functions.yaml"\n`,
  'databases/default/functions/functions.yaml':
    '- "!include public_search.yaml"\n- "!include sales_total.yaml"\n',
  'databases/default/functions/public_search.yaml': 'function:\n  name: search\n  schema: public\n',
  'databases/default/functions/sales_total.yaml': `function:
  name: total
  schema: sales
configuration:
  custom_root_fields: {}
  exposed_as: mutation
  session_argument: session
permissions:
  - role: user
  - role: manager
comment: totals
`,
  ...tables('default', {
    public_item: `table:
  name: item
  schema: public
computed_fields:
  - name: price
    definition:
      function:
        name: item_price
        schema: public
    comment: 'in cents: without tax'
`,
    sales_order: `table:
  name: order
  schema: sales
event_triggers:
  - name: order_placed
    definition:
      enable_manual: false
      insert:
        columns: '*'
      update:
        columns:
          - state
          - paid_at
    retry_conf:
      interval_sec: 10
      num_retries: 3
      timeout_sec: 60
    webhook: '{{HOOKS}}/order'
    headers:
      - name: X-Key
        value_from_env: ORDER_KEY
      - name: X-Number
        value: "1"
    request_transform:
      body:
        action: transform
        template: |-
          {
            "id": {{$body.event.data.new.id}}
          }
      method: PUT
      query_params: {}
      template_engine: Kriti
      url: '{{$base_url}}?a=b'
      version: 2
    response_transform:
      body:
        action: transform
        template: "{ \\n  \\"ok\\": true\\n}"
      template_engine: Kriti
      version: 2
    cleanup_config:
      batch_size: 10000
      clean_invocation_logs: false
      clear_older_than: 168
      paused: true
      schedule: 0 0 * * *
      timeout: 60
`,
  }),
  'cron_triggers.yaml': `- name: nightly
  webhook: https://hooks.example/nightly
  schedule: 0 3 * * *
  include_in_metadata: true
  payload:
    deep:
      - 1.5
      - "true"
      - null
      - 1000
  retry_conf:
    num_retries: 3
    retry_interval_seconds: 10
    timeout_seconds: 60
    tolerance_seconds: 21600
  comment: every night
`,
};

const GATEWAY: Repository = {
  ...EMPTY,
  'databases/databases.yaml': source('default'),
  ...tables('default', {
    public_city: `table:
  name: city
  schema: public
remote_relationships:
  - definition:
      to_remote_schema:
        lhs_fields:
          - code
        remote_field:
          country:
            arguments:
              code: $code
        remote_schema: countries
    name: country
  - definition:
      to_source:
        field_mapping:
          id: city_id
        relationship_type: array
        source: default
        table:
          name: visit
          schema: public
    name: visits
`,
    public_visit: 'table:\n  name: visit\n  schema: public\n',
  }),
  'remote_schemas.yaml': `- name: countries
  definition:
    url_from_env: COUNTRIES_URL
    timeout_seconds: 11
    customization:
      field_names: []
      type_names:
        mapping: {}
        prefix: c_
    headers:
      - name: a
        value: b
    forward_client_headers: true
  comment: ""
  permissions:
    - role: visitor
      definition:
        schema: |-
          schema { query: Query }

          type Query {
            country(code: ID!): Country
          }

          type Country {
            name: String!
          }
    - role: admin_of_cities
      definition:
        schema: type Query { country(code:ID!):String }
  remote_relationships:
    - relationships:
        - definition:
            to_source:
              field_mapping:
                name: country_name
              relationship_type: array
              source: default
              table:
                name: city
                schema: public
          name: cities
        - definition:
            to_source:
              field_mapping:
                name: country
              relationship_type: array
              source: default
              table:
                name: visit
                schema: public
          name: all_visits
      type_name: Country
`,
};

const ACTIONS: Repository = {
  ...EMPTY,
  'databases/databases.yaml': '[]\n',
  'actions.graphql': `type Query {
  hello(to: String!): Greeting
}

type Mutation {
  login(input: Credentials!): Session
}

enum Mood {
  glad
  sad
}

input Credentials {
  email: String!
  password: String!
}

input Address {
  street: String
}

type Session {
  token: String!
}

type Greeting {
  id: Int!
  mood: Mood
}

scalar Zone

scalar Day
`,
  'actions.yaml': `actions:
  - name: hello
    definition:
      kind: ""
      handler: '{{BASE}}/hello'
    permissions:
      - role: visitor
      - role: author
  - name: login
    definition:
      kind: synchronous
      handler: http://auth/login
      forward_client_headers: true
      headers:
        - name: key
          value_from_env: KEY
      timeout: 60
    permissions:
      - role: public
    comment: signs in
custom_types:
  enums:
    - name: Mood
      values:
        - description: null
          is_deprecated: null
          value: glad
        - description: null
          is_deprecated: null
          value: sad
  input_objects:
    - name: Credentials
    - name: Address
  objects:
    - name: Session
    - name: Greeting
      relationships:
        - field_mapping:
            id: id
          name: writer
          remote_table:
            name: user
            schema: public
          source: default
          type: object
  scalars:
    - name: Zone
    - name: Day
`,
};

const ENDPOINTS: Repository = {
  ...EMPTY,
  'databases/databases.yaml': source('default'),
  ...tables('default', { public_song: 'table:\n  name: song\n  schema: public\n' }),
  'allow_list.yaml': `- collection: allowed-queries
  scope:
    global: true
- collection: partner
  scope:
    global: false
    roles:
      - partner
      - manager
`,
  'api_limits.yaml': `depth_limit:
  global: 5
  per_role:
    manager: 10
disabled: false
rate_limit:
  global:
    max_reqs_per_min: 60
    unique_params: IP
  per_role: {}
`,
  'graphql_schema_introspection.yaml': 'disabled_for_roles:\n  - visitor\n  - partner\n',
  'inherited_roles.yaml': `- role_name: manager
  role_set:
    - visitor
    - partner
`,
  'network.yaml': `tls_allowlist:
  - host: z.example
    permissions:
      - self-signed
  - host: a.example
    suffix: "8080"
`,
  'query_collections.yaml': `- name: allowed-queries
  definition:
    queries:
      - name: songs
        query: |
          query songs {
            song {
              id
            }
          }
      - name: by_key
        query: |-
          query ($id: Int!) {
            song_by_pk(id: $id) { id }
          }
- name: partner
  definition:
    queries: []
  comment: for partners
`,
  'rest_endpoints.yaml': `- comment: ""
  definition:
    query:
      collection_name: allowed-queries
      query_name: songs
  methods:
    - GET
    - POST
  name: zz songs
  url: a/songs
- comment: one song
  definition:
    query:
      collection_name: allowed-queries
      query_name: by_key
  methods:
    - GET
  name: by key
  url: a/songs/:id
`,
};

/** An earlier version of the reference orders some keys by their hash. */
const TWO_SOURCES: Repository = {
  ...EMPTY,
  'databases/databases.yaml': `${source('main', '  customization:\n    naming_convention: graphql-default\n    root_fields: {}\n    type_names: {}\n')}${source(
    'archive',
    `  logical_models:
    - fields:
        - name: year
          type:
            nullable: false
            scalar: integer
      name: per_year
  native_queries:
    - arguments:
        least:
          nullable: false
          type: integer
      code: select 1 as year where 1 > {{least}}
      returns: per_year
      root_field_name: years
`,
  )}`,
  ...tables('main', {
    public_client: `table:
  schema: public
  name: client
configuration:
  custom_root_fields: {}
  column_config: {}
  custom_column_names: {}
array_relationships:
  - name: invoices
    using:
      foreign_key_constraint_on:
        table:
          schema: public
          name: invoice
        column: client_id
insert_permissions:
  - role: clerk
    permission:
      check: {}
      columns: []
      backend_only: false
event_triggers:
  - name: client_changed
    definition:
      enable_manual: true
      delete:
        columns: '*'
      update:
        columns: '*'
        payload:
          - name
    retry_conf:
      num_retries: 0
      interval_sec: 10
      timeout_sec: 60
    webhook_from_env: HOOK
    headers:
      - value: "yes"
        name: x
`,
    public_invoice: 'table:\n  schema: public\n  name: invoice\n',
  }),
  ...tables('archive', { public_old: 'table:\n  schema: public\n  name: old\n' }),
};

export const REPOSITORIES: Readonly<Record<string, Repository>> = {
  blog: BLOG,
  shop: SHOP,
  gateway: GATEWAY,
  actions: ACTIONS,
  endpoints: ENDPOINTS,
  'two sources': TWO_SOURCES,
};
