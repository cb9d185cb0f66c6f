/** Tests migrations that are killed: `pergola migrate up` is killed (SIGKILL) --kills times, at every message that it sends to the
 *  database, before and after the message arrives, every second time with a second run at the same time. Afterwards the state has a name
 *  that agrees with the database, the recovery works, and every statement ran once.
 *  Out: progress; --out JSON {passed, failed}; exit 1 on any problem. A smaller run is part of `make test` (bin/migrate-kill.test.ts). */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { KillArena } from '../testing/migrate/kill-arena.ts';

const { values: options } = parseArgs({
  options: { kills: { type: 'string', default: '200' }, out: { type: 'string' } },
});
const ARENAS = 2;
/** The points of the kills in order are this far apart, a prime, so that a few of them are spread over the whole run and many reach each. */
const STRIDE = 37;
const kills = Number(options.kills);
const startedAt = performance.now();
const states = new Map<string, number>();
let [next, passed, failed] = [0, 0, 0];

const folder = mkdtempSync(join(tmpdir(), 'pergola-migrations-'));
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
try {
  const messages = await new KillArena(postgres.url, 'count').countMessages();
  console.log(`a run sends ${messages} messages; ${2 * messages} points`);
  await Promise.all(Array.from({ length: ARENAS }, (_, i) => run(i, messages)));
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
for (const [state, count] of [...states].sort()) console.log(`${String(count).padStart(5)} × ${state}`);
console.log(
  `${passed} passed, ${failed} failed, in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`,
);
if (options.out) writeFileSync(options.out, JSON.stringify({ passed, failed }));
process.exitCode = failed > 0 ? 1 : 0;

async function run(lane: number, messages: number): Promise<void> {
  const arena = new KillArena(postgres.url, `kill_${lane}`);
  while (next < kills) {
    const turn = next++;
    const point = (turn * STRIDE) % (2 * messages);
    const hasRival = (turn + Math.floor(turn / (2 * messages))) % 4 > 1;
    const outcome = await arena.round({
      message: 1 + Math.floor(point / 2),
      isSent: point % 2 === 1,
      hasRival,
    });
    for (const problem of outcome.problems) console.log(`FAIL ${problem}`);
    if (outcome.problems.length === 0) passed++;
    else failed++;
    states.set(outcome.states, (states.get(outcome.states) ?? 0) + 1);
  }
}
