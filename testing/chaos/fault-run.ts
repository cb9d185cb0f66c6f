/** One run against faults: random changes of resources, rows and calls of an action, while proxies before the API server, the engine, a
 *  database, a remote schema and webhooks fail by random rules. Then, without faults, nothing that was revoked may be served soon, every status must
 *  become true, and every row must have been delivered.
 *  A seed gives the changes and the rules. In: a world. Out: the problems and the time until all was true.
 *  Not here: the world (operator/kubernetes/testing/fault-world.ts), the proxy (fault-proxy.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { isWithin } from '../machine-speed.ts';
import { randomBits } from '../random-bits.ts';
import type { FaultRule } from './fault-proxy.ts';

/** The columns that each role reads of each table; a table without an entry is not tracked. */
export type Wanted = ReadonlyMap<string, ReadonlyMap<string, readonly string[]>>;

/** A resource at the API server, and whether it is Ready at its generation. */
export type SeenResource = { readonly name: string; readonly isReady: boolean; readonly said: string };

export type FaultWorld = {
  readonly tables: readonly string[];
  readonly roles: readonly string[];
  readonly apply: (table: string, role: string | undefined, columns: readonly string[]) => Promise<void>;
  /** Changes the timeout of the remote schema, which the engine then introspects again. */
  readonly changeRemote: (timeoutSeconds: number) => Promise<void>;
  /** Changes the timeout of the event trigger or of the action. */
  readonly changeWebhook: (kind: 'EventTrigger' | 'Action', timeoutSeconds: number) => Promise<void>;
  /** Inserts a row, which the event trigger delivers. */
  readonly insert: (id: number) => Promise<void>;
  /** Calls the action. It may fail. */
  readonly call: () => Promise<void>;
  /** The ids of the rows that the webhook received. */
  readonly delivered: () => ReadonlySet<number>;
  readonly remove: (table: string, role: string | undefined) => Promise<void>;
  readonly setRules: (at: Place, rules: readonly FaultRule[]) => void;
  readonly breakStreams: (how: 'cut' | 'silence') => void;
  readonly breakDatabase: (how: 'cut' | 'silence' | 'delay' | 'none') => void;
  readonly resources: () => Promise<readonly SeenResource[]>;
  /** Returns what the engine serves, without its database's answers. */
  readonly served: () => Promise<Wanted>;
};

export const PLACES = ['API server', 'engine', 'remote schema', 'webhooks'] as const;
export type Place = (typeof PLACES)[number];

export type RunResult = {
  readonly problems: readonly string[];
  /** The time after the last fault until everything was true. */
  readonly settledMs: number;
  /** The time after the last fault for which something was served that had been revoked. */
  readonly revokedMs: number;
};

/** The state that the runs change: the resources that the engine should serve, and the rows that were inserted. */
export type Progress = {
  readonly wanted: Map<string, Map<string, readonly string[]>>;
  readonly inserted: number[];
};

/** The time in which every status must be true after the last fault. */
export const SETTLED_MS = 30_000;
/** The time in which everything that was revoked before must no longer be served: two seconds, and what a busy machine adds; more on a slow
 *  one. */
const REVOKED_MS = 2000 + 1000;
const COLUMNS = ['id', 'owner', 'note'] as const;
const STATUSES: Readonly<Record<Place, readonly number[]>> = {
  'API server': [429, 500, 503, 504],
  engine: [500, 502, 503],
  'remote schema': [403, 500, 503],
  webhooks: [400, 404, 429, 500, 503],
};

export async function faultRun(world: FaultWorld, progress: Progress, seed: number): Promise<RunResult> {
  const bits = randomBits(seed);
  const below = (n: number) => bits() % n;
  const choose = <T>(all: readonly T[]): T => all[below(all.length)]!;
  const faultOf = (place: Place): FaultRule['fault'] =>
    choose<FaultRule['fault']>([
      { kind: 'status', status: choose(STATUSES[place]) },
      { kind: 'delay', ms: 50 + below(1500) },
      { kind: 'cut', isAfter: below(2) === 0 },
      { kind: 'silence' },
    ]);
  const log: string[] = [];
  for (const place of PLACES) {
    const rules = Array.from({ length: below(4) }, () => ({
      from: below(12),
      count: 1 + below(4),
      fault: faultOf(place),
    }));
    if (rules.length > 0) log.push(`${place}: ${JSON.stringify(rules)}`);
    world.setRules(place, rules);
  }
  const changes = 2 + below(5);
  for (let i = 0; i < changes; i++) {
    const how = below(10);
    if (how < 2) {
      const streams = choose(['cut', 'silence'] as const);
      log.push(`watches: ${streams}`);
      world.breakStreams(streams);
    } else if (how < 4) {
      const database = choose(['cut', 'silence', 'delay'] as const);
      log.push(`database: ${database}`);
      world.breakDatabase(database);
    }
    log.push(await change(world, progress, { below, choose }));
    await sleep(below(250));
  }
  world.breakDatabase('none');
  for (const place of PLACES) world.setRules(place, []);
  const began = performance.now();
  let problems: readonly string[] = ['nothing was compared'];
  let revokedMs = 0;
  while (problems.length > 0 && performance.now() - began < SETTLED_MS) {
    const served = await world.served();
    const left = revokedIn(served, progress.wanted);
    if (left.length > 0) revokedMs = performance.now() - began;
    if (!isWithin(revokedMs, REVOKED_MS)) {
      problems = left.map((what) => `served ${revokedMs.toFixed()} ms after the last fault: ${what}`);
      break;
    }
    problems = await differences(world, progress, served);
    if (problems.length > 0) await sleep(50);
  }
  const settledMs = performance.now() - began;
  return {
    problems: problems.map((problem) => `seed ${seed}: ${problem}\n  ${log.join('\n  ')}`),
    settledMs,
    revokedMs,
  };
}

