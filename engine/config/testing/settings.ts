/** The settings of an engine with every secret set, for tests that no secret is logged. */
import { loadOptions } from '../load-options.ts';
import { settingsOf } from '../options.ts';

export function loadedSettings(port: number, token: string): Readonly<Record<string, unknown>> {
  const env = {
    ENGINE_GRAPHQL_DATABASE_URL: 'postgres://someone:secret-password@db/app',
    ENGINE_GRAPHQL_METADATA_DATABASE_URL: 'postgres://someone:secret-password@db/metadata',
    ENGINE_GRAPHQL_ADMIN_SECRET: 'secret-of-the-administrator',
    ENGINE_GRAPHQL_METRICS_SECRET: 'secret-of-the-scraper',
    ENGINE_GRAPHQL_OTLP_HEADERS: 'authorization=secret-of-the-collector',
    ENGINE_GRAPHQL_OTLP_TRACES_ENDPOINT: 'https://a:secret-password@collector/v1/traces?key=secret-key',
    ENGINE_GRAPHQL_AUTH_HOOK: `http://user:${token}@127.0.0.1:${port}/auth?token=${token}`,
  };
  return settingsOf(loadOptions([], env));
}
