/** Tests named values and secret files in every place of the metadata where they may stand. The places are those of the declared model, so a
 *  new one fails here until it has a probe. In each, a changed text reaches the behaviour of another replica within two seconds and without a
 *  restart, also after the key of the values was replaced; and no text is in an answer, an export or the log. A change is repeated when the
 *  machine was too busy for two seconds.
 *  Not here: the operations on values, and keys that are wrong or lost (named-values.test.ts). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSchema, graphql } from 'graphql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { KEY_PASSWORD, startTlsPostgres, type TlsPostgres } from '../../testing/tls-postgres.ts';
import { testDatabase } from '../../testing/world.ts';
import { OBJECT_KINDS, OBJECTS } from '../metadata/objects.ts';
import { VARIABLE_MARK, type VariableMark } from '../metadata/schema/common.ts';
import { OneOffEvent } from '../metadata/schema/event.ts';
import { asJsonSchema, type JsonSchema } from '../metadata/walk-schema.ts';
import type { LogRecord } from '../observe/otlp-encode.ts';
import type { Log } from '../observe/sinks.ts';

const KEY = 'first-key-of-the-named-values-0123456789';
const NEXT_KEY = 'second-key-of-the-named-values-012345678';
const WITHIN_MS = 2000;
/** The limit of a single change, and how many changes may take longer than they should. */
const AT_MOST_MS = 20_000;
const TRIES = 3;
/** Each look at a change sends requests and events. */
const PAUSE_MS = 150;
const PLANTED = 'planted5ecret';

/** The forms of a reference: a member, or a template in a text. */
type Form = 'value' | 'file' | 'value template' | 'file template';
type Place = { readonly kind: string; readonly path: string; readonly form: Form };

/** Returns the places of a schema. A template may name both a value and a file. */
function placesIn(schema: JsonSchema, kind: string, path: string): readonly Place[] {
  const { form } = (schema as { readonly [VARIABLE_MARK]?: VariableMark })[VARIABLE_MARK] ?? {};
  const forms: Readonly<Record<string, readonly Form[]>> = {
    value: ['value'],
    file: ['file'],
    template: ['value template', 'file template'],
  };
  const own = (forms[form ?? ''] ?? []).map((one) => ({ kind, path, form: one }));
  return [
    ...own,
    ...(schema.anyOf ?? []).flatMap((branch) => placesIn(branch, kind, path)),
    ...(schema.items ? placesIn(schema.items, kind, `${path}[]`) : []),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
      placesIn(inner, kind, path === '' ? name : `${path}.${name}`),
    ),
  ];
}

/** Objects nested in a source or table are objects of their own. */
const PLACES: readonly Place[] = [
  ...OBJECT_KINDS.flatMap((kind) => placesIn(asJsonSchema(OBJECTS[kind].schema), kind, '')).filter(
    ({ kind, path }) => kind !== 'table' && !(kind === 'source' && path.startsWith('tables')),
  ),
  ...placesIn(asJsonSchema(OneOffEvent), 'one-off event', ''),
];

const database = testDatabase();
let postgres: TlsPostgres;
let engines: TestEngine[] = [];
let hook: Server;
let hookUrl: string;
let folder: string;
let received: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
/** Everything that is visible from outside, besides what the webhook receives. */
const seen: string[] = [];
/** A log whose lines are also exported. */
function log(): Log {
  const receivers: ((record: LogRecord) => void)[] = [];
  return {
    observe: (one) => {
      const body = printed(one);
      seen.push(body);
      if (one.kind === 'telemetry exported') return;
      for (const receive of receivers) receive({ at: Date.now(), level: 'info', type: 'test', body });
    },
    flush: () => {},
    tap: (receive) => void receivers.push(receive),
  };
}

const start = (valuesKey: string) =>
  startTestEngine({
    databaseUrl: database.url,
    valuesKey,
    dynamicSecretsPath: [folder],
    logLevel: 'debug',
    eventsFetchInterval: 1,
    enabledApis: ['metadata', 'graphql', 'config', 'metrics', 'developer'],
    log: log(),
  });

