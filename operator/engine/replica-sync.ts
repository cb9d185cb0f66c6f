/** Checks whether every replica of an engine serves the written version. A resource is not Ready before that, or a sync wave would
 *  continue while some replicas still serve the previous version. The operator waits briefly within a pass, longer between passes, and
 *  at most until a deadline; then the status names the lagging replicas.
 *  Out: the lagging replicas, the time of the next check. Not here: requests to a replica (kubernetes/replicas.ts). */
import type { Clock } from '../ports/clock.ts';
import type { EnginePort, LaggingReplica } from '../ports/engine.ts';

/** The replicas that do not serve a version yet. */
export type ReplicaSync = {
  /** The version that the replicas should serve. */
  readonly version: number;
  readonly lagging: readonly TrackedReplica[];
};

export type TrackedReplica = LaggingReplica & {
  /** The time when the replica began to lag. It is kept over versions, so a replica that never catches up delays resources only once. */
  readonly since: Date;
  readonly isAwaited: boolean;
};

/** Replicas usually follow within milliseconds. Within a pass the check is repeated after these delays while answers arrive quickly. */
const PAUSES_MS = [50, 100, 200, 400];
const MOST_IN_PASS_MS = 1000;
/** The range of delays between checks of replicas between passes. */
const LEAST_PAUSE_MS = 250;
const MOST_PAUSE_MS = 2000;
/** The time after which a lagging replica is dead: its Service has removed it by then. */
const DEADLINE_MS = 30_000;

/** Checks the replicas after a pass. Sends no request when all of them served the version before, and does not wait within the pass
 *  when a replica lagged before. */
export async function syncReplicas(
  engine: Pick<EnginePort, 'laggingReplicas'>,
  clock: Clock,
  version: number,
  before: ReplicaSync | undefined,
): Promise<ReplicaSync | undefined> {
  if (before?.version === version && before.lagging.length === 0) return before;
  const began = clock.now();
  const pauses = before && before.lagging.length > 0 ? [] : PAUSES_MS;
  let found = await engine.laggingReplicas(version);
  for (const ms of pauses) {
    if (!found?.length || elapsed(began, clock.now()) >= MOST_IN_PASS_MS) break;
    await clock.sleep(ms);
    found = await engine.laggingReplicas(version);
  }
  if (!found) return undefined;
  const now = clock.now();
  return { version, lagging: found.map((laggard) => lateOf(laggard, before, began, now)) };
}

/** Checks the replicas between passes. True when the result needs a pass. */
export async function haveReplicasChanged(
  engine: Pick<EnginePort, 'laggingReplicas'>,
  clock: Clock,
  { version, lagging }: ReplicaSync,
): Promise<boolean> {
  if (lagging.length === 0) return false;
  const found = await engine.laggingReplicas(version);
  if (!found) return false;
  const now = clock.now();
  return found.length === 0 || lagging.some(({ isAwaited, since }) => isAwaited && !isInTime(since, now));
}

/** Returns the milliseconds until the next check; undefined when no replica is awaited. */
export function nextReplicaCheckMs(replicaSync: ReplicaSync | undefined, now: Date): number | undefined {
  const awaited = replicaSync?.lagging.filter(({ isAwaited }) => isAwaited) ?? [];
  if (awaited.length === 0) return undefined;
  const waited = Math.min(...awaited.map(({ since }) => elapsed(since, now)));
  return Math.min(Math.max(LEAST_PAUSE_MS, waited / 2), MOST_PAUSE_MS);
}

export function withLagging(message: string, lagging: readonly LaggingReplica[]): string {
  if (lagging.length === 0) return message;
  const named = lagging.map(({ replica, problem }) => `${replica} ${problem}`);
  return `${message}; not every replica serves it yet: ${named.join(', ')}`;
}

function lateOf(
  laggard: LaggingReplica,
  before: ReplicaSync | undefined,
  began: Date,
  now: Date,
): TrackedReplica {
  const known = before?.lagging.find(({ replica }) => replica === laggard.replica);
  const since = known?.since ?? began;
  return { ...laggard, since, isAwaited: isInTime(since, now) };
}

function isInTime(since: Date, now: Date): boolean {
  return elapsed(since, now) < DEADLINE_MS;
}

function elapsed(since: Date, now: Date): number {
  return now.getTime() - since.getTime();
}
