/** Combines the statements that the cohorts of a poller run at the same moment. A round of a thousand cohorts that differ only in
 *  values costs Postgres ten statements instead of a thousand.
 *
 *  The failure of one cohort (an unreadable value, a division by zero, a time limit) fails the statement of its batch. The cohorts of
 *  a failed batch therefore run again one by one, and a cohort that failed runs by itself until it succeeds. If all of them succeed,
 *  batches are suspended for a while: the batch takes too long, or the statement is one of the few that mean something else inside
 *  another one (an aggregate over values only).
 *
 *  In: `query(values)`. Out: an outcome for each cohort, never rejected. Not here: intervals (poller.ts), the statement
 *  (sql/fragment.ts, compileForMany). Numbers: docs/adr/0011. */
import type { Row } from '../database/pool.ts';
import type { QueryOutcome, Values } from './poller.ts';

type MultiplexerOptions = {
  /** Runs the statement for one cohort. Never rejects. */
  readonly query: (values: Values, signal: AbortSignal) => Promise<QueryOutcome>;
  /** Returns the row of each cohort, in their order. `signal` is aborted when no cohort waits any longer. */
  readonly runForMany: (valuesOfEach: readonly Values[], signal: AbortSignal) => Promise<readonly Row[]>;
  /** The most cohorts in one statement. */
  readonly most: number;
};

type Waiting = {
  readonly values: Values;
  /** Aborted when the cohort no longer waits. */
  readonly signal: AbortSignal;
  readonly answered: (outcome: QueryOutcome) => void;
};

/** The number of rounds without batches after a batch failed and each of its cohorts succeeded. */
const ROUNDS_WITHOUT_BATCHES = 100;

export class Multiplexer {
  readonly #options: MultiplexerOptions;
  #waiting: Waiting[] = [];
  /** The values of cohorts that failed, by identity: a cohort has the same values in each round. */
  readonly #failed = new WeakSet<Values>();
  #roundsWithoutBatches = 0;

  constructor(options: MultiplexerOptions) {
    this.#options = options;
  }

  query(values: Values, signal: AbortSignal): Promise<QueryOutcome> {
    return new Promise((answered) => {
      // One turn of the event loop collects a round, or what a socket received at once.
      if (this.#waiting.length === 0) setImmediate(() => this.#runAll());
      this.#waiting.push({ values, signal, answered });
    });
  }

  #runAll(): void {
    const cohorts = this.#waiting;
    this.#waiting = [];
    if (this.#roundsWithoutBatches > 0) this.#roundsWithoutBatches -= 1;
    const isSingle = ({ values }: Waiting) => this.#roundsWithoutBatches > 0 || this.#failed.has(values);
    for (const cohort of cohorts.filter(isSingle)) void this.#runSingle(cohort);
    const batched = cohorts.filter((cohort) => !isSingle(cohort));
    const { most } = this.#options;
    for (let at = 0; at < batched.length; at += most) void this.#runBatch(batched.slice(at, at + most));
  }

  async #runBatch(cohorts: readonly Waiting[]): Promise<void> {
    const [first, ...others] = cohorts;
    if (others.length === 0) {
      await this.#runSingle(first!);
      return;
    }
    const all = new AllAborted(cohorts.map(({ signal }) => signal));
    try {
      const valuesOfEach = cohorts.map(({ values }) => values);
      const rows = await this.#options.runForMany(valuesOfEach, all.signal).finally(() => all.release());
      for (const [i, { answered }] of cohorts.entries()) answered({ kind: 'row', row: rows[i] ?? [] });
    } catch {
      const outcomes = await Promise.all(cohorts.map((cohort) => this.#runSingle(cohort)));
      if (outcomes.every(({ kind }) => kind === 'row')) this.#roundsWithoutBatches = ROUNDS_WITHOUT_BATCHES;
    }
  }

  async #runSingle({ values, signal, answered }: Waiting): Promise<QueryOutcome> {
    const outcome = await this.#options.query(values, signal);
    if (outcome.kind === 'failure' && !signal.aborted) this.#failed.add(values);
    else this.#failed.delete(values);
    answered(outcome);
    return outcome;
  }
}

/** A signal that is aborted when all of the given signals are. They live longer than it, so it has to be released. */
class AllAborted {
  readonly #signals: readonly AbortSignal[];
  readonly #controller = new AbortController();
  #left: number;

  constructor(signals: readonly AbortSignal[]) {
    this.#signals = signals;
    this.#left = signals.length;
    for (const signal of signals) {
      if (signal.aborted) this.handleEvent();
      else signal.addEventListener('abort', this, { once: true });
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Called when one of the signals is aborted. */
  handleEvent(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#controller.abort(this.#signals[0]?.reason);
  }

  release(): void {
    for (const signal of this.#signals) signal.removeEventListener('abort', this);
  }
}
