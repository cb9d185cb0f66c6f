/** Source: a database that the engine serves. Its URL is a ValueSource, usually a Secret, a variable or a file of the engine. Deleting the
 *  resource keeps the source by default. */
import {
  type ConnectionInfo,
  ConnectionTemplate,
  Count,
  type DatabaseUrl,
  type HealthCheck,
  IsolationLevel,
  type MetadataObject,
  objectKey,
  Port,
  QueryTags,
  Seconds,
  type Source,
  SourceCustomization,
  SourceKind,
  SslConfiguration,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { closed, exactlyOne, keyedList, MetadataName, withDescription } from './annotate.ts';
import { enumeration, metadataValue, pascalCase } from './enumeration.ts';
import type { FieldPath } from './field-path.ts';
import {
  kindRow,
  OBJECT_COLUMNS,
  OWN_SECRET,
  type ResourceDraft,
  specOf,
  type TranslateContext,
} from './kind.ts';
import { project, projectValue, unproject } from './project.ts';
import { describeValue, readValue, valueSource } from './value-source.ts';

const Parameters = withDescription(
  'The parts of the connection URL, when nothing holds all of it.',
  closed({
    host: withDescription(
      'The host name or address of the server, for example db.example.com.',
      MetadataName,
    ),
    port: withDescription('The port of the server, usually 5432.', Port),
    database: withDescription('The name of the database.', MetadataName),
    username: withDescription('The role that the engine connects as.', MetadataName),
    password: Type.Optional(valueSource('The password of the role. Absent: no password is sent.')),
  }),
);

const seconds = (description: string) => Type.Optional(withDescription(description, Seconds));
const connections = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description }));

const Pool = closed({
  maxConnections: connections(
    'The most connections of one replica of the engine. Absent: the option --pg-connections of the engine.',
  ),
  totalMaxConnections: connections(
    'A second limit of the connections of one replica; the smaller one counts. An engine does not know the number of its replicas.',
  ),
  idleTimeoutSeconds: seconds('The seconds after which an unused connection is closed. Absent: 180.'),
  poolTimeoutSeconds: seconds('The seconds that a request waits for a connection. Absent: without limit.'),
  connectionLifetimeSeconds: seconds(
    'The seconds after which a connection is replaced; 0 means never. Absent: 600.',
  ),
  retries: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 100,
      description: 'How often opening a connection is tried again. Absent: 1.',
    }),
  ),
});

const SSL_MODE = SslConfiguration.properties.sslmode;

const ConnectionTls = closed({
  mode: withDescription(
    'How connections are encrypted, as sslmode of libpq: Disable never; Allow and Prefer if the server supports it; Require always; ' +
      'VerifyCa verifies the certificate of the server by rootCertificate; VerifyFull verifies its host name, too.',
    enumeration(SSL_MODE),
  ),
  rootCertificate: Type.Optional(
    valueSource(
      'The certificates of the authorities that the server is verified by, in PEM. Absent: those of the system.',
    ),
  ),
  certificate: Type.Optional(
    valueSource('The certificate of the engine, in PEM, for servers that require one. It goes with key.'),
  ),
  key: Type.Optional(valueSource('The private key of certificate, in PEM.')),
  keyPassword: Type.Optional(valueSource('The password of key, if it is encrypted.')),
});
type ConnectionTls = Static<typeof ConnectionTls>;

/** The parts of `tls`, and their names in the metadata. */
const TLS_PARTS = [
  ['rootCertificate', 'sslrootcert'],
  ['certificate', 'sslcert'],
  ['key', 'sslkey'],
  ['keyPassword', 'sslpassword'],
] as const;

