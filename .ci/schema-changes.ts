/** Tests requests on warm connections while the schema changes under them: random changes by the engine, a migration and another client,
 *  until --pairs pairs of a change and a request were compared, half of them through a pooler in transaction mode if pgbouncer is on the
 *  PATH. Out: progress; --out JSON {passed, failed}; exit 1 when an answer is wrong. The seed repeats the changes. A smaller run is part of
 *  `make test` (engine/end-to-end/schema-changes.test.ts). */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { hasPgbouncer } from '../testing/pgbouncer.ts';
import { Arena } from '../testing/schema-changes/arena.ts';

const { values: options } = parseArgs({
  options: {
    pairs: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    out: { type: 'string' },
  },
});
const folder = mkdtempSync(join(tmpdir(), 'pergola-schema-changes-'));
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
console.log(`seed ${options.seed}`);
const ways = hasPgbouncer() ? [false, true] : [false];
const startedAt = performance.now();
let pairs = 0;
let failed = 0;
try {
  for (const [i, isPooled] of ways.entries()) await run(isPooled, Number(options.seed) + i);
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${pairs - failed} passed, ${failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify({ passed: pairs - failed, failed }));
process.exitCode = failed > 0 ? 1 : 0;

async function run(isPooled: boolean, seed: number): Promise<void> {
  const arena = new Arena(postgres.url, `schema_changes_${isPooled ? 'pooled' : 'direct'}`, {
    isPooled,
    seed,
  });
  try {
    await arena.open();
    for (let round = 1; arena.pairs < Number(options.pairs) / ways.length; round++) {
      const problems = await arena.round();
      failed += problems.length;
      for (const problem of problems) console.log(`FAIL ${problem}`);
      if (round % 10 === 0 || problems.length > 0) report(isPooled, pairs + arena.pairs);
    }
  } finally {
    pairs += arena.pairs;
    await arena.close();
  }
}

function report(isPooled: boolean, count: number): void {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(`${count} pairs in ${seconds} s${isPooled ? ', now through a pooler' : ''}`);
}
