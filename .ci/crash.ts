/** Tests crash safety: kills engines (SIGKILL) at random moments while they write metadata and run SQL, --kills times. Afterwards
 *  metadata and database must agree, every acknowledged request must have its effect, and every other request all of it or none.
 *  Out: progress; --out JSON {passed, failed}; exit 1 when something disagrees. The seed chooses the requests; the moment of a kill also
 *  depends on the machine. A smaller run is part of `make test` (engine/end-to-end/crash.test.ts). */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { Arena } from '../testing/crash/arena.ts';

const { values: options } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    out: { type: 'string' },
  },
});
/** Engines spend most of a round starting; two arenas keep two cores busy. */
const ARENAS = 2;
const kills = Number(options.kills);
const startedAt = performance.now();
let passed = 0;
let failed = 0;

const folder = mkdtempSync(join(tmpdir(), 'pergola-crash-'));
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
console.log(`seed ${options.seed}`);
const arenas = Array.from(
  { length: ARENAS },
  (_, i) => new Arena(postgres.url, `crash_${i}`, Number(options.seed) + i),
);
try {
  await Promise.all(arenas.map(run));
} finally {
  await Promise.allSettled(arenas.map((arena) => arena.close()));
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
report();
console.log(`${passed} passed, ${failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify({ passed, failed }));
process.exitCode = failed > 0 ? 1 : 0;

async function run(arena: Arena): Promise<void> {
  await arena.open();
  while (passed + failed < kills) {
    const { killed, problems } = await arena.round();
    for (const problem of problems) console.log(`FAIL ${problem}`);
    if (problems.length === 0) passed += killed;
    else failed += killed;
    if (
      problems.length > 0 ||
      Math.floor((passed + failed) / 20) > Math.floor((passed + failed - killed) / 20)
    ) {
      report();
    }
  }
}

function report(): void {
  const sum = (of: keyof Arena['tally']) => arenas.reduce((total, { tally }) => total + tally[of], 0);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  console.log(
    `${passed + failed} kills in ${seconds} s: ${sum('acknowledged')} requests acknowledged, ${sum('refused')} refused ` +
      `(${sum('overtaken')} of them 409), ${sum('unanswered')} unanswered`,
  );
}
