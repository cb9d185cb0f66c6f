/** Tests the rule that nobody waits for a database or remote schema that accepts connections and does not answer, except the request that
 *  connects it: kinds of targets × requests × what happens meanwhile, several replicas, the start, and the moment when it answers.
 *  Rule: docs/reference/behaviour/metadata-api.md, "Targets that do not answer". */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testDatabase } from '../../testing/world.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { runAdmin } from './run.ts';
import { type AdminTestEngine, op, startTestEngine } from './testing/engine.ts';

/** The most that others wait: the patience in a turn and what a busy machine adds. */
const SOON_MS = 1500;

const other = testDatabase();
let service: RemoteService;
/** The ways to the database and the service. */
let gates: Readonly<Record<Kind, Gate>>;
let engine: AdminTestEngine;
const opened: (() => Promise<unknown>)[] = [];

/** A proxy that accepts connections and forwards nothing while it is silent, and everything afterwards. */
type Gate = { readonly url: string; isSilent: boolean; readonly close: () => Promise<void> };

async function openGate(target: string): Promise<Gate> {
  const { hostname, port } = new URL(target);
  const clients = new Map<Socket, Socket>();
  let isSilent = false;
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    clients.set(client, upstream);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => {});
      from.on('close', () => {
        clients.delete(client);
        to.destroy();
      });
      from.pipe(to);
    }
    if (isSilent) client.pause();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  url.hostname = '127.0.0.1';
  return {
    url: url.href,
    get isSilent() {
      return isSilent;
    },
    set isSilent(is: boolean) {
      isSilent = is;
      for (const client of clients.keys()) {
        if (is) client.pause();
        else client.resume();
      }
    },
    close: async () => {
      for (const client of clients.keys()) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const SETUP = `create table note (id int primary key, text text); insert into note values (1, 'a');`;

beforeAll(async () => {
  await other.sql(`create table far (id int primary key); insert into far values (1);`);
  service = await startRemote('type Query { hello: String }', { 'Query.hello': () => 'hi' });
});
afterAll(() => service?.close());

async function start(options: Parameters<typeof startTestEngine>[0] = {}, beside?: AdminTestEngine) {
  const started = await startTestEngine(options, beside);
  opened.push(() => started.close());
  return started;
}

async function openTargets() {
  gates = { source: await openGate(other.url), remote_schema: await openGate(service.url) };
  opened.push(...Object.values(gates).map((gate) => () => gate.close()));
}

async function world() {
  await openTargets();
  engine = await start();
  await engine.database.sql(SETUP);
  await must(op('pg_track_table', { table: 'note' }));
  await must(permission('add'));
}
afterEach(async () => {
  // What hangs is cut first, so that nothing waits for it.
  const [targets, engines] = [opened.slice(0, 2), opened.slice(2)];
  await Promise.all(targets.map((close) => close()));
  for (const close of engines.reverse()) await close();
  opened.length = 0;
});

const must = async (body: object, on = engine) => {
  const { status, body: answer } = await on.metadata(body);
  expect({ status, answer }).toMatchObject({ status: 200 });
  return answer;
};

function permission(what: 'add' | 'drop') {
  return what === 'add'
    ? op('pg_create_select_permission', {
        table: 'note',
        role: 'reader',
        permission: { columns: ['id'], filter: {} },
      })
    : op('pg_drop_select_permission', { table: 'note', role: 'reader' });
}

const hasPermission = (on = engine) =>
  on.state.snapshot().metadata.sources[0]!.tables[0]!.select_permissions !== undefined;

const source = (url: string, name = 'far') => ({
  name,
  kind: 'postgres',
  configuration: { connection_info: { database_url: url } },
});
const remote = (url: string) => ({ name: 'far', definition: { url } });

/** Each kind of target: how it is declared, and whether it is served. */
const KINDS = {
  source: {
    definition: (at: 'new' | 'moved') =>
      source(at === 'new' ? gates.source.url : `${gates.source.url}?application_name=moved`),
    add: () => op('pg_add_source', source(gates.source.url)),
    reload: () => op('reload_metadata', { reload_sources: ['far'], reload_remote_schemas: false }),
    key: 'source/far',
    parts: [{ key: 'table/far/public/far', definition: { table: { schema: 'public', name: 'far' } } }],
    isServed: (on: AdminTestEngine) => on.state.snapshot().model.sources.get('far')?.tables.size === 1,
  },
  remote_schema: {
    definition: (at: 'new' | 'moved') =>
      remote(at === 'new' ? gates.remote_schema.url : `${gates.remote_schema.url}moved`),
    add: () => op('add_remote_schema', remote(gates.remote_schema.url)),
    reload: () => op('reload_remote_schema', { name: 'far' }),
    key: 'remote_schema/far',
    parts: [],
    isServed: (on: AdminTestEngine) => on.state.snapshot().model.remoteSchemas.has('far'),
  },
} as const;
type Kind = keyof typeof KINDS;
const kinds = Object.keys(KINDS) as Kind[];

const put = (kind: Kind, at: 'new' | 'moved' = 'new') => ({
  put: [{ key: KINDS[kind].key, definition: KINDS[kind].definition(at) }, ...KINDS[kind].parts],
  allow_inconsistent_metadata: true,
  include_keys: true,
});

/** Sends a request that waits for targets for so many milliseconds. */
const sendWaiting = (body: object, targetWaitMs: number, on = engine) =>
  runAdmin(on.state, body, {
    endpoint: '/v1/metadata',
    session: { role: ADMIN_ROLE, variables: {}, mayUseBackendOnly: true },
    targetWaitMs,
  });

async function timed<T>(work: Promise<T>): Promise<{ readonly ms: number; readonly result: T }> {
  const began = performance.now();
  const result = await work;
  return { result, ms: performance.now() - began };
}

async function until(isTrue: () => boolean, mostMs: number) {
  const began = performance.now();
  while (!isTrue() && performance.now() - began < mostMs) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  expect(isTrue()).toBe(true);
  return performance.now() - began;
}

const REQUESTS: readonly (readonly [string, (kind: Kind) => object])[] = [
  ['patch_metadata', (kind) => op('patch_metadata', put(kind))],
  ['a dry run', (kind) => op('patch_metadata', { ...put(kind), dry_run: true })],
  ['the operation that adds it', (kind) => KINDS[kind].add()],
  ['a batch', (kind) => op('bulk', [op('set_custom_types', {}), KINDS[kind].add()])],
];

test.each(kinds.flatMap((kind) => REQUESTS.map(([name, request]) => [kind, name, request] as const)))(
  'others do not wait for a %s that hangs in %s, which gets its answer',
  async (kind, _name, request) => {
    await world();
    gates[kind].isSilent = true;
    const slow = engine.metadata(request(kind));
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { ms } = await timed(must(permission('drop')));
    expect(ms).toBeLessThan(SOON_MS);
    expect(hasPermission()).toBe(false);
    gates[kind].isSilent = false;
    expect((await slow).status).toBe(200);
    expect(hasPermission()).toBe(false);
  },
  30_000,
);

test.each(kinds)(
  'a %s that hangs while it is reloaded holds nobody up, and stays served',
  async (kind) => {
    await world();
    await must(KINDS[kind].add());
    expect((await engine.metadata(op('patch_metadata', put(kind)))).status).toBe(200);
    gates[kind].isSilent = true;
    const slow = engine.metadata(KINDS[kind].reload());
    await new Promise((resolve) => setTimeout(resolve, 50));
    const { ms } = await timed(must(permission('drop')));
    expect(ms).toBeLessThan(SOON_MS);
    expect(KINDS[kind].isServed(engine)).toBe(true);
    gates[kind].isSilent = false;
    expect((await slow).status).toBe(200);
  },
  30_000,
);

test.each(kinds)(
  'a request that limits its wait goes on without a %s that hangs',
  async (kind) => {
    await world();
    gates[kind].isSilent = true;
    const first = await timed(sendWaiting(op('patch_metadata', put(kind)), 700));
    expect(first.result).toMatchObject({
      status: 200,
      body: { is_consistent: false, inconsistent_objects: [{ key: KINDS[kind].key }] },
    });
    expect(first.ms).toBeLessThan(700 + SOON_MS);
    // It is in the document and waits for nobody any more, edited again and again.
    for (const text of ['1', '2']) {
      const edited = {
        ...put(kind),
        put: [{ ...put(kind).put[0]!, definition: { ...put(kind).put[0]!.definition, comment: text } }],
      };
      const next = await timed(
        sendWaiting(op('patch_metadata', kind === 'source' ? put(kind) : edited), 700),
      );
      expect(next.result.status).toBe(200);
      expect(next.ms).toBeLessThan(700 + SOON_MS);
    }
    expect((await timed(must(permission('drop')))).ms).toBeLessThan(SOON_MS);
    gates[kind].isSilent = false;
    await until(() => KINDS[kind].isServed(engine), 15_000);
  },
  40_000,
);

test.each(kinds)(
  'a %s that is connected elsewhere is served with its earlier form until it answers',
  async (kind) => {
    await world();
    await must(op('patch_metadata', put(kind)));
    expect(KINDS[kind].isServed(engine)).toBe(true);
    gates[kind].isSilent = true;
    const { status } = await sendWaiting(op('patch_metadata', put(kind, 'moved')), 500);
    expect(status).toBe(200);
    expect(KINDS[kind].isServed(engine)).toBe(true);
    const keys = () => engine.state.snapshot().inconsistencies.map(({ key }) => key);
    expect(keys()).toContain(KINDS[kind].key);
    gates[kind].isSilent = false;
    await until(() => keys().length === 0, 20_000);
    expect(KINDS[kind].isServed(engine)).toBe(true);
  },
  40_000,
);

test.each(kinds)(
  'the start serves what answers, and takes in a %s as soon as it does',
  async (kind) => {
    await world();
    await must(op('patch_metadata', put(kind)));
    gates[kind].isSilent = true;
    const { result: second, ms } = await timed(start({}, engine));
    expect(ms).toBeLessThan(2000 + SOON_MS);
    expect(second.state.snapshot().model.sources.get('default')?.tables.size).toBe(1);
    expect(KINDS[kind].isServed(second)).toBe(false);
    gates[kind].isSilent = false;
    await until(() => KINDS[kind].isServed(second), 20_000);
    expect(second.state.snapshot().inconsistencies).toEqual([]);
  },
  40_000,
);

test.each(kinds)(
  'another replica publishes a revocation without waiting for a %s that hangs',
  async (kind) => {
    await world();
    const second = await start({ pollIntervalMs: 100 }, engine);
    expect(hasPermission(second)).toBe(true);
    gates[kind].isSilent = true;
    await sendWaiting(op('patch_metadata', put(kind)), 300);
    await must(permission('drop'));
    expect(await until(() => !hasPermission(second), 5000)).toBeLessThan(SOON_MS + 500);
  },
  30_000,
);

const TRIGGER = {
  key: 'event_trigger/far/public/far/far_written',
  definition: {
    name: 'far_written',
    definition: { enable_manual: false, insert: { columns: '*' } },
    webhook: 'http://127.0.0.1:9/',
    retry_conf: { num_retries: 0, interval_sec: 10, timeout_sec: 10 },
  },
};
const putTrigger = () => ({ ...put('source'), put: [TRIGGER] });

/** Each change that needs the database of a source, which has become silent. */
const CHANGES: readonly (readonly [string, () => object])[] = [
  ['an event trigger', () => op('patch_metadata', putTrigger())],
  [
    'a native query',
    () =>
      op('patch_metadata', {
        ...put('source'),
        put: [
          {
            key: 'logical_model/far/one',
            definition: { name: 'one', fields: [{ name: 'one', type: 'integer' }] },
          },
          {
            key: 'native_query/far/one',
            definition: { root_field_name: 'one', code: 'select 1 as one', returns: 'one' },
          },
        ],
      }),
  ],
  [
    'a table that the engine does not know',
    () =>
      op('patch_metadata', {
        ...put('source'),
        put: [{ key: 'table/far/public/new', definition: { table: { schema: 'public', name: 'new' } } }],
      }),
  ],
];

test.each(CHANGES)(
  'others do not wait for %s in a source that has become silent',
  async (_name, change) => {
    await world();
    await must(op('patch_metadata', put('source')));
    gates.source.isSilent = true;
    const slow = sendWaiting(change(), 1000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await timed(must(permission('drop')))).ms).toBeLessThan(SOON_MS);
    expect((await timed(slow)).ms).toBeLessThan(1000 + SOON_MS);
    gates.source.isSilent = false;
  },
  40_000,
);

test('a source with event triggers that answers late gets them', async () => {
  await world();
  gates.source.isSilent = true;
  const patch = { ...put('source'), put: [...put('source').put, TRIGGER] };
  expect((await sendWaiting(op('patch_metadata', patch), 300)).status).toBe(200);
  gates.source.isSilent = false;
  await until(() => KINDS.source.isServed(engine), 20_000);
  await other.sql('insert into far values (2)');
  const events = await other.sql('select trigger_name from pergola.event_log');
  expect(events).toEqual([{ trigger_name: 'far_written' }]);
}, 40_000);

test('among many requests of two replicas only those wait that connect a target which hangs', async () => {
  await world();
  const second = await start({ pollIntervalMs: 100 }, engine);
  for (const gate of Object.values(gates)) gate.isSilent = true;
  const hanging = Array.from({ length: 12 }, (_, i) => {
    const [on, name] = [i % 2 === 0 ? engine : second, `far_${i}`];
    const remote = op('add_remote_schema', { name, definition: { url: `${gates.remote_schema.url}${i}` } });
    return on.metadata(i % 3 === 0 ? op('pg_add_source', source(gates.source.url, name)) : remote);
  });
  let areOver = false;
  const all = Promise.all(hanging).finally(() => {
    areOver = true;
  });
  const collection = (i: number) =>
    op('create_query_collection', { name: `c${i}`, definition: { queries: [] } });
  const others = Array.from({ length: 30 }, (_, i) =>
    timed((i % 2 === 0 ? engine : second).metadata(collection(i))),
  );
  const ended = await Promise.all(others);
  expect(areOver).toBe(false);
  // Each of the hanging requests has one turn, which it gives up after a quarter of a second.
  expect(Math.max(...ended.map(({ ms }) => ms))).toBeLessThan(6 * 250 + 2 * SOON_MS);
  for (const gate of Object.values(gates)) gate.isSilent = false;
  // The remote schemas have the same fields, so that one of them is accepted.
  const statuses = (await all).map(({ status }, i) => ({ isSource: i % 3 === 0, status }));
  expect(statuses.filter(({ isSource }) => isSource).map(({ status }) => status)).toEqual([
    200, 200, 200, 200,
  ]);
  const applied = ended.filter(({ result }) => result.status === 200).length;
  await engine.state.refresh();
  const { document, inconsistencies } = engine.state.snapshot();
  expect(inconsistencies).toEqual([]);
  expect(document.query_collections).toHaveLength(applied);
  expect(document.sources.map(({ name }) => name).toSorted()).toEqual([
    'default',
    'far_0',
    'far_3',
    'far_6',
    'far_9',
  ]);
  expect(document.remote_schemas).toHaveLength(1);
}, 60_000);

test.each([false, true])(
  'a reload waits for targets that all hang, and ends when they answer (if_changed: %s)',
  async (if_changed) => {
    await world();
    for (const kind of kinds) await must(op('patch_metadata', put(kind)));
    for (const kind of kinds) gates[kind].isSilent = true;
    const slow = engine.metadata(op('reload_metadata', { if_changed }));
    // Longer than the patience in a turn: an answer that nobody awaits any more would end the process.
    await new Promise((resolve) => setTimeout(resolve, 1000));
    for (const kind of kinds) gates[kind].isSilent = false;
    expect(await slow).toMatchObject({ status: 200, body: { is_consistent: true } });
    for (const kind of kinds) expect(KINDS[kind].isServed(engine)).toBe(true);
  },
);

test('each item of a batch is completed with what the items before it have not needed', async () => {
  await world();
  const model = { name: 'one', fields: [{ name: 'one', type: 'integer' }] };
  const query = (name: string, code: string) =>
    op('pg_track_native_query', { root_field_name: name, code, returns: 'one' });
  const body = await must(
    op('bulk_keep_going', [
      op('pg_track_logical_model', model),
      query('good', 'select 1 as one'),
      query('bad', 'select 1 as one from nowhere'),
    ]),
  );
  expect(body).toMatchObject([{ message: 'success' }, { message: 'success' }, { code: expect.any(String) }]);
});

test.each(kinds)(
  'a replica that has to read a %s again serves what it knows until it answers',
  async (kind) => {
    await world();
    await must(op('patch_metadata', put(kind)));
    const second = await start({ pollIntervalMs: 100 }, engine);
    gates[kind].isSilent = true;
    const { catalog } = second.state.snapshot().versions;
    await must(op('reload_metadata', { reload_sources: ['default'], reload_remote_schemas: false }));
    await until(() => second.state.snapshot().versions.catalog !== catalog, 5000);
    expect(KINDS[kind].isServed(second)).toBe(true);
    expect(second.state.snapshot().inconsistencies).toEqual([]);
    gates[kind].isSilent = false;
    const known = () =>
      kind === 'source'
        ? second.state.snapshot().catalogs.get('far')
        : second.state.snapshot().upstreams.get('far');
    await until(() => !(known() as { awaits?: object }).awaits, 10_000);
    expect(KINDS[kind].isServed(second)).toBe(true);
  },
  30_000,
);
