/** What the cohorts of a poller ask in one moment, as few statements: a round of a thousand who differ only in values costs
 *  Postgres ten statements instead of a thousand.
 *
 *  A value that Postgres cannot read, a division by zero, a limit of time: one cohort's failure fails the statement of all.
 *  So all of a failed batch are asked again one by one, which tells whose it was, and whoever has failed is asked alone until
 *  it no longer does. Where all are well alone, they are let alone for a while: together they take too long, or the
 *  statement is of the few that mean something else inside another (an aggregate over values alone).
 *
 *  In: `ask(values)`. Out: an outcome for each, never rejected. Not here: when to ask (poller.ts), the statement
 *  (sql/fragment.ts, compileForMany). Numbers: docs/adr/0011. */
import type { Row } from '../database/pool.ts';
import type { Outcome, Values } from './poller.ts';

export type MultiplexerOptions = {
  /** Never rejects. */
  readonly ask: (values: Values, signal: AbortSignal) => Promise<Outcome>;
  /** The rows of all, in their order. `signal` is aborted when nobody waits for any of them. */
  readonly askForMany: (valuesOfEach: readonly Values[], signal: AbortSignal) => Promise<readonly Row[]>;
  /** Asked in one statement. */
  readonly most: number;
};

type Question = {
  readonly values: Values;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly answered: (outcome: Outcome) => void;
};

/** How many times all are asked one by one after that has gone better. */
const TIMES_ALONE = 100;

export class Multiplexer {
  readonly #options: MultiplexerOptions;
  #waiting: Question[] = [];
  /** By identity: a cohort asks with the same values each time. */
  readonly #failed = new WeakSet<Values>();
  #timesAlone = 0;

  constructor(options: MultiplexerOptions) {
    this.#options = options;
  }

  ask(values: Values, signal: AbortSignal): Promise<Outcome> {
    return new Promise((answered) => {
      // Those who come in one turn of the event loop: a round, or what a socket brought at once.
      if (this.#waiting.length === 0) setImmediate(() => this.#askAll());
      this.#waiting.push({ values, signal, answered });
    });
  }

  #askAll(): void {
    const questions = this.#waiting;
    this.#waiting = [];
    if (this.#timesAlone > 0) this.#timesAlone -= 1;
    const isAlone = ({ values }: Question) => this.#timesAlone > 0 || this.#failed.has(values);
    for (const question of questions.filter(isAlone)) void this.#askAlone(question);
    const together = questions.filter((question) => !isAlone(question));
    const { most } = this.#options;
    for (let at = 0; at < together.length; at += most) void this.#askBatch(together.slice(at, at + most));
  }

  async #askBatch(questions: readonly Question[]): Promise<void> {
    const [first, ...others] = questions;
    if (others.length === 0) {
      await this.#askAlone(first!);
      return;
    }
    try {
      const signal = allAborted(questions.map((question) => question.signal));
      const valuesOfEach = questions.map(({ values }) => values);
      const rows = await this.#options.askForMany(valuesOfEach, signal);
      for (const [i, { answered }] of questions.entries()) answered({ kind: 'row', row: rows[i] ?? [] });
    } catch {
      const outcomes = await Promise.all(questions.map((question) => this.#askAlone(question)));
      if (outcomes.every(({ kind }) => kind === 'row')) this.#timesAlone = TIMES_ALONE;
    }
  }

  async #askAlone({ values, signal, answered }: Question): Promise<Outcome> {
    const outcome = await this.#options.ask(values, signal);
    if (outcome.kind === 'failure' && !signal.aborted) this.#failed.add(values);
    else this.#failed.delete(values);
    answered(outcome);
    return outcome;
  }
}

/** Aborted when all of them are. */
function allAborted(signals: readonly AbortSignal[]): AbortSignal {
  const all = new AbortController();
  let left = signals.length;
  const abortLast = () => {
    left -= 1;
    if (left === 0) all.abort(signals[0]?.reason);
  };
  for (const signal of signals) {
    if (signal.aborted) abortLast();
    else signal.addEventListener('abort', abortLast, { once: true });
  }
  return all.signal;
}
