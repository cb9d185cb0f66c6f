/** Finds the changes that the engine refuses by bisection: the first half is tried, then the second on top of what was accepted, down to
 *  single changes. For k refused changes of n it takes O(k log n) trials.
 *  In: changes by priority, a trial. Out: the refused changes with the reason, and those not tried.
 *  Not here: the priority (order.ts), the trial itself (trials.ts). */

import type { Decision } from '../decide/decide.ts';
import type { RefusedEdit } from '../ports.ts';

/** The reason why the engine rejects a set of changes. */
export type Refusal = {
  readonly reason: string;
  readonly edit?: RefusedEdit | undefined;
  /** True when inherited roles inherit from each other. */
  readonly isCycle?: boolean;
};

/** Returns the refusal of the changes; undefined when the engine accepts them. */
export type Trial = (decisions: readonly Decision[]) => Promise<Refusal | undefined>;

export type Bisection = {
  readonly accepted: readonly Decision[];
  readonly refused: ReadonlyMap<Decision, Refusal>;
  /** The decisions not tried, because `mayGoOn` returned false. */
  readonly untried: readonly Decision[];
};

/** Divides the decisions into accepted and refused ones. `known` is the refusal of all of them together. */
export async function bisect(
  decisions: readonly Decision[],
  known: Refusal,
  trial: Trial,
  mayGoOn: () => boolean,
): Promise<Bisection> {
  const accepted: Decision[] = [];
  const untried: Decision[] = [];
  const refused = new Map<Decision, Refusal>();
  const visit = async (part: readonly Decision[], knownRefusal?: Refusal): Promise<void> => {
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
    const named = part.length === 1 ? part[0] : part.find(({ key }) => key === refusal.edit?.key);
    if (named) {
      refused.set(named, refusal);
      await visit(part.filter((decision) => decision !== named));
      return;
    }
    const middle = part.length >> 1;
    await visit(part.slice(0, middle));
    await visit(part.slice(middle));
  };
  await visit(decisions, known);
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
