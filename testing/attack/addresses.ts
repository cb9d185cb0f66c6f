/** Addresses that must not be connected to, given to the engine and the operator by everybody who may name one: AUTHORS (metadata of the engine),
 *  and those of a start or of the operator (process-addresses.ts), each by every WAY: the address itself, its other spellings, a name, a name whose
 *  addresses change, a redirect. network.mjs resolves the names and records what is connected to, so no request leaves the machine.
 *  In: the engine's URL. Out: what is wrong. Not here: the decision about an address (engine/outgoing/addresses.test.ts). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { ADMIN_SECRET } from './limited-engine.ts';

/** Hosts that are, or are found to be, a metadata service, or that stand for any host. */
export const METADATA_HOSTS: readonly string[] = [
  '169.254.169.254',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[fd00:ec2::254]',
  '[fe80::1]',
  '100.100.100.200',
  '0.0.0.0',
  '[::]',
  '2852039166',
  '0xa9.0xfe.0xa9.0xfe',
  'metadata.test',
];
/** Its first address is outside, and refuses nothing; the later ones are of a metadata service. */
const CHANGING_HOST = 'changing.metadata.test';
export const OUTSIDE = '192.0.2.1';
/** A grant may cover a private address, but not one that a redirect names. */
const PRIVATE_HOSTS = ['10.1.2.3', '192.168.1.2', '[fd00::1]'];
/** The hosts that stand for the others where each takes a process or some seconds. */
export const FEW_HOSTS = ['169.254.169.254', '[::ffff:169.254.169.254]', 'metadata.test'];
const PATH = '/latest/meta-data';

type Author = {
  readonly name: string;
  /** Makes the engine use the URL under a new name, and returns what it says of it. */
  readonly give: (engine: URL, url: string, name: string) => Promise<string>;
  readonly hosts: readonly string[];
  /** False where the engine says nothing of the address to the author. */
  readonly saysWhy: boolean;
};

const ALL_HOSTS = [...METADATA_HOSTS, CHANGING_HOST];
const RETRY = { num_retries: 0, timeout_sec: 2, interval_sec: 1 };

export const AUTHORS: readonly Author[] = [
  { name: 'remote_schema', give: remoteSchema, hosts: ALL_HOSTS, saysWhy: true },
  { name: 'source', give: source, hosts: ALL_HOSTS, saysWhy: true },
  { name: 'action', give: action, hosts: ALL_HOSTS, saysWhy: true },
  { name: 'transformed_action', give: transformedAction, hosts: ALL_HOSTS, saysWhy: true },
  { name: 'input_validation', give: inputValidation, hosts: ALL_HOSTS, saysWhy: false },
  { name: 'event_trigger', give: eventTrigger, hosts: ALL_HOSTS, saysWhy: true },
  { name: 'cron_trigger', give: cronTrigger, hosts: ALL_HOSTS, saysWhy: true },
  { name: 'scheduled_event', give: scheduledEvent, hosts: ALL_HOSTS, saysWhy: true },
  { name: 'telemetry', give: telemetry, hosts: FEW_HOSTS, saysWhy: false },
];

const REFUSED = /is refused|ERR_ADDRESS_REFUSED/;

/** Gives the engine every address by every author. Returns what is wrong, but for connections, which network.mjs records. */
export async function giveAddresses(engine: URL): Promise<readonly string[]> {
  // The first look-up is not of interest.
  await remoteSchema(engine, `http://${CHANGING_HOST}/`, 'first');
  const redirector = await startRedirector();
  const problems: string[] = [];
  const byAuthor = async ({ name, give, hosts, saysWhy }: Author) => {
    for (const [i, host] of hosts.entries()) {
      const said = await give(engine, `http://${host}${PATH}`, `${name}_${i}`);
      if (saysWhy && !REFUSED.test(said)) problems.push(`${name} at ${host}: ${said}`);
    }
    // Databases have no redirects.
    if (name === 'source') return;
    for (const [i, host] of [...hosts, ...PRIVATE_HOSTS].entries()) {
      const url = redirector.urlTo(`http://${host}${PATH}`, name);
      await give(engine, url, `${name}_by_${i}`);
      if (!redirector.wasRequested(url)) problems.push(`${name}: a redirect to ${host} was not requested`);
    }
  };
  await Promise.all(AUTHORS.map(byAuthor));
  redirector.close();
  return problems;
}

export type Redirector = {
  /** Returns a URL of this machine that redirects to another one. */
  readonly urlTo: (url: string, by: string) => string;
  readonly wasRequested: (url: string) => boolean;
  readonly host: string;
  readonly close: () => void;
};

