/** Runs the parts of a computation that do not depend on each other, so that one response reports the errors of all of them. Pure.
 *  Not here: what an error is (engine-error.ts), who reads the further errors (state/inconsistencies.ts). */
import { EngineError } from './engine-error.ts';

/** The most errors that are reported after the first. */
const MOST_MORE = 9;

type Parts<T extends readonly unknown[]> = { readonly [K in keyof T]: () => T[K] };

/** Returns the results of all parts. Raises the first EngineError, with those of later parts as its hints. */
export function together<T extends readonly unknown[]>(...parts: Parts<T>): T {
  return each(parts as readonly (() => unknown)[], (part) => part()) as unknown as T;
}

/** Returns the result for each item. Raises the first EngineError, with those of later items as its hints: no more than are reported. */
export function each<I, R>(items: readonly I[], resultOf: (item: I, index: number) => R): readonly R[] {
  const results: R[] = [];
  const errors: EngineError[] = [];
  for (const [i, item] of items.entries()) {
    try {
      results.push(resultOf(item, i));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (errors.push(error) > MOST_MORE) break;
    }
  }
  if (errors.length > 0) throw withMore(errors);
  return results;
}

function withMore(errors: readonly EngineError[]): EngineError {
  const [{ kind, params, path, internal, hints }, ...more] = errors.flatMap((error) => [
    error,
    ...(error.hints.more ?? []),
  ]) as [EngineError, ...EngineError[]];
  if (more.length === 0) return errors[0]!;
  const { misnamed, lacks } = hints;
  return new EngineError(kind, params, path, internal, { misnamed, lacks, more: more.slice(0, MOST_MORE) });
}
