/** Tests environment variables that metadata objects send, in a whole engine: an unset one makes its object
 *  inconsistent and is named; the engine's own variables and those of sources, replicas and certificates are never
 *  sent, in whatever order the objects are added. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
const elsewhere = testDatabase();
let engine: TestEngine;
let received: string[] = [];

const hook = createServer((request, response) => {
  received.push(`${request.url} ${JSON.stringify(request.headers)}`);
  response.end('{}');
});
let hookUrl: string;

const env: Record<string, string> = {
  POSTGRES_PASSWORD: 'planted-postgres-password',
  PGPASSWORD: 'planted-pgpassword',
  ENGINE_OTHER: 'planted-engine-other',
  CERTIFICATE: 'planted-certificate',
  PASSPHRASE: 'planted-passphrase',
  TOKEN: 'planted-token',
};

beforeAll(async () => {
  await database.sql('create table book (id int primary key)');
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
  for (const name of ['SOURCE', 'REPLICA', 'MEMBER', 'LATER'])
    env[name] = `${elsewhere.url}?application_name=planted-${name}`;
  env['HOOK'] = hookUrl;
  engine = await startTestEngine({ databaseUrl: database.url, env, eventsFetchInterval: 30 });
});
afterAll(async () => {
  await engine?.close();
  hook.close();
});
beforeEach(() => {
  received = [];
});

const main = {
  name: 'default',
  kind: 'postgres',
  configuration: { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } },
};
const other = () => ({
  name: 'other',
  kind: 'postgres',
  tables: [],
  configuration: {
    connection_info: { database_url: { from_env: 'SOURCE' } },
    read_replicas: [{ database_url: { from_env: 'REPLICA' } }],
    connection_set: [
      {
        name: 'm',
        connection_info: {
          database_url: { from_env: 'MEMBER' },
          ssl_configuration: {
            sslmode: 'disable',
            sslrootcert: { from_env: 'CERTIFICATE' },
            sslpassword: { from_env: 'PASSPHRASE' },
          },
        },
      },
    ],
  },
});

type Parts = Readonly<Record<string, unknown>> & { readonly table?: object };

/** Every object that sends a variable, as part of a document; `type` is that of its inconsistency. */
const OBJECTS: readonly (readonly [type: string, name: string, make: (variable: string) => Parts])[] = [
  ['action', 'URL', (v) => action({ handler: `${hookUrl}/{{${v}}}` })],
  ['action', 'header', (v) => action({ handler: hookUrl, headers: header(v) })],
  ['action', 'text of a header', (v) => action({ handler: hookUrl, headers: text(v) })],
  ['event_trigger', 'URL', (v) => trigger({ webhook: `${hookUrl}/{{ ${v} }}` })],
  ['event_trigger', 'URL from a variable', (v) => trigger({ webhook_from_env: v })],
  ['event_trigger', 'header', (v) => trigger({ webhook: hookUrl, headers: header(v) })],
  ['event_trigger', 'text of a header', (v) => trigger({ webhook: hookUrl, headers: text(v) })],
  ['cron_trigger', 'URL', (v) => cron({ webhook: `${hookUrl}/{{${v}}}` })],
  ['cron_trigger', 'URL from a variable', (v) => cron({ webhook: { from_env: v } })],
  ['cron_trigger', 'header', (v) => cron({ webhook: hookUrl, headers: header(v) })],
  ['cron_trigger', 'text of a header', (v) => cron({ webhook: hookUrl, headers: text(v) })],
  ['remote_schema', 'URL', (v) => remote({ url: `${hookUrl}/{{${v}}}` })],
  ['remote_schema', 'URL from a variable', (v) => remote({ url_from_env: v })],
  ['remote_schema', 'header', (v) => remote({ url: hookUrl, headers: header(v) })],
  ['remote_schema', 'text of a header', (v) => remote({ url: hookUrl, headers: text(v) })],
  ['insert_permission', 'URL', (v) => permission({ url: `${hookUrl}/{{${v}}}` })],
  ['insert_permission', 'header', (v) => permission({ url: hookUrl, headers: header(v) })],
  ['insert_permission', 'text of a header', (v) => permission({ url: hookUrl, headers: text(v) })],
  ['open_telemetry', 'header', (v) => telemetry(header(v))],
  ['open_telemetry', 'text of a header', (v) => telemetry(text(v))],
];

