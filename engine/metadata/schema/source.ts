/** A source: the connection to a database, its tracked objects, and its naming in GraphQL.
 *  Spec: "Metadata directory", databases.yaml; docs/reference/behaviour/metadata.md. */

import {
  ConnectionFromElsewhere,
  ConnectionFromEnv,
  ConnectionFromValue,
  ConnectionPart,
  GraphqlName,
  nullable,
  ObjectName,
} from './common.ts';
import { TrackedFunction } from './function.ts';
import { LogicalModel } from './logical-model.ts';
import { ownName, secret } from './marks.ts';
import { NativeQuery } from './native-query.ts';
import { AtLeastOne, Count, Port, Seconds } from './number.ts';
import { Table } from './table.ts';
import { described, oneOf, type Static, Type } from './type.ts';

export const DatabaseUrl = Type.Union([
  secret(Type.String({ minLength: 1 })),
  ConnectionFromEnv,
  ConnectionFromValue,
  Type.Object({ dynamic_from_file: Type.String({ minLength: 1 }) }, { additionalProperties: false }),
  Type.Object(
    {
      connection_parameters: Type.Object({
        username: Type.String(),
        password: Type.Optional(Type.Union([secret(Type.String()), ConnectionFromElsewhere, Type.Null()])),
        database: Type.String(),
        host: Type.String(),
        port: Port,
      }),
    },
    { additionalProperties: false },
  ),
]);
export type DatabaseUrl = Static<typeof DatabaseUrl>;

export const IsolationLevel = oneOf('read-committed', 'repeatable-read', 'serializable');

const PoolSettings = Type.Object({
  max_connections: Type.Optional(nullable(AtLeastOne)),
  total_max_connections: Type.Optional(nullable(AtLeastOne)),
  idle_timeout: Type.Optional(nullable(Seconds)),
  retries: Type.Optional(nullable(Count)),
  /** How long a request waits for a connection; null without a limit. */
  pool_timeout: Type.Optional(nullable(Seconds)),
  /** The age at which a connection is closed; 0 for never. */
  connection_lifetime: Type.Optional(nullable(Seconds)),
});

/** A text in PEM, or the variable, named value or file that contains it. Certificates are no secrets and may stand in the metadata. */
const TlsPart = Type.Optional(Type.Union([Type.String({ minLength: 1 }), ConnectionPart, Type.Null()]));
const TlsSecret = Type.Optional(
  Type.Union([secret(Type.String({ minLength: 1 })), ConnectionPart, Type.Null()]),
);

/** The TLS parameters of libpq with these names. */
export const SslConfiguration = Type.Object({
  sslmode: oneOf('disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full'),
  sslrootcert: TlsPart,
  sslcert: TlsPart,
  sslkey: TlsSecret,
  sslpassword: TlsSecret,
});
export type SslConfiguration = Static<typeof SslConfiguration>;

export const ConnectionInfo = Type.Object({
  database_url: DatabaseUrl,
  use_prepared_statements: Type.Optional(Type.Boolean()),
  isolation_level: Type.Optional(IsolationLevel),
  pool_settings: Type.Optional(nullable(PoolSettings)),
  ssl_configuration: Type.Optional(nullable(SslConfiguration)),
});
export type ConnectionInfo = Static<typeof ConnectionInfo>;

/** A template that chooses one connection of a source for a request, in the language of transforms. */
export const ConnectionTemplate = Type.Object({
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1,
      description: 'The version of the language. Absent: 1, the only one.',
    }),
  ),
  template: Type.String({
    description:
      'The template. Its result is a connection, for example {{ if ($.request.query.operation_type == "query") }} {{$.read_replicas}} ' +
      '{{ else }} {{$.default}} {{ end }}.',
  }),
});

export const SourceConfiguration = Type.Object({
  connection_info: ConnectionInfo,
  read_replicas: Type.Optional(nullable(Type.Array(ConnectionInfo))),
  connection_template: Type.Optional(nullable(ConnectionTemplate)),
  connection_set: Type.Optional(
    nullable(Type.Array(Type.Object({ name: ObjectName, connection_info: ConnectionInfo }))),
  ),
  extensions_schema: Type.Optional(Type.String()),
});
export type SourceConfiguration = Static<typeof SourceConfiguration>;