async function ask(engine: TestEngine, type: string, args: object): Promise<unknown> {
  const { status, body } = await engine.admin(type, args);
  seen.push(JSON.stringify(body));
  expect({ type, status, body }).toMatchObject({ type, status: 200 });
  return body;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pergola-places-'));
  hook = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    received.push({ path: request.url ?? '', headers: request.headers });
    response.setHeader('content-type', 'application/json');
    response.end(await answerTo(request.url ?? '', Buffer.concat(chunks).toString()));
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}`;
  await database.sql(
    'create table book (id int primary key, title text); create table event (id serial primary key)',
  );
  postgres = await startTlsPostgres();
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  await client.query(
    'create view who as select current_user::text as name; create role main login superuser',
  );
  await client.end();
  engines = [await start(KEY), await start(KEY)];
  const [a] = engines as [TestEngine];
  for (const table of ['book', 'event']) await ask(a, 'pg_track_table', { source: 'default', table });
  await ask(a, 'set_custom_types', {
    objects: [{ name: 'Heard', fields: [{ name: 'heard', type: 'Boolean' }] }],
  });
}, 180_000);
afterAll(async () => {
  for (const engine of engines) await engine.close();
  hook?.close();
  await postgres?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Answers as a remote schema with a field for the object that the path names, or as any other webhook. */
async function answerTo(path: string, text: string): Promise<string> {
  const name = /^\/(p\d+)/.exec(path)?.[1] ?? 'none';
  if (!text.startsWith('{"query"') && !text.includes('IntrospectionQuery')) return '{"heard":true}';
  const { query } = JSON.parse(text) as { query: string };
  return JSON.stringify(
    await graphql({ schema: buildSchema(`type Query { far_${name}: String }`), source: query }),
  );
}

/** Sets the text of a reference. */
async function give(place: Place, name: string, text: string): Promise<void> {
  if (place.form.startsWith('file')) return writeFile(join(folder, name), `${text}\n`);
  await ask(engines[0]!, 'set_values', { values: [{ name, value: text }] });
}

/** Returns the members of a reference, for the field `field` of an object: `webhook_from_value`. */
function reference({ form }: Place, name: string): Readonly<Record<string, string>> {
  return form.startsWith('file') ? { from_file: join(folder, name) } : { from_value: name };
}

/** Waits until the body returns true. Returns the milliseconds; throws with `what` when it never does. */
async function until(what: string, body: () => Promise<boolean>): Promise<number> {
  const beganMs = performance.now();
  while (!(await body())) {
    if (performance.now() - beganMs > AT_MOST_MS) throw new Error(`never: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  return performance.now() - beganMs;
}

/** Makes a change, which returns the milliseconds until it took effect, until one took effect in time. */
async function inTime(change: (turn: number) => Promise<number>): Promise<void> {
  const tookMs: number[] = [];
  while (tookMs.length < TRIES) {
    tookMs.push(await change(tookMs.length + 2));
    if (tookMs.at(-1)! <= WITHIN_MS) return;
  }
  expect(Math.min(...tookMs)).toBeLessThanOrEqual(WITHIN_MS);
}

/** Creates an object with a URL and headers, and makes it send a request. */
type Sender = {
  readonly create: (name: string, url: UrlFields, headers: readonly object[]) => readonly [string, object];
  readonly trigger: (engine: TestEngine, name: string) => Promise<unknown>;
};
/** The text of a URL, or a reference to one in the fields of an object. */
type UrlFields = { readonly text?: string; readonly from?: Readonly<Record<string, string>> };

const siblings = (field: string, { text, from }: UrlFields) =>
  text !== undefined
    ? { [field]: text }
    : Object.fromEntries(Object.entries(from!).map(([key, value]) => [`${field}_${key}`, value]));
const member = ({ text, from }: UrlFields) => text ?? from;

const validated = (operation: 'insert' | 'update' | 'delete', mutation: string): Sender => ({
  create: (name, url, headers) => [
    `pg_create_${operation}_permission`,
    {
      source: 'default',
      table: 'book',
      role: name,
      permission: {
        ...(operation === 'insert' ? { check: {} } : { filter: { id: { _eq: -1 } } }),
        ...(operation === 'delete' ? {} : { columns: '*' }),
        validate_input: { type: 'http', definition: { ...siblings('url', url), headers } },
      },
    },
  ],
  trigger: (engine, name) => engine.graphql(mutation, { role: name }),
});

