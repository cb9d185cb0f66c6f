/** Probes an attacked engine as an ordinary client: /healthz and a query, each on a new connection, several times a second.
 *  Out: the answers that were late or failed. Not here: the attack. */
import { request } from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 200;
/** The time after which an unanswered probe counts as failed. */
const GIVE_UP_MS = 10_000;

export type Probes = {
  /** The number of correct answers in time, and the slowest of them in milliseconds. */
  readonly answered: number;
  readonly slowestMs: number;
  /** The time within which 99 of 100 answers arrived, late ones included, in milliseconds. */
  readonly p99Ms: number;
  readonly failures: readonly string[];
  /** Correct answers that arrived after the limit. */
  readonly late: readonly string[];
};

const QUERY = JSON.stringify({ query: '{ item(limit: 1) { id } }' });
const KINDS = [
  { path: '/healthz', method: 'GET', body: '' },
  { path: '/v1/graphql', method: 'POST', body: QUERY },
] as const;

/** Probes until `until` settles. An answer after more than `limitMs` is late. */
export async function probe(url: string, limitMs: number, until: Promise<unknown>): Promise<Probes> {
  let isOver = false;
  void until.finally(() => {
    isOver = true;
  });
  const failures: string[] = [];
  const late: string[] = [];
  const times: number[] = [];
  let answered = 0;
  const one = async (kind: (typeof KINDS)[number]) => {
    while (!isOver) {
      const startedAt = performance.now();
      const wrong = await ask(url, kind);
      const ms = performance.now() - startedAt;
      if (wrong !== null) failures.push(`${kind.path}: ${wrong} after ${ms.toFixed(0)} ms`);
      else if (ms > limitMs) late.push(`${kind.path}: answered after ${ms.toFixed(0)} ms`);
      else answered++;
      times.push(ms);
      await sleep(PAUSE_MS);
    }
  };
  await Promise.all(KINDS.map(one));
  const sorted = times.sort((a, b) => a - b);
  const slowestMs = sorted.at(-1) ?? 0;
  const p99Ms = sorted[Math.floor(sorted.length * 0.99)] ?? slowestMs;
  return { answered, slowestMs, p99Ms, failures, late };
}

function ask(url: string, { path, method, body }: (typeof KINDS)[number]): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request(`${url}${path}`, {
      method,
      agent: false,
      timeout: GIVE_UP_MS,
      headers: { 'content-type': 'application/json', 'content-length': body.length },
    });
    asked.once('error', (error) => resolve(error.message));
    asked.once('timeout', () => asked.destroy(new Error('no answer')));
    asked.once('response', async (response) => {
      const text = await textOf(response).catch((error: Error) => error.message);
      const isWell = response.statusCode === 200 && !text.includes('"errors"');
      resolve(isWell ? null : `${response.statusCode} ${text.slice(0, 200)}`);
    });
    asked.end(body);
  });
}
