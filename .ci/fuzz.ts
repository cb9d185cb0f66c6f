/** Sends --requests random and hostile requests to every endpoint. None may end the engine, hang, cause an unexpected error, or leak
 *  memory. Out: progress; --out JSON {passed, failed}; exit 1 on a problem. The seed is printed; --seed S --block B --requests 500
 *  repeats the block that found something. A smaller run is part of `make test` (engine/end-to-end/fuzz.test.ts). */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { BLOCK_SIZE, fuzz } from '../testing/fuzz/run.ts';

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    block: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
});
/** After these blocks (8,000 requests) all caches are full: memory grows from 60 to 130 MB until then, and stays. */
const WARM_UP_BLOCKS = 16;
/** The fewest blocks of a run that shows a leak: the first third after the caches are full is compared with the last. */
const BLOCKS_TO_TELL = 40;
const MOST_GROWTH_MB = 16;

const seed = Number(options.seed);
const blocks = Math.ceil(Number(options.requests) / BLOCK_SIZE);
const startedAt = performance.now();
const memory: number[] = [];
const seen = new Set<string>();
let failed = 0;
let sent = 0;

const folder = mkdtempSync(join(tmpdir(), 'pergola-fuzz-'));
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
console.log(`seed ${seed}`);
try {
  for await (const { block, problems, memoryMb } of fuzz(postgres.url, {
    seed,
    from: Number(options.block),
    blocks,
  })) {
    sent += BLOCK_SIZE;
    memory.push(memoryMb);
    failed += problems.length;
    for (const { what, request } of problems) show(block, what, request);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
    if (problems.length > 0 || memory.length % 10 === 0) {
      console.log(
        `${sent} requests in ${seconds} s, ${failed} problems, ${memoryMb.toFixed(1)} MB after a collection`,
      );
    }
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
if (blocks >= BLOCKS_TO_TELL) {
  const warm = memory.slice(WARM_UP_BLOCKS);
  const third = Math.floor(warm.length / 3);
  const growth = median(warm.slice(-third)) - median(warm.slice(0, third));
  console.log(`memory grew by ${growth.toFixed(1)} MB after all caches were full`);
  if (growth > MOST_GROWTH_MB) {
    failed++;
    console.log(`FAIL memory grew by more than ${MOST_GROWTH_MB} MB`);
  }
} else {
  console.log(`too few requests to show a leak; it takes ${BLOCKS_TO_TELL * BLOCK_SIZE}`);
}
console.log(`${sent - failed} passed, ${failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify({ passed: sent - failed, failed }));
process.exitCode = failed > 0 ? 1 : 0;

/** Prints a problem, each cause once. */
function show(block: number, what: string, request: string): void {
  const cause = what.slice(0, 200);
  if (seen.has(cause)) return;
  seen.add(cause);
  console.log(`\nFAIL block ${block}: ${what.slice(0, 1500)}\n  near ${request.slice(0, 1500)}`);
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]!;
}