const CONNECTION = {
  url: Type.Optional(
    valueSource(
      'The connection URL, for example {secretKeyRef: {name: db, key: uri}}.',
      'The URL itself: postgres://app@db.example.com:5432/shop. Everyone who reads this resource sees it, so it has no password.',
    ),
  ),
  parameters: Type.Optional(Parameters),
  usePreparedStatements: Type.Optional(
    Type.Boolean({
      description:
        'False behind a pooler in transaction mode: nothing is kept in a session of the database. Absent: true.',
    }),
  ),
  isolationLevel: Type.Optional(
    withDescription(
      'The isolation level of transactions. Absent: ReadCommitted.',
      enumeration(IsolationLevel),
    ),
  ),
  pool: Type.Optional(withDescription('The limits of the connections to this database.', Pool)),
  tls: Type.Optional(
    withDescription('How connections are encrypted. Absent: as the connection URL says.', ConnectionTls),
  ),
};
const ONE_URL = exactlyOne('a connection', 'url', 'parameters');
const Connection = closed(CONNECTION, ONE_URL);
type Connection = Static<typeof Connection>;

/** A member of the set of connections that a template chooses from. */
const Member = closed(
  {
    name: withDescription('The name by which connectionTemplate chooses the connection.', MetadataName),
    ...CONNECTION,
  },
  ONE_URL,
);
const Replica = closed(
  {
    name: withDescription(
      'A name for messages and for the merge of lists. The engine does not use it.',
      MetadataName,
    ),
    ...CONNECTION,
  },
  ONE_URL,
);

const Health = withDescription(
  'How GET /healthz/sources checks the database. Absent: SELECT 1, once a second at most.',
  closed({
    sql: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4096,
        description: 'The statement that has to succeed. Absent: SELECT 1.',
      }),
    ),
    intervalSeconds: withDescription('The shortest time in seconds between two checks.', Seconds),
    timeoutSeconds: seconds('The seconds after which a check has failed. Absent: 10.'),
    retry: Type.Optional(
      withDescription(
        'How often a failed check is repeated before the database counts as failed.',
        closed({
          limit: Type.Optional(withDescription('The most repetitions. Absent: 3.', Count)),
          intervalSeconds: seconds('The seconds between two repetitions. Absent: 10.'),
        }),
      ),
    ),
  }),
);
type Health = Static<typeof Health>;
type Checked = NonNullable<Static<typeof HealthCheck>>;

export const SourceSpec = specOf({
  name: withDescription(
    'The name of the source in the engine; resources refer to it as `source`. A new name is another source: the old one is kept or ' +
      'deleted as deletionPolicy says.',
    MetadataName,
  ),
  type: Type.Optional(
    withDescription('The kind of the database. Absent: Postgres.', enumeration(SourceKind)),
  ),
  connection: withDescription(
    'The connection to the database; mutations use it, and queries without read replicas.',
    Connection,
  ),
  readReplicas: Type.Optional(
    withDescription(
      'Databases with the same content, which serve queries and subscriptions in turn.',
      keyedList('name', Replica, 32),
    ),
  ),
  connectionTemplate: Type.Optional(
    withDescription('A template that chooses the connection of each request.', project(ConnectionTemplate)),
  ),
  connectionSet: Type.Optional(
    withDescription('Further connections that connectionTemplate may choose.', keyedList('name', Member, 32)),
  ),
  customization: Type.Optional(
    withDescription('Names of the fields and types of this source in GraphQL.', project(SourceCustomization)),
  ),
  queryTags: Type.Optional(
    withDescription(
      'Comments in statements that name the request, for the logs of the database.',
      project(QueryTags),
    ),
  ),
  healthCheck: Type.Optional(Health),
  extensionsSchema: Type.Optional(
    withDescription(
      'The schema in which the engine creates the extension pgcrypto. Absent: public.',
      MetadataName,
    ),
  ),
});
type SourceSpec = Static<typeof SourceSpec>;

export const source = kindRow({
  kind: 'Source',
  plural: 'sources',
  singular: 'source',
  shortNames: ['gqls'],
  concerns: 'engine',
  description: 'A database that the engine serves.',
  spec: SourceSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  deletionPolicy: 'Retain',
  target: (spec) => `source ${spec.name}`,
  translate: (spec, context) => [sourceObject(spec, context)],
  fieldPaths: () => FIELD_PATHS,
  describe: (inventory) => inventory.all('source').map(describeSource),
});

