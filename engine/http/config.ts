/** The configuration, version and health endpoints. GET /v1alpha1/config is for administrators and the console secret; `?check_sources=true`
 *  checks the databases first. The others are public: /v1/version; /livez, which says that the process runs;
 *  /healthz, which says that it serves, and with `?strict=true` fails on inconsistent metadata and when the metadata database
 *  does not answer or has lost its tables; /healthz/sources, which says whether the databases answer. Reference: docs/reference/behaviour/endpoints.md. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isSecretSet } from '../auth/accepted-secrets.ts';
import { jwtSecretsOf } from '../auth/authenticate.ts';
import type { ClaimSource, JwtSecret } from '../config/jwt-secret.ts';
import { booleanOf } from '../config/option-types.ts';
import { SourceHealth } from '../database/source-health.ts';
import { stateVersionOf } from '../metadata/state-version.ts';
import { allInconsistencies } from '../state/inconsistencies.ts';
import type { HttpContext } from './context.ts';
import { readerSessionOf, sessionOf } from './request-record.ts';
import { VERSION } from './version.ts';

/** The second is the path of the reference engine's load balancers. */
const HEALTH_PATHS = ['/healthz', '/hasura/healthz'];

/** Longer than the check of a database that does not answer takes. */
const MAX_CHECK_MS = 8000;

export function configRoutes(app: FastifyInstance, context: HttpContext): void {
  const { headerPrefix } = context.options;
  app.get('/v1alpha1/config', async (request, reply) => {
    // Any Unicode text may be a role, and a header has Latin-1 only.
    reply.header(`${headerPrefix}role`, encodeURIComponent(sessionOf(request).role));
    const { isConsole } = readerSessionOf(request);
    const { check_sources: checkSources } = request.query as { check_sources?: string };
    if (checkSources === 'true' && !isConsole) await context.state.checkSources(MAX_CHECK_MS);
    return configView(context);
  });
}

export function publicRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1/version', async () => ({ server_type: 'ce', version: VERSION }));
  app.get('/livez', async (_, reply) => reply.type('text/plain').send('OK'));
  const health = new SourceHealth((source) => context.state.sources.database(source));
  app.get('/healthz/sources', async (_, reply) => {
    const statuses = await health.statuses(context.state.snapshot().metadata.sources);
    const areHealthy = Object.values(statuses).every(({ status }) => status === 'OK');
    return reply.code(areHealthy ? 200 : 500).send(statuses);
  });
  const metadataFault = shared(() => context.state.gateway.store.fault(CHECK_TIMEOUT_MS));
  const serving = async (request: FastifyRequest, reply: FastifyReply) => {
    if (context.life.isStopping)
      return reply.code(503).type('text/plain').send('ERROR: the engine is stopping');
    const { strict } = request.query as { strict?: string };
    const isStrict = strict !== undefined && (strict === '' || booleanOf(strict) === true);
    const isConsistent = allInconsistencies(context.state.snapshot()).length === 0;
    reply.type('text/plain');
    // Without `strict` a lost metadata database does not fail the check: the engine serves on, and every replica would fail at once.
    const fault = isStrict ? await metadataFault() : undefined;
    if (fault) return reply.code(500).send(`ERROR: ${fault}`);
    if (isConsistent) return 'OK';
    if (!isStrict) return 'WARN: inconsistent objects in schema';
    return reply.code(500).send('ERROR: inconsistent objects in schema');
  };
  for (const path of HEALTH_PATHS) app.get(path, serving);
}

/** How long the result of a check is returned again, because anyone may call the endpoint. */
const CHECK_EVERY_MS = 1000;
const CHECK_TIMEOUT_MS = 3000;

/** Returns the function so that callers within a second share its result. */
function shared<T>(check: () => Promise<T>): () => Promise<T> {
  let latest: Promise<T> | undefined;
  return () => {
    latest ??= check().finally(() => {
      setTimeout(() => {
        latest = undefined;
      }, CHECK_EVERY_MS).unref();
    });
    return latest;
  };
}

/** Returns the effective configuration. Features that do not exist are reported as off. */
function configView({ options, state }: HttpContext): unknown {
  const secrets = jwtSecretsOf(options);
  return {
    version: VERSION,
    resource_version: state.snapshot().resourceVersion,
    state_version: stateVersionOf(allInconsistencies(state.snapshot())),
    is_admin_secret_set: isSecretSet(options),
    is_auth_hook_set: options.authHook !== undefined,
    is_jwt_set: secrets.length > 0,
    jwt: secrets.map(jwtView),
    is_allow_list_enabled: options.enableAllowlist,
    is_function_permissions_inferred: options.inferFunctionPermissions,
    is_remote_schema_permissions_enabled: options.enableRemoteSchemaPermissions,
    enabled_apis: options.enabledApis,
    header_prefix: options.headerPrefix,
    live_queries: {
      batch_size: options.liveQueriesMultiplexedBatchSize,
      refetch_delay: options.liveQueriesMultiplexedRefetchInterval / 1000,
    },
    streaming_queries: {
      batch_size: options.streamingQueriesMultiplexedBatchSize,
      refetch_delay: options.streamingQueriesMultiplexedRefetchInterval / 1000,
    },
    console_assets_dir: null,
    console_mode: options.consoleMode,
    experimental_features: options.experimentalFeatures,
    is_prometheus_metrics_enabled: options.enabledApis.includes('metrics'),
    default_naming_convention:
      options.defaultNamingConvention === 'default' ? 'hasura-default' : options.defaultNamingConvention,
    feature_flags: [],
    named_values: { key: state.values.keys[0]?.id ?? null, ...state.values.counts() },
  };
}

/** Describes how claims are found, without the keys that verify them. */
function jwtView({ namespace, areClaimsStringified, claimsMap }: JwtSecret): unknown {
  const namespaceKey = namespace.kind === 'name' ? 'claims_namespace' : 'claims_namespace_path';
  return {
    [namespaceKey]: namespace.text,
    claims_format: areClaimsStringified ? 'stringified_json' : 'json',
    claims_map:
      claimsMap && Object.fromEntries([...claimsMap].map(([name, source]) => [name, viewOf(source)])),
  };
}

function viewOf(source: ClaimSource): unknown {
  if (source.kind === 'literal') return source.value;
  return { path: source.path, ...(source.standard === undefined ? {} : { default: source.standard }) };
}
