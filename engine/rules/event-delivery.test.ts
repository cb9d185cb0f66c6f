/** Tests which events a change of a row makes, what webhooks receive, and how often they are tried.
 *  Reference: docs/reference/behaviour/event-triggers.md. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

type Delivery = {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly id: string;
    readonly trigger: { readonly name: string };
    readonly event: { readonly op: string; readonly data: unknown };
    readonly delivery_info: object;
  };
};

/** Answers as its path says: `/<status>` or `/<status>/<Retry-After>`. */
const received: Delivery[] = [];
const webhook = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { url: path = '', headers } = request;
  received.push({ path, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
  const [, status, after] = path.split('/');
  response.writeHead(Number(status), after ? { 'retry-after': after } : {}).end();
});

let world: RuleWorld;
let base: string;
beforeAll(async () => {
  await once(webhook.listen(0, '127.0.0.1'), 'listening');
  base = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}`;
  world = await startWorld({
    sql: 'create table note (id int primary key, text text); create table other (id int primary key)',
    tables: ['note', 'other'],
    options: {
      eventsFetchInterval: 20,
      eventsHttpPoolSize: 200,
      eventsTriggerConcurrency: 200,
      eventsHostConcurrency: 200,
    },
  });
});
afterAll(async () => {
  await world?.close();
  webhook.close();
});

const perform = async (type: string, args: object) => {
  const outcome = await adminOutcome(world.engine, type, args);
  expect(outcome).toHaveProperty('data');
  return (outcome as { data: Record<string, unknown> }).data;
};
const by = (name: string) => received.filter(({ body }) => body.trigger.name === name);
const soon = (body: () => void | Promise<void>) => vi.waitFor(body, { timeout: 15_000, interval: 30 });

// ── which events, and their rows ──

const OPERATIONS = ['insert', 'update', 'delete'] as const;
const COLUMNS = ['*', ['id'], ['text']] as const;
const PAYLOADS = [undefined, '*', ['id'], ['text', 'id']] as const;
const CASES = OPERATIONS.flatMap((operation) =>
  COLUMNS.flatMap((columns, c) =>
    PAYLOADS.map((payload, p) => ({ name: `${operation}_${c}_${p}`, operation, columns, payload })),
  ),
);
type Row = Readonly<Record<string, unknown>>;
/** A row is inserted, updated without a change, updated in one column, and deleted. */
const [FIRST, SECOND]: readonly [Row, Row] = [
  { id: 1, text: 'a' },
  { id: 1, text: 'b' },
];
const CHANGES = [
  "insert into note values (1, 'a')",
  "update note set text = 'a'",
  "update note set text = 'b'",
  'delete from note',
];

/** The rule: an update is an event if a watched column changed; the payload chooses the columns, and is the whole row by default. */
function expectedOf({ operation, columns, payload = '*' }: (typeof CASES)[number]): readonly object[] {
  const sent = (row: Row) =>
    payload === '*' ? row : Object.fromEntries(payload.map((column) => [column, row[column]]));
  if (operation === 'insert') return [{ op: 'INSERT', data: { old: null, new: sent(FIRST) } }];
  if (operation === 'delete') return [{ op: 'DELETE', data: { old: sent(SECOND), new: null } }];
  const isWatched = columns === '*' || (columns as readonly string[]).includes('text');
  return isWatched ? [{ op: 'UPDATE', data: { old: sent(FIRST), new: sent(SECOND) } }] : [];
}

test('each change makes the events of the triggers that watch it, with the columns of their payload', async () => {
  for (const { name, operation, columns, payload } of CASES) {
    const webhookUrl = { webhook: `${base}/200`, table: 'note', name };
    await perform('pg_create_event_trigger', { ...webhookUrl, [operation]: { columns, payload } });
  }
  for (const change of CHANGES) await world.database.sql(change);
  const expected = new Map(CASES.map((each) => [each.name, expectedOf(each)]));
  const count = [...expected.values()].flat().length;
  await soon(() => expect(received.length).toBeGreaterThanOrEqual(count));
  for (const [name, events] of expected) {
    const bodies = by(name).map(({ body }) => body.event);
    expect(bodies.map(({ op, data }) => ({ op, data }))).toEqual(events);
    for (const { body, headers } of by(name)) {
      expect(Object.keys(body).sort()).toEqual([
        'created_at',
        'delivery_info',
        'event',
        'id',
        'table',
        'trigger',
      ]);
      expect(body.event).toMatchObject({ session_variables: null, trace_context: null });
      expect(body).toMatchObject({ table: { schema: 'public', name: 'note' } });
      expect(headers['content-type']).toBe('application/json');
    }
  }
  expect(received).toHaveLength(count);
});

// ── how often ──

const STATUSES = [200, 204, 299, 300, 400, 401, 404, 429, 500, 503];
const RETRY_AFTER = [undefined, '1', '0', 'soon', '-1'];
const ATTEMPTS = STATUSES.flatMap((status) =>
  (status < 400 ? [undefined] : RETRY_AFTER).flatMap((after) =>
    [0, 1].map((retries) => ({
      name: `try-${status}-${RETRY_AFTER.indexOf(after)}-${retries}`,
      status,
      after,
      retries,
    })),
  ),
);

test('an attempt that fails is repeated as configured, and once more where Retry-After grants it', async () => {
  for (const { name, status, after, retries } of ATTEMPTS) {
    await perform('pg_create_event_trigger', {
      ...{ name, table: 'other', enable_manual: true },
      webhook: `${base}/${status}${after === undefined ? '' : `/${after}`}`,
      retry_conf: { num_retries: retries, interval_sec: 0 },
    });
    await perform('pg_invoke_event_trigger', { name, payload: { case: name } });
  }
  /** The rule: 2xx is success; otherwise the retries, and one attempt more if Retry-After is a positive number of seconds. */
  const attemptsOf = ({ status, after, retries }: (typeof ATTEMPTS)[number]) =>
    status < 300 ? 1 : retries + 1 + (after === '1' ? 1 : 0);
  await soon(async () => {
    const [{ n }] = (await world.database.sql(
      `select count(*)::int as n from pergola.event_log where trigger_name like 'try-%' and not delivered and not error`,
    )) as unknown as [{ n: number }];
    expect(n).toBe(0);
  });
  for (const each of ATTEMPTS) {
    const attempts = by(each.name);
    expect([each.name, attempts.length]).toEqual([each.name, attemptsOf(each)]);
    expect(attempts.map(({ body }) => body.delivery_info)).toEqual(
      attempts.map((_, i) => ({ current_retry: i, max_retries: each.retries })),
    );
    expect(new Set(attempts.map(({ body }) => body.id)).size).toBe(1);
    expect(attempts[0]?.body.event).toMatchObject({
      op: 'MANUAL',
      data: { old: null, new: { case: each.name } },
    });
  }
  const [failed] = ATTEMPTS.filter(({ status, after }) => status === 500 && after === undefined);
  const logs = await perform('pg_get_event_logs', { name: failed!.name });
  expect(logs).toMatchObject([{ delivered: false, error: true, tries: 1, next_retry_at: null }]);
  const calls = await perform('pg_get_event_invocation_logs', { name: failed!.name });
  expect(calls).toMatchObject([{ status: 500, request: { version: '2' }, response: { version: '2' } }]);
});
