import { expect, test } from 'vitest';
import { OBJECT_KINDS, OBJECTS, type ObjectKind } from './objects.ts';
import { VARIABLE_MARK } from './schema/common.ts';
import { OneOffEvent } from './schema/event.ts';
import { fillTemplate, isReserved, variablesIn, variablesOf } from './variables.ts';
import { asJsonSchema, type JsonSchema } from './walk-schema.ts';

const HEADERS = [
  { name: 'a', value_from_env: 'IN_HEADER' },
  { name: 'b', value: 'Bearer {{IN_TEXT}}' },
];
const VALIDATION = {
  validate_input: { type: 'http', definition: { url: 'http://{{HOST}}/x', headers: HEADERS } },
};

/** One object of each kind that can name variables, and what it names. */
const CASES: readonly (readonly [ObjectKind, unknown, Readonly<Record<string, string>>])[] = [
  [
    'source',
    {
      name: 's',
      kind: 'postgres',
      tables: [],
      configuration: {
        connection_info: {
          database_url: { from_env: 'URL' },
          ssl_configuration: {
            sslmode: 'verify-full',
            sslrootcert: { from_env: 'CA' },
            sslcert: { from_env: 'CERT' },
            sslkey: { from_env: 'KEY' },
            sslpassword: { from_env: 'PASSPHRASE' },
          },
        },
        read_replicas: [{ database_url: 'postgres://x/y' }, { database_url: { from_env: 'REPLICA' } }],
        connection_set: [{ name: 'm', connection_info: { database_url: { from_env: 'MEMBER' } } }],
      },
    },
    {
      URL: 'configuration.connection_info.database_url.from_env',
      CA: 'configuration.connection_info.ssl_configuration.sslrootcert.from_env',
      CERT: 'configuration.connection_info.ssl_configuration.sslcert.from_env',
      KEY: 'configuration.connection_info.ssl_configuration.sslkey.from_env',
      PASSPHRASE: 'configuration.connection_info.ssl_configuration.sslpassword.from_env',
      REPLICA: 'configuration.read_replicas.1.database_url.from_env',
      MEMBER: 'configuration.connection_set.0.connection_info.database_url.from_env',
    },
  ],
  ...(['insert', 'update', 'delete'] as const).map((kind): (typeof CASES)[number] => [
    `${kind}_permission`,
    { role: 'r', permission: { filter: {}, check: {}, columns: '*', ...VALIDATION } },
    {
      HOST: 'permission.validate_input.definition.url',
      IN_HEADER: 'permission.validate_input.definition.headers.0.value_from_env',
      IN_TEXT: 'permission.validate_input.definition.headers.1.value',
    },
  ]),
  [
    'event_trigger',
    { name: 't', definition: {}, webhook_from_env: 'HOOK', headers: HEADERS },
    { HOOK: 'webhook_from_env', IN_HEADER: 'headers.0.value_from_env', IN_TEXT: 'headers.1.value' },
  ],
  ['event_trigger', { name: 't', definition: {}, webhook: '{{ A }}/{{B}}' }, { A: 'webhook', B: 'webhook' }],
  [
    'remote_schema',
    { name: 'r', definition: { url_from_env: 'REMOTE', headers: HEADERS } },
    {
      REMOTE: 'definition.url_from_env',
      IN_HEADER: 'definition.headers.0.value_from_env',
      IN_TEXT: 'definition.headers.1.value',
    },
  ],
  ['remote_schema', { name: 'r', definition: { url: 'http://{{R}}' } }, { R: 'definition.url' }],
  [
    'action',
    { name: 'a', definition: { handler: '{{BASE}}/a', output_type: 'String', headers: HEADERS } },
    {
      BASE: 'definition.handler',
      IN_HEADER: 'definition.headers.0.value_from_env',
      IN_TEXT: 'definition.headers.1.value',
    },
  ],
  [
    'cron_trigger',
    {
      name: 'c',
      webhook: { from_env: 'CRON' },
      schedule: '* * * * *',
      include_in_metadata: true,
      headers: HEADERS,
    },
    { CRON: 'webhook.from_env', IN_HEADER: 'headers.0.value_from_env', IN_TEXT: 'headers.1.value' },
  ],
  [
    'cron_trigger',
    { name: 'c', webhook: 'http://{{C}}', schedule: '* * * * *', include_in_metadata: true },
    { C: 'webhook' },
  ],
  [
    'scheduled_event',
    { name: 'e', webhook: 'http://{{S}}', schedule_at: '2099-01-01T00:00:00Z', headers: HEADERS },
    { S: 'webhook', IN_HEADER: 'headers.0.value_from_env', IN_TEXT: 'headers.1.value' },
  ],
  [
    'opentelemetry',
    { status: 'enabled', exporter_otlp: { headers: HEADERS } },
    { IN_HEADER: 'exporter_otlp.headers.0.value_from_env', IN_TEXT: 'exporter_otlp.headers.1.value' },
  ],
];

