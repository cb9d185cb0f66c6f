/** Finds the parts of a set of changes that cause something only the whole shows: by halves, or by the shortest beginning that has it.
 *  In: items by priority, a trial. Out: the causes, and what was not tried. Not here: the trial itself. */

/** Returns what is wrong with a part; undefined when nothing is. */
export type Trial<T, W> = (part: readonly T[]) => Promise<W | undefined>;

export type Bisection<T, W> = {
  readonly wrong: ReadonlyMap<T, W>;
  /** The items not tried, because `mayGoOn` returned false. */
  readonly untried: readonly T[];
};

/** Divides the items: the first half is tried, then the second on top of what was right, down to single items. `known` is what is wrong with
 *  all of them. For k wrong items of n it takes O(k log n) trials. */
export async function bisect<T, W>(
  items: readonly T[],
  known: W,
  trial: Trial<T, W>,
  mayGoOn: () => boolean,
): Promise<Bisection<T, W>> {
  const right: T[] = [];
  const untried: T[] = [];
  const wrong = new Map<T, W>();
  const visit = async (part: readonly T[], knownWrong?: W): Promise<void> => {
    if (part.length === 0) return;
    if (!knownWrong && !mayGoOn()) {
      untried.push(...part);
      return;
    }
    const found = knownWrong ?? (await trial([...right, ...part]));
    if (!found) {
      right.push(...part);
      return;
    }
    if (part.length === 1) {
      wrong.set(part[0]!, found);
      return;
    }
    const middle = part.length >> 1;
    await visit(part.slice(0, middle));
    await visit(part.slice(middle));
  };
  await visit(items, known);
  return { wrong, untried };
}

/** Returns the length of the shortest prefix, of at least `least` items, for which `fails` is true. It must be true for all `count`. */
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
