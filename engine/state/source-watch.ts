/** Watches the databases of the published sources. `SourceWatch` reports a source whose database stops answering, answers again, or
 *  changed a tracked table or function without the engine. It checks each source with one light statement (catalog/fingerprint.ts):
 *  every few seconds, soon after a statement failed in a way that suggests such a change, and when the operator polls. Checks are
 *  bounded: one per source at a time, at most one per second, fewer if a check takes long. Not here: sources that have no catalog yet
 *  (target-recovery.ts), reactions to a report (state.ts). */
import { setTimeout as sleep } from 'node:timers/promises';
import { currentSum, type Fingerprinted, sumOf } from '../catalog/fingerprint.ts';
import type { Catalog } from '../catalog/types.ts';
import { sqlStateOf, suggestsChange } from '../database/pg-errors.ts';
import { type Database, isConnectionLost } from '../database/pool.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { Source } from '../metadata/schema/source.ts';

/** A source of the current document, with the catalog the engine has of it. */
export type Watched = { readonly source: Source; readonly catalog: Catalog };

type SourceWatchOptions = {
  /** The interval between two rounds of checks; 0 disables all checks. */
  readonly intervalMs: number;
  readonly watched: () => readonly Watched[];
  readonly databaseOf: (source: Source) => Database;
  /** Throws unless the server answers on a separate connection. */
  readonly probe: (source: Source, timeoutSeconds: number) => Promise<void>;
  readonly onLost: (source: Source, reason: string) => void;
  readonly onBack: (source: Source) => void;
  /** Called when the catalog has to be read again. */
  readonly onChanged: (source: Source) => Promise<void>;
  /** Called after each round, because sources without a catalog may be reachable again, too. */
  readonly onRoundDone: () => Promise<void>;
};

/** The result of checking a source. `alive` means that the database answers and it is unknown whether anything changed. */
type Found =
  | { readonly kind: 'same' | 'changed' | 'alive' }
  | { readonly kind: 'lost'; readonly reason: string };

const LEAST_PAUSE_MS = 1000;
/** The pause after a check is this many times as long as the check, but at most five seconds, so that a polling operator does not get
 *  outdated results. */
const PAUSE_FACTOR = 20;
const LONGEST_PAUSE_MS = 5000;
/** A changed source is checked again after this time. A migration that replaces a table is complete by then, so live queries continue. */
const RECHECK_PAUSE_MS = 1000;
const TIMEOUT_SECONDS = 2;
/** Reading the catalog again waits in the queue of writes. The other sources do not wait for it longer than this. */
const MOST_REREAD_MS = 4000;
/** A statement on a silently broken connection may never be answered. After this time another one is sent. */
const MOST_PENDING_MS = 30_000;
/** A database that restarts within this time is not reported. */
const SECOND_TRY_MS = 500;

/** The least time between two checks of a source for requests that failed, and between two readings of a catalog whose fingerprints are
 *  unchanged: a renamed type does not change them, and a function that always fails does not either. */
const FAILED_PAUSE_MS = 1000;
const FAILED_REREAD_MS = 10_000;

