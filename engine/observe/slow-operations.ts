/** The slowest queries and mutations of the last hour, by role and name. Each minute keeps the ten slowest; a faster operation costs one comparison.
 *  Texts and variables are not kept, since they may contain data of users.
 *  In: observations. Out: operations, slowest first. Not here: rates and latency (last-hour.ts). */
import type { OperationFinished } from './observation.ts';

const MOST_IN_MINUTE = 10;
const MOST_LISTED = 50;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Names are those of clients. */
const MOST_NAME_CHARACTERS = 100;
const MOST_FIELDS = 5;

export type SlowOperation = {
  /** Null for an operation without a name. */
  readonly operation: string | null;
  /** The first root fields. */
  readonly fields: readonly string[];
  readonly type: string;
  readonly role: string;
  readonly transport: string;
  readonly duration_ms: number;
  /** The time of the answer in ISO 8601. */
  readonly at: string;
  /** The code of the error; null when it succeeded. */
  readonly error: string | null;
};

type SlowMinute = {
  readonly startedAt: number;
  readonly slowest: Map<string, SlowOperation>;
  /** The longest duration of each document, by the coordinates that it uses: an API with few operations has no duration below which an
   *  operation is not among the slowest. */
  readonly longest: WeakMap<ReadonlySet<string>, number>;
};

export class SlowOperations {
  readonly #now: () => number;
  readonly #minutes: SlowMinute[] = [];
  #current: SlowMinute;
  /** The duration above which an operation is among the slowest of the current minute. */
  #floorMs = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
    this.#current = emptyMinute(now());
  }

  observe(finished: OperationFinished): void {
    const { durationMs, type, usage } = finished;
    // An operation that was refused before it was planned has no usage.
    if (durationMs <= this.#floorMs || type === 'subscription' || usage === null) return;
    const { longest } = this.#current;
    if (durationMs <= (longest.get(usage.inDocument) ?? -1)) return;
    longest.set(usage.inDocument, durationMs);
    this.#keep(slowOperation(finished, usage, this.#now()));
  }

  /** Starts a new minute if the current one is over. Called by a timer. */
  turn(): void {
    const now = this.#now();
    if (now - this.#current.startedAt < MINUTE_MS) return;
    if (this.#current.slowest.size > 0) this.#minutes.push(this.#current);
    while (this.#minutes[0] && now - this.#minutes[0].startedAt > HOUR_MS) this.#minutes.shift();
    this.#current = emptyMinute(now);
    this.#floorMs = 0;
  }

  /** Returns each operation once, as it was when it was slowest. */
  get slowest(): readonly SlowOperation[] {
    const all = new Map<string, SlowOperation>();
    for (const { slowest } of [...this.#minutes, this.#current]) {
      for (const [key, each] of slowest) {
        if (each.duration_ms > (all.get(key)?.duration_ms ?? -1)) all.set(key, each);
      }
    }
    return [...all.values()].sort((a, b) => b.duration_ms - a.duration_ms).slice(0, MOST_LISTED);
  }

  #keep(operation: SlowOperation): void {
    const { slowest } = this.#current;
    const key = keyOf(operation);
    if ((slowest.get(key)?.duration_ms ?? -1) >= operation.duration_ms) return;
    slowest.set(key, operation);
    if (slowest.size < MOST_IN_MINUTE) return;
    const sorted = [...slowest].sort(([, a], [, b]) => b.duration_ms - a.duration_ms);
    for (const [each] of sorted.slice(MOST_IN_MINUTE)) slowest.delete(each);
    this.#floorMs = sorted[MOST_IN_MINUTE - 1]![1].duration_ms;
  }
}

function emptyMinute(startedAt: number): SlowMinute {
  return { startedAt, slowest: new Map(), longest: new WeakMap() };
}

function keyOf({ role, type, operation, fields }: SlowOperation): string {
  return JSON.stringify([role, type, operation, operation === null ? fields : []]);
}

function slowOperation(
  { type, transport, durationMs, error }: OperationFinished,
  { role, operationName, inDocument }: NonNullable<OperationFinished['usage']>,
  now: number,
): SlowOperation {
  return {
    operation: operationName?.slice(0, MOST_NAME_CHARACTERS) ?? null,
    fields: rootFieldsOf(inDocument),
    type,
    role,
    transport,
    duration_ms: Math.round(durationMs * 10) / 10,
    at: new Date(now).toISOString(),
    error: error?.code ?? null,
  };
}

/** Returns the root fields among coordinates such as `query_root.author` and `query_root.author(where:)`. */
function rootFieldsOf(coordinates: ReadonlySet<string>): readonly string[] {
  const fields = [...coordinates].flatMap((each) => /^(?:query|mutation)_root\.(\w+)$/.exec(each)?.[1] ?? []);
  return fields.slice(0, MOST_FIELDS);
}
