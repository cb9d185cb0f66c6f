/** The budget of one transform: a number of steps, and a number of characters of text and values. Nested ranges and values that contain
 *  each other twice grow exponentially with the length of a template, so both are counted while they grow. Steps stand for time, because
 *  this room has no clock: all of them take about 50 ms. Whatever grows with a value takes steps: members of a path, bindings that are copied,
 *  and what is read, compared or printed.
 *  Not here: what counts as a step (evaluate.ts). */
import { isNumber } from '../json/number.ts';
import { isRecord } from '../json/value.ts';
import { TemplateError, type TextSpan } from './template.ts';

export const MOST_STEPS = 250_000;
export const MOST_CHARACTERS = 32 * 1024 * 1024;

/** The number of characters or items that are read, or values that are printed, in the time of a step. */
const READ_IN_STEP = 8;

export class Budget {
  #steps = MOST_STEPS;
  #characters = MOST_CHARACTERS;

  /** Charges steps. Raises TemplateError when the budget is exceeded. */
  step(span: TextSpan, count = 1): void {
    this.#steps -= count;
    if (this.#steps >= 0) return;
    throw new TemplateError('Limit Error', `The template takes more than ${MOST_STEPS} steps.`, span);
  }

  /** Charges characters. Raises TemplateError when the budget is exceeded. */
  grow(span: TextSpan, characters: number): void {
    this.#characters -= characters;
    if (this.#characters >= 0) return;
    const message = `The template makes more than ${MOST_CHARACTERS} characters.`;
    throw new TemplateError('Limit Error', message, span);
  }

  /** Charges the characters that the value has when it is printed, without printing it. */
  weigh(span: TextSpan, value: unknown): void {
    const left: unknown[] = [value];
    while (left.length > 0) {
      const next = left.pop();
      if (typeof next === 'string') this.grow(span, next.length + 2);
      else if (Array.isArray(next)) {
        this.grow(span, next.length + 2);
        this.step(span, next.length / READ_IN_STEP);
        for (const item of next) left.push(item);
      } else if (isRecord(next) && !isNumber(next)) {
        const members = Object.entries(next);
        this.step(span, members.length / READ_IN_STEP);
        for (const [key, member] of members) {
          this.grow(span, key.length + 4);
          left.push(member);
        }
      } else this.grow(span, 4);
    }
  }

  /** Charges what a function reads of its argument: its items, and their items. */
  read(span: TextSpan, value: unknown): void {
    this.#read(span, value);
    if (Array.isArray(value)) for (const item of value) this.#read(span, item);
  }

  #read(span: TextSpan, value: unknown): void {
    const size = sizeOf(value);
    this.grow(span, size);
    // Listing the members of a large object takes longer than reading a text.
    this.step(span, typeof value === 'string' || Array.isArray(value) ? size / READ_IN_STEP : size);
  }
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length + 1;
  return isRecord(value) && !isNumber(value) ? Object.keys(value).length + 1 : 1;
}