let books = 0;
const SENDERS: Readonly<Record<string, Sender>> = {
  insert_permission: {
    ...validated('insert', ''),
    trigger: (engine, role) =>
      engine.graphql(`mutation { insert_book(objects: [{id: ${books++}}]) { affected_rows } }`, { role }),
  },
  update_permission: validated(
    'update',
    'mutation { update_book(where: {}, _set: {title: "a"}) { affected_rows } }',
  ),
  delete_permission: validated('delete', 'mutation { delete_book(where: {}) { affected_rows } }'),
  event_trigger: {
    create: (name, url, headers) => [
      'pg_create_event_trigger',
      {
        source: 'default',
        name,
        table: 'event',
        insert: { columns: '*' },
        ...siblings('webhook', url),
        headers,
      },
    ],
    trigger: () => database.sql('insert into event default values'),
  },
  remote_schema: {
    create: (name, url, headers) => [
      'add_remote_schema',
      { name, definition: { ...siblings('url', url), headers } },
    ],
    trigger: (engine, name) => engine.graphql(`{ far_${name} }`),
  },
  action: {
    create: (name, url, headers) => [
      'create_action',
      {
        name: `act_${name}`,
        definition: { type: 'query', output_type: 'Heard', ...siblings('handler', url), headers },
      },
    ],
    trigger: (engine, name) => engine.graphql(`{ act_${name} { heard } }`),
  },
  cron_trigger: {
    create: (name, url, headers) => [
      'create_cron_trigger',
      { name, schedule: '59 3 1 1 *', include_in_metadata: true, webhook: member(url), headers },
    ],
    trigger: (_, name) => comeDue(name),
  },
  scheduled_event: {
    create: (name, url, headers) => [
      'declare_scheduled_event',
      { name, schedule_at: later(), webhook: member(url), headers },
    ],
    // The same event, delivered again.
    trigger: (_, name) => comeDue(name),
  },
  'one-off event': {
    create: (name, url, headers) => [
      'create_scheduled_event',
      { comment: name, schedule_at: later(), webhook: member(url), headers },
    ],
    trigger: (_, name) => comeDue(name),
  },
};

const later = () => new Date(Date.now() + 86_400_000).toISOString();

/** Makes an event of a trigger due now, also one that was delivered before. */
const comeDue = (name: string) =>
  database.sql(
    `update pergola.scheduled_event set scheduled_time = now(), status = 'scheduled', tries = 0
      where id = (select id from pergola.scheduled_event where '${name}' in (trigger_name, definition->>'comment') order by scheduled_time limit 1)`,
  );

/** Writes the configuration of OpenTelemetry. Metrics are sent every minute, and when the configuration changes. */
let configurations = 0;
const telemetry = (engine: TestEngine, exporter: object) =>
  ask(engine, 'set_opentelemetry_config', {
    status: 'enabled',
    data_types: ['traces', 'metrics', 'logs'],
    exporter_otlp: { ...exporter, resource_attributes: [{ name: 'n', value: String(configurations++) }] },
    batch_span_processor: { max_export_batch_size: 1 },
  });

const isReceived = (name: string, text: string) =>
  received.some(({ path, headers }) => {
    const all = `${path} ${headers['x-secret'] ?? ''} `;
    return path.startsWith(`/${name}/`) && (all.includes(`${text}/`) || all.includes(`${text} `));
  });

/** An object whose place refers to a text: what it takes to see the text at the webhook. */
type Probe = {
  readonly place: Place;
  readonly name: string;
  readonly trigger: (engine: TestEngine) => Promise<unknown>;
};
const probes: { readonly probe: Probe; readonly turn: number }[] = [];

const outbound = PLACES.filter(({ kind }) => kind !== 'source').map((place, i) => ({ place, name: `p${i}` }));
const secretOf = (name: string, turn: number) => `${PLANTED}-${name}-${turn}`;

/** Returns the text that a place has: a secret, or the whole URL with it. */
function textFor({ place, name }: Pick<Probe, 'place' | 'name'>, turn: number): string {
  const isWhole = !place.form.endsWith('template') && !place.path.includes('headers');
  return isWhole ? `${hookUrl}/${name}/${secretOf(name, turn)}` : secretOf(name, turn);
}