const CONNECTION_INFO = ['configuration', 'connection_info'] as const;
const FIELD_PATHS: readonly FieldPath[] = [
  ...[['mode', 'sslmode'] as const, ...TLS_PARTS].map(([part, name]) => ({
    at: `spec.connection.tls.${part}`,
    of: [...CONNECTION_INFO, 'ssl_configuration', name],
  })),
  { at: 'spec.connection.tls', of: [...CONNECTION_INFO, 'ssl_configuration'] },
  { at: 'spec.connection.url', of: [...CONNECTION_INFO, 'database_url'] },
  { at: 'spec.connectionTemplate', of: ['configuration', 'connection_template'], as: ConnectionTemplate },
  { at: 'spec.readReplicas', of: ['configuration', 'read_replicas'] },
  { at: 'spec.connectionSet', of: ['configuration', 'connection_set'] },
];

function sourceObject(spec: SourceSpec, context: TranslateContext): MetadataObject {
  return {
    key: objectKey('source', spec.name),
    kind: 'source',
    parent: null,
    definition: {
      name: spec.name,
      kind: metadataValue(SourceKind, spec.type ?? 'Postgres'),
      configuration: {
        connection_info: connectionInfo(spec.connection, 'spec.connection', context),
        read_replicas: spec.readReplicas?.map((replica, i) =>
          connectionInfo(replica, `spec.readReplicas[${i}]`, context),
        ),
        connection_template:
          spec.connectionTemplate && unproject(ConnectionTemplate, spec.connectionTemplate),
        connection_set: spec.connectionSet?.map(({ name, ...connection }, i) => ({
          name,
          connection_info: connectionInfo(connection, `spec.connectionSet[${i}]`, context),
        })),
        extensions_schema: spec.extensionsSchema,
      },
      customization: spec.customization && unproject(SourceCustomization, spec.customization),
      query_tags: spec.queryTags && unproject(QueryTags, spec.queryTags),
      health_check: spec.healthCheck && healthCheck(spec.healthCheck),
    },
  };
}

function connectionInfo(connection: Connection, path: string, context: TranslateContext): unknown {
  const { pool, tls } = connection;
  return {
    database_url: databaseUrl(connection, path, context),
    use_prepared_statements: connection.usePreparedStatements,
    isolation_level: metadataValue(IsolationLevel, connection.isolationLevel),
    pool_settings: pool && {
      max_connections: pool.maxConnections,
      total_max_connections: pool.totalMaxConnections,
      idle_timeout: pool.idleTimeoutSeconds,
      retries: pool.retries,
      pool_timeout: pool.poolTimeoutSeconds,
      connection_lifetime: pool.connectionLifetimeSeconds,
    },
    ssl_configuration: tls && tlsOf(tls, `${path}.tls`, context),
  };
}

function databaseUrl({ url, parameters }: Connection, path: string, context: TranslateContext): unknown {
  if (url) {
    const value = readValue(url, `${path}.url`, context);
    return typeof value === 'object' && 'from_file' in value ? { dynamic_from_file: value.from_file } : value;
  }
  const { password, ...rest } = parameters!;
  return {
    connection_parameters: {
      ...rest,
      password: password && readValue(password, `${path}.parameters.password`, context),
    },
  };
}

function tlsOf(tls: ConnectionTls, path: string, context: TranslateContext): object {
  const parts = TLS_PARTS.flatMap(([part, name]) => {
    const source = tls[part];
    return source ? [[name, readValue(source, `${path}.${part}`, context)]] : [];
  });
  return { sslmode: metadataValue(SSL_MODE, tls.mode), ...Object.fromEntries(parts) };
}

