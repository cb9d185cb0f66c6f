/** Runs of migrations that the admin API started: one at a time for each source, which continue when the client stops waiting.
 *  In: a source, the text of its migrations. Out: the answer, or that it is running; the same request later returns the answer.
 *  A request that failed is not repeated at once: the same request gets the same answer for a growing time.
 *  Not here: the migrations themselves (migrate/), what a run may break (admin/migrations.ts). Reference: docs/guides/migrations.md. */
import { setTimeout as sleep } from 'node:timers/promises';
import { thrownMessage } from '../errors/engine-error.ts';
import { MigrationLockError } from '../migrate/lock.ts';
import { MigrationRefusal } from '../migrate/run-migrations.ts';

/** `refused`: a person must decide; `failed`: a statement failed. Files that ran before are applied. */
export type MigrationAnswer = {
  readonly state: 'applied' | 'running' | 'refused' | 'failed';
  /** The versions that this run applied. */
  readonly applied: readonly string[];
  /** The newest version that is applied; null when none is, or it is not known. */
  readonly version: string | null;
  /** The problem and what to do next; null for `applied`. */
  readonly message: string | null;
};

/** How long a request waits for its run. */
const WAIT_MS = 8000;
const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;

type Run = { readonly digest: string; readonly answer: Promise<MigrationAnswer> };
type Failure = {
  readonly digest: string;
  readonly answer: MigrationAnswer;
  readonly untilMs: number;
  readonly pauseMs: number;
};

const RUNNING: MigrationAnswer = {
  state: 'running',
  applied: [],
  version: null,
  message: 'the migrations of this source are running',
};

export class MigrationRuns {
  readonly #running = new Map<string, Run>();
  readonly #failed = new Map<string, Failure>();

  /** Returns the answer of `start`, or `running` after a few seconds. `digest` is that of everything that the answer depends on. */
  async run(
    source: string,
    digest: string,
    start: () => Promise<Pick<MigrationAnswer, 'applied' | 'version'>>,
  ): Promise<MigrationAnswer> {
    const running = this.#running.get(source);
    if (running && running.digest !== digest) return RUNNING;
    const failed = this.#failed.get(source);
    if (!running && failed?.digest === digest && performance.now() < failed.untilMs) return failed.answer;
    const answer = running?.answer ?? this.#start(source, digest, start);
    const late = new AbortController();
    try {
      return await Promise.race([answer, sleep(WAIT_MS, RUNNING, { signal: late.signal })]);
    } finally {
      late.abort();
    }
  }

  #start(
    source: string,
    digest: string,
    start: () => Promise<Pick<MigrationAnswer, 'applied' | 'version'>>,
  ): Promise<MigrationAnswer> {
    const answer = start().then(
      (result): MigrationAnswer => ({ state: 'applied', ...result, message: null }),
      answerOf,
    );
    this.#running.set(source, { digest, answer });
    return answer
      .finally(() => this.#running.delete(source))
      .then((ended) => this.#note(source, digest, ended));
  }

  #note(source: string, digest: string, answer: MigrationAnswer): MigrationAnswer {
    if (answer.state !== 'refused' && answer.state !== 'failed') this.#failed.delete(source);
    else {
      const before = this.#failed.get(source);
      const pauseMs =
        before?.digest === digest ? Math.min(before.pauseMs * 2, LONGEST_PAUSE_MS) : FIRST_PAUSE_MS;
      this.#failed.set(source, { digest, answer, pauseMs, untilMs: performance.now() + pauseMs });
    }
    return answer;
  }
}

/** Another replica, or the command, may have the lock. */
function answerOf(error: unknown): MigrationAnswer {
  const nothing = { applied: [], version: null, message: thrownMessage(error) };
  if (error instanceof MigrationLockError) return { state: 'running', ...nothing };
  return { state: error instanceof MigrationRefusal ? 'refused' : 'failed', ...nothing };
}
