/** Tests the TLS allow list of a whole engine: all external services, with self-signed certificates. */
import type { IncomingMessage } from 'node:http';
import { buildSchema, graphql } from 'graphql';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';
import { jwtSecret } from '../config/jwt-secret.ts';
import type { Observation } from '../observe/observation.ts';
import { startTlsServer } from '../outgoing/testing/tls-server.ts';

const database = testDatabase();
let engine: TestEngine;
let service: Awaited<ReturnType<typeof startTlsServer>>;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
const asked: string[] = [];
const seen: Observation[] = [];
const log = { observe: (observation: Observation) => void seen.push(observation), flush: () => {} };

const SCHEMA = buildSchema('type Query { far: String }');

const ANSWERS: Readonly<Record<string, (body: string) => unknown>> = {
  '/auth': () => ({ 'x-engine-role': 'writer' }),
  '/action': () => ({ text: 'said' }),
  '/validate': () => null,
  '/event': () => null,
  '/traces': () => ({}),
  '/remote': (body) => {
    const { query: source } = JSON.parse(body);
    return graphql({ schema: SCHEMA, source, rootValue: { far: 'away' } });
  },
  '/keys': async () => ({ keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'ES256', kid: '1' }] }),
};

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

const start = (more: object = {}) =>
  startTestEngine({ databaseUrl: database.url, eventsFetchInterval: 30, log, ...more });
const port = () => new URL(service.url).port;
const allow = () => engine.must('add_host_to_tls_allowlist', { host: 'localhost', suffix: port() });
const forbid = () => engine.must('drop_host_from_tls_allowlist', { host: 'localhost', suffix: port() });

beforeAll(async () => {
  keys = await generateKeyPair('ES256');
  service = await startTlsServer('selfSigned', async (request, response) => {
    asked.push(request.url!);
    const body = await textOf(request);
    response.end(JSON.stringify(await ANSWERS[request.url!]!(body)));
  });
  await database.sql('create table book (id serial primary key, title text)');
  engine = await start({ authHook: `${service.url}/auth` });
  await engine.must('pg_track_table', { table: 'book' });
  const definition = { url: `${service.url}/validate` };
  const permission = { columns: ['title'], check: {}, validate_input: { type: 'http', definition } };
  await engine.must('pg_create_insert_permission', { table: 'book', role: 'writer', permission });
  await engine.must('set_custom_types', {
    objects: [{ name: 'Said', fields: [{ name: 'text', type: 'String' }] }],
  });
  await engine.must('create_action', {
    name: 'say',
    definition: { type: 'query', handler: `${service.url}/action`, arguments: [], output_type: 'Said' },
  });
  await engine.must('pg_create_event_trigger', {
    name: 'written',
    table: 'book',
    webhook: `${service.url}/event`,
    insert: { columns: '*' },
  });
});
afterAll(async () => {
  await engine?.close();
  service?.close();
});

const INSERT = 'mutation { insert_book(objects: {title: "a"}) { affected_rows } }';
const remote = () => ({ name: 'away', definition: { url: `${service.url}/remote` } });

describe('a host outside the list receives no request from', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['an action', () => engine.graphql('{ say { text } }')],
    ['input validation', () => engine.graphql(INSERT, { role: 'writer' })],
    ['the authentication hook', () => engine.graphql(INSERT, { role: null })],
    ['a remote schema', async () => (await engine.admin('add_remote_schema', remote())).body],
  ])('%s', async (_, ask) => {
    asked.length = 0;
    const answer = JSON.stringify(await ask());
    expect(answer).toMatch(/"errors"|"error"/);
    expect(asked).toEqual([]);
  });

  test('an event trigger', async () => {
    seen.length = 0;
    await database.sql(`insert into book (title) values ('a')`);
    const failure = 'DEPTH_ZERO_SELF_SIGNED_CERT';
    await vi.waitFor(
      () => expect(seen).toContainEqual(expect.objectContaining({ purpose: 'event-trigger', failure })),
      { timeout: 15_000 },
    );
    expect(asked).toEqual([]);
  });

  test('an engine that needs its keys to verify tokens, which does not start', async () => {
    const secret = jwtSecret.parse(JSON.stringify({ jwk_url: `${service.url}/keys?token=secret` }));
    const failed = await start({ jwtSecret: secret }).catch((error: Error) => error.message);
    expect(failed).toBe(`the keys at ${service.url}/keys cannot be had: DEPTH_ZERO_SELF_SIGNED_CERT`);
  });
});

describe('a collector of traces', () => {
  const exported = (failure: unknown) =>
    vi.waitFor(() => expect(seen).toContainEqual({ kind: 'spans exported', count: 1, failure }), {
      timeout: 15_000,
    });
  const traced = async () => {
    seen.length = 0;
    asked.length = 0;
    await engine.graphql('{ book { title } }');
  };
  beforeAll(() =>
    engine.must('set_opentelemetry_config', {
      status: 'enabled',
      data_types: ['traces'],
      exporter_otlp: { otlp_traces_endpoint: `${service.url}/traces` },
      batch_span_processor: { max_export_batch_size: 1 },
    }),
  );
  afterAll(async () => {
    await engine.must('set_opentelemetry_status', { status: 'disabled' });
    await forbid();
  });

  test('receives nothing before it is listed', async () => {
    await traced();
    await exported(expect.stringContaining('SELF_SIGNED_CERT'));
    expect(asked).toEqual([]);
  });

  test('receives spans that are created after it is listed', async () => {
    await allow();
    await traced();
    await exported(null);
    expect(asked).toContain('/traces');
  });
});

describe('once a host is listed', () => {
  beforeAll(allow);

  test('actions, input validation, the hook and event triggers call it', async () => {
    asked.length = 0;
    expect(await engine.graphql('{ say { text } }')).toEqual({ data: { say: { text: 'said' } } });
    expect(await engine.graphql(INSERT, { role: null })).toEqual({
      data: { insert_book: { affected_rows: 1 } },
    });
    await vi.waitFor(() => expect(asked).toContain('/event'), { timeout: 15_000 });
    expect(asked.slice(0, 3)).toEqual(['/action', '/auth', '/validate']);
  });

  test('a remote schema is added in the same request as its host', async () => {
    await forbid();
    await engine.must('bulk', [
      { type: 'add_host_to_tls_allowlist', args: { host: 'localhost', suffix: port() } },
      { type: 'add_remote_schema', args: remote() },
    ] as object);
    seen.length = 0;
    expect(await engine.graphql('{ far }')).toEqual({ data: { far: 'away' } });
    expect(seen).toContainEqual(
      expect.objectContaining({ kind: 'webhook called', purpose: 'remote-schema', status: 200 }),
    );
  });

  test('tokens are verified with keys it has', async () => {
    const secret = jwtSecret.parse(JSON.stringify({ jwk_url: `${service.url}/keys` }));
    const other = await start({ jwtSecret: secret });
    const claims = { 'x-engine-allowed-roles': ['writer'], 'x-engine-default-role': 'writer' };
    const token = await new SignJWT({ 'https://hasura.io/jwt/claims': claims })
      .setProtectedHeader({ alg: 'ES256', kid: '1' })
      .sign(keys.privateKey);
    const headers = { authorization: `Bearer ${token}` };
    expect(await other.graphql(INSERT, { role: null, headers })).toHaveProperty('data');
    await other.close();
  });

  test('and removed from the list, it is not trusted any more', async () => {
    await forbid();
    expect(await engine.graphql('{ far }')).toMatchObject({ data: { far: null } });
    expect(await engine.graphql('{ say { text } }')).toHaveProperty('errors');
    await allow();
  });
});