export async function startRedirector(): Promise<Redirector> {
  const requested = new Set<string>();
  const server = createServer((request, response) => {
    requested.add(request.url!);
    const to = new URL(request.url!, 'http://localhost').searchParams.get('to') ?? '/';
    response.writeHead(request.method === 'GET' ? 302 : 307, { location: to }).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    host,
    urlTo: (url, by) => `http://${host}/${by}?to=${encodeURIComponent(url)}`,
    wasRequested: (url) => requested.has(url.slice(`http://${host}`.length)),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function remoteSchema(engine: URL, url: string, name: string): Promise<string> {
  return operate(engine, 'add_remote_schema', { name, definition: { url, timeout_seconds: 1 } });
}

function source(engine: URL, url: string, name: string): Promise<string> {
  const database_url = `postgres://u@${new URL(url).host}/d?connect_timeout=1`;
  return operate(engine, 'pg_add_source', { name, configuration: { connection_info: { database_url } } });
}

async function action(engine: URL, url: string, name: string, transform?: object): Promise<string> {
  const handler = transform ? 'http://127.0.0.1:1' : url;
  const definition = { type: 'query', handler, output_type: 'LargeText', timeout: 2 };
  await must(engine, 'create_action', {
    name,
    definition: { ...definition, ...(transform && { request_transform: transform }) },
  });
  return graphql(engine, `{ ${name} { text } }`);
}

function transformedAction(engine: URL, url: string, name: string): Promise<string> {
  return action(engine, url, name, { version: 2, template_engine: 'Kriti', url });
}

async function inputValidation(engine: URL, url: string, name: string): Promise<string> {
  const validate_input = { type: 'http', definition: { url, timeout: 2 } };
  const permission = { columns: '*', check: {}, validate_input };
  await must(engine, 'pg_create_insert_permission', { table: 'owner', role: name, permission });
  return graphql(engine, 'mutation { insert_owner(objects: [{name: "a"}]) { affected_rows } }', name);
}

async function eventTrigger(engine: URL, url: string, name: string): Promise<string> {
  const trigger = { name, table: 'addressed_job', webhook: url, insert: { columns: '*' }, retry_conf: RETRY };
  await must(engine, 'pg_create_event_trigger', trigger);
  await must(engine, 'run_sql', { sql: 'insert into addressed_job default values' });
  return logged(engine, `pergola.event_invocation_log where trigger_name = '${name}'`);
}

async function cronTrigger(engine: URL, url: string, name: string): Promise<string> {
  const schedule = '0 0 1 1 *';
  const trigger = { name, webhook: url, schedule, include_in_metadata: false, retry_conf: CRON_RETRY };
  await must(engine, 'create_cron_trigger', trigger);
  const columns = '(type, trigger_name, schedule, scheduled_time)';
  const sql = `insert into pergola.scheduled_event ${columns} values ('cron', '${name}', '${schedule}', now())`;
  await must(engine, 'run_sql', { sql });
  return logged(engine, `${INVOCATIONS} where trigger_name = '${name}' and i.event_id = e.id`);
}

const CRON_RETRY = { num_retries: 0, timeout_seconds: 2 };
const INVOCATIONS = 'pergola.scheduled_event_invocation i, pergola.scheduled_event e';

async function scheduledEvent(engine: URL, url: string, name: string): Promise<string> {
  const schedule_at = new Date().toISOString();
  const event = { webhook: url, schedule_at, payload: {}, retry_conf: CRON_RETRY, comment: name };
  await must(engine, 'create_scheduled_event', event);
  return logged(engine, `${INVOCATIONS} where definition->>'comment' = '${name}' and i.event_id = e.id`);
}

async function telemetry(engine: URL, url: string): Promise<string> {
  await must(engine, 'set_opentelemetry_config', {
    status: 'enabled',
    data_types: ['traces'],
    exporter_otlp: { otlp_traces_endpoint: url },
    batch_span_processor: { max_export_batch_size: 1 },
  });
  for (let i = 0; i < 3; i++) await graphql(engine, '{ item(limit: 1) { id } }');
  await sleep(1_500);
  await must(engine, 'set_opentelemetry_config', { status: 'disabled' });
  return '';
}

/** Returns what the deliveries to a webhook have logged, once there is one. */
async function logged(engine: URL, from: string): Promise<string> {
  const sql = `select coalesce(string_agg(response::text, ' '), 'nothing') from ${from}`;
  for (let waited = 0; waited < 20_000; waited += 100) {
    const answer = await operate(engine, 'run_sql', { sql, read_only: true });
    if (!answer.includes('["nothing"]')) return answer;
    await sleep(100);
  }
  return 'nothing was delivered';
}

async function must(engine: URL, type: string, args: object): Promise<void> {
  const answer = await operate(engine, type, args);
  if (answer.includes('"error"')) throw new Error(`${type}: ${answer}`);
}

export function operate(engine: URL, type: string, args: object): Promise<string> {
  return post(engine, type === 'run_sql' ? '/v2/query' : '/v1/metadata', { type, args });
}

function graphql(engine: URL, query: string, role?: string): Promise<string> {
  return post(engine, '/v1/graphql', { query }, role === undefined ? {} : { 'x-engine-role': role });
}

async function post(
  engine: URL,
  path: string,
  body: object,
  more: Readonly<Record<string, string>> = {},
): Promise<string> {
  const headers = { 'content-type': 'application/json', 'x-engine-admin-secret': ADMIN_SECRET, ...more };
  const response = await fetch(new URL(path, engine), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return response.text();
}
