/** Tests numbers that are too large: they are refused when they are read, or work like the largest possible one. The
 *  first half is a table: every integer of every operation, with every extreme. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { testWorld } from '../../testing/world.ts';
import { namesAt, OPERATION_NAMES, OPERATIONS, type OperationName } from '../metadata/operations.ts';
import { asJsonSchema, type JsonSchema } from '../metadata/walk-schema.ts';
import type { Observation } from '../observe/observation.ts';

let unexpected: unknown[] = [];
let told = 0;
const webhook = createServer((_, response) => {
  told++;
  response.end('"heard"');
});
let hook: string;

afterAll(() => webhook.close());

const { database, engine } = testWorld(
  async (database) => {
    await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
    hook = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/`;
    await database.sql('create table author (id int primary key); insert into author values (1), (2)');
  },
  () => {
    const observe = (observation: Observation) => {
      if (observation.kind === 'unexpected') unexpected.push(observation.error);
    };
    return { eventsFetchInterval: 30, asyncActionsFetchInterval: 30, log: { observe, flush: () => {} } };
  },
);
beforeEach(() => {
  unexpected = [];
  told = 0;
});

const MOST = Number.MAX_SAFE_INTEGER;

/** Texts, because JSON has numbers that JavaScript does not have. */
const TAKEN = ['2147483647', '2147483648', '4294967296', '9223372036854', String(MOST)];
const REFUSED = [
  '9007199254740992',
  '9223372036854775807',
  '12345678901234567890',
  '1e21',
  '1e400',
  '-1',
  '-9223372036854775808',
];

type Path = readonly string[];

function numbersIn(schema: JsonSchema, path: Path): readonly Path[] {
  if (schema.type === 'integer') return schema.const === undefined ? [path] : [];
  if (schema.anyOf) return schema.anyOf.flatMap((branch) => numbersIn(branch, path));
  if (schema.items) return numbersIn(schema.items, [...path, '0']);
  const fields = { ...schema.properties, ...renamed(schema.patternProperties) };
  return Object.entries(fields).flatMap(([key, field]) => numbersIn(field, [...path, key]));
}

/** Replaces a record by an object: its keys are arbitrary. */
function renamed(patterned: JsonSchema['patternProperties']): JsonSchema['properties'] {
  return patterned && { reader: Object.values(patterned)[0]! };
}

let counter = 0;
const TEXTS: Readonly<Record<string, () => string>> = {
  source: () => 'default',
  schema: () => 'public',
  role: () => 'reader',
  url: () => hook,
  database_url: () => 'postgres://x@127.0.0.1:9/x',
  schedule: () => '59 3 1 1 *',
  schedule_at: () => '2099-01-31T12:00:00Z',
  webhook: () => hook,
  handler: () => hook,
  output_type: () => 'String',
  columns: () => '*',
};

/** Builds the required members and those on the path to the number; null for the required ones only. */
function made(schema: JsonSchema, path: Path | null, key = ''): unknown {
  if (schema.anyOf) {
    const branch = path && schema.anyOf.find((each) => leadsOn(each, path));
    return made(branch ?? schema.anyOf[0]!, path, key);
  }
  if (schema.const !== undefined) return schema.const;
  const [step, ...rest] = path ?? [];
  switch (schema.type) {
    case 'string':
      if (schema.pattern?.includes('0-9a-fA-F')) return '00000000-0000-4000-8000-000000000000';
      return TEXTS[key]?.() ?? `made_${counter++}`;
    case 'integer':
      return path ? NUMBER : 1;
    case 'array':
      return path || schema.minItems ? [made(schema.items!, path && rest, key)] : [];
    case 'object': {
      if (key === 'table') return { schema: 'public', name: 'author' };
      const fields = { ...schema.properties, ...renamed(schema.patternProperties) };
      const wanted = Object.entries(fields).filter(
        ([name]) => name === step || schema.required?.includes(name),
      );
      return Object.fromEntries(
        wanted.map(([name, field]) => [name, made(field, name === step ? rest : null, name)]),
      );
    }
    default:
      return true;
  }
}

function leadsOn(schema: JsonSchema, path: Path): boolean {
  return numbersIn(schema, []).some((found) => found.join('/') === path.join('/'));
}

const NUMBER = '@number';
const CASES = OPERATION_NAMES.flatMap((name) =>
  numbersIn(asJsonSchema(OPERATIONS[name].args), []).map((path) => [name, path.join('.'), path] as const),
);

async function ask(name: OperationName, path: Path, number: string) {
  const endpoint = name.endsWith('run_sql') ? '/v2/query' : '/v1/query';
  const [type] = namesAt(name, endpoint);
  const args = made(asJsonSchema(OPERATIONS[name].args), path);
  const body = JSON.stringify({ type, args, version: OPERATIONS[name].versions.at(-1) });
  const answer = await engine.fetch(endpoint, {
    method: 'POST',
    body: body.replace(`"${NUMBER}"`, number),
  });
  return { status: answer.status, body: (await answer.json()) as { code?: string; path?: string } };
}

