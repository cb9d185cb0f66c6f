/** Counts of requests in memory, since they were last taken. Counting a request is two look-ups and an addition. Clients choose the
 *  names of operations and their own, so each role has a limited number of counters; beyond it, counters of one request give way to new ones,
 *  and their requests are counted as uncounted. A client that invents names does not displace an operation that is used repeatedly.
 *  In: the usage of a planned request, and the name of its client. Out: rows for the metadata database. No values are kept.
 *  Not here: writing them (field-usage.ts), deriving coordinates (plan/coordinates.ts). */
import { createHash } from 'node:crypto';
import { setImmediate as untilIdle } from 'node:timers/promises';
import type { OperationUsage } from '../plan/coordinates.ts';
import type { UsageBatch, UsageRow } from '../store/usage.ts';

/** The counters of one role, and the rows of one role that wait to be written. */
const MOST_PER_ROLE = 1000;
/** An operation that uses more coordinates is not counted. */
const MOST_COORDINATES = 1000;
/** Longer names of operations, clients and roles are cut. */
const MOST_CHARACTERS = 100;
/** The rows that are prepared before requests are served again. */
const ROWS_AT_ONCE = 100;

/** The counters that are looked at for one that gives way. They are chosen at random, so that no order of requests displaces a certain one. */
const MOST_LOOKED_AT = 8;

type Counter = { readonly client: string; readonly endpoint: string | null; requests: number };

/** A row and what its set stands for. */
type WaitingRow = UsageRow & { readonly coordinates: readonly string[] };

/** A counter and its position. */
type Slot = { readonly usage: OperationUsage; readonly key: string; readonly counter: Counter };

export class UsageCounts {
  /** The counters of a plan by client; for a REST endpoint by endpoint and client. */
  #byUsage = new Map<OperationUsage, Map<string, Counter>>();
  #countersOfRole = new Map<string, Slot[]>();
  readonly #uncounted = new Map<string, number>();
  /** Rows that were taken from the counters and are not written yet, by role and by key. */
  readonly #rows = new Map<string, Map<string, WaitingRow>>();

  /** Counts a request. `endpoint` is the name of the REST endpoint that the client called. */
  count(usage: OperationUsage, client: string, endpoint: string | null = null): void {
    const key = endpoint === null ? client : `${endpoint}\n${client}`;
    const counter = this.#byUsage.get(usage)?.get(key);
    if (counter) counter.requests += 1;
    else this.#start(usage, key, { client, endpoint, requests: 1 });
  }

  #start(usage: OperationUsage, key: string, counter: Counter): void {
    const { role } = usage;
    const slots = this.#countersOfRole.get(role) ?? [];
    const size = usage.inDocument.size + usage.inVariables.length;
    const at = size > MOST_COORDINATES ? -1 : this.#freeSlot(slots);
    if (at < 0) {
      this.#leaveOut(role, 1);
      return;
    }
    this.#countersOfRole.set(role, slots);
    const ofUsage = this.#byUsage.get(usage) ?? new Map<string, Counter>();
    this.#byUsage.set(usage, ofUsage);
    // A part of a text keeps the whole text in memory.
    slots[at] = { usage, key: copyOf(key), counter: { ...counter, client: storedName(counter.client) } };
    ofUsage.set(slots[at].key, slots[at].counter);
  }

  /** Returns the index of a free slot, of which a counter of one request is removed if need be; -1 when none is found. */
  #freeSlot(slots: readonly Slot[]): number {
    if (slots.length < MOST_PER_ROLE) return slots.length;
    for (let i = 0; i < MOST_LOOKED_AT; i++) {
      const at = Math.floor(Math.random() * slots.length);
      const { usage, key, counter } = slots[at]!;
      if (counter.requests > 1) continue;
      const ofUsage = this.#byUsage.get(usage);
      ofUsage?.delete(key);
      if (ofUsage?.size === 0) this.#byUsage.delete(usage);
      this.#leaveOut(usage.role, counter.requests);
      return at;
    }
    return -1;
  }

  /** Returns what has been counted and is not written yet; null when that is nothing. */
  async take(): Promise<UsageBatch | null> {
    const counted = this.#byUsage;
    this.#byUsage = new Map();
    this.#countersOfRole = new Map();
    let prepared = 0;
    for (const [usage, counters] of counted) {
      this.#addRows(usage, counters.values());
      prepared += counters.size;
      if (prepared < ROWS_AT_ONCE) continue;
      prepared = 0;
      await untilIdle();
    }
    if (this.#rows.size === 0 && this.#uncounted.size === 0) return null;
    const waiting = [...this.#rows.values()].flatMap((ofRole) => [...ofRole.values()]);
    return {
      rows: waiting,
      coordinateSets: new Map(waiting.map(({ coordinateSet, coordinates }) => [coordinateSet, coordinates])),
      uncounted: new Map(this.#uncounted),
    };
  }

  #addRows(usage: OperationUsage, counters: Iterable<Counter>): void {
    const coordinates = [...new Set([...usage.inDocument, ...usage.inVariables])].sort();
    const coordinateSet = createHash('sha256').update(coordinates.join(' ')).digest('base64url');
    const role = storedName(usage.role);
    const rows = this.#rows.get(role) ?? new Map<string, WaitingRow>();
    for (const { client, endpoint, requests } of counters) {
      const operation =
        endpoint === null ? storedName(usage.operationName ?? '') : storedName(`rest:${endpoint}`);
      const key = [operation, client, coordinateSet].join('\n');
      const known = rows.get(key);
      if (!known && rows.size >= MOST_PER_ROLE && !this.#removeRow(rows, requests)) {
        this.#leaveOut(role, requests);
        continue;
      }
      this.#rows.set(role, rows);
      const sum = (known?.requests ?? 0) + requests;
      rows.set(key, { role, operation, client, coordinateSet, coordinates, requests: sum });
    }
  }

  /** Removes the row of a role with the least requests if they are fewer than these. Returns whether it did. */
  #removeRow(rows: Map<string, WaitingRow>, requests: number): boolean {
    let least: readonly [key: string, row: WaitingRow] | undefined;
    for (const each of rows) if (each[1].requests < (least?.[1].requests ?? requests)) least = each;
    if (!least) return false;
    const [key, row] = least;
    rows.delete(key);
    this.#leaveOut(row.role, row.requests);
    return true;
  }

  #leaveOut(role: string, requests: number): void {
    const stored = storedName(role);
    this.#uncounted.set(stored, (this.#uncounted.get(stored) ?? 0) + requests);
  }

  /** Forgets a batch that has been written. */
  written({ uncounted }: UsageBatch): void {
    this.#rows.clear();
    for (const [role, requests] of uncounted) {
      const left = (this.#uncounted.get(role) ?? 0) - requests;
      if (left > 0) this.#uncounted.set(role, left);
      else this.#uncounted.delete(role);
    }
  }
}

/** Returns a name as it is stored: short, and without control characters, which Postgres refuses or a terminal interprets. */
export function storedName(name: string): string {
  const plain = name.toWellFormed().replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd');
  if (plain.length <= MOST_CHARACTERS) return plain;
  return copyOf(`${plain.slice(0, MOST_CHARACTERS).toWellFormed()}…`);
}

function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
