/** The usage of the schema by clients: counts in memory, written to the metadata database at an interval. A failed write is repeated with
 *  the next one and never concerns a request. A replica that is killed loses what it has counted since its last write.
 *  Not here: counting (usage-counts.ts), the statements (store/usage.ts). Reference: docs/reference/behaviour/metadata-api.md. */
import type { Database } from '../database/pool.ts';
import { thrownMessage } from '../errors/engine-error.ts';
import { ended } from '../limits/grace.ts';
import type { OperationUsage } from '../plan/coordinates.ts';
import { addUsage, pruneUsage, type UsageLimits } from '../store/usage.ts';
import { UsageCounts } from './usage-counts.ts';

export type UsageEvent =
  /** Counts could not be written; reported once until they are. */
  | { readonly kind: 'usage not stored'; readonly reason: string }
  /** Some requests are not counted by operation, because a limit is reached; reported once. */
  | { readonly kind: 'usage limit reached'; readonly requests: number };

type FieldUsageOptions = {
  readonly database: Database;
  /** The number of days that are kept, today included. With 0 nothing is counted. */
  readonly keptDays: number;
  readonly intervalMs?: number | undefined;
  readonly limits?: UsageLimits | undefined;
  readonly report: (event: UsageEvent) => void;
};

const INTERVAL_MS = 30_000;
const PRUNE_INTERVAL_MS = 3_600_000;

/** A role has some tens of megabytes at most, because a set of coordinates rarely has more than 20 KB. Roles are those of the metadata. */
const LIMITS: UsageLimits = { rowsPerRole: 1000, setsPerRole: 2000 };

export class FieldUsage {
  readonly keptDays: number;
  readonly database: Database;
  readonly #options: FieldUsageOptions;
  readonly #counts = new UsageCounts();
  #timer: NodeJS.Timeout | undefined;
  #lastWrite: Promise<void> = Promise.resolve();
  #prunedAt: number | undefined;
  #isFailing = false;
  #uncounted = 0;

  constructor(options: FieldUsageOptions) {
    this.#options = options;
    this.keptDays = options.keptDays;
    this.database = options.database;
  }

  get #limits(): UsageLimits {
    return this.#options.limits ?? LIMITS;
  }

  /** Starts to write counts. The tables must exist. */
  start(): void {
    if (this.keptDays === 0) return;
    this.#timer = setInterval(() => void this.flush(), this.#options.intervalMs ?? INTERVAL_MS);
    this.#timer.unref();
  }

  /** The requests that this replica has not counted by operation, because a limit was reached. */
  get uncounted(): number {
    return this.#uncounted;
  }

  /** Counts a request, unless nothing is counted. `endpoint` is the name of the REST endpoint that the client called. */
  count(usage: OperationUsage, client: string, endpoint: string | null): void {
    if (this.keptDays > 0) this.#counts.count(usage, client, endpoint);
  }

  /** Writes what this replica has counted. Never rejects. */
  flush(): Promise<void> {
    if (this.keptDays === 0) return Promise.resolve();
    this.#lastWrite = this.#lastWrite.then(() => this.#write());
    return this.#lastWrite;
  }

  async close(cut: AbortSignal): Promise<void> {
    clearInterval(this.#timer);
    await ended([this.flush()], cut);
  }

  async #write(): Promise<void> {
    const { database, report } = this.#options;
    try {
      const batch = await this.#counts.take();
      if (batch) {
        const refused = await addUsage(database, batch, this.#limits);
        this.#counts.written(batch);
        this.#leaveOut(refused + sum(batch.uncounted.values()));
      }
      await this.#prune();
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) report({ kind: 'usage not stored', reason: thrownMessage(error) });
      this.#isFailing = true;
    }
  }

  #leaveOut(requests: number): void {
    if (requests > 0 && this.#uncounted === 0)
      this.#options.report({ kind: 'usage limit reached', requests });
    this.#uncounted += requests;
  }

  async #prune(): Promise<void> {
    const now = performance.now();
    if (this.#prunedAt !== undefined && now - this.#prunedAt < PRUNE_INTERVAL_MS) return;
    this.#leaveOut(await pruneUsage(this.#options.database, this.keptDays, this.#limits));
    this.#prunedAt = now;
  }
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