const header = (variable: string) => [{ name: 'x-a', value_from_env: variable }];
const text = (variable: string) => [{ name: 'x-a', value: `Bearer {{${variable}}}` }];
const action = (more: object) => ({
  actions: [{ name: 'act', definition: { type: 'query', output_type: 'String', arguments: [], ...more } }],
});
const trigger = (more: object) => ({
  table: { event_triggers: [{ name: 'trig', definition: { insert: { columns: '*' } }, ...more }] },
});
const cron = (more: object) => ({
  cron_triggers: [{ name: 'cr', schedule: '* * * * *', include_in_metadata: true, ...more }],
});
const remote = (definition: object) => ({ remote_schemas: [{ name: 'rem', definition }] });
const permission = (definition: object) => ({
  table: {
    insert_permissions: [
      { role: 'user', permission: { check: {}, columns: '*', validate_input: { type: 'http', definition } } },
    ],
  },
});
const telemetry = (headers: object) => ({
  opentelemetry: {
    status: 'enabled',
    data_types: ['traces'],
    exporter_otlp: { otlp_traces_endpoint: hookUrl, headers },
    batch_span_processor: { max_export_batch_size: 1 },
  },
});

function documentWith({ table, ...parts }: Parts, sources: readonly object[]): object {
  const tables = [{ table: { schema: 'public', name: 'book' }, ...table }];
  return { version: 3, sources: [{ ...main, tables }, ...sources], ...parts };
}

/** Variables that cannot be sent, and the message for each. */
const REFUSED = [
  ['UNSET', 'is not set'],
  ['ENGINE_GRAPHQL_ADMIN_SECRET', 'ENGINE_GRAPHQL_ADMIN_SECRET'],
  ['ENGINE_GRAPHQL_DATABASE_URL', 'ENGINE_GRAPHQL_DATABASE_URL'],
  ['ENGINE_OTHER', 'never sent'],
  ['POSTGRES_PASSWORD', 'never sent'],
  ['PGPASSWORD', 'never sent'],
  ['SOURCE', 'a source connects with it'],
  ['REPLICA', 'a source connects with it'],
  ['MEMBER', 'a source connects with it'],
  ['CERTIFICATE', 'a source connects with it'],
  ['PASSPHRASE', 'a source connects with it'],
] as const;

/** One of each reason is also tried without `allow_inconsistent_metadata`. */
const ALSO_REFUSED: ReadonlySet<string> = new Set(['UNSET', 'PGPASSWORD', 'REPLICA']);

const replace = (metadata: object, allows: boolean) =>
  engine.admin('replace_metadata', { allow_inconsistent_metadata: allows, metadata }, { version: 2 });

const inconsistent = async () => {
  const { body } = await engine.admin<{ inconsistent_objects: { type: string; reason: string }[] }>(
    'get_inconsistent_metadata',
    {},
  );
  return body.inconsistent_objects;
};

test.each(OBJECTS)(
  '%s, %s: a variable that cannot be sent is refused, or only this object is inconsistent',
  async (type, _, make) => {
    for (const [variable, text] of REFUSED) {
      const document = documentWith(make(variable), [other()]);
      if (ALSO_REFUSED.has(variable)) {
        const refused = await replace(document, false);
        expect([variable, refused.status]).toEqual([variable, 400]);
        expect(JSON.stringify(refused.body)).toContain(variable);
      }
      const allowed = await replace(document, true);
      expect([variable, allowed.status]).toEqual([variable, 200]);
      const found = await inconsistent();
      expect(found).toMatchObject([{ type, reason: expect.stringContaining(text) }]);
      expect(found[0]?.reason).toContain(variable);
      expect(await engine.graphql('{ book { id } }')).toEqual({ data: { book: [] } });
      await engine.graphql('query { act }');
      await engine.graphql(`mutation { insert_book_one(object: {id: 1}) { id } }`, { role: 'user' });
    }
    expect(received.filter((request) => request.includes('planted'))).toEqual([]);
    expect(received).toEqual([]);
  },
);

test.each(OBJECTS)('%s, %s: any other variable that is set is accepted', async (type, _, make) => {
  const name = _ === 'URL from a variable' ? 'HOOK' : 'TOKEN';
  await replace(documentWith(make(name), [other()]), true);
  const types = (await inconsistent()).filter(({ reason }) => !reason.includes('no introspection'));
  expect([type, types]).toEqual([type, []]);
});