/** Creates the object of a place. */
async function create({ place, name }: Pick<Probe, 'place' | 'name'>): Promise<Probe> {
  const { kind, path, form } = place;
  const isHeader = path.includes('headers');
  const from = reference(place, name);
  const template = `{{${form.startsWith('file') ? `file:${join(folder, name)}` : `value:${name}`}}}`;
  const plain = { text: `${hookUrl}/${name}/x` };
  const templated = { text: `${hookUrl}/${name}/${template}` };
  const url: UrlFields = isHeader ? plain : form.endsWith('template') ? templated : { from };
  const headers = isHeader
    ? [
        {
          name: 'x-secret',
          ...Object.fromEntries(Object.entries(from).map(([key, value]) => [`value_${key}`, value])),
        },
      ]
    : [];
  if (kind !== 'opentelemetry') {
    const sender = SENDERS[kind]!;
    await ask(engines[0]!, ...sender.create(name, url, headers));
    return { place, name, trigger: (engine) => sender.trigger(engine, name) };
  }
  const field = /otlp_\w+_endpoint/.exec(path)?.[0] ?? 'otlp_traces_endpoint';
  const configure = () => telemetry(engines[0]!, { [field]: url.text, headers });
  await configure();
  return {
    place,
    name,
    trigger: async (engine) => {
      if (field.includes('metrics')) await configure();
      await engine.graphql('{ __typename }');
    },
  };
}

const seenBy = (engine: TestEngine, { name, trigger }: Probe, turn: number) =>
  until(`${name} has its text ${turn}`, async () => {
    await trigger(engine);
    return isReceived(name, secretOf(name, turn));
  });

describe('texts that are sent', () => {
  test.each(outbound)('$place.kind $place.path, a $place.form', async ({ place, name }) => {
    const other = engines[1]!;
    await give(place, name, textFor({ place, name }, 1));
    const probe = await create({ place, name });
    await seenBy(other, probe, 1);
    let last = 1;
    await inTime(async (turn) => {
      last = turn;
      await give(place, name, textFor(probe, turn));
      return seenBy(other, probe, turn);
    });
    received = [];
    if (place.kind !== 'opentelemetry') probes.push({ probe, turn: last });
  });
});

/** The parts of a connection: the text with which it connects, one with which it does not, and the user it is. */
type Part = {
  readonly good: () => string;
  readonly bad: () => string;
  readonly user: string;
  readonly info: (from: object) => object;
};
const at = (user: string) => {
  const { port } = new URL(postgres.url);
  return `postgres://${user}@127.0.0.1:${port}/postgres`;
};
const certified = (parts: object) => ({
  database_url: at('certified'),
  ssl_configuration: { sslmode: 'require', sslcert: postgres.pem.cert, sslkey: postgres.pem.key, ...parts },
});
const PARTS: Readonly<Record<string, Part>> = {
  database_url: {
    good: () => at('postgres'),
    bad: () => `postgres://${PLANTED}:${PLANTED}@127.0.0.1:1/${PLANTED}`,
    user: 'postgres',
    info: (from) => ({ database_url: from }),
  },
  password: {
    good: () => 'word',
    bad: () => `${PLANTED}-wrong`,
    user: 'scram',
    info: (password) => {
      const { port } = new URL(postgres.url);
      const parameters = {
        username: 'scram',
        password,
        host: '127.0.0.1',
        port: Number(port),
        database: 'postgres',
      };
      return { database_url: { connection_parameters: parameters } };
    },
  },
  sslrootcert: {
    good: () => postgres.pem.ca,
    bad: () => postgres.pem.otherCa,
    user: 'secret',
    info: (sslrootcert) => ({
      database_url: at('secret'),
      ssl_configuration: { sslmode: 'verify-ca', sslrootcert },
    }),
  },
  sslcert: {
    good: () => postgres.pem.cert,
    bad: () => postgres.pem.otherCa,
    user: 'certified',
    info: (sslcert) => certified({ sslcert }),
  },
  sslkey: {
    good: () => postgres.pem.key,
    bad: () => `${PLANTED}, which is no key`,
    user: 'certified',
    info: (sslkey) => certified({ sslkey }),
  },
  sslpassword: {
    good: () => KEY_PASSWORD,
    bad: () => `${PLANTED}-wrong`,
    user: 'certified',
    info: (sslpassword) => certified({ sslkey: postgres.pem.lockedKey, sslpassword }),
  },
};
const POSITIONS: Readonly<Record<string, (info: object) => object>> = {
  'configuration.connection_info': (info) => ({ connection_info: info }),
  'configuration.read_replicas[]': (info) => ({
    connection_info: { database_url: at('main') },
    read_replicas: [info],
  }),
  'configuration.connection_set[].connection_info': (info) => ({
    connection_info: { database_url: at('main') },
    connection_set: [{ name: 'member', connection_info: info }],
    connection_template: { template: '{{ $.connection_set.member }}' },
  }),
};

/** Returns the part of a connection that a path names, and its position. */
function partOf(
  path: string,
): { readonly part: Part; readonly position: (info: object) => object } | undefined {
  const start = Object.keys(POSITIONS).find((one) => path.startsWith(`${one}.`));
  const part = path.split('.').at(-2);
  return start && part && PARTS[part] ? { part: PARTS[part], position: POSITIONS[start]! } : undefined;
}

