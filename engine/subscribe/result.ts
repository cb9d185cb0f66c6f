/** One response of a subscription. Everyone who watches the same rows in the same form shares it, with its bytes: a result of a
 *  megabyte for a thousand clients is in memory once. Not here: the message around it (http/websocket/messages.ts). */
import { EngineError } from '../errors/engine-error.ts';
import { type Body, bodyText, sizeOfBody, splice } from '../execute/splice.ts';
import type { PreparedPlan, TemplatePart } from '../sql/plan.ts';
import type { Row } from '../wire/statement.ts';
import { fingerprintOf } from './fingerprint.ts';

export class Result {
  #body: Body;
  #fingerprint: string | undefined;

  /** `fingerprint`: of what it was made from, where that has one. */
  constructor(body: Body, fingerprint?: string) {
    this.#body = body;
    this.#fingerprint = fingerprint;
  }

  /** The size in bytes, too low for text that is not ASCII. */
  get size(): number {
    return sizeOfBody(this.#body);
  }

  get text(): string {
    return bodyText(this.#body);
  }

  /** The text as UTF-8, encoded once. */
  get bytes(): Buffer {
    const body = this.#body;
    const bytes =
      typeof body === 'string' ? Buffer.from(body) : body.length === 1 ? body[0]! : Buffer.concat(body);
    this.#body = [bytes];
    return bytes;
  }

  /** Equal for texts that are equal and made in the same way. */
  get fingerprint(): string {
    this.#fingerprint ??= fingerprintOf([typeof this.#body === 'string' ? this.#body : this.bytes]);
    return this.#fingerprint;
  }
}

/** Returns the error of a result that is larger than the limit of its role; null for any other. */
export function excessOf(
  { size }: Result,
  { mostResponseBytes: most }: Pick<PreparedPlan, 'mostResponseBytes'>,
): EngineError | null {
  return most !== null && size > most ? new EngineError('responseTooLarge', { most, note: '' }) : null;
}

/** Results in use, by row and template. */
const known = new WeakMap<Row, WeakMap<readonly TemplatePart[], Result>>();

/** Returns the response with the rows. For a single row, the usual case, all callers share one Result. */
export function resultOf(template: readonly TemplatePart[], rows: readonly Row[]): Result {
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0) return new Result(splice(template, rows));
  const byTemplate = known.get(row) ?? new WeakMap<readonly TemplatePart[], Result>();
  known.set(row, byTemplate);
  const result =
    byTemplate.get(template) ??
    // The row was compared with the previous one, so its fingerprint is cached.
    new Result(splice(template, [row]), JSON.stringify([template, fingerprintOf(row)]));
  byTemplate.set(template, result);
  return result;
}