type Dice = { readonly below: (n: number) => number; readonly choose: <T>(all: readonly T[]) => T };

/** Applies, changes or deletes a random resource. Returns what it did. */
async function change(
  world: FaultWorld,
  { wanted, inserted }: Progress,
  { below, choose }: Dice,
): Promise<string> {
  if (below(6) === 0) {
    const timeoutSeconds = 2 + below(8);
    await world.changeRemote(timeoutSeconds);
    return `remote schema: timeout ${timeoutSeconds}`;
  }
  if (below(6) === 0) {
    const id = inserted.length + 1;
    inserted.push(id);
    await world.insert(id);
    void world.call();
    return `insert ${id}, and call the action`;
  }
  if (below(6) === 0) {
    const [kind, timeoutSeconds] = [choose(['EventTrigger', 'Action'] as const), 1 + below(4)];
    await world.changeWebhook(kind, timeoutSeconds);
    return `${kind}: timeout ${timeoutSeconds}`;
  }
  const [table, role] = [choose(world.tables), choose(world.roles)];
  const permissions = wanted.get(table);
  if (!permissions) {
    wanted.set(table, new Map());
    await world.apply(table, undefined, []);
    return `apply ${table}`;
  }
  if (below(5) === 0) {
    for (const one of permissions.keys()) await world.remove(table, one);
    await world.remove(table, undefined);
    wanted.delete(table);
    return `delete ${table}`;
  }
  if (permissions.has(role) && below(2) === 0) {
    await world.remove(table, role);
    permissions.delete(role);
    return `delete ${table} ${role}`;
  }
  const columns = COLUMNS.slice(0, 1 + below(COLUMNS.length));
  permissions.set(role, columns);
  await world.apply(table, role, columns);
  return `apply ${table} ${role} ${columns.join()}`;
}

/** Returns the columns that a role may read, and should not. */
function revokedIn(served: Wanted, wanted: Wanted): readonly string[] {
  return [...served].flatMap(([table, roles]) =>
    [...roles].flatMap(([role, columns]) => {
      const allowed = wanted.get(table)?.get(role) ?? [];
      return columns
        .filter((column) => !allowed.includes(column))
        .map((column) => `${table} ${role} ${column}`);
    }),
  );
}

/** Returns how resources, the engine and deliveries differ from what is wanted. */
async function differences(
  world: FaultWorld,
  { wanted, inserted }: Progress,
  served: Wanted,
): Promise<readonly string[]> {
  const resources = await world.resources();
  const delivered = world.delivered();
  const expected = [...wanted].flatMap(([table, permissions]) => [
    table,
    ...[...permissions.keys()].map((role) => `${table}-${role}`),
  ]);
  const names = new Set(resources.map(({ name }) => name));
  const text = (tables: Wanted) =>
    [...tables]
      .flatMap(([table, roles]) => [
        table,
        ...[...roles].map(([role, columns]) => `${table} ${role} ${columns.toSorted()}`),
      ])
      .toSorted();
  const [is, should] = [text(served), text(wanted)];
  return [
    ...expected.filter((name) => !names.has(name)).map((name) => `${name} does not exist`),
    ...resources.filter(({ isReady }) => !isReady).map(({ name, said }) => `${name} is not Ready: ${said}`),
    ...is.filter((line) => !should.includes(line)).map((line) => `served and not wanted: ${line}`),
    ...should.filter((line) => !is.includes(line)).map((line) => `wanted and not served: ${line}`),
    ...inserted.filter((id) => !delivered.has(id)).map((id) => `row ${id} is not delivered`),
  ];
}
