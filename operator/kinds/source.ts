/** Source: a database that the engine serves. The spec never contains its URL: the engine reads it from its environment or a file, or the
 *  operator reads it from a Secret where that is allowed. Deleting the resource keeps the source by default. Certificates are named by
 *  environment variables of the engine, as in its metadata. */
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
import { closed, exactlyOne, immutable, keyedList, MetadataName, Name, withDescription } from './annotate.ts';
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

const UrlFrom = withDescription(
  'The location of the connection URL: an environment variable of the engine, a file that the engine reads, or a Secret.',
  closed(
    {
      env: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
      file: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
      secretKeyRef: Type.Optional(closed({ name: Name, key: Name })),
    },
    exactlyOne('urlFrom', 'env', 'file', 'secretKeyRef'),
  ),
);

const Parameters = withDescription(
  'The parts of the connection URL, when nothing holds all of it.',
  closed({
    host: MetadataName,
    port: Port,
    database: MetadataName,
    username: MetadataName,
    passwordFrom: Type.Optional(
      withDescription(
        'A Secret in this namespace, if the Engine allows literal secrets. Without it no password is sent.',
        closed({ secretKeyRef: closed({ name: Name, key: Name }) }),
      ),
    ),
  }),
);

const seconds = (description: string) => Type.Optional(withDescription(description, Seconds));
const connections = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description }));

const Pool = closed({
  maxConnections: connections('The most connections of one replica of the engine.'),
  totalMaxConnections: connections('The most connections of all replicas together.'),
  idleTimeoutSeconds: seconds('The seconds after which an idle connection is closed.'),
  poolTimeoutSeconds: seconds('The seconds that a request waits for a connection.'),
  connectionLifetimeSeconds: seconds('The seconds after which a connection is replaced; 0 means never.'),
  retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
});

const CONNECTION = {
  urlFrom: Type.Optional(UrlFrom),
  parameters: Type.Optional(Parameters),
  usePreparedStatements: Type.Optional(Type.Boolean()),
  isolationLevel: Type.Optional(enumeration(IsolationLevel)),
  pool: Type.Optional(Pool),
  ssl: Type.Optional(
    withDescription(
      'How connections are encrypted, as in libpq; certificates and keys are PEM texts in environment variables of the engine.',
      project(SslConfiguration),
    ),
  ),
};
const ONE_URL = exactlyOne('a connection', 'urlFrom', 'parameters');
const Connection = closed(CONNECTION, ONE_URL);
type Connection = Static<typeof Connection>;

/** A member of the set of connections that a template chooses from. */
const Member = closed({ name: MetadataName, ...CONNECTION }, ONE_URL);
const Replica = closed({ name: withDescription('For messages only.', MetadataName), ...CONNECTION }, ONE_URL);

const Health = withDescription(
  'The statement and interval of GET /healthz/sources. The default is SELECT 1 once a second.',
  closed({
    sql: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
    intervalSeconds: Seconds,
    timeoutSeconds: seconds('The default is 10.'),
    retries: Type.Optional(withDescription('The default is 3.', Count)),
    retryIntervalSeconds: seconds('The default is 10.'),
  }),
);
type Health = Static<typeof Health>;
type Checked = NonNullable<Static<typeof HealthCheck>>;

export const SourceSpec = specOf(
  {
    name: MetadataName,
    type: Type.Optional(withDescription('The kind of database. Absent: Postgres.', enumeration(SourceKind))),
    connection: Connection,
    readReplicas: Type.Optional(
      withDescription('Read replicas that queries may be sent to.', keyedList('name', Replica, 32)),
    ),
    connectionTemplate: Type.Optional(
      withDescription('A template that chooses the connection of each request.', project(ConnectionTemplate)),
    ),
    connectionSet: Type.Optional(
      withDescription(
        'Further connections that the template may choose, by name.',
        keyedList('name', Member, 32),
      ),
    ),
    customization: Type.Optional(project(SourceCustomization)),
    queryTags: Type.Optional(
      withDescription('Comments in statements that identify the request.', project(QueryTags)),
    ),
    healthCheck: Type.Optional(Health),
    extensionsSchema: Type.Optional(MetadataName),
  },
  immutable('name', 'create a new Source object for another name'),
);
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

const FIELD_PATHS: readonly FieldPath[] = [
  {
    at: 'spec.connection.ssl',
    of: ['configuration', 'connection_info', 'ssl_configuration'],
    as: SslConfiguration,
  },
  { at: 'spec.connectionTemplate', of: ['configuration', 'connection_template'], as: ConnectionTemplate },
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
  const { pool, ssl } = connection;
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
    ssl_configuration: ssl && unproject(SslConfiguration, ssl),
  };
}

function databaseUrl({ urlFrom, parameters }: Connection, path: string, context: TranslateContext): unknown {
  if (!parameters) {
    const url = context.valueFrom(urlFrom ?? {}, `${path}.urlFrom`);
    return typeof url === 'object' && 'from_file' in url ? { dynamic_from_file: url.from_file } : url;
  }
  const { passwordFrom, ...rest } = parameters;
  const password = passwordFrom && context.valueFrom(passwordFrom, `${path}.parameters.passwordFrom`);
  return { connection_parameters: { ...rest, ...(password === undefined ? {} : { password }) } };
}

function healthCheck({
  sql,
  intervalSeconds,
  timeoutSeconds,
  retries,
  retryIntervalSeconds,
}: Health): object {
  return {
    test: sql === undefined ? undefined : { sql },
    interval: intervalSeconds,
    timeout: timeoutSeconds,
    retries,
    retry_interval: retryIntervalSeconds,
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
      urlFrom: urlFromOf(url, key),
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
      ssl: ssl && projectValue(SslConfiguration, ssl),
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

function urlFromOf(url: DatabaseUrl, key: string): object | undefined {
  if (typeof url === 'string') return { secretKeyRef: { name: OWN_SECRET, key } };
  if ('from_env' in url) return { env: url.from_env };
  return 'dynamic_from_file' in url ? { file: url.dynamic_from_file } : undefined;
}

function parametersOf(url: DatabaseUrl, key: string): object | undefined {
  if (typeof url === 'string' || !('connection_parameters' in url)) return undefined;
  const { password: _password, ...rest } = url.connection_parameters;
  const isSecret = passwordIn(url) !== undefined;
  return { ...rest, ...(isSecret ? { passwordFrom: { secretKeyRef: { name: OWN_SECRET, key } } } : {}) };
}

function passwordIn(url: DatabaseUrl): string | undefined {
  if (typeof url === 'string' || !('connection_parameters' in url)) return undefined;
  return url.connection_parameters.password ?? undefined;
}

function describeHealth({ test, interval, timeout, retries, retry_interval }: Checked): object {
  return {
    sql: test?.sql,
    intervalSeconds: interval,
    timeoutSeconds: timeout,
    retries,
    retryIntervalSeconds: retry_interval,
  };
}