function healthCheck({ sql, intervalSeconds, timeoutSeconds, retry }: Health): object {
  return {
    test: sql === undefined ? undefined : { sql },
    interval: intervalSeconds,
    timeout: timeoutSeconds,
    retries: retry?.limit,
    retry_interval: retry?.intervalSeconds,
  };
}

/** Describes a source. A URL or password that the metadata contains as text goes to a Secret. */
function describeSource({ definition }: MetadataObject): ResourceDraft {
  const {
    name,
    kind,
    configuration,
    customization,
    query_tags: queryTags,
    health_check: health,
  } = definition as Source;
  const { connection_template: template } = configuration;
  const secrets: Record<string, string> = {};
  const describeConnection = (info: ConnectionInfo, key: string): object => {
    const { database_url: url, pool_settings: pool, ssl_configuration: ssl } = info;
    const secret = typeof url === 'string' ? url : passwordIn(url);
    if (secret !== undefined) secrets[key] = secret;
    return {
      url: describeUrl(url, key),
      parameters: parametersOf(url, key),
      usePreparedStatements: info.use_prepared_statements,
      isolationLevel: info.isolation_level && pascalCase(info.isolation_level),
      pool: pool && {
        maxConnections: pool.max_connections,
        totalMaxConnections: pool.total_max_connections,
        idleTimeoutSeconds: pool.idle_timeout,
        poolTimeoutSeconds: pool.pool_timeout,
        connectionLifetimeSeconds: pool.connection_lifetime,
        retries: pool.retries,
      },
      tls: ssl && describeTls(ssl),
    };
  };
  const spec = {
    name,
    type: kind === 'postgres' ? undefined : pascalCase(kind),
    connection: describeConnection(configuration.connection_info, 'url'),
    readReplicas: configuration.read_replicas?.map((replica, i) => ({
      name: `replica-${i + 1}`,
      ...describeConnection(replica, `replica-${i + 1}`),
    })),
    connectionTemplate: template && projectValue(ConnectionTemplate, template),
    connectionSet: configuration.connection_set?.map((member) => ({
      name: member.name,
      ...describeConnection(member.connection_info, `set-${member.name}`),
    })),
    customization: customization && projectValue(SourceCustomization, customization),
    queryTags: queryTags && projectValue(QueryTags, queryTags),
    healthCheck: health && describeHealth(health),
    extensionsSchema: configuration.extensions_schema,
  };
  return { name, spec, secrets };
}

function describeUrl(url: DatabaseUrl, key: string): object | undefined {
  if (typeof url === 'string') return { secretKeyRef: { name: OWN_SECRET, key } };
  return 'dynamic_from_file' in url ? { file: url.dynamic_from_file } : describeValue(url);
}

function parametersOf(url: DatabaseUrl, key: string): object | undefined {
  if (typeof url === 'string' || !('connection_parameters' in url)) return undefined;
  const { password, ...rest } = url.connection_parameters;
  if (typeof password !== 'string') return { ...rest, password: describeValue(password) };
  return { ...rest, password: { secretKeyRef: { name: OWN_SECRET, key } } };
}

function describeTls(ssl: SslConfiguration): object {
  const parts = TLS_PARTS.map(([part, name]) => [part, describeValue(ssl[name])]);
  return { mode: pascalCase(ssl.sslmode), ...Object.fromEntries(parts) };
}

function passwordIn(url: DatabaseUrl): string | undefined {
  if (typeof url === 'string' || !('connection_parameters' in url)) return undefined;
  const { password } = url.connection_parameters;
  return typeof password === 'string' ? password : undefined;
}

function describeHealth({
  test,
  interval,
  timeout,
  retries: limit,
  retry_interval: intervalSeconds,
}: Checked) {
  const retry = { limit, intervalSeconds };
  return {
    sql: test?.sql,
    intervalSeconds: interval,
    timeoutSeconds: timeout,
    ...(limit === undefined && intervalSeconds === undefined ? {} : { retry }),
  };
}
