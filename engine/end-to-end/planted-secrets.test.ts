/** Tests unique secrets in variables and files: every operation names them as a connection, malformed in many ways,
 *  and the test then searches for them in all answers, log lines, metrics, traces and outbound connections. */
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { startRemote } from '../../testing/remote.ts';
import { testWorld } from '../../testing/world.ts';
import { jwtSecret } from '../config/jwt-secret.ts';

const PLANTED = 'planted5ecret';
let counter = 0;
const secret = () => `${PLANTED}${counter++}`;

/** Contents that are no connection string, and connection strings of a server that does not answer. */
const CONTENTS: readonly ((port: number) => string)[] = [
  () => secret(),
  () => `base/${secret()}`,
  () => `/${secret()} ${secret()}`,
  () => `//${secret()}/x`,
  () => `http://${secret()}/x`,
  () => `socket:/${secret()}?db=${secret()}`,
  () => `mysql://u:${secret()}@127.0.0.1/x`,
  () => `postgres:${secret()}`,
  () => `KEY=${secret()} OTHER=${secret()}`,
  () => `HOME=/root\nTOKEN=${secret()}`,
  () => `host=127.0.0.1 ${secret()}=1`,
  () => `host=127.0.0.1 password='${secret()}`,
  () => `{"url": "postgres://${secret()}"}`,
  () => `-----BEGIN PRIVATE KEY-----\n${secret()}`,
  () => `postgres://127.0.0.1:${secret()}/x`,
  () => `postgres://u:p/${secret()}@127.0.0.1/x`,
  () => `postgres://127.0.0.1/x?passfile=/${secret()}`,
  (port) => `postgres://${secret()}:${secret()}@127.0.0.1:${port}/${secret()}?application_name=${secret()}`,
  (port) => `postgres://u@127.0.0.1:${port}/d?options=-c%20a.b%3D${secret()}`,
  (port) => `postgres://u@127.0.0.1:${port}/d?sslmode=require&sslrootcert=/${secret()}`,
  (port) => `postgres://u@127.0.0.1:${port}/d?sslmode=${secret()}`,
  (port) => `postgres://u@127.0.0.1:${port}/d?target_session_attrs=${secret()}`,
  (port) => `host=127.0.0.1,127.0.0.2 port=${port} user=${secret()} password=${secret()} dbname=${secret()}`,
  () => `postgres://u@${secret()}.invalid/d`,
  () => `host='/${secret()}' dbname=d`,
];

let folder: string;
/** Everything that is visible from outside. */
const seen: string[] = [];
const collected: string[] = [];
const sockets = new Set<Socket>();
let wronglyAsked: Server;
let collector: ReturnType<typeof createHttpServer>;
let outbound: string[] = [];
const env: Record<string, string> = {};
const files: string[] = [];

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  wronglyAsked?.close();
  collector?.close();
  await rm(folder, { recursive: true, force: true });
  await rm(`${folder}-outside`, { force: true });
});

