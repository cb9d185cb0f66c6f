/** Tests non-interference: sends --queries random requests of roles to two databases that differ only in rows and columns the role may
 *  not see, and compares the answers. Out: progress; --out JSON {passed, failed}; exit 1 on a difference. The seed is printed; --seed S
 *  --world W repeats a world. A smaller run is part of `make test` (engine/oracle/noninterference.test.ts). */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { describeDifference, interference } from '../engine/oracle/testing/interference.ts';

const { values: options } = parseArgs({
  options: {
    queries: { type: 'string', default: '20000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    world: { type: 'string', default: '0' },
    out: { type: 'string' },
  },
});
const seed = Number(options.seed);
const queries = Number(options.queries);
const startedAt = performance.now();
const counts = new Map<string, { asked: number; refused: number }>();
let asked = 0;
let failed = 0;

const folder = mkdtempSync(join(tmpdir(), 'pergola-noninterference-'));
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
console.log(`seed ${seed}`);
try {
  for await (const result of interference(postgres.url, { seed, from: Number(options.world) })) {
    for (const [way, count] of Object.entries(result.counts)) {
      const all = counts.get(way) ?? { asked: 0, refused: 0 };
      counts.set(way, { asked: all.asked + count.asked, refused: all.refused + count.refused });
      asked += count.asked;
    }
    failed += result.differences.length;
    for (const difference of result.differences) console.log(`\nFAIL ${describeDifference(difference)}`);
    if (result.world % 10 === 9 || asked >= queries) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
      console.log(`${asked} queries in ${seconds} s, ${failed} answered differently`);
    }
    if (asked >= queries) break;
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const [way, count] of counts)
  console.log(`${way}: ${count.asked} queries, ${count.refused} answered with an error`);
console.log(`${asked - failed} passed, ${failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify({ passed: asked - failed, failed }));
process.exitCode = failed > 0 ? 1 : 0;
