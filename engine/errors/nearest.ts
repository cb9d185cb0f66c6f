/** "Did you mean": finds the known word closest to a mistyped one. Pure. Used for flags, commands and names of session variables. */

/** Returns the nearest word, or `undefined` if none is near enough to be a typing error. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const most = Math.max(1, Math.round(word.length / 3));
  return known
    .map((candidate) => ({ candidate, distance: editDistance(word, candidate) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Returns the Levenshtein distance: the insertions, deletions and substitutions that turn `a` into `b`. */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const current = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      current.push(Math.min(substituted, previous[j]! + 1, current[j - 1]! + 1));
    }
    previous = current;
  }
  return previous[b.length]!;
}