const { database, engine } = testWorld(
  async (database) => {
    await database.sql('create table book (id int primary key)');
    folder = await mkdtemp(join(tmpdir(), 'pergola-planted-'));
    // A server that accepts connections, records what it receives, and answers with an error that repeats it.
    wronglyAsked = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('data', (bytes) => {
        outbound.push(bytes.toString('latin1'));
        const said = bytes.toString('latin1').replaceAll('\0', ' ');
        const fields = `SFATAL\0VFATAL\0C3D000\0Mno "${said}" here\0D${said}\0\0`;
        const answer = Buffer.alloc(5 + Buffer.byteLength(fields, 'latin1'));
        answer.write('E');
        answer.writeInt32BE(answer.length - 1, 1);
        answer.write(fields, 5, 'latin1');
        socket.end(answer);
      });
    });
    collector = createHttpServer((request, response) => {
      request.on('data', (bytes: Buffer) => collected.push(bytes.toString('latin1')));
      request.on('end', () => response.end('{}'));
    });
    for (const server of [wronglyAsked, collector])
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = wronglyAsked.address() as AddressInfo;
    for (const [i, make] of SENT.entries()) env[`SENT_${i}`] = make();
    for (const [i, make] of CONTENTS.entries()) {
      env[`PLANTED_${i}`] = make(port);
      await writeFile(join(folder, `file-${i}`), make(port));
      files.push(join(folder, `file-${i}`));
    }
    await writeFile(`${folder}-outside`, `postgres://${secret()}@127.0.0.1:${port}/${secret()}`);
    await symlink(`${folder}-outside`, join(folder, 'escape'));
    files.push(join(folder, 'escape'), `${folder}-outside`, join(folder, 'none'));
  },
  () => ({
    env,
    dynamicSecretsPath: [folder],
    adminSecret: secret(),
    logLevel: 'debug',
    eventsFetchInterval: 30,
    enabledApis: ['metadata', 'graphql', 'config', 'pgdump', 'metrics', 'developer'],
    log: { observe: (observation) => seen.push(printed(observation)), flush: () => {} },
  }),
);

/** Returns an observation as a sink may print it, with everything in its errors. */
function printed(value: unknown): string {
  return JSON.stringify(value, (_, inner) =>
    inner instanceof Error
      ? { ...inner, message: inner.message, stack: inner.stack, cause: inner.cause }
      : typeof inner === 'bigint' || typeof inner === 'function'
        ? String(inner)
        : inner,
  );
}

const telemetry = () => ({
  status: 'enabled',
  data_types: ['traces'],
  exporter_otlp: { otlp_traces_endpoint: `http://127.0.0.1:${(collector.address() as AddressInfo).port}` },
  batch_span_processor: { max_export_batch_size: 1 },
});

const admin = async (type: string, args: object, version?: number) => {
  const { status, body } = await engine.admin(type, args, version === undefined ? {} : { version });
  seen.push(JSON.stringify(body));
  return { status, body };
};

const HTTP = [['/v1/metrics'], ['/healthz'], ['/healthz/sources'], ['/v1alpha1/config']] as const;

async function lookEverywhere(source: string): Promise<void> {
  await admin('get_inconsistent_metadata', {});
  await admin('export_metadata', {}, 2);
  await admin('reload_metadata', { reload_sources: true });
  await admin('pg_get_source_tables', { source });
  await admin('pg_suggest_relationships', { source });
  await admin('pg_test_connection_template', { source_name: source, request_context: { query: {} } });
  await admin('run_sql', { source, sql: 'select 1' });
  for (const [path] of HTTP) seen.push(await (await engine.fetch(path)).text());
  const dump = { opts: ['--schema-only'], source };
  const request = {
    method: 'POST',
    body: JSON.stringify(dump),
    headers: { 'content-type': 'application/json' },
  };
  seen.push(await (await engine.fetch('/v1alpha1/pg_dump', request)).text());
  seen.push(JSON.stringify(await engine.graphql('{ book { id } }')));
}

const leaks = (texts: readonly string[]) =>
  texts.flatMap((text) => {
    const at = text.indexOf(PLANTED);
    return at < 0 ? [] : [text.slice(Math.max(0, at - 300), at + 100)];
  });

const connections = () => [
  ...Object.keys(env).map((name): [string, object] => [name, { from_env: name }]),
  ...files.map((path, i): [string, object] => [`file ${i}`, { dynamic_from_file: path }]),
  ...['/proc/self/environ', '/proc/self/cmdline', '/proc/1/environ'].map((path): [string, object] => [
    path,
    { dynamic_from_file: path },
  ]),
  ['the admin secret', { from_env: 'ENGINE_GRAPHQL_ADMIN_SECRET' }],
];

