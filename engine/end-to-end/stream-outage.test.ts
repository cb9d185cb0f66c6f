/** Tests the rule that a stream misses no row when Postgres restarts, if rows commit in the order of the cursor: one writer, whose
 *  acknowledged rows are counted, while a Postgres of the test's own is stopped and started. Rows that commit out of order are behind the
 *  cursor, with a restart or without (docs/guides/subscriptions.md). */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../bin/embedded-postgres.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSession, type TestSocket } from '../../testing/websocket.ts';

const RESTARTS = 3;

let folder: string;
let postgres: EmbeddedPostgres;
let metadata: TestDatabase;
let engine: TestEngine;

const startPostgres = (port = 0) => startEmbeddedPostgres({ folder, isDurable: true, port });

/** Runs SQL on a connection of its own. */
async function once(text: string, values: readonly unknown[] = []): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url, connectionTimeoutMillis: 2000 });
  client.on('error', () => {});
  await client.connect();
  await client.query(text, [...values]).finally(() => client.end().catch(() => {}));
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pergola-stream-'));
  chmodSync(folder, 0o711);
  [postgres, metadata] = await Promise.all([startPostgres(), createDatabase()]);
  await once('create table line (id bigint primary key, body text)');
  engine = await startTestEngine({
    databaseUrl: metadata.url,
    streamingQueriesMultiplexedRefetchInterval: 50,
  });
  const configuration = { connection_info: { database_url: postgres.url } };
  for (const [type, args] of [
    ['pg_add_source', { name: 'far', configuration }],
    ['pg_track_table', { source: 'far', table: 'line' }],
  ] as const) {
    await engine.must(type, args);
  }
}, 60_000);
afterAll(async () => {
  await engine?.close();
  await postgres?.stop();
  await metadata?.drop();
  if (folder) rmSync(folder, { recursive: true, force: true });
});

type Batch = { readonly data?: { readonly line_stream: readonly { readonly id: number }[] } };

/** A client that starts its stream again at the last row it has, when it ends with an error. */
class Reader {
  readonly ids: number[] = [];
  readonly #socket: TestSocket;
  #isOver = false;
  #count = 0;

  constructor(socket: TestSocket) {
    this.#socket = socket;
  }

  async run(): Promise<void> {
    this.#subscribe();
    while (!this.#isOver) {
      const message = await this.#socket.next(500).catch(() => undefined);
      if (message?.type === 'next') {
        const { data } = message.payload as Batch;
        this.ids.push(...(data?.line_stream ?? []).map(({ id }) => Number(id)));
      } else if (message?.type === 'error' || message?.type === 'complete') {
        await sleep(50);
        this.#subscribe();
      }
    }
  }

  stop(): void {
    this.#isOver = true;
    this.#socket.close();
  }

  #subscribe(): void {
    const query = `subscription ($from: bigint!) {
      line_stream(cursor: { initial_value: { id: $from } }, batch_size: 7) { id }
    }`;
    const variables = { from: this.ids.at(-1) ?? 0 };
    this.#socket.send({ id: `s${this.#count++}`, type: 'subscribe', payload: { query, variables } });
  }
}

test('every acknowledged row of one writer arrives once and in order, over restarts of Postgres', async () => {
  const socket = await openSession(engine);
  const reader = new Reader(socket);
  const reading = reader.run();
  let written = 0;
  let isOver = false;
  const writing = (async () => {
    while (!isOver) {
      // A row whose answer was lost may be there: the next attempt finds it.
      const insert = 'insert into line values ($1, $2) on conflict do nothing';
      await once(insert, [written + 1, 'x'.repeat(50)]).then(
        () => written++,
        () => sleep(20),
      );
    }
  })();
  const port = Number(new URL(postgres.url).port);
  for (let i = 0; i < RESTARTS; i++) {
    await sleep(700);
    await postgres.stop();
    await sleep(300);
    postgres = await startPostgres(port);
  }
  await sleep(700);
  isOver = true;
  await writing;
  await expect.poll(() => reader.ids.length, { timeout: 20_000 }).toBe(written);
  expect(reader.ids).toEqual(Array.from({ length: written }, (_, i) => i + 1));
  expect(written).toBeGreaterThan(30);
  reader.stop();
  await reading;
}, 90_000);
