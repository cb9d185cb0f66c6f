/** Limits status writes while an engine does not answer or rejects the admin secret. The Engine reports it at once; its resources follow
 *  after a grace period, at a limited rate: the engine still serves, and a restart of it is no event of its resources.
 *  In: changed statuses. Out: those to write now. Not here: writing (status-sink.ts), Events (status/transitions.ts). */
import type { CrStatus } from '../kinds.ts';
import type { StatusChange } from '../ports.ts';
import { isOutage, readyReasonOf } from '../status/conditions.ts';

export type OutageOptions = {
  readonly graceMs: number;
  readonly writesPerSecond: number;
};

/** The most resources without a verdict whose statuses are written at once. */
const MOST_FRESH = 100;
/** The longest time for which unused writes accumulate. */
const MOST_SAVED_MS = 30_000;

export class Outage {
  readonly #options: OutageOptions;
  readonly #since: number;
  /** The time until which the allowed writes have been used. */
  #spentUntil: number;

  constructor(options: OutageOptions, nowMs: number) {
    this.#options = options;
    this.#since = nowMs;
    this.#spentUntil = nowMs + options.graceMs;
  }

  /** Returns the changed statuses to write now. Statuses that are not about the outage are all written. */
  due(changes: readonly StatusChange[], nowMs: number): readonly StatusChange[] {
    const { graceMs, writesPerSecond } = this.#options;
    const others = changes.filter(({ status }) => !isOutage(readyReasonOf(status)));
    const outages = changes.filter(({ status }) => isOutage(readyReasonOf(status)));
    const fresh = outages.filter(({ cr }) => cr.status?.observedGeneration !== cr.metadata.generation);
    const atOnce = fresh.length <= MOST_FRESH ? fresh : [];
    if (nowMs - this.#since < graceMs) return [...others, ...atOnce];
    this.#spentUntil = Math.max(this.#spentUntil, nowMs - MOST_SAVED_MS);
    const room = Math.floor(((nowMs - this.#spentUntil) / 1000) * writesPerSecond);
    const isAtOnce = new Set(atOnce);
    const late = outages.filter((change) => !isAtOnce.has(change) && isNews(change)).slice(0, room);
    if (late.length > 0) this.#spentUntil += (late.length / writesPerSecond) * 1000;
    return [...others, ...atOnce, ...late];
  }
}

/** True when more than messages differ: the message of a network error varies. */
function isNews({ cr, status }: StatusChange): boolean {
  const shape = ({ conditions }: Pick<CrStatus, 'conditions'>) =>
    conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`).join();
  return cr.status?.conditions === undefined || shape(cr.status) !== shape(status);
}
