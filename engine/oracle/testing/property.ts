/** Properties over a world and requests to it, both told by numbers, with what is needed to see a failure again.
 *  A change is judged by the same cases as the one before it: the seed stands here.
 *  ORACLE_RUNS multiplies the runs; ORACLE_SEED=random looks where nobody has looked; ORACLE_SEED and ORACLE_PATH, which a
 *  failure prints, repeat it.
 *  fast-check would shrink each number by itself, which is a database built for each: here requests go first, by halves, and
 *  then blocks of numbers become zeros, large ones first. */
import fc from 'fast-check';
import { LARGEST } from './choices.ts';

export type Numbers = readonly number[];
export type Case = { readonly world: Numbers; readonly requests: readonly Numbers[] };
export type Sizes = { readonly world: number; readonly request: number; readonly requests: number };

const TIMES = Number(process.env['ORACLE_RUNS'] ?? 1);

const SEED = 20_261_121;

/** How long a property may take. */
export const MOST_MS = 300_000 * Math.max(1, TIMES);

/** How long a failure may be made smaller. */
const SHRINK_MS = 30_000;

/** Runs `body` on that many cases. Its failure comes with the numbers that repeat it. */
export async function check(sizes: Sizes, runs: number, body: (value: Case) => Promise<void>): Promise<void> {
  const { ORACLE_SEED = SEED, ORACLE_PATH } = process.env;
  let deadline = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(new Cases(sizes), async (value) => {
    // After the time is up all that is smaller passes, and the smallest failure so far is the one reported.
    if (Date.now() > deadline) return;
    try {
      await body(value);
    } catch (error) {
      deadline = Math.min(deadline, Date.now() + SHRINK_MS);
      throw error;
    }
  });
  const result = await fc.check(property, {
    numRuns: Math.ceil(runs * TIMES),
    ...(ORACLE_SEED === 'random' ? {} : { seed: Number(ORACLE_SEED) }),
    ...(ORACLE_PATH ? { path: ORACLE_PATH, endOnFailure: true } : {}),
  });
  if (!result.failed) return;
  const how = `ORACLE_SEED=${result.seed} ORACLE_PATH=${result.counterexamplePath}`;
  const cause = result.errorInstance;
  throw new Error(`${how}\n${cause instanceof Error ? cause.stack : String(cause)}`);
}

/** Where the search for something smaller goes on: size of the blocks, and the first block not tried yet. */
type Position = { readonly size: number; readonly at: number };

class Cases extends fc.Arbitrary<Case> {
  readonly #sizes: Sizes;

  constructor(sizes: Sizes) {
    super();
    this.#sizes = sizes;
  }

  override generate(random: fc.Random): fc.Value<Case> {
    const numbers = (count: number) => Array.from({ length: count }, () => random.nextInt(0, LARGEST));
    const { world, request, requests } = this.#sizes;
    const value = {
      world: numbers(world),
      requests: Array.from({ length: requests }, () => numbers(request)),
    };
    return new fc.Value(value, undefined);
  }

  override canShrinkWithoutContext(value: unknown): value is Case {
    return value === undefined;
  }

  override shrink(value: Case, context: unknown): fc.Stream<fc.Value<Case>> {
    return fc.stream(smaller(value, context as Position | undefined));
  }
}

function* smaller({ world, requests }: Case, position: Position | undefined): Generator<fc.Value<Case>> {
  if (requests.length > 1) {
    const middle = Math.ceil(requests.length / 2);
    yield new fc.Value({ world, requests: requests.slice(0, middle) }, undefined);
    yield new fc.Value({ world, requests: requests.slice(middle) }, undefined);
    return;
  }
  const request = requests[0] ?? [];
  const all = [...world, ...request];
  let { size, at } = position ?? { size: Math.ceil(all.length / 2), at: 0 };
  for (; size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2), at = 0) {
    for (; at < all.length; at += size) {
      if (all.slice(at, at + size).every((number) => number === 0)) continue;
      const next = all.with(at, 0).fill(0, at, at + size);
      const split = { world: next.slice(0, world.length), requests: [next.slice(world.length)] };
      yield new fc.Value(split, { size, at: at + size } satisfies Position);
    }
  }
}
