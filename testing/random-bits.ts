/** Random numbers that a seed repeats (mulberry32), for tests whose failures name their seed. */

/** Returns a function whose results are whole numbers of 32 bits, the same for the same seed. */
export function randomBits(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
