/** Writes statuses beside the passes: a pass adds the statuses that changed and ends, so the next one does not wait for thousands of
 *  writes. Only the last status of a resource is written, and one write of a resource follows the other. Each Engine has its own lane of
 *  up to 12 concurrent writes, and a few more for resources that a user edited. Those come first, then those whose Ready changes. A failed write is repeated.
 *  In: changed statuses. Out: writes. Not here: one write (status-write.ts), which statuses changed (status/conditions.ts). */
import type { CustomResource } from '../kinds.ts';
import type { StatusChange, StatusSink } from '../ports/statuses.ts';
import { conditionOf, isChanged } from '../status/conditions.ts';
import type { Timers } from './timers.ts';

export type StatusQueueOptions = {
  /** Writes one status and returns whether no further write is needed. Must not throw. */
  readonly write: (change: StatusChange) => Promise<boolean>;
  /** Returns the key of the Engine of a resource. */
  readonly engineOf: (cr: CustomResource) => string | undefined;
  /** True while this replica may write. Another replica may have become the leader. */
  readonly mayWrite: () => boolean;
  readonly timers: Timers;
};

const IN_FLIGHT = 12;
/** The concurrent writes of edited resources beyond these: they need not wait until one of thousands has ended. */
const IN_FLIGHT_OF_EDITS = 4;
/** The observed generation of a resource without a verdict. */
const NONE = -1;
/** The delay until a failed write is repeated. */
const RETRY_MS = 5000;

/** The writes of one Engine: the uids that wait, by rank. */
type Lane = { readonly ranks: readonly Set<string>[]; inFlight: number };

/** `isFailed`: a write failed, and the API server may have its status or not. */
type Waiting = { readonly change: StatusChange; readonly lane: Lane; readonly isFailed?: true };

export class StatusQueue implements StatusSink {
  readonly #options: StatusQueueOptions;
  readonly #lanes = new Map<string, Lane>();
  /** The last status of each resource that is to be written, by uid. */
  readonly #waiting = new Map<string, Waiting>();
  /** The writes under way, by uid. */
  readonly #writing = new Map<string, StatusChange>();
  #onIdle: (() => void)[] = [];
  #isStopped = false;
  #isResuming = false;

  constructor(options: StatusQueueOptions) {
    this.#options = options;
  }

