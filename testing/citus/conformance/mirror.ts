/** An HTTP server that sends each request to two engines, over a plain Postgres and over a Citus cluster, and returns the answer of the former. In the
 *  SQL that the cluster gets, new tables are distributed at random. In: both engines. Out: its URL, and counts of the requests that were answered alike, of
 *  those that were refused, and the differences. Not here: who sends the requests (conformance.ts). */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { graphqlText, otherText } from './same-answer.ts';
import { onCluster } from './set-up.ts';

export type MirroredSide = { readonly url: string; readonly databaseUrl: string };

type Given = { readonly status: number; readonly text: string; readonly type: string };
type Sent = {
  readonly path: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string;
};

/** Errors of what a cluster cannot do: by their code, and for the column by which a table is distributed, which no update sets,
 *  and mutations of views. */
const REFUSED =
  /"distribution-unsupported"|names a distributed table|Citus has triggers|does not have permission to update column|not found in type: '\w+_(set_input|inc_input|on_conflict_bool_exp)'|not found in type: 'mutation_root'/;
/** Codes of errors of the database that reach a client of `run_sql`. */
const DATABASE_ERROR = '"postgres-error"';
/** The most characters of an answer in a problem. */
const MOST_CHARACTERS = 500;

/** Headers that are about the connection of the client to the mirror. */
const OF_THE_CONNECTION: readonly string[] = [
  'host',
  'connection',
  'upgrade',
  'content-length',
  'transfer-encoding',
  'accept-encoding',
];

export class Mirror {
  /** The cases all of whose requests were answered alike. */
  readonly alike = new Set<string>();
  /** The cases that were refused, with the reason: by Citus in the SQL of their set-up, or by the engine. */
  readonly notAllowed = new Map<string, string>();
  readonly refused = new Map<string, string>();
  readonly problems = new Map<string, string>();
  readonly #plain: MirroredSide;
  readonly #citus: MirroredSide;
  readonly #seed: number;
  readonly #server: Server;
  /** Why the cluster gets no requests until the next case begins with nothing; null when it has the rows of the plain Postgres. */
  #apart: { readonly into: Map<string, string>; readonly reason: string } | null = null;
  #case = '';

  constructor(plain: MirroredSide, citus: MirroredSide, seed: number) {
    this.#plain = plain;
    this.#citus = citus;
    this.#seed = seed;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => response.writeHead(502).end(String(error)));
    });
    // Some cases use a WebSocket beside HTTP. They fail, and are not compared.
    this.#server.on('upgrade', (_request, socket) => socket.end('HTTP/1.1 501 Not Implemented\r\n\r\n'));
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const sent = await sentOf(request);
    this.#case = sent.headers.get('x-conf-case') ?? this.#case;
    if (sent.body.includes('clear_metadata')) this.#apart = null;
    const isApart = this.#apart !== null;
    const [plain, citus] = await Promise.all([
      send(this.#plain.url, sent),
      isApart ? null : send(this.#citus.url, { ...sent, body: this.#bodyForCitus(sent) }),
    ]);
    if (citus) this.#compare(sent, plain, citus);
    else if (sent.headers.has('x-conf-case')) this.#apart?.into.set(this.#case, this.#apart.reason);
    response.writeHead(plain.status, { 'content-type': plain.type }).end(plain.text);
  }

  #bodyForCitus({ path, body }: Sent): string {
    const text = body.replaceAll(this.#plain.databaseUrl, this.#citus.databaseUrl);
    if (!/^\/v[12]\/query/.test(path) || !text.includes('run_sql')) return text;
    return JSON.stringify(JSON.parse(text), (key, value: unknown) =>
      key === 'sql' && typeof value === 'string' ? onCluster(value, this.#seed) : value,
    );
  }

  #compare(sent: Sent, plain: Given, citus: Given): void {
    const [expected, actual] = [textOf(sent, plain), textOf(sent, citus)];
    if (plain.status === citus.status && expected === actual) {
      if (sent.headers.has('x-conf-case') && !this.problems.has(this.#case)) this.alike.add(this.#case);
      return;
    }
    this.alike.delete(this.#case);
    const isSql = sent.body.includes('run_sql');
    if (REFUSED.test(citus.text)) this.#part(this.refused, citus.text);
    else if (isSql && citus.text.includes(DATABASE_ERROR)) this.#part(this.notAllowed, citus.text);
    else {
      const both = `expected ${plain.status} ${short(plain.text)}
  got ${citus.status} ${short(withoutStatement(citus.text))}
  for ${short(sent.body)}`;
      this.problems.set(`${this.#case} ${this.problems.size}`, both);
      if (!isRead(sent)) this.#apart = { into: this.problems, reason: 'the rows differ' };
    }
  }

  #part(into: Map<string, string>, text: string): void {
    const reason = /"message":"((?:[^"\\]|\\.)*)"/.exec(text)?.[1] ?? text;
    into.set(this.#case, short(reason));
    this.#apart = { into, reason: short(reason) };
  }
}

async function sentOf(request: IncomingMessage): Promise<Sent> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    if (!OF_THE_CONNECTION.includes(name)) headers.set(name, String(value));
  }
  return {
    path: request.url ?? '/',
    method: request.method ?? 'GET',
    headers,
    body: Buffer.concat(chunks).toString(),
  };
}

async function send(url: string, { path, method, headers, body }: Sent): Promise<Given> {
  const given = await fetch(`${url}${path}`, {
    method,
    headers,
    ...(body === '' ? {} : { body }),
    redirect: 'manual',
  });
  return {
    status: given.status,
    text: await given.text(),
    type: given.headers.get('content-type') ?? 'text/plain',
  };
}

function textOf({ path, body }: Sent, { text }: Given): string {
  if (path.endsWith('/explain')) return '';
  try {
    const answer: unknown = JSON.parse(text);
    if (!/graphql|relay/.test(path)) return otherText(answer);
    const { query, operationName } = JSON.parse(body) as { query?: string; operationName?: string };
    return graphqlText(query ?? '', operationName, answer);
  } catch {
    return text;
  }
}

/** True when the request cannot have changed rows or metadata on one side only. */
function isRead({ path, body }: Sent): boolean {
  return /graphql|relay/.test(path) && !/\bmutation\b/.test(body);
}

/** Returns the answer without the statement of an error, which is long. */
function withoutStatement(text: string): string {
  return text.replace(/"statement":"(?:[^"\\]|\\.)*",?/g, '');
}

function short(text: string): string {
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}
