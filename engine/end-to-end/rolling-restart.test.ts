/** A replica that is replaced while clients keep connections that they use now and then, some way off. Rule: docs/guides/operating.md,
 *  "Stopping": no request fails, and none is performed twice. */
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { killAll, type Program, pergola } from '../../testing/program.ts';
import { testDatabase } from '../../testing/world.ts';

const CLIENTS = 200;
/** The time from one request of a client to the next. */
const PAUSE_MS = 3000;
/** The way from a client to the engine, and back. */
const ONE_WAY_MS = 100;
const DELAY_SECONDS = 4;

const database = testDatabase();
beforeAll(async () => {
  await database.sql('create table note (id int, client int)');
});
afterAll(() => killAll());

function serve(): Program {
  const args = ['serve', '--server-port', '0', '--shutdown-delay', String(DELAY_SECONDS)];
  return pergola(args, { ENGINE_GRAPHQL_DATABASE_URL: database.url });
}

/** Stands for the network and a Service: connections lead to the replica that is the target when they are opened. */
async function openNetwork(
  target: () => string,
): Promise<{ readonly port: number; readonly server: Server }> {
  const late = (from: Socket, to: Socket) => {
    from.setNoDelay(true);
    from.on('data', (bytes) => setTimeout(() => to.write(bytes), ONE_WAY_MS));
    from.on('end', () => setTimeout(() => to.end(), ONE_WAY_MS));
    from.on('error', () => setTimeout(() => to.resetAndDestroy(), ONE_WAY_MS));
  };
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const { hostname, port } = new URL(target());
    const upstream = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    late(client, upstream);
    late(upstream, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, server };
}

function post(port: number, agent: Agent, query: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(
      { port, host: '127.0.0.1', path: '/v1/graphql', method: 'POST', agent, headers },
      (answer) => {
        let text = '';
        answer.on('data', (bytes) => {
          text += bytes;
        });
        answer.on('end', () => resolve(text));
        answer.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end(JSON.stringify({ query }));
  });
}

test('no request on a kept connection fails, and none is performed twice', { timeout: 120_000 }, async () => {
  const [old, next] = [serve(), serve()];
  const [oldUrl, nextUrl] = await Promise.all([old.serves(), next.serves()]);
  for (const url of [oldUrl, nextUrl]) {
    await fetch(`${url}/v1/metadata`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'pg_track_table', args: { table: 'note' } }),
    });
  }
  let target = oldUrl;
  const { port, server } = await openNetwork(() => target);
  let isOver = false;
  let sent = 0;
  const failures: string[] = [];
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await sleep((PAUSE_MS * client) / CLIENTS);
    while (!isOver) {
      const query = `mutation { insert_note(objects: {id: ${++sent}, client: ${client}}) { affected_rows } }`;
      const answer = await post(port, agent, query).catch(String);
      if (!answer.includes('"affected_rows":1')) failures.push(answer);
      await sleep(PAUSE_MS);
    }
    agent.destroy();
  });
  await sleep(2 * PAUSE_MS);
  old.child.kill('SIGTERM');
  // Load balancers notice it later, and send new connections to the old replica until then.
  await sleep(DELAY_SECONDS * 500);
  target = nextUrl;
  expect(await old.ended).toBe(0);
  await sleep(2 * PAUSE_MS);
  isOver = true;
  await Promise.all(clients);
  server.close();
  expect(failures).toEqual([]);
  expect(sent).toBeGreaterThan(3 * CLIENTS);
  const [rows] = await database.sql(
    'select count(*)::int as all, count(distinct id)::int as distinct from note',
  );
  expect(rows).toEqual({ all: sent, distinct: sent });
});

test('Ctrl-C does not wait', { timeout: 60_000 }, async () => {
  const engine = serve();
  await engine.serves();
  const toldAt = performance.now();
  engine.child.kill('SIGINT');
  expect(await engine.ended).toBe(0);
  expect(performance.now() - toldAt).toBeLessThan(DELAY_SECONDS * 1000);
});