const connections = PLACES.filter(({ kind }) => kind === 'source').map((place, i) => ({
  place,
  name: `s${i}`,
}));
const kept: { readonly name: string; readonly user: string }[] = [];

/** Returns the user as which a source reads; undefined when it cannot. */
async function userOf(engine: TestEngine, name: string): Promise<string | undefined> {
  // The template of a source does not choose for administrators.
  const role = 'reader';
  const answer = await engine.graphql<Record<string, { name: string }[]>>(`{ ${name}_who { name } }`, {
    role,
  });
  seen.push(JSON.stringify(answer));
  return answer.data?.[`${name}_who`]?.[0]?.name;
}

describe('texts of connections', () => {
  test.each(connections)('$place.path, a $place.form', async ({ place, name }) => {
    const [a, b] = engines as [TestEngine, TestEngine];
    const { part, position } = partOf(place.path)!;
    await give(place, name, part.good());
    await ask(a, 'pg_add_source', {
      name,
      configuration: position(part.info(reference(place, name))),
      customization: { root_fields: { prefix: `${name}_` }, type_names: { prefix: `${name}_` } },
    });
    await ask(a, 'pg_track_table', { source: name, table: 'who' });
    const permission = { columns: ['name'], filter: {} };
    await ask(a, 'pg_create_select_permission', { source: name, table: 'who', role: 'reader', permission });
    await until('it connects', async () => (await userOf(b, name)) === part.user);
    await inTime(async () => {
      await give(place, name, part.bad());
      const lostMs = await until('it no longer connects', async () => (await userOf(b, name)) !== part.user);
      await give(place, name, part.good());
      const foundMs = await until('it connects again', async () => (await userOf(b, name)) === part.user);
      return Math.max(lostMs, foundMs);
    });
    if (place.form === 'value') kept.push({ name, user: part.user });
    else await ask(a, 'pg_drop_source', { name, cascade: true });
  });
});

test('after a change of the key, every place has its text', async () => {
  for (const engine of engines) await engine.close();
  const both = await start(`${NEXT_KEY},${KEY}`);
  await ask(both, 'reencrypt_values', {});
  await both.close();
  const next = await start(NEXT_KEY);
  engines = [next];
  expect(probes.length).toBeGreaterThan(30);
  expect(kept).toHaveLength(18);
  for (const { probe, turn } of probes) await seenBy(next, probe, turn);
  for (const { name, user } of kept) expect([name, await userOf(next, name)]).toEqual([name, user]);
  const { probe } = probes[0]!;
  await give(probe.place, probe.name, textFor(probe, TRIES + 2));
  await seenBy(next, probe, TRIES + 2);
}, 120_000);

test('no text is in an answer, an export, a revision, a metric or the log', async () => {
  const [engine] = engines as [TestEngine];
  for (const type of [
    'export_metadata',
    'get_inconsistent_metadata',
    'dump_internal_state',
    'list_values',
    'list_metadata_revisions',
  ])
    await ask(engine, type, {});
  for (const path of ['/v1alpha1/config', '/v1/metrics', '/healthz/sources'])
    seen.push(await (await engine.fetch(path)).text());
  const secrets = [PLANTED, KEY_PASSWORD];
  const leaks = seen.filter((one) => secrets.some((secret) => one.includes(secret)));
  expect(leaks.map((one) => around(one, secrets))).toEqual([]);
  expect(seen.join('\n')).toContain('from_value');
});

test('every place has a probe', () => {
  const unknown = PLACES.filter(({ kind, path }) =>
    kind === 'source' ? !partOf(path) : kind !== 'opentelemetry' && !SENDERS[kind],
  );
  expect(unknown).toEqual([]);
  expect(new Set(PLACES.map(({ kind }) => kind)).size).toBe(11);
});

function around(text: string, secrets: readonly string[]): string {
  const i = secrets.map((secret) => text.indexOf(secret)).find((found) => found >= 0) ?? 0;
  return text.slice(Math.max(0, i - 200), i + 60);
}

/** Prints errors too, which have no enumerable members. */
function printed(value: unknown): string {
  return JSON.stringify(value, (_, one) =>
    one instanceof Error
      ? { ...one, message: one.message, stack: one.stack }
      : typeof one === 'bigint'
        ? String(one)
        : one,
  );
}
