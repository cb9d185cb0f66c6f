/** CONVERSIONS: for each kind, the steps from the old form of its spec to the new form. The old form is that of the releases before the
 *  form was frozen; both are `pergola.dev/v1alpha1` (ADR 16). A kind without a row has one form.
 *  Pure. Not here: the steps (steps.ts), documents and their metadata (convert.ts). */
import { isRecord } from '@pergola/engine/metadata';
import {
  type Conversion,
  each,
  enumeration,
  environmentVariable,
  type Fields,
  flatName,
  gather,
  hoist,
  inside,
  remove,
  rename,
  replace,
  steps,
  valueSource,
  without,
} from './steps.ts';

const HEADERS = each('headers', rename('valueFromEnv', 'env'), hoist('valueFrom'));

const BODY = inside(
  'body',
  enumeration('action', ['transform', 'remove'], { x_www_form_urlencoded: 'Form' }),
);
const TRANSFORMS = steps(
  inside(
    'requestTransform',
    BODY,
    inside('requestHeaders', rename('addHeaders', 'add'), rename('removeHeaders', 'remove')),
    remove('templateEngine'),
  ),
  inside('responseTransform', BODY, remove('templateEngine')),
);

const TLS = inside(
  'tls',
  rename('sslmode', 'mode'),
  rename('sslrootcert', 'rootCertificate'),
  rename('sslcert', 'certificate'),
  rename('sslkey', 'key'),
  rename('sslpassword', 'keyPassword'),
  enumeration('mode', ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']),
  ...['rootCertificate', 'certificate', 'key', 'keyPassword'].map(environmentVariable),
);
const CONNECTION = steps(
  valueSource('url'),
  inside('parameters', valueSource('password')),
  rename('ssl', 'tls'),
  TLS,
  enumeration('isolationLevel', ['read-committed', 'repeatable-read', 'serializable']),
);

const SELECT_ROOT_FIELDS = ['select', 'select_by_pk', 'select_aggregate', 'select_stream'];

/** `{type: http, definition: {url, headers, forwardClientHeaders, timeout}}` becomes the definition alone. */
const VALIDATE_INPUT = inside(
  'validateInput',
  remove('type'),
  hoist('definition', { timeout: 'timeoutSeconds' }),
  valueSource('url'),
  HEADERS,
);
const PERMISSION = steps(
  inside(
    'select',
    rename('limit', 'maxRows'),
    enumeration('queryRootFields', SELECT_ROOT_FIELDS),
    enumeration('subscriptionRootFields', SELECT_ROOT_FIELDS),
  ),
  inside('insert', VALIDATE_INPUT),
  inside('update', VALIDATE_INPUT),
  inside('delete', VALIDATE_INPUT),
);

const RELATIONSHIP = steps(
  inside('foreignKey', flatName('table')),
  inside('manual', flatName('table'), enumeration('insertionOrder', ['before_parent', 'after_parent'])),
);

/** Relationships of custom types. */
const TYPE_RELATIONSHIPS = each('relationships', flatName('table'), enumeration('type', ['object', 'array']));

export const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  Engine: steps(
    remove(
      'allowLiteralSecrets',
      'is removed: a secretKeyRef no longer needs permission, because its value is not part of the metadata',
    ),
  ),
  Source: steps(
    enumeration('type', ['postgres', 'citus', 'cockroach', 'alloy']),
    inside('connection', CONNECTION),
    each('readReplicas', CONNECTION),
    each('connectionSet', CONNECTION),
    inside('customization', enumeration('namingConvention', ['default', 'graphql-default'])),
    inside(
      'queryTags',
      enumeration('format', ['standard', 'standard_prepended'], { sqlcommenter: 'SqlCommenter' }),
    ),
    inside('healthCheck', gather('retry', { retries: 'limit', retryIntervalSeconds: 'intervalSeconds' })),
  ),
  Table: steps(
    flatName('table'),
    inside('configuration', mergeRootFields),
    federation,
    each('objectRelationships', RELATIONSHIP),
    each('arrayRelationships', RELATIONSHIP),
    each('computedFields', flatName('function')),
    each('permissions', PERMISSION),
  ),
  TablePermission: steps(flatName('table'), PERMISSION),
  Function: steps(
    flatName('function'),
    inside(
      'configuration',
      rename('customRootFields', 'rootFields'),
      inside('rootFields', rename('function', 'select'), rename('functionAggregate', 'selectAggregate')),
      enumeration('exposedAs', ['query', 'mutation']),
      inside('response', enumeration('type', ['table', 'inferred']), flatName('table')),
    ),
  ),
  RemoteSchema: steps(valueSource('url'), HEADERS, each('permissions', rename('schema', 'sdl'))),
  RemoteRelationship: steps(
    flatName('table'),
    inside('toSource', flatName('table'), enumeration('relationshipType', ['object', 'array'])),
  ),
  CustomTypes: TYPE_RELATIONSHIPS,
  Action: steps(
    valueSource('handler'),
    enumeration('kind', ['synchronous', 'asynchronous']),
    HEADERS,
    TYPE_RELATIONSHIPS,
    TRANSFORMS,
  ),
  EventTrigger: steps(
    flatName('table'),
    valueSource('webhook'),
    HEADERS,
    inside('retry', rename('numRetries', 'limit')),
    TRANSFORMS,
  ),
  CronTrigger: steps(
    valueSource('webhook'),
    HEADERS,
    inside('retry', rename('numRetries', 'limit'), rename('retryIntervalSeconds', 'intervalSeconds')),
    liftTolerance,
    TRANSFORMS,
  ),
  InheritedRole: rename('roleSet', 'roles'),
  EngineSettings: steps(
    inside('network', each('tlsAllowlist', selfSigned)),
    inside(
      'openTelemetry',
      enumeration('status', ['enabled', 'disabled', 'env']),
      enumeration('dataTypes', ['traces', 'metrics', 'logs']),
      inside('exporterOtlp', remove('protocol')),
      hoist('exporterOtlp', {
        otlpTracesEndpoint: 'traces',
        otlpMetricsEndpoint: 'metrics',
        otlpLogsEndpoint: 'logs',
        tracesPropagators: 'propagators',
      }),
      ...['traces', 'metrics', 'logs'].map((signal) => valueSource(signal)),
      HEADERS,
      enumeration('propagators', ['b3'], { tracecontext: 'TraceContext' }),
      hoist('batchSpanProcessor'),
    ),
  ),
};