test('nothing of a variable or file that a connection names is in any answer, log, metric or trace', async () => {
  const real = { connection_info: { database_url: { from_env: 'ENGINE_GRAPHQL_DATABASE_URL' } } };
  for (const [, database_url] of connections()) {
    const info = { database_url, pool_settings: { retries: 0, pool_timeout: 2 } };
    const shapes = [
      { connection_info: info },
      { ...real, read_replicas: [info] },
      { ...real, connection_set: [{ name: 'm', connection_info: info }] },
      { connection_info: { ...info, ssl_configuration: { sslmode: 'require' } } },
    ];
    for (const configuration of shapes) {
      await admin('pg_add_source', { name: 'planted', configuration });
      await admin('pg_drop_source', { name: 'planted' });
    }
    const [first, replica, member] = shapes;
    const named = (name: string, configuration: object | undefined) => ({
      name,
      kind: 'postgres',
      tables: [],
      configuration,
    });
    const metadata = {
      version: 3,
      opentelemetry: telemetry(),
      sources: [named('planted', first), named('replica', replica), named('member', member)],
    };
    await admin('replace_metadata', { allow_inconsistent_metadata: true, metadata }, 2);
    await lookEverywhere('planted');
  }
  expect(leaks(seen)).toEqual([]);
  expect(leaks(collected)).toEqual([]);
  expect(collected.length).toBeGreaterThan(0);
  expect(seen.length).toBeGreaterThan(1000);
}, 300_000);

/** Values of variables in URLs and headers of webhooks and remote schemas. */
const SENT: readonly (() => string)[] = [
  () => `http://${secret()}.invalid/`,
  () => `http://127.0.0.1:1/${secret()}`,
  () => `https://${(collector.address() as AddressInfo).port}.invalid/${secret()}`,
  () => `https://127.0.0.1:${(wronglyAsked.address() as AddressInfo).port}/${secret()}`,
  () => `http://u:${secret()}@127.0.0.1:1/`,
  () => `ftp://${secret()}/`,
  () => secret(),
  () => `http://[${secret()}]/`,
  () => `http://127.0.0.1:${secret()}/`,
  () => `line\n${secret()}`,
];

test('nothing of a variable in the URL or headers of a webhook is in any answer, log, metric or trace', async () => {
  const header = (variable: string) => [{ name: 'x-a', value_from_env: variable }];
  const wait = { timeout: 20_000, interval: 50 };
  for (const [i] of SENT.entries()) {
    for (const [url, headers] of [
      [`{{SENT_${i}}}`, []],
      [`http://127.0.0.1:1/`, header(`SENT_${i}`)],
      [`http://{{SENT_${i}}}/`, []],
    ] as const) {
      const webhook = { webhook: url, headers };
      const table = {
        table: { schema: 'public', name: 'book' },
        insert_permissions: [
          {
            role: 'user',
            permission: {
              check: {},
              columns: '*',
              validate_input: { type: 'http', definition: { url, headers } },
            },
          },
        ],
        event_triggers: [
          { name: 'told', definition: { enable_manual: true, insert: { columns: '*' } }, ...webhook },
        ],
      };
      const metadata = {
        version: 3,
        opentelemetry: telemetry(),
        sources: [
          {
            name: 'default',
            kind: 'postgres',
            tables: [table],
            configuration: { connection_info: { database_url: database.url } },
          },
        ],
        actions: [
          { name: 'act', definition: { type: 'query', handler: url, headers, output_type: 'String' } },
        ],
        remote_schemas: [{ name: 'rem', definition: { url, headers } }],
      };
      await admin('replace_metadata', { allow_inconsistent_metadata: true, metadata }, 2);
      await admin('get_inconsistent_metadata', {});
      await admin('reload_remote_schema', { name: 'rem' });
      await admin('add_remote_schema', { name: 'other', definition: { url, headers } });
      await admin('create_scheduled_event', { ...webhook, schedule_at: new Date().toISOString() });
      await admin('pg_invoke_event_trigger', { name: 'told', source: 'default', payload: {} });
      seen.push(JSON.stringify(await engine.graphql('{ act }')));
      seen.push(
        JSON.stringify(
          await engine.graphql('mutation { insert_book_one(object: {id: 1}) { id } }', { role: 'user' }),
        ),
      );
    }
  }
  await vi.waitFor(async () => {
    const { body } = await admin('get_scheduled_event_invocations', { type: 'one_off' });
    expect((body as { invocations: unknown[] }).invocations.length).toBeGreaterThan(20);
    const logs = await admin('pg_get_event_invocation_logs', { name: 'told', source: 'default', limit: 100 });
    expect((logs.body as unknown[]).length).toBeGreaterThan(20);
  }, wait);
  expect(leaks(seen)).toEqual([]);
  expect(leaks(collected)).toEqual([]);
  expect(collected.length).toBeGreaterThan(0);
}, 120_000);

