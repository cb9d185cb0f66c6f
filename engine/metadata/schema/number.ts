/** Whole numbers of the document and of arguments, with the bounds of each kind. JSON has no largest number, but JavaScript has 2^53,
 *  `bigint` of Postgres 2^63, its `int` and timers 2^31. A number that is not exact is refused when it is read. A time that is exact
 *  and too long is shortened to the longest possible one, because documents write 9999999999 for "never". RFC 8259, 6; PostgreSQL manual, "Numeric Types"; Node, "Timers".
 *  Not here: numbers of conditions and presets, which keep every digit (json/number.ts). Pure. */
import { Type } from './type.ts';

const MOST = Number.MAX_SAFE_INTEGER;

export const Count = Type.Integer({ minimum: 0, maximum: MOST });
export const AtLeastOne = Type.Integer({ minimum: 1, maximum: MOST });
export const Seconds = Type.Integer({ minimum: 0, maximum: MOST });
export const Hours = Type.Integer({ minimum: 0, maximum: MOST });
export const Port = Type.Integer({ minimum: 1, maximum: 65_535 });

/** The longest time of a timer, and of `statement_timeout` of Postgres: 24 days. A timer with a longer time fires at once. */
export const LONGEST_MS = 2 ** 31 - 1;
/** The largest age in hours that dates of Postgres can express. */
const CENTURY_HOURS = 24 * 36_525;
/** The limit of retries, which may follow each other without a pause. */
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
