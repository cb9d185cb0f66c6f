/** Source: a database that the engine serves. Its URL is a ValueSource, usually a Secret, a variable or a file of the engine. Deleting the
 *  resource keeps the source by default. */
import {
  ConnectionTemplate,
  Count,
  type DatabaseUrl,
  IsolationLevel,
  type PathStep,
  Port,
  QueryTags,
  Seconds,
  type Source,
  SourceCustomization,
  SourceKind,
  SslConfiguration,
  Type,
} from '@pergola/engine/metadata';
import { closed, exactlyOne, keyedList, MetadataName, withDescription } from './annotate.ts';
import { enumeration } from './enumeration.ts';
import { kindRow, specOf } from './kind.ts';
import { inForm, type MetadataForm, mappedTo, optional, required, within } from './mapping.ts';
import { project } from './project.ts';
import { describeValue, readValue, valueSource } from './value-source.ts';

const Parameters = withDescription(
  'The parts of the connection URL, when nothing holds all of it.',
  closed({
    host: required('The host name or address of the server, for example db.example.com.', MetadataName),
    port: required('The port of the server, usually 5432.', Port),
    database: required('The name of the database.', MetadataName),
    username: required('The role that the engine connects as.', MetadataName),
    password: Type.Optional(
      inForm(valueSource('The password of the role. Absent: no password is sent.'), {
        write: readValue,
        read: (password, { keep, path }) =>
          typeof password === 'string' ? keep(password, path) : describeValue(password),
        isWhole: true,
      }),
    ),
  }),
);

const seconds = (description: string, to: string) => optional(description, Seconds, to);
const connections = (description: string) =>
  optional(description, Type.Integer({ minimum: 1, maximum: 100_000 }));

const Pool = closed({
  maxConnections: connections(
    'The most connections of one replica of the engine. Absent: the option --pg-connections of the engine.',
  ),
  totalMaxConnections: connections(
    'A second limit of the connections of one replica; the smaller one counts. An engine does not know the number of its replicas.',
  ),
  idleTimeoutSeconds: seconds(
    'The seconds after which an unused connection is closed. Absent: 180.',
    'idle_timeout',
  ),
  poolTimeoutSeconds: seconds(
    'The seconds that a request waits for a connection. Absent: without limit.',
    'pool_timeout',
  ),
  connectionLifetimeSeconds: seconds(
    'The seconds after which a connection is replaced; 0 means never. Absent: 600.',
    'connection_lifetime',
  ),
  retries: optional(
    'How often opening a connection is tried again. Absent: 1.',
    Type.Integer({ minimum: 0, maximum: 100 }),
  ),
});

const part = (to: string, description: string) => Type.Optional(mappedTo(to, valueSource(description)));

const ConnectionTls = closed({
  mode: required(
    'How connections are encrypted, as sslmode of libpq: Disable never; Allow and Prefer if the server supports it; Require always; ' +
      'VerifyCa verifies the certificate of the server by rootCertificate; VerifyFull verifies its host name, too.',
    enumeration(SslConfiguration.properties.sslmode),
    'sslmode',
  ),
  rootCertificate: part(
    'sslrootcert',
    'The certificates of the authorities that the server is verified by, in PEM. Absent: those of the system.',
  ),
  certificate: part(
    'sslcert',
    'The certificate of the engine, in PEM, for servers that require one. It goes with key.',
  ),
  key: part('sslkey', 'The private key of certificate, in PEM.'),
  keyPassword: part('sslpassword', 'The password of key, if it is encrypted.'),
});

/** The form of a connection URL. */
const AS_URL: MetadataForm = {
  write: (source, writing) => {
    const value = readValue(source, writing);
    return typeof value === 'object' && 'from_file' in value ? { dynamic_from_file: value.from_file } : value;
  },
  read: (url: DatabaseUrl, { keep, path }) => {
    if (typeof url === 'string') return keep(url, path);
    return 'dynamic_from_file' in url ? { file: url.dynamic_from_file } : describeValue(url);
  },
  isWhole: true,
};

