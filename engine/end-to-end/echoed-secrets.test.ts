/** Tests services that echo whatever they receive, and templates that print it: no secret that the engine sent is in an error, a log of
 *  the engine, the logs of events, or the inconsistencies of the metadata. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test, vi } from 'vitest';
import { testWorld } from '../../testing/world.ts';

const TOKEN = 'pl4ntedT0ken/"+=';
const PASSWORD = 'pl4ntedPassw0rd';
const SEGMENT = 'pl4ntedSegment';
const PLANTED = [TOKEN, PASSWORD, SEGMENT, btoa(`user:${PASSWORD}`), encodeURIComponent(TOKEN), btoa(TOKEN)];

const seen: string[] = [];
let received = 0;
/** Answers with everything that it received, as text or as JSON, with the status in the path. */
const echo = createServer(async (request, response) => {
  received += 1;
  const body = await text(request);
  const heard = { url: request.url, headers: request.headers, body, token: request.headers['x-token'] };
  response.statusCode = Number(/status-(\d+)/.exec(request.url ?? '')?.[1] ?? 200);
  response.setHeader('x-echo', encodeURIComponent(JSON.stringify(heard)));
  response.setHeader('x-heard', String(request.headers['x-token'] ?? ''));
  response.end(
    request.url?.includes('text') ? `heard ${JSON.stringify(heard)}` : JSON.stringify({ heard, message: 1 }),
  );
});

afterAll(async () => {
  echo.close();
  echo.closeAllConnections();
});

const { database, engine } = testWorld(
  async () => {
    await new Promise<void>((done) => echo.listen(0, '127.0.0.1', done));
    return 'create table book (id int primary key)';
  },
  () => ({
    env: {
      BASE: `http://user:${PASSWORD}@127.0.0.1:${(echo.address() as AddressInfo).port}/${SEGMENT}`,
      TOKEN,
    },
    eventsFetchInterval: 30,
    asyncActionsFetchInterval: 30,
    logLevel: 'debug',
    log: { observe: (observation) => seen.push(printed(observation)), flush: () => {} },
  }),
);

function printed(value: unknown): string {
  return JSON.stringify(value, (_, inner) => {
    if (inner instanceof Error) return { ...inner, message: inner.message, stack: inner.stack };
    return typeof inner === 'bigint' || typeof inner === 'function' ? String(inner) : inner;
  });
}

const admin = async (type: string, args: object) => {
  const answer = await engine.admin(type, args);
  seen.push(JSON.stringify(answer.body));
  return answer;
};
const graphql = async (query: string, role?: string) => {
  seen.push(JSON.stringify(await engine.graphql(query, role === undefined ? {} : { role })));
};

const HEADERS = [{ name: 'x-token', value_from_env: 'TOKEN' }];
/** Transforms that fail or succeed with the secrets in what they print. */
const TRANSFORMS: readonly (object | undefined)[] = [
  undefined,
  { version: 2, url: 'text of {{$base_url}} and more' },
  { version: 2, body: { action: 'transform', template: '{{$base_url.missing}}' } },
  { version: 2, body: { action: 'transform', template: '{"is": {{ if $base_url }} 1 {{ end }} }' } },
  {
    version: 2,
    body: { action: 'transform', template: '{"sent": {{$base_url}}, "all": {{$query_params}}}' },
  },
  { version: 2, url: '{{$base_url}}', query_params: { a: '{{$base_url}}' } },
];
const RESPONSE_TRANSFORMS: readonly (object | undefined)[] = [
  undefined,
  {
    version: 2,
    body: { action: 'transform', template: '{"base": {{$request.base_url}}, "heard": {{$body}} }' },
  },
  { version: 2, body: { action: 'transform', template: '{{ $request.base_url.none }}' } },
];
const PATHS = ['', '/text', '/status-404', '/text/status-500'];

test('nothing that was sent is in an error or a log, whatever the service echoes and the templates print', async () => {
  await admin('pg_track_table', { table: 'book' });
  await admin('set_custom_types', {
    objects: [{ name: 'Said', fields: [{ name: 'word', type: 'String!' }] }],
  });
  let n = 0;
  for (const request_transform of TRANSFORMS) {
    for (const response_transform of RESPONSE_TRANSFORMS) {
      for (const path of PATHS) {
        const name = `f${n++}`;
        const url = `{{BASE}}${path}`;
        const more = { headers: HEADERS, request_transform, response_transform };
        const handler = { ...more, handler: url, output_type: 'Said' };
        for (const definition of [
          { ...handler, type: 'query' },
          { ...handler, type: 'mutation', kind: 'asynchronous' },
        ]) {
          const action = definition.type === 'query' ? name : `${name}_later`;
          expect(await admin('create_action', { name: action, definition })).toMatchObject({ status: 200 });
          await graphql(definition.type === 'query' ? `{ ${action} { word } }` : `mutation { ${action} }`);
        }
        const event = { ...more, webhook: url };
        const retry_conf = { num_retries: 0, timeout_seconds: 20 };
        const at = new Date().toISOString();
        await admin('create_scheduled_event', { ...event, payload: {}, schedule_at: at, retry_conf });
        const trigger = { ...event, name, table: 'book', enable_manual: true };
        expect(await admin('pg_create_event_trigger', trigger)).toMatchObject({ status: 200 });
        await admin('pg_invoke_event_trigger', { name, payload: {} });
      }
    }
  }
  for (const path of PATHS) {
    const url = `{{BASE}}${path}`;
    await admin('add_remote_schema', { name: 'rem', definition: { url, headers: HEADERS } });
    const validate_input = { type: 'http', definition: { url, headers: HEADERS } };
    const permission = { check: {}, columns: '*', validate_input };
    await admin('pg_create_insert_permission', { table: 'book', role: 'user', permission });
    await graphql('mutation { insert_book_one(object: {id: 1}) { id } }', 'user');
    await admin('pg_drop_insert_permission', { table: 'book', role: 'user' });
  }
  await admin('get_inconsistent_metadata', {});
  const count = n;
  await vi.waitFor(
    async () => {
      const [done] = await database.sql(
        `select (select count(*)::int from pergola.event_invocation_log) as rows,
                (select count(*)::int from pergola.scheduled_event_invocation) as once,
                (select count(*)::int from pergola.action_call where status in ('answered', 'failed')) as calls`,
      );
      expect(done).toEqual({ rows: count, once: count, calls: count });
    },
    { timeout: 60_000, interval: 200 },
  );
  for (const table of ['event_invocation_log', 'scheduled_event_invocation', 'action_call']) {
    const rows = await database.sql(`select row_to_json(t)::text as row from pergola.${table} t`);
    seen.push(...rows.map(({ row }) => String(row)));
  }
  expect(received).toBeGreaterThan(count);
  const leaks = seen.flatMap((line) =>
    PLANTED.filter(
      (secret) => line.includes(secret) || line.includes(JSON.stringify(secret).slice(1, -1)),
    ).map((secret) => `${secret} in ${around(line, secret)}`),
  );
  expect(leaks.slice(0, 5)).toEqual([]);
}, 180_000);

function around(line: string, secret: string): string {
  const at = Math.max(0, line.indexOf(secret));
  return line.slice(Math.max(0, at - 400), at + 100);
}
