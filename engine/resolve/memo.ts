/** Results of earlier resolutions. An edit changes one table of a thousand, so resolving it reuses what the others resolved to.
 *
 *  Identity: documents, catalogs and everything resolved from them are immutable. Two inputs are the same input exactly when
 *  they are identical (`===`).
 *  Validity: a computation is a pure module-level function that receives nothing but its subject, its inputs and the maps it
 *  looks entries up in. Its result is valid while the subject, every input and every entry it looked up are identical.
 *  Bounds: a memo keeps one result for each computation and subject, and forgets it when nothing else refers to the subject.
 *  The state of an engine owns its memo (state/state.ts); it ends with the state.
 *  Not here: the computations (table.ts, source.ts, conflicts.ts, names.ts, unenforced.ts). */
import type { Steps } from '../metadata/steps.ts';
import type { Inconsistencies } from './inconsistency.ts';

/** A map that a computation may only look single entries up in. `values` is for what it reports: a result that reports is not kept. */
export type Lookup<T> = Pick<ReadonlyMap<string, T>, 'get'> & { readonly values?: () => Iterable<T> };

type Result = {
  readonly inputs: readonly unknown[];
  readonly lookups: readonly (readonly [map: number, key: string, entry: unknown])[];
  readonly value: unknown;
};

export class Memo {
  readonly #results = new Map<unknown, WeakMap<object, Result>>();

  /** Returns `compute(subject, ...inputs)`, computed again only when an input has changed. */
  of<K extends object, I extends readonly unknown[], V>(
    compute: (subject: K, ...inputs: I) => V,
    subject: K,
    ...inputs: I
  ): V {
    const results = this.#resultsOf(compute);
    const cached = results.get(subject);
    if (cached && isSame(cached.inputs, inputs)) return cached.value as V;
    const value = compute(subject, ...inputs);
    results.set(subject, { inputs, lookups: [], value });
    return value;
  }

  /** Like `of`, for a computation that looks entries up in `maps` and reports what it leaves out. A result that left something
   *  out is not kept, because each resolution has to report it. */
  ofLookups<K extends object, I extends readonly unknown[], M extends readonly Lookup<unknown>[], V>(
    compute: (subject: K, inputs: I, maps: M, found: Inconsistencies) => V,
    subject: K,
    inputs: I,
    maps: M,
    found: Inconsistencies,
  ): V {
    const results = this.#resultsOf(compute);
    const cached = results.get(subject);
    if (cached && isSame(cached.inputs, inputs) && areSame(cached.lookups, maps)) return cached.value as V;
    const lookups: [number, string, unknown][] = [];
    const recorded = maps.map((map, i) => ({
      get: (key: string) => {
        const entry = map.get(key);
        lookups.push([i, key, entry]);
        return entry;
      },
      values: () => map.values?.() ?? [],
    }));
    const reported = found.all.length;
    const value = compute(subject, inputs, recorded as unknown as M, found);
    if (found.all.length === reported) results.set(subject, { inputs, lookups, value });
    return value;
  }

  /** Returns the result that `compute` derives from its previous one and keeps it; undefined leaves the previous one. */
  next<K extends object, I, V>(
    compute: (subject: K, input: I, previous: V | undefined) => V | undefined,
    subject: K,
    input: I,
  ): V | undefined {
    const results = this.#resultsOf(compute);
    const value = compute(subject, input, results.get(subject)?.value as V | undefined);
    if (value !== undefined) results.set(subject, { inputs: [], lookups: [], value });
    return value;
  }

  /** Like `next`, for a computation in steps. */
  *nextInSteps<K extends object, I, V>(
    compute: (subject: K, input: I, previous: V | undefined) => Steps<V | undefined>,
    subject: K,
    input: I,
  ): Steps<V | undefined> {
    const results = this.#resultsOf(compute);
    const value = yield* compute(subject, input, results.get(subject)?.value as V | undefined);
    if (value !== undefined) results.set(subject, { inputs: [], lookups: [], value });
    return value;
  }

  #resultsOf(compute: unknown): WeakMap<object, Result> {
    const known = this.#results.get(compute);
    if (known) return known;
    const results = new WeakMap<object, Result>();
    this.#results.set(compute, results);
    return results;
  }
}

/** Loops, because every table of a document comes by here several times for each edit. */
function isSame(left: readonly unknown[], right: readonly unknown[]): boolean {
  for (let i = 0; i < right.length; i++) if (left[i] !== right[i]) return false;
  return left.length === right.length;
}

function areSame(lookups: Result['lookups'], maps: readonly Lookup<unknown>[]): boolean {
  for (const [map, key, entry] of lookups) if (maps[map]!.get(key) !== entry) return false;
  return true;
}
