/** What the engine tells about itself: GET /v1alpha1/config for administrators, /v1/version and the health endpoints for
 *  everyone. `/healthz` says whether it serves, and with `?strict=true` fails on inconsistent metadata; `/livez` only that
 *  the process answers. Spec: "Config API"; reference: features.md 1.14. */
import type { FastifyInstance } from 'fastify';
import { isSecretSet } from '../auth/authenticate.ts';
import { booleanOf } from '../config/option-types.ts';
import type { HttpContext } from './context.ts';
import { adminSessionOf } from './exchange.ts';
import { VERSION } from './version.ts';

export function configRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1alpha1/config', async (request) => {
    adminSessionOf(request);
    return configView(context);
  });
}

export function publicRoutes(app: FastifyInstance, context: HttpContext): void {
  app.get('/v1/version', async () => ({ server_type: 'ce', version: VERSION }));
  app.get('/livez', async (_, reply) => reply.type('text/plain').send('OK'));
  app.get('/healthz', async (request, reply) => {
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
  return {
    version: VERSION,
    resource_version: state.snapshot().resourceVersion,
    is_admin_secret_set: isSecretSet(options),
    is_auth_hook_set: false,
    is_jwt_set: false,
    jwt: [],
    is_allow_list_enabled: false,
    is_function_permissions_inferred: true,
    is_remote_schema_permissions_enabled: false,
    enabled_apis: options.enabledApis,
    header_prefix: options.headerPrefix,
    console_assets_dir: null,
    experimental_features: options.experimentalFeatures,
  };
}
