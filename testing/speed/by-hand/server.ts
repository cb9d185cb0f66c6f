/** The server that a good engineer writes for exactly the workloads: `node:http` and `pg`, one prepared statement for each request, whose
 *  result is passed through as text. Delivers the rows of an outbox to a webhook, and results of a polled query to WebSockets.
 *  In: PORT_OF_WEBHOOK, DATABASE_URL. Out: its port, as the first message to its parent. Not here: statements (statements.ts). */
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import pg from 'pg';
import { WORKLOADS } from '../workloads.ts';
import { CONNECTIONS } from '../world.ts';
import { deliverLiveQueries } from './live-queries.ts';
import { deliverOutbox } from './outbox.ts';
import { STATEMENTS, type Statement } from './statements.ts';

type Body = { readonly query: string; readonly variables: Readonly<Record<string, unknown>> };

const pool = new pg.Pool({
  connectionString: process.env['DATABASE_URL']!,
  max: CONNECTIONS,
  idleTimeoutMillis: 0,
});
const webhook = { host: '127.0.0.1', port: Number(process.env['PORT_OF_WEBHOOK']) };
const agent = new Agent({ keepAlive: true });
const REST = '/api/rest/artist/';

/** The name and statement of each query text. */
const byQuery = new Map(
  WORKLOADS.filter(({ query }) => query !== undefined).map(({ name, query }) => [query!, name]),
);

const server = createServer({ keepAliveTimeout: 600_000 }, (incoming, response) => {
  answer(incoming)
    .then((body) => respond(incoming, response, 200, body))
    .catch((error: Error) => respond(incoming, response, 500, JSON.stringify({ errors: [error.message] })));
});
server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
deliverOutbox(pool, (payload) => callWebhook('/event', payload));
deliverLiveQueries(server, pool);

async function answer(incoming: IncomingMessage): Promise<string> {
  const clerk = Number(incoming.headers['x-engine-user-id']);
  if (incoming.url!.startsWith(REST)) {
    const id = Number(incoming.url!.slice(REST.length));
    return `{"artist_by_pk":${await run('rest', STATEMENTS['rest']!, { id }, clerk)}}`;
  }
  const { query, variables } = JSON.parse(await textOf(incoming)) as Body;
  const name = byQuery.get(query)!;
  if (name === 'action') {
    const input = JSON.stringify({ action: { name: 'quote' }, input: variables });
    return `{"data":{"quote":${await callWebhook('/quote', input)}}}`;
  }
  const statement = STATEMENTS[name]!;
  const result = await run(name, statement, variables, clerk);
  return statement.root === undefined ? `{"data":${result}}` : `{"data":{"${statement.root}":${result}}}`;
}

async function run(
  name: string,
  { text, values }: Statement,
  variables: Body['variables'],
  clerk: number,
): Promise<string | null> {
  const prepared =
    typeof text === 'string'
      ? { name, text }
      : { name: `${name} ${variables['most']}`, text: text(variables) };
  const { rows } = await pool.query({ ...prepared, values: [...values(variables, clerk)], rowMode: 'array' });
  return (rows[0] as [string] | undefined)?.[0] ?? null;
}

function respond({ headers }: IncomingMessage, response: ServerResponse, status: number, body: string): void {
  const type = { 'content-type': 'application/json; charset=utf-8' };
  if (headers['accept-encoding'] === 'gzip') {
    const compressed = gzipSync(body, { level: 1 });
    response.writeHead(status, { ...type, 'content-encoding': 'gzip', 'content-length': compressed.length });
    response.end(compressed);
    return;
  }
  response.writeHead(status, { ...type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
}

function callWebhook(path: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    request({ ...webhook, agent, path, method: 'POST', headers }, (incoming) => resolve(textOf(incoming)))
      .on('error', reject)
      .end(body);
  });
}

function textOf(incoming: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    incoming.setEncoding('utf8');
    incoming.on('data', (chunk: string) => (text += chunk));
    incoming.on('end', () => resolve(text));
    incoming.on('error', reject);
  });
}
