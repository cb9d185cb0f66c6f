import { expect, test } from 'vitest';
import { unknownToEarlier } from './earlier-members.ts';

test('members that release 0.3.0 does not know are found by their path', () => {
  const document = {
    version: 3,
    sources: [
      {
        name: 'a',
        kind: 'citus',
        configuration: {
          connection_info: {
            database_url: {
              connection_parameters: { host: 'h', password: { from_env: 'P' } },
            },
          },
          read_replicas: [{ database_url: { from_value: 'URL' } }],
        },
        tables: [
          {
            table: 't',
            event_triggers: [
              { name: 'e', webhook_from_file: 'w', headers: [{ name: 'h', value_from_value: 'V' }] },
            ],
          },
        ],
      },
    ],
    api_limits: { response_limit: { global: 1 } },
    cron_triggers: [{ name: 'c', timezone: 'UTC' }],
    opentelemetry: { exporter_otlp: { protocol: 'http/protobuf' } },
    scheduled_events: [{ name: 's' }],
  };
  expect(unknownToEarlier(document)).toEqual([
    'sources[0].kind',
    'sources[0].configuration.connection_info.database_url.connection_parameters.password.from_env',
    'sources[0].configuration.read_replicas[0].database_url.from_value',
    'sources[0].tables[0].event_triggers[0].webhook_from_file',
    'sources[0].tables[0].event_triggers[0].headers[0].value_from_value',
    'api_limits.response_limit',
    'cron_triggers[0].timezone',
    'opentelemetry.exporter_otlp.protocol',
    'scheduled_events',
  ]);
});

test('members that it knows, and data of users, are not', () => {
  const document = {
    version: 3,
    sources: [
      {
        kind: 'postgres',
        configuration: { connection_info: { database_url: { dynamic_from_file: '/f' } } },
        tables: [
          {
            table: 't',
            configuration: { column_config: { from_value: { custom_name: 'x' } } },
            insert_permissions: [
              { role: 'r', permission: { check: { from_file: { _eq: 1 } }, set: { from_value: 1 } } },
            ],
          },
        ],
      },
    ],
    cron_triggers: [{ name: 'c', payload: { from_file: 1 }, headers: [{ name: 'h', value_from_env: 'E' }] }],
    opentelemetry: { exporter_otlp: { protocol: 'http/json' } },
  };
  expect(unknownToEarlier(document)).toEqual([]);
});
