/** Counts what one request costs, in a run of its own: statements as Postgres sees them, writes to sockets, errors that are constructed,
 *  bytes that the heap of the engine allocates, and bytes that remain after a full collection. In: servers whose Postgres has
 *  pg_stat_statements and whose engine has an inspector. Out: counts of each workload. Not here: limits (verdict.ts). */
import { join } from 'node:path';
import type pg from 'pg';
import { type Inspector, openInspector } from './inspector.ts';
import { writesOf } from './processes.ts';
import type { Servers } from './servers.ts';
import { PARALLEL } from './subjects.ts';
import { warm } from './timing.ts';
import { requestsOf, WORKLOADS, type Workload } from './workloads.ts';
import { ADMIN_SECRET } from './world.ts';

export type Counts = {
  /** Statements of a request, with those that begin and end transactions. */
  readonly statements: number;
  /** System calls of a request that write, to the client, to Postgres or to a webhook. Null for a long response, which is sent in the
   *  pieces in which it arrives from Postgres. */
  readonly writes: number | null;
  /** Error objects that a request constructs. */
  readonly errors: number;
  /** Bytes of the heap that a request allocates. Null for a very long response, whose buffers make Node collect garbage. */
  readonly allocated: number | null;
  /** Bytes of the heap that remain of a thousand requests. */
  readonly retained: number;
};

/** Flags of Node: the probe, the inspector, and a young generation that holds all that the windows allocate, so that no collection takes
 *  place within them. */
export const NODE_FLAGS = [
  '--import',
  join(import.meta.dirname, 'error-probe.ts'),
  '--inspect=127.0.0.1:0',
  '--min-semi-space-size=64',
  '--max-semi-space-size=64',
];
export const SETTINGS = ["shared_preload_libraries = 'pg_stat_statements'", 'pg_stat_statements.max = 5000'];

const LONG_RESPONSE_BYTES = 8_000;
const VERY_LONG_RESPONSE_BYTES = 200_000;
/** The requests of a window, one after the other. */
const REQUESTS_COUNTED = 100;
const REQUESTS_ALLOCATED = 30;
const ALLOCATIONS = 7;
const RETENTIONS = 3;
/** The time and the number of the requests among which memory is looked for that remains. */
const RETENTION_MS = 300;
const LEAST_RETAINED_REQUESTS = 500;
const MOST_RETAINED_REQUESTS = 1000;

export async function count(
  servers: Servers,
  workloads: readonly Workload[],
  progress: () => void,
): Promise<ReadonlyMap<string, Counts>> {
  await servers.database.query('create extension if not exists pg_stat_statements');
  const inspector = await openInspector(servers.engine.inspector());
  await warm(servers, WORKLOADS);
  const counts = new Map<string, Counts>();
  for (const workload of workloads) {
    counts.set(workload.name, await countOne(servers, inspector, workload));
    progress();
  }
  inspector.close();
  return counts;
}

async function countOne(servers: Servers, inspector: Inspector, workload: Workload): Promise<Counts> {
  const round = roundOf(servers, workload);
  const single = (requests: number) => servers.load({ ...round, connections: 1, count: requests });
  const { bytes } = await single(REQUESTS_ALLOCATED);
  const { writes, ...exact } = await exactCounts(servers, inspector, () => single(REQUESTS_COUNTED));
  const allocated = await allocatedBy(inspector, () => single(REQUESTS_ALLOCATED));
  const warmed = await servers.load({ ...round, count: MOST_RETAINED_REQUESTS, ms: RETENTION_MS });
  const requests = Math.max(LEAST_RETAINED_REQUESTS, warmed.requests);
  const retained = await retainedBy(inspector, () => servers.load({ ...round, count: requests }));
  return {
    ...exact,
    writes: bytes > LONG_RESPONSE_BYTES ? null : writes,
    allocated: bytes > VERY_LONG_RESPONSE_BYTES ? null : Math.round(allocated / REQUESTS_ALLOCATED),
    retained: Math.round((retained / requests) * 1000),
  };
}

function roundOf({ engine }: Servers, workload: Workload) {
  return { port: engine.port, requests: requestsOf(workload, ADMIN_SECRET), connections: PARALLEL };
}

/** Returns what is counted without an error. What the engine does besides, such as looking for events, is far rarer than a request and
 *  disappears in the rounding. */
async function exactCounts(
  { database, engine: { pid } }: Servers,
  inspector: Inspector,
  send: () => Promise<unknown>,
): Promise<{ readonly statements: number; readonly writes: number; readonly errors: number }> {
  const errors = () => inspector.evaluate('constructedErrors');
  const before = { calls: await callsOf(database), errors: await errors(), writes: writesOf(pid) };
  await send();
  const after = { writes: writesOf(pid), errors: await errors(), calls: await callsOf(database) };
  const perRequest = (now: number, earlier: number) => Math.round((now - earlier) / REQUESTS_COUNTED);
  const statements = [...after.calls].map(([id, calls]) => perRequest(calls, before.calls.get(id) ?? 0));
  return {
    statements: statements.reduce((sum, calls) => sum + calls, 0),
    writes: perRequest(after.writes, before.writes),
    errors: perRequest(after.errors, before.errors),
  };
}

/** Returns the number of calls of each statement so far. */
async function callsOf(database: pg.Client): Promise<ReadonlyMap<string, number>> {
  const text = 'select queryid::text as id, sum(calls)::int as calls from pg_stat_statements group by 1';
  const { rows } = await database.query<{ id: string; calls: number }>(text);
  return new Map(rows.map(({ id, calls }) => [id, calls]));
}

/** Returns the least of several windows: a timer of the engine allocates within one, and a long response arrives in more pieces, of which
 *  each allocates, when Postgres is slower. */
async function allocatedBy(inspector: Inspector, send: () => Promise<unknown>): Promise<number> {
  const windows: number[] = [];
  await inspector.collect();
  for (let i = 0; i < ALLOCATIONS; i++) {
    const before = await inspector.usedBytes();
    await send();
    windows.push((await inspector.usedBytes()) - before);
  }
  return Math.min(...windows);
}

/** Returns the least of several windows, because what remains of each request remains in all of them. */
async function retainedBy(inspector: Inspector, send: () => Promise<unknown>): Promise<number> {
  const windows: number[] = [];
  await inspector.collect();
  for (let i = 0; i < RETENTIONS; i++) {
    const before = await inspector.usedBytes();
    await send();
    await inspector.collect();
    windows.push((await inspector.usedBytes()) - before);
  }
  return Math.max(0, Math.min(...windows));
}