  /** The number of statuses that are not written yet. */
  get size(): number {
    return new Set([...this.#waiting.keys(), ...this.#writing.keys()]).size;
  }

  /** Adds statuses. Resolves to 0 at once: the queue repeats failed writes itself. */
  async publish(changes: readonly StatusChange[]): Promise<number> {
    const lanes = new Set(changes.map((change) => this.#add(change)));
    for (const lane of lanes) this.#advance(lane);
    return 0;
  }

  /** Returns the resource with the status that it will have. */
  seen(cr: CustomResource): CustomResource {
    const { uid } = cr.metadata;
    const change = this.#waiting.get(uid)?.change ?? this.#writing.get(uid);
    // Another field manager owns the operators of an Engine.
    const operators = cr.status?.operators;
    return change ? { ...cr, status: { ...(operators ? { operators } : {}), ...change.status } } : cr;
  }

  /** Resolves when nothing waits but repetitions of failed writes, or when nothing may be written. */
  async drained(): Promise<void> {
    if (this.#isIdle) return;
    await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Starts no further writes. */
  stop(): void {
    this.#isStopped = true;
    this.#noteIdle();
  }

  get #isIdle(): boolean {
    const lanes = [...this.#lanes.values()];
    const isStopped = this.#isStopped || !this.#options.mayWrite();
    const areEmpty = isStopped || lanes.every(({ ranks }) => ranks.every(({ size }) => size === 0));
    return this.#writing.size === 0 && areEmpty;
  }

  #noteIdle(): void {
    if (!this.#isIdle) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  #add(given: StatusChange): Lane {
    const { uid } = given.cr.metadata;
    const before = this.#waiting.get(uid);
    this.#remove(uid);
    const lane = this.#laneOf(given.cr);
    const change = before ? joined(before.change, given) : given;
    // The API server has the status already, unless another one is or was being written.
    if (!this.#writing.has(uid) && !before?.isFailed && !isNews(change)) return lane;
    this.#waiting.set(uid, { change, lane });
    lane.ranks[rankOf(change)]!.add(uid);
    return lane;
  }

  #remove(uid: string): void {
    for (const rank of this.#waiting.get(uid)?.lane.ranks ?? []) rank.delete(uid);
    this.#waiting.delete(uid);
  }

  #laneOf(cr: CustomResource): Lane {
    const key = this.#options.engineOf(cr) ?? '';
    const existing = this.#lanes.get(key);
    if (existing) return existing;
    const lane = { ranks: [new Set<string>(), new Set<string>(), new Set<string>()], inFlight: 0 };
    this.#lanes.set(key, lane);
    return lane;
  }

  /** Starts as many writes of the lane as it may have. */
  #advance(lane: Lane): void {
    while (!this.#isStopped) {
      const uid = this.#nextOf(lane);
      if (uid === undefined) break;
      if (!this.#options.mayWrite()) {
        this.#resumeLater();
        break;
      }
      const { change } = this.#waiting.get(uid)!;
      this.#remove(uid);
      void this.#write(uid, change, lane);
    }
    this.#noteIdle();
  }

  /** Returns the resource whose status is written next; undefined when there is none, or when enough are being written. */
  #nextOf({ ranks, inFlight }: Lane): string | undefined {
    for (const [rank, uids] of ranks.entries()) {
      if (inFlight >= IN_FLIGHT + (rank === 0 ? IN_FLIGHT_OF_EDITS : 0)) continue;
      for (const uid of uids) if (!this.#writing.has(uid)) return uid;
    }
    return undefined;
  }

  async #write(uid: string, change: StatusChange, lane: Lane): Promise<void> {
    lane.inFlight++;
    this.#writing.set(uid, change);
    const isWritten = await this.#options.write(change);
    this.#writing.delete(uid);
    lane.inFlight--;
    if (!isWritten && !this.#waiting.has(uid)) this.#repeatLater(uid, { change, lane, isFailed: true });
    this.#advance(lane);
  }

  #repeatLater(uid: string, waiting: Waiting): void {
    this.#waiting.set(uid, waiting);
    this.#options.timers.after(RETRY_MS, () => {
      if (this.#waiting.get(uid) !== waiting) return;
      waiting.lane.ranks[rankOf(waiting.change)]!.add(uid);
      this.#advance(waiting.lane);
    });
  }

  #resumeLater(): void {
    if (this.#isResuming) return;
    this.#isResuming = true;
    this.#options.timers.after(RETRY_MS, () => {
      this.#isResuming = false;
      for (const lane of this.#lanes.values()) this.#advance(lane);
    });
  }
}

/** Returns the later change as a change of the status that the API server has. */
function joined(before: StatusChange, after: StatusChange): StatusChange {
  const corrected = after.corrected ?? before.corrected;
  const { status: _, ...later } = after.cr;
  const cr = before.cr.status ? { ...later, status: before.cr.status } : later;
  return { cr, status: after.status, ...(corrected === undefined ? {} : { corrected }) };
}

function isNews({ cr, status, corrected }: StatusChange): boolean {
  return corrected !== undefined || isChanged(cr, status);
}

/** Returns 0 for a resource that was edited since its last status, 1 if its condition Ready changes, else 2. */
function rankOf({ cr, status }: StatusChange): number {
  const seen = cr.status?.observedGeneration ?? NONE;
  if (seen !== NONE && seen !== cr.metadata.generation) return 0;
  const ready = status.conditions.find(({ type }) => type === 'Ready')?.status;
  return conditionOf(cr, 'Ready')?.status === ready ? 2 : 1;
}