const CONNECTION = {
  url: Type.Optional(
    mappedTo(
      'database_url',
      inForm(
        valueSource(
          'The connection URL, for example {secretKeyRef: {name: db, key: uri}}.',
          'The URL itself: postgres://app@db.example.com:5432/shop. Everyone who reads this resource sees it, so it has no password.',
        ),
        AS_URL,
      ),
    ),
  ),
  parameters: Type.Optional(mappedTo('database_url.connection_parameters', Parameters)),
  usePreparedStatements: optional(
    'False behind a pooler in transaction mode: nothing is kept in a session of the database. Absent: true.',
    Type.Boolean(),
  ),
  isolationLevel: optional(
    'The isolation level of transactions. Absent: ReadCommitted.',
    enumeration(IsolationLevel),
  ),
  pool: optional('The limits of the connections to this database.', Pool, 'pool_settings'),
  tls: optional(
    'How connections are encrypted. Absent: as the connection URL says.',
    ConnectionTls,
    'ssl_configuration',
  ),
};
const ONE_URL = exactlyOne('a connection', 'url', 'parameters');
const Connection = closed(CONNECTION, ONE_URL);

/** A member of the set of connections that a template chooses from. */
const Member = closed(
  {
    name: required('The name by which connectionTemplate chooses the connection.', MetadataName),
    ...within('connection_info', CONNECTION),
  },
  ONE_URL,
);
const Replica = closed(
  {
    name: required(
      'A name for messages and for the merge of lists. The engine does not use it.',
      inForm(MetadataName, {
        write: () => undefined,
        read: (_, { path }) => `replica-${Number(path.at(-2)) + 1}`,
        isWhole: true,
      }),
      '',
    ),
    ...CONNECTION,
  },
  ONE_URL,
);

const Health = withDescription(
  'How GET /healthz/sources checks the database. Absent: SELECT 1, once a second at most.',
  closed({
    sql: optional(
      'The statement that has to succeed. Absent: SELECT 1.',
      Type.String({ minLength: 1, maxLength: 4096 }),
      'test.sql',
    ),
    intervalSeconds: required('The shortest time in seconds between two checks.', Seconds, 'interval'),
    timeoutSeconds: seconds('The seconds after which a check has failed. Absent: 10.', 'timeout'),
    retry: optional(
      'How often a failed check is repeated before the database counts as failed.',
      closed({
        limit: optional('The most repetitions. Absent: 3.', Count, 'retries'),
        intervalSeconds: seconds('The seconds between two repetitions. Absent: 10.', 'retry_interval'),
      }),
      '',
    ),
  }),
);

export const SourceSpec = specOf({
  name: required(
    'The name of the source in the engine; resources refer to it as `source`. A new name is another source: the old one is kept or ' +
      'deleted as deletionPolicy says.',
    MetadataName,
  ),
  type: optional('The kind of the database. Absent: Postgres.', enumeration(SourceKind, 'postgres'), 'kind'),
  connection: required(
    'The connection to the database; mutations use it, and queries without read replicas.',
    Connection,
    'configuration.connection_info',
  ),
  readReplicas: optional(
    'Databases with the same content, which serve queries and subscriptions in turn.',
    keyedList('name', Replica, 32),
    'configuration.read_replicas',
  ),
  connectionTemplate: optional(
    'A template that chooses the connection of each request.',
    project(ConnectionTemplate),
    'configuration.connection_template',
  ),
  connectionSet: optional(
    'Further connections that connectionTemplate may choose.',
    keyedList('name', Member, 32),
    'configuration.connection_set',
  ),
  customization: optional(
    'Names of the fields and types of this source in GraphQL.',
    project(SourceCustomization),
  ),
  queryTags: optional(
    'Comments in statements that name the request, for the logs of the database.',
    project(QueryTags),
  ),
  healthCheck: Type.Optional(Health),
  extensionsSchema: optional(
    'The schema in which the engine creates the extension pgcrypto. Absent: public.',
    MetadataName,
    'configuration.extensions_schema',
  ),
});

export const source = kindRow({
  kind: 'Source',
  shortNames: ['gqls'],
  concerns: 'engine',
  description: 'A database that the engine serves.',
  spec: SourceSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  deletionPolicy: 'Retain',
  target: (spec) => `source ${spec.name}`,
  objects: [{ kind: 'source', key: ['name'] }],
  drafts: { secretKey },
});

/** Returns the key in the Secret of a source for the URL or the password of a connection. */
function secretKey([list, i]: readonly PathStep[], definition: unknown): string {
  const { connection_set: set } = (definition as Source).configuration;
  if (list === 'readReplicas') return `replica-${Number(i) + 1}`;
  return list === 'connectionSet' ? `set-${set?.[Number(i)]?.name}` : 'url';
}