export class SourceWatch {
  readonly #options: SourceWatchOptions;
  /** The names of sources with a statement that failed as if the tables had changed. */
  readonly #suspected = new Set<string>();
  /** The start of each unanswered check, by name of the source. */
  readonly #pending = new Map<string, number>();
  /** The latest check of each source for a request that failed, and the time before which there is no other. */
  readonly #forFailed = new Map<string, { readonly check: Promise<void>; readonly notBefore: number }>();
  /** The time of the latest reading of each unchanged catalog for a request that failed. */
  readonly #rereadAt = new Map<string, number>();
  #looking: Promise<void> | undefined;
  #notBefore = 0;
  /** The time that the slowest database took to answer in this round. */
  #costMs = 0;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: SourceWatchOptions) {
    this.#options = options;
  }

  start(): void {
    this.#schedule(this.#options.intervalMs);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  /** Resolves once every source has been checked, now or within the last second, or after `mostMs`. Never rejects. */
  async checkAll(mostMs: number): Promise<void> {
    if (this.#options.intervalMs === 0 || this.#isClosed) return;
    if (!this.#looking && performance.now() < this.#notBefore) return;
    const late = new AbortController();
    const timeout = sleep(mostMs, undefined, { signal: late.signal, ref: false }).catch(() => {});
    await Promise.race([this.#look(), timeout]);
    late.abort();
  }

  /** Schedules an early check if the failure of a statement suggests that the source is lost or changed. */
  suspect(source: string, failure: unknown): void {
    if (this.#options.intervalMs === 0 || this.#isClosed) return;
    const isChange = suggestsChange(failure);
    if (isChange) this.#suspected.add(source);
    if (isChange || isLoss(failure)) this.#schedule(0);
  }

  /** Checks a source at once, because a request failed as if its tables had changed, and follows the change. Resolves with the latest check if
   *  that began within the last second. Never rejects. This check is made without an interval, too. */
  checkForFailed(name: string): Promise<void> {
    const latest = this.#forFailed.get(name);
    if (latest && performance.now() < latest.notBefore) return latest.check;
    const check = this.#followChange(name).catch(() => {});
    this.#forFailed.set(name, { check, notBefore: performance.now() + FAILED_PAUSE_MS });
    return check;
  }

  async #followChange(name: string): Promise<void> {
    const watched = this.#options.watched().find(({ source }) => source.name === name);
    if (!watched || this.#isClosed) return;
    const { kind } = await this.#compareOnce(watched.source, watched.catalog);
    if (this.#isClosed || !(kind === 'changed' || (kind === 'same' && this.#mayReread(name)))) return;
    await this.#options.onChanged(watched.source);
  }

  #mayReread(name: string): boolean {
    const now = performance.now();
    if (now - (this.#rereadAt.get(name) ?? Number.NEGATIVE_INFINITY) < FAILED_REREAD_MS) return false;
    this.#rereadAt.set(name, now);
    return true;
  }

  /** Schedules the next round of checks, in place of one that is scheduled already. */
  #schedule(afterMs: number): void {
    if (this.#options.intervalMs === 0 || this.#isClosed) return;
    clearTimeout(this.#timer);
    const pause = Math.max(afterMs, this.#notBefore - performance.now());
    this.#timer = setTimeout(() => void this.#look(), pause).unref();
  }

  #look(): Promise<void> {
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined;
      this.#schedule(this.#options.intervalMs);
    });
    return this.#looking;
  }

  async #lookOnce(): Promise<void> {
    this.#costMs = 0;
    try {
      await Promise.all(this.#options.watched().map((watched) => this.#check(watched)));
      await this.#options.onRoundDone();
    } finally {
      this.#notBefore =
        performance.now() + Math.min(Math.max(LEAST_PAUSE_MS, this.#costMs * PAUSE_FACTOR), LONGEST_PAUSE_MS);
    }
  }

  async #check({ source, catalog }: Watched): Promise<void> {
    const found = await this.#find(source, catalog);
    if (this.#isClosed) return;
    if (found.kind === 'lost') return this.#options.onLost(source, found.reason);
    if (catalog.lost !== undefined) this.#options.onBack(source);
    const isSuspected = this.#suspected.delete(source.name);
    if (found.kind === 'changed' || (found.kind === 'same' && isSuspected)) {
      const late = sleep(MOST_REREAD_MS, undefined, { ref: false });
      await Promise.race([this.#options.onChanged(source), late]);
    }
  }

  async #find(source: Source, catalog: Catalog): Promise<Found> {
    const first = await this.#compareOnce(source, catalog);
    if (first.kind === 'changed') {
      await sleep(RECHECK_PAUSE_MS, undefined, { ref: false });
      const second = await this.#compareOnce(source, catalog);
      return second.kind === 'lost' ? { kind: 'alive' } : second;
    }
    if (first.kind !== 'lost') return first;
    await sleep(SECOND_TRY_MS, undefined, { ref: false });
    try {
      // All connections of the pool may be in use, so a separate connection decides.
      await this.#options.probe(source, TIMEOUT_SECONDS);
    } catch (error) {
      if (!isBusy(error)) return { kind: 'lost', reason: reasonOf(error) };
    }
    return { kind: 'alive' };
  }

  /** Compares fingerprints once. Sends no statement while an earlier one is unanswered, because they would pile up. */
  async #compareOnce(source: Source, catalog: Catalog): Promise<Found> {
    const since = this.#pending.get(source.name) ?? Number.NEGATIVE_INFINITY;
    const began = performance.now();
    if (began - since < MOST_PENDING_MS) return { kind: 'lost', reason: '' };
    this.#pending.set(source.name, began);
    const check = this.#sumsDiffer(source, catalog).finally(() => {
      if (this.#pending.get(source.name) === began) this.#pending.delete(source.name);
    });
    check.catch(() => {});
    const late = new AbortController();
    const timeout = sleep(TIMEOUT_SECONDS * 1000, undefined, { signal: late.signal, ref: false });
    try {
      const answer = await Promise.race([check, timeout]);
      if (answer === undefined) return { kind: 'lost', reason: '' };
      this.#costMs = Math.max(this.#costMs, performance.now() - began);
      return { kind: answer ? 'changed' : 'same' };
    } catch (error) {
      return { kind: 'lost', reason: reasonOf(error) };
    } finally {
      late.abort();
    }
  }

  async #sumsDiffer(source: Source, { fingerprints, hasCitus }: Catalog): Promise<boolean> {
    const wanted = trackedIn(source);
    const sum = await currentSum(this.#options.databaseOf(source), wanted, hasCitus);
    return fingerprints !== undefined && sum !== sumOf(fingerprints, wanted);
  }
}

/** Returns the tables and functions that the metadata of a source names. */
function trackedIn({ tables, functions }: Source): readonly Fingerprinted[] {
  const tracked = tables.map(({ table }) => ({ kind: 'table' as const, ...table }));
  const called = [
    ...(functions ?? []).map(({ function: name }) => name),
    ...tables.flatMap(({ computed_fields }) =>
      (computed_fields ?? []).map(({ definition }) => definition.function),
    ),
  ];
  const distinct = new Map(called.map((name) => [`${name.schema}\n${name.name}`, name]));
  return [...tracked, ...[...distinct.values()].map((name) => ({ kind: 'function' as const, ...name }))];
}

/** True when a client's statement failed because the database is gone, is shutting down or refuses connections, or because its address
 *  cannot be determined. */
function isLoss(error: unknown): boolean {
  return error instanceof EngineError || isConnectionLost(error);
}

/** True when the database answered a new connection that it lacks resources (class 53) or time (57014). Any other refusal is a loss. */
function isBusy(error: unknown): boolean {
  return /^(53|57014)/.test(sqlStateOf(error) ?? '');
}

function reasonOf(error: unknown): string {
  const { message, code } = error as { readonly message?: string; readonly code?: string };
  return message || code || 'it cannot be reached';
}
