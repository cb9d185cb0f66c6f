/** The client of the speed measurement, as a process of its own so that its CPU does not count: requests over sockets that stay open,
 *  without an HTTP library. In: messages of Round. Out: a message of Load for each. A response that is not 200 ends the process. */
import { connect, type Socket } from 'node:net';

export type Round = {
  readonly port: number;
  readonly requests: readonly string[];
  readonly connections: number;
  /** The round ends after this time or this many requests, whichever is first. */
  readonly ms?: number;
  readonly count?: number;
};
export type Load = {
  readonly requests: number;
  readonly ms: number;
  /** The times of the requests in milliseconds, sorted. */
  readonly times: readonly number[];
  /** The bytes of one response, without its head. */
  readonly bytes: number;
};

const HEAD_END = Buffer.from('\r\n\r\n');

/** One keep-alive connection, with one request under way at a time. */
class Connection {
  isOpen = false;
  bytes = 0;
  readonly #socket: Socket;
  #head: Buffer = Buffer.alloc(0);
  /** The bytes of the body that are missing; -1 while the head is incomplete. */
  #missing = -1;
  #isChunked = false;
  #done: () => void = () => {};

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.on('data', (chunk) => this.#receive(chunk));
    this.#socket.on('close', () => {
      this.isOpen = false;
    });
    this.#socket.on('error', () => {});
  }

  opened(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#socket.once('connect', () => {
        this.isOpen = true;
        resolve();
      });
      this.#socket.once('error', reject);
    });
  }

  send(request: Buffer, done: () => void): void {
    this.#done = done;
    this.#socket.write(request);
  }

  #receive(chunk: Buffer): void {
    if (this.#missing < 0) {
      this.#head = this.#head.length > 0 ? Buffer.concat([this.#head, chunk]) : chunk;
      const end = this.#head.indexOf(HEAD_END);
      if (end < 0) return;
      const head = this.#head.toString('latin1', 0, end);
      if (!head.startsWith('HTTP/1.1 200')) throw new Error(this.#head.toString());
      const length = /content-length: (\d+)/i.exec(head)?.[1];
      this.#isChunked = length === undefined;
      chunk = this.#head.subarray(end + HEAD_END.length);
      this.#head = Buffer.alloc(0);
      this.#missing = Number(length ?? Number.MAX_SAFE_INTEGER);
      this.bytes = 0;
    }
    this.bytes += chunk.length;
    this.#missing -= chunk.length;
    const isWhole = this.#isChunked ? chunk.subarray(-5).equals(LAST_CHUNK) : this.#missing === 0;
    if (!isWhole) return;
    this.#missing = -1;
    this.#done();
  }
}
const LAST_CHUNK = Buffer.from('0\r\n\r\n');

const pools = new Map<number, Connection[]>();
process.on('message', async (round: Round) => process.send!(await run(round)));
process.on('disconnect', () => process.exit());
process.send!(0);

async function run({
  port,
  requests,
  connections,
  ms = Number.POSITIVE_INFINITY,
  count,
}: Round): Promise<Load> {
  const open = await connectionsTo(port, connections);
  const bodies = requests.map((request) => Buffer.from(request));
  const most = count ?? Number.POSITIVE_INFINITY;
  const times: number[] = [];
  const began = performance.now();
  if (ms > 0) {
    let started = 0;
    await Promise.all(
      open.map(
        (connection) =>
          new Promise<void>((resolve) => {
            const next = () => {
              const sentAt = performance.now();
              if (started >= most || sentAt - began > ms) return resolve();
              connection.send(bodies[started++ % bodies.length]!, () => {
                times.push(performance.now() - sentAt);
                next();
              });
            };
            next();
          }),
      ),
    );
  }
  return {
    requests: times.length,
    ms: performance.now() - began,
    times: times.toSorted((a, b) => a - b),
    bytes: open[0]!.bytes,
  };
}

/** Returns open connections. A server may have closed those that were not used for some seconds. */
async function connectionsTo(port: number, count: number): Promise<readonly Connection[]> {
  const open = (pools.get(port) ?? []).filter(({ isOpen }) => isOpen);
  while (open.length < count) {
    const connection = new Connection(port);
    await connection.opened();
    open.push(connection);
  }
  pools.set(port, open);
  return open.slice(0, count);
}
