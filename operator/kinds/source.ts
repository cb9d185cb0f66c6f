/** Source: a database the engine serves. Its URL is never written here: it is read from the engine's environment or a file,
 *  or, where that is allowed, from a Secret. Deleting the resource leaves the source unless it says otherwise. */
import {
  type ConnectionInfo,
  type DatabaseUrl,
  IsolationLevel,
  type MetadataObject,
  objectKey,
  type Source,
  SourceCustomization,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { closed, described, exactlyOne, immutable, keyedList, MetadataName, Name } from './annotate.ts';
import { type Draft, kindRow, OBJECT_COLUMNS, OWN_SECRET, specOf, type TranslateContext } from './kind.ts';
import { describe, project, unproject } from './project.ts';

const UrlFrom = described(
  'Where the connection URL is kept: a variable of the engine, a file the engine reads, or a Secret.',
  closed(
    {
      env: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
      file: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
      secretKeyRef: Type.Optional(closed({ name: Name, key: Name })),
    },
    exactlyOne('urlFrom', 'env', 'file', 'secretKeyRef'),
  ),
);

const seconds = (description: string) => Type.Optional(Type.Integer({ minimum: 0, description }));
const connections = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000, description }));

const Pool = closed({
  maxConnections: connections('Of one replica of the engine.'),
  totalMaxConnections: connections('Of all replicas together.'),
  idleTimeoutSeconds: seconds('After which an idle connection is closed.'),
  poolTimeoutSeconds: seconds('A request waits for a connection.'),
  connectionLifetimeSeconds: seconds('After which a connection is replaced; 0 is never.'),
  retries: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })),
});

const CONNECTION = {
  urlFrom: UrlFrom,
  usePreparedStatements: Type.Optional(Type.Boolean()),
  isolationLevel: Type.Optional(project(IsolationLevel)),
  pool: Type.Optional(Pool),
};
const Connection = closed(CONNECTION);
type Connection = Static<typeof Connection>;

const Replica = closed({ name: described('For people.', MetadataName), ...CONNECTION });

export const SourceSpec = specOf(
  'Source',
  {
    name: MetadataName,
    type: Type.Optional(Type.Literal('postgres')),
    connection: Connection,
    readReplicas: Type.Optional(
      described('Databases that queries may be sent to instead.', keyedList('name', Replica, 32)),
    ),
    customization: Type.Optional(project(SourceCustomization)),
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
  description: 'A database the engine serves.',
  spec: SourceSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  deletionPolicy: 'Retain',
  target: (spec) => `source ${spec.name}`,
  translate: (spec, context) => [sourceObject(spec, context)],
  describe: (inventory) => inventory.all('source').map(describeSource),
});

function sourceObject(spec: SourceSpec, context: TranslateContext): MetadataObject {
  return {
    key: objectKey('source', spec.name),
    kind: 'source',
    parent: null,
    definition: {
      name: spec.name,
      kind: 'postgres',
      configuration: {
        connection_info: connectionInfo(spec.connection, 'spec.connection', context),
        read_replicas: spec.readReplicas?.map((replica, i) =>
          connectionInfo(replica, `spec.readReplicas[${i}]`, context),
        ),
        extensions_schema: spec.extensionsSchema,
      },
      customization: spec.customization && unproject(SourceCustomization, spec.customization),
    },
  };
}

function connectionInfo(connection: Connection, path: string, context: TranslateContext): unknown {
  const { pool } = connection;
  return {
    database_url: context.valueFrom(connection.urlFrom, `${path}.urlFrom`),
    use_prepared_statements: connection.usePreparedStatements,
    isolation_level: connection.isolationLevel,
    pool_settings: pool && {
      max_connections: pool.maxConnections,
      total_max_connections: pool.totalMaxConnections,
      idle_timeout: pool.idleTimeoutSeconds,
      retries: pool.retries,
      pool_timeout: pool.poolTimeoutSeconds,
      connection_lifetime: pool.connectionLifetimeSeconds,
    },
  };
}

/** A URL that is written out in the metadata is kept in a Secret. */
function describeSource({ definition }: MetadataObject): Draft {
  const { name, configuration, customization } = definition as Source;
  const secrets: Record<string, string> = {};
  const describeConnection = (info: ConnectionInfo, key: string): object => {
    const { database_url: url, pool_settings: pool } = info;
    if (typeof url === 'string') secrets[key] = url;
    return {
      urlFrom: urlFromOf(url, key),
      usePreparedStatements: info.use_prepared_statements,
      isolationLevel: info.isolation_level,
      pool: pool && {
        maxConnections: pool.max_connections,
        totalMaxConnections: pool.total_max_connections,
        idleTimeoutSeconds: pool.idle_timeout,
        poolTimeoutSeconds: pool.pool_timeout,
        connectionLifetimeSeconds: pool.connection_lifetime,
        retries: pool.retries,
      },
    };
  };
  const spec = {
    name,
    connection: describeConnection(configuration.connection_info, 'url'),
    readReplicas: configuration.read_replicas?.map((replica, i) => ({
      name: `replica-${i + 1}`,
      ...describeConnection(replica, `replica-${i + 1}`),
    })),
    customization: customization && describe(SourceCustomization, customization),
    extensionsSchema: configuration.extensions_schema,
  };
  return { name, spec, secrets };
}

function urlFromOf(url: DatabaseUrl, key: string): object | undefined {
  if (typeof url === 'string') return { secretKeyRef: { name: OWN_SECRET, key } };
  if ('from_env' in url) return { env: url.from_env };
  return 'dynamic_from_file' in url ? { file: url.dynamic_from_file } : undefined;
}
