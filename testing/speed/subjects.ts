/** The subjects that are timed, in one form: a piece of work that a target does some number of times within a round. In: the servers, the names that
 *  are chosen. Out: subjects, each with a round of a request (workloads.ts), of event deliveries, or of live query deliveries.
 *  Not here: CPU and rounds in turn (timing.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { openSocket } from '../websocket.ts';
import type { Servers, Target } from './servers.ts';
import { CLERK, requestsOf, WORKLOADS, type Workload } from './workloads.ts';
import { ADMIN_SECRET, REFETCH_MS } from './world.ts';

/** The result of a round: how many times the work was done, and the times of requests in milliseconds, sorted. */
export type Done = { readonly count: number; readonly times: readonly number[] };
export type Subject = {
  readonly name: string;
  readonly title: string;
  /** The subject takes part in each n-th round: rounds that wait for a timer take long. */
  readonly every: number;
  /** Prepares what does not count, and returns the work that does; `close` follows it. */
  readonly prepare: (
    target: Target,
  ) => Promise<{ readonly work: (ms: number) => Promise<Done>; readonly close: () => void }>;
};

/** The requests that are under way at the same time. */
export const PARALLEL = 8;
const EVENTS = 300;
/** The time after the last event has arrived in which its delivery is written to the database. */
const AFTER_EVENTS_MS = 100;
const SOCKETS = 4;
const SUBSCRIPTIONS = 100;
const CHANGES = 6;

export function subjectsOf(servers: Servers, isChosen: (name: string) => boolean): readonly Subject[] {
  const requests = WORKLOADS.map((workload) => requestSubject(servers, workload));
  return [...requests, eventSubject(servers), liveQuerySubject(servers)].filter(({ name }) => isChosen(name));
}

function requestSubject({ load }: Servers, workload: Workload): Subject {
  const requests = requestsOf(workload, ADMIN_SECRET);
  const { name, title } = workload;
  const prepare = async ({ port }: Target) => {
    const round = { port, requests, connections: PARALLEL };
    await load({ ...round, ms: 0 });
    const work = async (ms: number) => {
      const { times } = await load({ ...round, ms });
      return { count: times.length, times };
    };
    return { work, close: () => {} };
  };
  return { name, title, every: 1, prepare };
}

/** Inserts rows by one statement and waits until the webhook has received an event for each. */
function eventSubject({ database, events }: Servers): Subject {
  const prepare = async ({ shipments }: Target) => {
    const work = async () => {
      const goal = (await events()) + EVENTS;
      await database.query(
        `insert into ${shipments} (invoice_id, address) select i, 'Address ' || i from generate_series(1, ${EVENTS}) i`,
      );
      while ((await events()) < goal) await sleep(10);
      await sleep(AFTER_EVENTS_MS);
      return { count: EVENTS, times: [] };
    };
    return { work, close: () => {} };
  };
  return { name: 'event', title: "an event's delivery to a webhook", every: 2, prepare };
}

/** Changes all rows, waits until each subscription has its new result, and again. */
function liveQuerySubject({ database }: Servers): Subject {
  const prepare = async (target: Target) => {
    const sockets = await Promise.all(Array.from({ length: SOCKETS }, (_, i) => subscribed(target, i)));
    let received = 0;
    for (const { socket } of sockets) socket.on('message', () => received++);
    const work = async () => {
      for (let change = 0; change < CHANGES; change++) {
        const goal = received + SUBSCRIPTIONS;
        await database.query('update counter set value = value + 1');
        while (received < goal) await sleep(5);
      }
      return { count: CHANGES * SUBSCRIPTIONS, times: [] };
    };
    // The first results have arrived.
    await sleep(3 * REFETCH_MS);
    const close = () => {
      for (const { socket } of sockets) socket.terminate();
    };
    return { work, close };
  };
  return { name: 'live-query', title: "a live query's delivery", every: 2, prepare };
}

async function subscribed({ port }: Target, group: number) {
  const socket = await openSocket(`http://127.0.0.1:${port}`, 'graphql-transport-ws');
  const headers = {
    'x-engine-admin-secret': ADMIN_SECRET,
    'x-engine-role': 'staff',
    'x-engine-user-id': String(CLERK),
  };
  socket.send({ type: 'connection_init', payload: { headers } });
  await socket.next();
  const query = 'subscription ($id: Int!) { counter_by_pk(id: $id) { id value } }';
  const each = SUBSCRIPTIONS / SOCKETS;
  for (let id = 1 + group * each; id <= (group + 1) * each; id++) {
    socket.send({ type: 'subscribe', id: String(id), payload: { query, variables: { id } } });
  }
  return socket;
}
