/** Tests that everything in the metadata and in the options that names a host is refused an address that no service has. The address is the
 *  unspecified one, which this machine would answer at, so a request that was sent would arrive at the server of the test. The other
 *  addresses: outgoing/addresses.test.ts. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { testWorld } from '../../testing/world.ts';
import { jwtSecret } from '../config/jwt-secret.ts';

let connections = 0;
let port: number;
const server = createServer(
  (_, response) => void response.setHeader('content-type', 'application/json').end('{}'),
);
server.on('connection', () => connections++);

afterAll(async () => {
  server.close();
  server.closeAllConnections();
});

const { database, engine } = testWorld(
  async (database) => {
    // On all addresses of this machine, the unspecified ones included.
    await new Promise<void>((resolve) => server.listen(0, '::', resolve));
    port = (server.address() as AddressInfo).port;
    await database.sql('create table note (id int primary key, body text)');
  },
  () => ({ env: { REFUSED: `http://0.0.0.0:${port}/` } }),
);

beforeAll(async () => {
  await engine.must('pg_track_table', { table: 'note' });
});
beforeEach(() => {
  connections = 0;
});

/** Spellings of an unspecified address, as URLs. */
const urls = () => [
  `http://0.0.0.0:${port}/`,
  `http://0:${port}/`,
  `http://0x0.0:${port}/`,
  `http://[::]:${port}/`,
  `http://[::ffff:0.0.0.0]:${port}/`,
  '{{REFUSED}}',
];

test('the server of the test is reached at a loopback address', async () => {
  await fetch(`http://127.0.0.1:${port}/`);
  expect(connections).toBe(1);
});

describe('the metadata', () => {
  test('of an action', async () => {
    await engine.must('set_custom_types', {
      objects: [{ name: 'Said', fields: [{ name: 'word', type: 'String' }] }],
    });
    for (const [i, handler] of urls().entries()) {
      const definition = { handler, type: 'query', output_type: 'Said' };
      await engine.must('create_action', { name: `said${i}`, definition });
      const { errors } = await engine.graphql(`{ said${i} { word } }`);
      expect(errors, handler).toHaveLength(1);
    }
    expect(connections).toBe(0);
  });

  test('of a remote schema', async () => {
    for (const [i, url] of urls().entries()) {
      const { body } = await engine.admin('add_remote_schema', { name: `r${i}`, definition: { url } });
      expect(JSON.stringify(body), url).toContain('remote');
    }
    expect(connections).toBe(0);
  });

  test('of an input validation', async () => {
    for (const [i, url] of urls().entries()) {
      const validate_input = { type: 'http', definition: { url } };
      const permission = { columns: '*', check: {}, validate_input };
      await engine.must('pg_create_insert_permission', { table: 'note', role: `r${i}`, permission });
      const { errors } = await engine.graphql(
        'mutation { insert_note(objects: [{id: 1}]) { affected_rows } }',
        { role: `r${i}` },
      );
      expect(errors, url).toHaveLength(1);
    }
    expect(connections).toBe(0);
  });

  test('of an event trigger and a scheduled event', async () => {
    const retry_conf = { num_retries: 0, timeout_seconds: 5, interval_sec: 1 };
    for (const [i, webhook] of urls().entries()) {
      await engine.must('pg_create_event_trigger', {
        name: `t${i}`,
        table: 'note',
        webhook,
        insert: { columns: '*' },
        retry_conf,
      });
    }
    await engine.must('create_scheduled_event', {
      webhook: urls()[0],
      schedule_at: new Date().toISOString(),
      payload: {},
      retry_conf,
    });
    await database.sql(`insert into note values (7, 'a')`);
    await expect
      .poll(
        async () =>
          (await database.sql('select count(*)::int as n from pergola.event_log where error'))[0]!['n'],
        { timeout: 30_000 },
      )
      .toBe(urls().length);
    expect(connections).toBe(0);
  });

  test('of a source', async () => {
    for (const [i, host] of ['0.0.0.0', '0', '[::]', '[::ffff:0.0.0.0]'].entries()) {
      const configuration = { connection_info: { database_url: `postgres://a@${host}:${port}/a` } };
      const { body } = await engine.admin('pg_add_source', { name: `s${i}`, configuration });
      expect(JSON.stringify(body), host).toMatch(/refused/);
    }
    expect(connections).toBe(0);
  });

  test('of an OTLP exporter', async () => {
    await engine.must('set_opentelemetry_config', {
      status: 'enabled',
      data_types: ['traces'],
      exporter_otlp: { otlp_traces_endpoint: urls()[0] },
      batch_span_processor: { max_export_batch_size: 1 },
    });
    for (let i = 0; i < 3; i++) await engine.graphql('{ note { id } }');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    await engine.must('set_opentelemetry_config', { status: 'disabled' });
    expect(connections).toBe(0);
  });
});

test.each(['0.0.0.0', '[::]'])('the options of an authentication hook and of JWKS, at %s', async (host) => {
  const url = `http://${host}:${port}/`;
  const hooked = await startTestEngine({ databaseUrl: database.url, authHook: url });
  expect((await hooked.graphql('{ note { id } }', { role: null })).data).toBeUndefined();
  await hooked.close();
  const secret = jwtSecret.parse(JSON.stringify({ jwk_url: url }));
  const start = startTestEngine({ databaseUrl: database.url, jwtSecret: secret });
  await expect(start).rejects.toThrow('ERR_ADDRESS_REFUSED');
  expect(connections).toBe(0);
});

test('a name that DNS resolves to this machine is a service only as --loopback-hosts says', async () => {
  const strict = await startTestEngine({ databaseUrl: database.url, loopbackHosts: '127.0.0.1' });
  try {
    const add = (name: string, host: string) =>
      strict.admin('add_remote_schema', { name, definition: { url: `http://${host}:${port}/` } });
    await add('strict1', 'localhost');
    expect(connections).toBe(0);
    await add('strict2', '127.0.0.1');
    expect(connections).toBe(1);
  } finally {
    await strict.close();
  }
});