test.each(OBJECTS)(
  '%s, %s: a source that is added later may not use a variable that is already sent',
  async (type, name, make) => {
    const isRemote = type === 'remote_schema';
    // A remote schema that does not answer would be inconsistent already.
    if (isRemote) return;
    if (name === 'URL from a variable') return;
    expect(await replace(documentWith(make('LATER'), []), false)).toMatchObject({ status: 200 });
    const configuration = { connection_info: { database_url: { from_env: 'LATER' } } };
    const added = await engine.admin('pg_add_source', { name: 'late', configuration });
    expect(added.status).toBe(400);
    expect(JSON.stringify(added.body)).toContain('LATER');
    expect(JSON.stringify(added.body)).not.toContain('planted');
    const nested = {
      connection_info: {
        database_url: elsewhere.url,
        ssl_configuration: {
          sslmode: 'disable',
          sslrootcert: { from_env: 'LATER' },
        },
      },
    };
    expect((await engine.admin('pg_add_source', { name: 'late', configuration: nested })).status).toBe(400);
    expect(await inconsistent()).toEqual([]);
  },
);

test('a one-off event is not sent if a source has started to use its variable', async () => {
  await replace(documentWith({}, []), false);
  const created = await engine.admin('create_scheduled_event', {
    webhook: `${hookUrl}/{{LATER}}`,
    schedule_at: new Date(Date.now() + 1500).toISOString(),
    headers: header('LATER'),
  });
  expect(created.status).toBe(200);
  const configuration = { connection_info: { database_url: { from_env: 'LATER' } } };
  await engine.must('pg_add_source', { name: 'late', configuration });
  await vi.waitFor(
    async () => {
      const { body } = await engine.admin('get_scheduled_event_invocations', { type: 'one_off' });
      expect(JSON.stringify(body)).toContain('a source connects with it');
    },
    { timeout: 15_000, interval: 50 },
  );
  expect(received).toEqual([]);
  const refused = await engine.admin('create_scheduled_event', {
    webhook: `${hookUrl}/{{LATER}}`,
    schedule_at: '2999-01-01T00:00:00Z',
  });
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid-configuration' } });
});

test.each([
  ['not set', { from_env: 'UNSET' }, '"UNSET" is not set'],
  ['no connection string', { from_env: 'TOKEN' }, '"TOKEN" is not a connection string'],
  ['a secret of the engine', { from_env: 'ENGINE_GRAPHQL_ADMIN_SECRET' }, 'no connection may use it'],
  ['a file that may not be read', { dynamic_from_file: '/etc/hostname' }, 'not below a folder'],
])(
  'a replica or member with the address %s makes its source inconsistent, and the source is still served',
  async (_, database_url, text) => {
    const info = { database_url };
    const certificate = {
      database_url: elsewhere.url,
      ssl_configuration: { sslmode: 'require', sslrootcert: database_url },
    };
    const parts = [
      { read_replicas: [info] },
      { connection_set: [{ name: 'm', connection_info: info }] },
      ...('from_env' in database_url ? [{ read_replicas: [certificate] }] : []),
    ];
    for (const part of parts) {
      const configuration = { ...main.configuration, ...part };
      const document = {
        version: 3,
        sources: [{ ...main, configuration, tables: [{ table: { schema: 'public', name: 'book' } }] }],
      };
      expect(await replace(document, false)).toMatchObject({ status: 400 });
      expect(await replace(document, true)).toMatchObject({ status: 200 });
      const found = await inconsistent();
      expect(found).toMatchObject([{ type: 'source' }]);
      if (!('read_replicas' in part) || part.read_replicas[0] === info)
        expect(found[0]?.reason).toContain(text);
      expect(JSON.stringify(found)).not.toContain('planted');
      expect(await engine.graphql('{ book { id } }')).toEqual({ data: { book: [] } });
    }
  },
);

test('test_webhook_transform shows no variable that is never sent', async () => {
  await replace(documentWith({}, [other()]), false);
  for (const [variable] of REFUSED) {
    for (const webhook_url of [`http://x/{{${variable}}}`, { from_env: variable }]) {
      const args = { webhook_url, body: {}, request_transform: { version: 2, template_engine: 'Kriti' } };
      const answer = await engine.admin('test_webhook_transform', args);
      expect([variable, answer.status]).toEqual([variable, 400]);
      expect(JSON.stringify(answer.body)).not.toContain('planted');
    }
  }
});