/** Merges `rootFields`, a map to names, and `rootFieldComments`, a map to comments, into a map to both. */
function mergeRootFields(fields: Fields): Fields {
  const [names, comments] = [fields['rootFields'], fields['rootFieldComments']];
  const isOld =
    isRecord(comments) || (isRecord(names) && Object.values(names).some((name) => typeof name === 'string'));
  if (!isOld) return fields;
  const known = isRecord(names) ? names : {};
  const described = isRecord(comments) ? comments : {};
  const merged = Object.fromEntries(
    [...new Set([...Object.keys(known), ...Object.keys(described)])].map((field) => {
      const { [field]: name } = known;
      const { [field]: comment } = described;
      const named = isRecord(name) ? name : name === undefined ? {} : { name };
      return [field, { ...named, ...(comment === undefined ? {} : { comment }) }];
    }),
  );
  const at = 'rootFields' in fields ? 'rootFields' : 'rootFieldComments';
  return replace(without(fields, at === 'rootFields' ? 'rootFieldComments' : ''), at, () => ({
    rootFields: merged,
  }));
}

/** `apolloFederationConfig: {enable: v1}` becomes `federation: {enabled: true}`. */
function federation(fields: Fields): Fields {
  return replace(fields, 'apolloFederationConfig', () => ({ federation: { enabled: true } }));
}

/** Moves `toleranceSeconds` from `retry` to the spec. */
function liftTolerance(fields: Fields): Fields {
  const { retry } = fields;
  if (!isRecord(retry) || !('toleranceSeconds' in retry)) return fields;
  const { toleranceSeconds, ...rest } = retry;
  const isEmpty = Object.keys(rest).length === 0;
  return replace(fields, 'retry', () => ({ ...(isEmpty ? {} : { retry: rest }), toleranceSeconds }));
}

/** `permissions: [self-signed]` becomes `allowSelfSigned: true`. */
function selfSigned(fields: Fields): Fields {
  const { permissions } = fields;
  if (!Array.isArray(permissions)) return fields;
  const isAllowed = permissions.includes('self-signed');
  return isAllowed
    ? replace(fields, 'permissions', () => ({ allowSelfSigned: true }))
    : without(fields, 'permissions');
}
