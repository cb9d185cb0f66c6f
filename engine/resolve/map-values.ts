/** The same keys, in the same order, with other values. */
export function mapValues<T, U = T>(
  map: ReadonlyMap<string, T>,
  change: (value: T) => U,
): ReadonlyMap<string, U> {
  return new Map([...map].map(([key, value]) => [key, change(value)]));
}