/** The naming convention. `hasura-default` is read as `default`. */
export const NamingConvention = oneOf('default', 'graphql-default');
export type NamingConvention = Static<typeof NamingConvention>;

const affix = (description: string) => Type.Optional(described(description, nullable(Type.String())));

export const SourceCustomization = Type.Object({
  root_fields: Type.Optional(
    described(
      'Names of the root fields of this source.',
      Type.Object({
        namespace: Type.Optional(
          described(
            'The name of a root field that contains all root fields of the source. Absent: they are root fields themselves.',
            nullable(GraphqlName),
          ),
        ),
        prefix: affix('Text in front of the names of root fields, for example archive_.'),
        suffix: affix('Text behind the names of root fields.'),
      }),
    ),
  ),
  type_names: Type.Optional(
    described(
      'Names of the types of this source.',
      Type.Object({
        prefix: affix('Text in front of the names of types, for example archive_.'),
        suffix: affix('Text behind the names of types.'),
      }),
    ),
  ),
  naming_convention: Type.Optional(
    described(
      'How names in GraphQL are derived from names of the database: unchanged, or in the camelCase and PascalCase of GraphQL. Absent: the ' +
        'option --default-naming-convention of the engine.',
      nullable(NamingConvention),
    ),
  ),
});
export type SourceCustomization = Static<typeof SourceCustomization>;

export const QueryTags = Type.Object({
  disabled: Type.Optional(Type.Boolean({ description: 'Turns the comments off. Absent: false.' })),
  format: Type.Optional(
    described(
      'The form of the comment: behind the statement, in front of it, or as the specification sqlcommenter says. Absent: behind it.',
      oneOf('standard', 'standard_prepended', 'sqlcommenter'),
    ),
  ),
  omit_request_id: Type.Optional(
    Type.Boolean({
      description:
        'Has no effect: the comment never has the id of the request, so that equal statements stay equal. false is reported as NotEnforced.',
    }),
  ),
});
export type QueryTags = Static<typeof QueryTags>;

export const HealthCheck = nullable(
  Type.Object({
    test: Type.Optional(Type.Object({ sql: Type.Optional(Type.String()) })),
    interval: Seconds,
    timeout: Type.Optional(Seconds),
    retries: Type.Optional(Count),
    retry_interval: Type.Optional(Seconds),
  }),
);

/** The kinds of databases that speak PostgreSQL's protocol. The engine serves them alike; operations have their name in front. */
export const SOURCE_KINDS = {
  postgres: { prefix: 'pg', name: 'PostgreSQL' },
  citus: { prefix: 'citus', name: 'Citus' },
  cockroach: { prefix: 'cockroach', name: 'CockroachDB' },
  alloy: { prefix: 'alloy', name: 'AlloyDB' },
} as const;
/** The kind, as written, of a source that does not speak PostgreSQL's protocol; undefined for one that does. Such a source is kept in the
 *  document as it is given, and is inconsistent. */
export function foreignKindOf(source: object): string | undefined {
  const { kind } = source as { readonly kind?: unknown };
  const isServed =
    kind === '' || kind === 'pg' || (typeof kind === 'string' && Object.hasOwn(SOURCE_KINDS, kind));
  return typeof kind !== 'string' || isServed ? undefined : kind;
}
/** Returns why the engine does not serve a source of a kind. */
export function unservedText(kind: string): string {
  return `sources of the kind "${kind}" are not supported`;
}
/** A source that the engine cannot serve. */
export type ForeignSource = { readonly name: string; readonly kind: string };
export const SourceKind = oneOf('postgres', 'citus', 'cockroach', 'alloy');
export type SourceKind = keyof typeof SOURCE_KINDS & Static<typeof SourceKind>;

export const Source = Type.Object({
  name: ownName('source', ObjectName),
  kind: SourceKind,
  configuration: SourceConfiguration,
  tables: Type.Array(Table),
  functions: Type.Optional(Type.Array(TrackedFunction)),
  native_queries: Type.Optional(Type.Array(NativeQuery)),
  logical_models: Type.Optional(Type.Array(LogicalModel)),
  stored_procedures: Type.Optional(Type.Array(secret(Type.Unknown()))),
  customization: Type.Optional(SourceCustomization),
  query_tags: Type.Optional(nullable(QueryTags)),
  health_check: Type.Optional(HealthCheck),
});
export type Source = Static<typeof Source>;
