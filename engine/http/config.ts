/** The engine's description of itself: GET /v1alpha1/config for administrators (with
 *  `?check_sources=true` it checks the databases first), /v1/version and the health endpoints for
 *  everyone. `/healthz` says whether it serves, and with `?strict=true` fails on inconsistent metadata; `/healthz/sources`
 *  whether the databases answer; `/livez` only that the process does. Spec: "Config API"; docs/reference/behaviour/endpoints.md. */
import type { FastifyInstance } from 'fastify';
import { isSecretSet, jwtSecretsOf } from '../auth/authenticate.ts';
import type { ClaimSource, JwtSecret } from '../config/jwt-secret.ts';
import { booleanOf } from '../config/option-types.ts';
import { SourceHealth } from '../database/source-health.ts';
import { stateVersionOf } from '../metadata/state-version.ts';
import type { HttpContext } from './context.ts';
import { adminSessionOf } from './exchange.ts';
import { VERSION } from './version.ts';

/** Longer than a check of a database that does not answer takes. */
const MOST_CHECK_MS = 8000;

export function configRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1alpha1/config', async (request) => {
    adminSessionOf(request);
    const { check_sources: wanted } = request.query as { check_sources?: string };
    if (wanted === 'true') await context.state.checkSources(MOST_CHECK_MS);
    return configView(context);
  });
}

export function publicRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1/version', async () => ({ server_type: 'ce', version: VERSION }));
  app.get('/livez', async (_, reply) => reply.type('text/plain').send('OK'));
  const health = new SourceHealth((source) => context.state.sources.database(source));
  app.get('/healthz/sources', async (_, reply) => {
    const statuses = await health.statuses(context.state.snapshot().metadata.sources);
    const isWell = Object.values(statuses).every(({ status }) => status === 'OK');
    return reply.code(isWell ? 200 : 500).send(statuses);
  });
  app.get('/healthz', async (request, reply) => {
    if (context.life.isStopping)
      return reply.code(503).type('text/plain').send('ERROR: the engine is stopping');
    const { strict } = request.query as { strict?: string };
    const isStrict = strict !== undefined && (strict === '' || booleanOf(strict) === true);
    const isConsistent = context.state.snapshot().inconsistencies.length === 0;
    reply.type('text/plain');
    if (isConsistent) return 'OK';
    if (!isStrict) return 'WARN: inconsistent objects in schema';
    return reply.code(500).send('ERROR: inconsistent objects in schema');
  });
}

/** Only what is so: a feature that does not exist yet is told as off. */
function configView({ options, state }: HttpContext): unknown {
  const secrets = jwtSecretsOf(options);
  return {
    version: VERSION,
    resource_version: state.snapshot().resourceVersion,
    state_version: stateVersionOf(state.snapshot().inconsistencies),
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
    experimental_features: options.experimentalFeatures,
  };
}

/** How claims are found, never with what they are verified. */
function jwtView({ namespace, areClaimsStringified, claimsMap }: JwtSecret): unknown {
  const place = namespace.kind === 'name' ? 'claims_namespace' : 'claims_namespace_path';
  return {
    [place]: namespace.text,
    claims_format: areClaimsStringified ? 'stringified_json' : 'json',
    claims_map:
      claimsMap && Object.fromEntries([...claimsMap].map(([name, source]) => [name, viewOf(source)])),
  };
}

function viewOf(source: ClaimSource): unknown {
  if (source.kind === 'literal') return source.value;
  return { path: source.path, ...(source.standard === undefined ? {} : { default: source.standard }) };
}