test.each(CASES)('%s: no %s is too large for the engine', async (name, _, path) => {
  for (const number of REFUSED) {
    const { status, body } = await ask(name, path, number);
    expect([number, status, body.code]).toEqual([number, 400, 'parse-failed']);
    expect(body.path).toContain(path.at(-1));
  }
  // A whole document would remove what the other tests need.
  for (const number of name === 'replace_metadata' ? [] : TAKEN) {
    const { status } = await ask(name, path, number);
    expect([number, status < 500]).toEqual([number, true]);
  }
  expect(unexpected).toEqual([]);
});

const soon = <T>(body: () => T) => vi.waitFor(body, { timeout: 30_000, interval: 50 });

test('the largest row limit is no limit, wherever it is printed', async () => {
  const rule = { columns: '*', filter: {}, limit: MOST, allow_aggregations: true };
  await engine.must('pg_track_table', { table: 'author' });
  await engine.must('pg_create_select_permission', { table: 'author', role: 'reader', permission: rule });
  const text =
    '{ author { id } author_aggregate { aggregate { count } nodes { id } } page: author(offset: 1) { id } }';
  const { data } = await engine.graphql<Record<'author' | 'page', unknown[]>>(text, { role: 'reader' });
  expect([data?.author.length, data?.page.length]).toEqual([2, 1]);
  const relay = await engine.fetch('/v1beta1/relay', {
    method: 'POST',
    headers: { 'x-engine-role': 'reader' },
    body: JSON.stringify({ query: '{ author_connection(first: 2147483647) { edges { cursor } } }' }),
  });
  expect(((await relay.json()) as { data: { author_connection: unknown } }).data.author_connection).toEqual({
    edges: [expect.anything(), expect.anything()],
  });
  expect(unexpected).toEqual([]);
});

test('the longest time limit never ends a request', async () => {
  await engine.must('set_api_limits', { disabled: false, time_limit: { global: MOST } });
  const { data } = await engine.graphql('{ author { id } }', { role: 'reader' });
  expect(data).toEqual({ author: [{ id: 1 }, { id: 2 }] });
  await engine.must('remove_api_limits', {});
});

test.each(['synchronous', 'asynchronous'])(
  'the longest timeout of a webhook works: a %s action',
  async (kind) => {
    const definition = { kind, handler: hook, timeout: MOST, output_type: 'String', type: 'mutation' };
    await engine.must('create_action', { name: `work_${kind}`, definition });
    const { errors } = await engine.graphql(`mutation { work_${kind} }`);
    expect(errors).toBeUndefined();
    await soon(() => expect(told).toBe(1));
    // The call was logged, also with its lease.
    await engine.graphql(`mutation { work_${kind} }`);
    await soon(() => expect(told).toBe(2));
    expect(unexpected).toEqual([]);
  },
);

test('the longest timeouts of an event trigger work, and the largest numbers of its cleanup', async () => {
  await engine.must('pg_create_event_trigger', {
    name: 'patient',
    table: 'author',
    webhook: hook,
    enable_manual: true,
    retry_conf: { num_retries: MOST, interval_sec: MOST, timeout_sec: MOST },
  });
  await engine.must('pg_invoke_event_trigger', { name: 'patient', source: 'default', payload: {} });
  await soon(() => expect(told).toBe(1));
  await engine.must('cleanup_event_trigger_logs', {
    source: 'default',
    event_trigger_name: 'patient',
    clear_older_than: MOST,
    batch_size: MOST,
    timeout: MOST,
  });
  expect(unexpected).toEqual([]);
});

test('the longest timeouts of a scheduled event work', async () => {
  const longest = {
    num_retries: MOST,
    retry_interval_seconds: MOST,
    timeout_seconds: MOST,
    tolerance_seconds: MOST,
  };
  const event = { webhook: hook, schedule_at: '2020-01-31T12:00:00Z', payload: {}, retry_conf: longest };
  await engine.must('create_scheduled_event', event);
  await soon(() => expect(told).toBe(1));
  expect(unexpected).toEqual([]);
});

test('with the longest wait for a connection, a request is not refused at once', async () => {
  const waiting = { max_connections: 1, pool_timeout: MOST, idle_timeout: MOST, connection_lifetime: MOST };
  const info = { database_url: database.url, pool_settings: { ...waiting, retries: MOST } };
  await engine.must('pg_add_source', { name: 'narrow', configuration: { connection_info: info } });
  const sql = 'select pg_sleep(0.3)';
  const asked = [1, 2, 3].map(() => engine.must('run_sql', { source: 'narrow', sql, read_only: true }));
  await expect(Promise.all(asked)).resolves.toHaveLength(3);
  await engine.must('pg_drop_source', { name: 'narrow' });
});

test('a health check with the longest timeout does not report a timeout', async () => {
  await engine.must('pg_update_source', {
    name: 'default',
    health_check: { interval: MOST, timeout: MOST, retries: MOST, retry_interval: MOST },
  });
  const health = await (await engine.fetch('/healthz/sources')).json();
  expect(health).toMatchObject({ default: { status: 'OK' } });
});
