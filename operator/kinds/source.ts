/** Source: a database the engine serves. Its URL is never written here: it is read from the engine's environment or a file,
 *  or, where that is allowed, from a Secret. Deleting the resource leaves the source unless it says otherwise. */
import { IsolationLevel, objectKey, SourceCustomization, type Static, Type } from '@pergola/engine/metadata';
import { closed, described, immutable, MetadataName, Name } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, specOf } from './kind.ts';
import { project, unproject } from './project.ts';

const UrlFrom = described(
  'Where the connection URL is kept: a variable of the engine, a file the engine reads, or a Secret.',
  closed(
    {
      env: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
      file: Type.Optional(Type.String({ minLength: 1, maxLength: 4096 })),
      secretKeyRef: Type.Optional(closed({ name: Name, key: Name })),
    },
    {
      rule: '[has(self.env), has(self.file), has(self.secretKeyRef)].filter(given, given).size() == 1',
      message: 'urlFrom has exactly one of env, file and secretKeyRef; name one of them',
      holds: (from) => Object.keys(from).length === 1,
    },
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

export const SourceSpec = specOf(
  'Source',
  {
    name: MetadataName,
    type: Type.Optional(Type.Literal('postgres')),
    connection: closed({
      urlFrom: UrlFrom,
      usePreparedStatements: Type.Optional(Type.Boolean()),
      isolationLevel: Type.Optional(project(IsolationLevel)),
      pool: Type.Optional(Pool),
    }),
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
  translate: (spec, context) => [
    {
      key: objectKey('source', spec.name),
      kind: 'source',
      parent: null,
      definition: {
        name: spec.name,
        kind: 'postgres',
        configuration: {
          connection_info: {
            database_url: context.valueFrom(spec.connection.urlFrom, 'spec.connection.urlFrom'),
            use_prepared_statements: spec.connection.usePreparedStatements,
            isolation_level: spec.connection.isolationLevel,
            pool_settings: spec.connection.pool && poolSettings(spec.connection.pool),
          },
          extensions_schema: spec.extensionsSchema,
        },
        customization: spec.customization && unproject(SourceCustomization, spec.customization),
      },
    },
  ],
});

function poolSettings(pool: NonNullable<SourceSpec['connection']['pool']>): unknown {
  return {
    max_connections: pool.maxConnections,
    total_max_connections: pool.totalMaxConnections,
    idle_timeout: pool.idleTimeoutSeconds,
    retries: pool.retries,
    pool_timeout: pool.poolTimeoutSeconds,
    connection_lifetime: pool.connectionLifetimeSeconds,
  };
}
