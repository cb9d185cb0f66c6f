/** Finds the changes that the engine refuses by bisection: the first half is tried, then the second on top of what was accepted, down to
 *  single changes. For k refused changes of n it takes O(k log n) trials.
 *  In: changes by priority, a trial. Out: the refused changes with the reason, and those not tried.
 *  Not here: the priority (order.ts), the trial itself (trials.ts). */

import type { RefusedEdit } from '../ports.ts';

/** The reason why the engine rejects a set of changes. */
export type Refusal = {
  readonly reason: string;
  readonly edit?: RefusedEdit | undefined;
  /** True when inherited roles inherit from each other. */
  readonly isCycle?: boolean;
};

/** Returns why the changes are refused; undefined when they are accepted. */
export type Trial<T, R> = (changes: readonly T[]) => Promise<R | undefined>;

export type Bisection<T, R> = {
  readonly accepted: readonly T[];
  readonly refused: ReadonlyMap<T, R>;
  /** The changes not tried, because `mayGoOn` returned false. */
  readonly untried: readonly T[];
};

export type BisectOptions<T, R> = {
  readonly mayGoOn: () => boolean;
  /** Returns the change that the refusal names, if it is among those tried. */
  readonly namedBy?: (part: readonly T[], refusal: R) => T | undefined;
};

/** Divides the changes into accepted and refused ones. `known` is the refusal of all of them together. */
export async function bisect<T, R>(
  changes: readonly T[],
  known: R,
  trial: Trial<T, R>,
  { mayGoOn, namedBy }: BisectOptions<T, R>,
): Promise<Bisection<T, R>> {
  const accepted: T[] = [];
  const untried: T[] = [];
  const refused = new Map<T, R>();
  const visit = async (part: readonly T[], knownRefusal?: R): Promise<void> => {
    if (part.length === 0) return;
    if (!knownRefusal && !mayGoOn()) {
      untried.push(...part);
      return;
    }
    const refusal = knownRefusal ?? (await trial([...accepted, ...part]));
    if (!refusal) {
      accepted.push(...part);
      return;
    }
    const named = part.length === 1 ? part[0] : namedBy?.(part, refusal);
    if (named) {
      refused.set(named, refusal);
      await visit(part.filter((change) => change !== named));
      return;
    }
    const middle = part.length >> 1;
    await visit(part.slice(0, middle));
    await visit(part.slice(middle));
  };
  await visit(changes, known);
  return { accepted, refused, untried };
}

/** Returns the length of the shortest prefix of `count` items for which `fails` is true. It must be true for all of them. */
export async function firstFailure(
  least: number,
  count: number,
  fails: (length: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [least, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (await fails(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