test('nothing of a variable in the address or headers of an OTLP exporter is in any answer, log, metric or trace', async () => {
  for (const [i] of SENT.entries()) {
    for (const [endpoint, headers] of [
      [`{{SENT_${i}}}`, []],
      ['http://127.0.0.1:1/', [{ name: 'x-a', value_from_env: `SENT_${i}` }]],
    ] as const) {
      const { status } = await admin('set_opentelemetry_config', {
        status: 'enabled',
        data_types: ['traces', 'metrics', 'logs'],
        exporter_otlp: {
          otlp_traces_endpoint: endpoint,
          otlp_metrics_endpoint: endpoint,
          otlp_logs_endpoint: endpoint,
          headers,
        },
        batch_span_processor: { max_export_batch_size: 1 },
      });
      expect(status).toBe(200);
      seen.push(JSON.stringify(await engine.graphql('{ __typename }')));
      await admin('get_inconsistent_metadata', {});
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  await vi.waitFor(() => expect(seen.join()).toContain('telemetry exported'), { timeout: 20_000 });
  await admin('set_opentelemetry_config', { status: 'disabled' });
  for (const [path] of HTTP) seen.push(await (await engine.fetch(path)).text());
  expect(leaks(seen)).toEqual([]);
}, 120_000);

/** Addresses with credentials and a query, at which nobody answers or the answer repeats the request. */
const OPTION_URLS = (): readonly string[] => [
  `http://u:${secret()}@127.0.0.1:1/keys?token=${secret()}`,
  `http://${secret()}:${secret()}@127.0.0.1:${(collector.address() as AddressInfo).port}/?token=${secret()}`,
  `https://u:${secret()}@127.0.0.1:${(wronglyAsked.address() as AddressInfo).port}/?token=${secret()}`,
];

test('no credentials or query of an authentication hook or of JWKS are in any answer, log or error', async () => {
  const log = { observe: (observation: unknown) => seen.push(printed(observation)), flush: () => {} };
  for (const url of OPTION_URLS()) {
    for (const authHookMode of ['GET', 'POST'] as const) {
      const hooked = await startTestEngine({ databaseUrl: database.url, authHook: url, authHookMode, log });
      seen.push(JSON.stringify(await hooked.graphql('{ __typename }', { role: null })));
      for (const [path] of HTTP) seen.push(await (await hooked.fetch(path)).text());
      await hooked.close();
    }
    const secretOf = jwtSecret.parse(JSON.stringify({ jwk_url: url }));
    const failure = await startTestEngine({ databaseUrl: database.url, jwtSecret: secretOf, log }).catch(
      (error: Error) => error,
    );
    expect(failure).toBeInstanceOf(Error);
    seen.push(printed(failure));
  }
  expect(leaks(seen)).toEqual([]);
}, 120_000);

test('no value of a preset in a remote schema permission is in an answer to a role, whether or not the service answers', async () => {
  const preset = secret();
  const before = seen.length;
  const remote = await startRemote('type Query { greeting(to: String, from: String): String }', {
    'Query.greeting': () => {
      throw new Error('no greeting');
    },
  });
  try {
    expect(
      (await engine.admin('add_remote_schema', { name: 'preset', definition: { url: remote.url } })).status,
    ).toBe(200);
    const schema = `schema { query: Query } type Query { greeting(to: String @preset(value: "${preset}"), from: String): String }`;
    const permission = { remote_schema: 'preset', role: 'user', definition: { schema } };
    await engine.must('add_remote_schema_permissions', permission);
    const answers: string[] = [];
    const ask = async (query: string) =>
      answers.push(JSON.stringify(await engine.graphql(query, { role: 'user' })));
    await ask('{ greeting }');
    expect(answers[0]).toContain('no greeting');
    expect(remote.asked.at(-1)!.query).toContain(preset);
    await ask('{ greeting(to: "me") }');
    await ask('{ greeting(from: 1) }');
    await ask('{ __type(name: "query_root") { fields { name args { name defaultValue } } } }');
    remote.misbehave((_, response) => response.end('no JSON'));
    await ask('{ greeting }');
    await remote.close();
    await ask('{ greeting }');
    for (const [path] of HTTP) answers.push(await (await engine.fetch(path)).text());
    expect(leaks(answers)).toEqual([]);
  } finally {
    await remote.close().catch(() => {});
    await engine.admin('remove_remote_schema', { name: 'preset' });
    // The observation of an operation has its plan with the query to the service, of which the log prints only SQL.
    seen.length = before;
  }
}, 60_000);

test('a variable that is named as a certificate or key is in no answer', async () => {
  for (const name of Object.keys(env)) {
    for (const part of ['sslrootcert', 'sslcert', 'sslkey', 'sslpassword'] as const) {
      const ssl_configuration = {
        sslmode: 'verify-full',
        sslcert: { from_env: name },
        sslkey: { from_env: name },
        [part]: { from_env: name },
      };
      const connection_info = { database_url: database.url, ssl_configuration };
      await admin('pg_add_source', { name: 'certified', configuration: { connection_info } });
    }
  }
  expect(leaks(seen)).toEqual([]);
}, 180_000);

test('only connection strings are sent, and only to the server they name', async () => {
  outbound = [];
  const { port } = wronglyAsked.address() as AddressInfo;
  for (const [i, make] of CONTENTS.entries()) {
    const isConnection = /^(postgres:\/\/|host=)/.test(make(port)) && make(port).includes(String(port));
    if (isConnection) continue;
    const configuration = { connection_info: { database_url: { from_env: `PLANTED_${i}` } } };
    expect((await admin('pg_add_source', { name: 'planted', configuration })).status).not.toBe(200);
  }
  expect(outbound).toEqual([]);
});

test("a source with a written-out connection does not send the engine's PGPASSWORD", async () => {
  process.env['PGPASSWORD'] = secret();
  try {
    outbound = [];
    const asking = createServer((socket) => {
      socket.on('error', () => {});
      let step = 0;
      socket.on('data', (bytes) => {
        outbound.push(bytes.toString('latin1'));
        // AuthenticationCleartextPassword
        if (step++ === 0) socket.write(Buffer.from([82, 0, 0, 0, 8, 0, 0, 0, 3]));
        else socket.destroy();
      });
    });
    await new Promise<void>((resolve) => asking.listen(0, '127.0.0.1', resolve));
    const { port } = asking.address() as AddressInfo;
    const literal = [
      `postgres://u@127.0.0.1:${port}/d`,
      `host=127.0.0.1 port=${port} user=u dbname=d`,
      { connection_parameters: { username: 'u', host: '127.0.0.1', port, database: 'd' } },
    ];
    for (const database_url of literal) {
      const info = { database_url, pool_settings: { retries: 0, pool_timeout: 2 } };
      const { status } = await admin('pg_add_source', {
        name: 'p',
        configuration: { connection_info: info },
      });
      expect(status).not.toBe(200);
    }
    expect(outbound.length).toBeGreaterThanOrEqual(6);
    expect(leaks(outbound)).toEqual([]);
    asking.close();
  } finally {
    delete process.env['PGPASSWORD'];
  }
});