test.each(CASES)('an object of the kind %s: every variable, with its path', (kind, definition, expected) => {
  const named = variablesOf(kind, definition).map(({ name, path }) => [name, path.join('.')]);
  expect(Object.fromEntries(named)).toEqual(expected);
  expect(named).toHaveLength(Object.keys(expected).length);
});

test('the variables of sources open connections, all others are sent', () => {
  for (const [kind, definition] of CASES) {
    const uses = new Set(variablesOf(kind, definition).map(({ use }) => use));
    expect([kind, [...uses]]).toEqual([kind, [kind === 'source' ? 'connection' : 'outbound']]);
  }
});

test('no field that names a variable is without a mark, in any kind', () => {
  const covered = new Set(CASES.map(([kind]) => kind));
  const naming = OBJECT_KINDS.filter((kind) => namesVariables(asJsonSchema(OBJECTS[kind].schema), kind));
  // A table nests permissions and event triggers, which are objects of their own.
  expect(naming.filter((kind) => kind !== 'table' && !covered.has(kind))).toEqual([]);
});

test('an event at a time of its own names variables like a cron trigger', () => {
  const event = { webhook: 'http://{{A}}', headers: HEADERS };
  expect(variablesIn(OneOffEvent, event).map(({ name }) => name)).toEqual(['A', 'IN_HEADER', 'IN_TEXT']);
});

test('a template is filled in where it names variables, without a second pass', () => {
  const values: Readonly<Record<string, string>> = { A: '{{B}} $& $1', B: 'b' };
  expect(fillTemplate('x/{{A}}/{{ B }}', (name) => values[name]!)).toBe('x/{{B}} $& $1/b');
});

test.each([
  ['ENGINE_GRAPHQL_ADMIN_SECRET', true],
  ['ENGINE_ANYTHING', true],
  ['POSTGRES_PASSWORD', true],
  ['PGPASSWORD', true],
  ['PGPASSFILE', true],
  ['WEBHOOK', false],
  ['PG_WEBHOOK', false],
  ['MY_ENGINE_URL', false],
])('%s is reserved: %s', (name, expected) => {
  expect(isReserved(name)).toBe(expected);
});

/** True when a property of the schema is called like one that names a variable; fails when that one has no mark. */
function namesVariables(schema: JsonSchema, where: string): boolean {
  let result = false;
  for (const [key, inner] of Object.entries(schema.properties ?? {})) {
    const here = `${where}.${key}`;
    if (/(^|_)from_env$/.test(key)) {
      expect([here, VARIABLE_MARK in inner]).toEqual([here, true]);
      result = true;
    }
    if (namesVariables(inner, here)) result = true;
  }
  for (const inner of [...(schema.anyOf ?? []), ...(schema.items ? [schema.items] : [])]) {
    if (namesVariables(inner, where)) result = true;
  }
  return result;
}
