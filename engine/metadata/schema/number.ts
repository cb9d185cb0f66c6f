/** Whole numbers of the document and of arguments: each bound is declared here, once. JSON has no largest number, but whoever
 *  counts with one does: JavaScript beyond 2^53, Postgres' `bigint` beyond 2^63, its `int` and timers beyond 2^31. So what is no
 *  exact number is refused where it is read, and what is exact and only too long to wait for is waited for as long as can be:
 *  documents say 9999999999 and mean "never". RFC 8259, 6; PostgreSQL manual, "Numeric Types"; Node, "Timers".
 *  Not here: numbers of conditions and presets, which keep every digit (json/number.ts). Pure. */
import { Type } from './type.ts';

const MOST = Number.MAX_SAFE_INTEGER;

export const Count = Type.Integer({ minimum: 0, maximum: MOST });
export const AtLeastOne = Type.Integer({ minimum: 1, maximum: MOST });
export const Seconds = Type.Integer({ minimum: 0, maximum: MOST });
export const Hours = Type.Integer({ minimum: 0, maximum: MOST });
export const Port = Type.Integer({ minimum: 1, maximum: 65_535 });

/** What a timer can wait for, and a `statement_timeout` of Postgres: 24 days. One that is set for longer ends at once. */
export const LONGEST_MS = 2 ** 31 - 1;
/** Dates of Postgres go further back than any row is old, but not as far as numbers do. */
const CENTURY_HOURS = 24 * 36_525;
/** Of what is tried again without a pause. */
const MOST_RETRIES = 100;

export function timerMs(seconds: number): number {
  return Math.min(seconds * 1000, LONGEST_MS);
}

export function timerSeconds(seconds: number): number {
  return Math.min(seconds, Math.floor(LONGEST_MS / 1000));
}

export function hoursAgo(hours: number): number {
  return Math.min(hours, CENTURY_HOURS);
}

export function retriesAtOnce(retries: number): number {
  return Math.min(retries, MOST_RETRIES);
}
