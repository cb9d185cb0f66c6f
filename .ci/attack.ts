/** Attacks an engine that has the chart's 512 MiB from outside: idle sockets, endless bodies and frames, slow readers, thousands of
 *  subscriptions, clients that hang up, webhooks that never answer, short requests that stand for long work; then the introspection of a large
 *  schema. `--only TEXT` runs the attacks whose name contains the text; `--memory MIB` gives the engine another limit, and each attack an engine of its own.
 *  Out: a line for each attack; --out JSON {passed, failed}; exit 1 when one succeeded. Linux only: memory is read from /proc. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { amplify } from '../testing/amplification/run.ts';
import { attackAll } from '../testing/attack/run.ts';
import { FITTING, introspectLargeSchema, TOO_MANY } from './large-schema.ts';

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, memory: { type: 'string' }, out: { type: 'string' } },
});

/** The random cases that could amplify; `npm run amplification` runs more of them. */
const CASES = { seed: 1, from: 0, count: 100, only: undefined };

const folder = mkdtempSync(join(tmpdir(), 'pergola-attack-'));
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
let passed = 0;
let failed = 0;
try {
  for await (const verdict of attackAll(postgres.url, options)) {
    const { attack, problems, tries, slowestMs, residentMb, peakMb, limitedBy, lateMs } = verdict;
    const p99 = `${verdict.p99Ms.toFixed(0)} ms (${verdict.usualP99Ms.toFixed(0)} ms on a usual machine)`;
    if (passed + failed === 0)
      console.log(`memory is limited by ${limitedBy}; an answer is late after ${lateMs} ms`);
    const mark = counted(problems);
    const memory = `${residentMb} MB resident, ${peakMb} MB taken at most so far`;
    console.log(
      `${mark} ${attack}: 99 of 100 answers within ${p99}, the slowest ${slowestMs.toFixed(0)} ms, ${memory}${tries > 1 ? `, try ${tries}` : ''}`,
    );
    for (const problem of problems) console.log(`       ${problem}`);
  }
  if (options.only === undefined && options.memory === undefined) {
    await amplifyAll();
    await introspect();
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify({ passed, failed }));
process.exitCode = failed > 0 ? 1 : 0;

async function introspect(): Promise<void> {
  for (const tables of [FITTING, TOO_MANY] as const) {
    const { problems, peakMb } = await introspectLargeSchema(postgres.url, tables);
    const mark = counted(problems);
    console.log(
      `${mark} the introspection of ${tables} tables: ${peakMb} MB taken at most ${problems.join(', ')}`,
    );
  }
}

/** Counts a verdict, and returns what its line begins with. */
function counted(problems: readonly string[]): string {
  if (problems.length === 0) passed++;
  else failed++;
  return problems.length === 0 ? 'ok  ' : 'FAIL';
}

async function amplifyAll(): Promise<void> {
  let worst = 0;
  for await (const { generator, number, name, problems, cpuMs } of amplify(postgres.url, CASES)) {
    worst = Math.max(worst, cpuMs);
    counted(problems);
    if (problems.length > 0)
      console.log(`FAIL ${generator} ${number}, seed ${CASES.seed}, ${name}: ${problems.join(', ')}`);
  }
  console.log(
    `ok   ${CASES.count} random cases took at most ${worst} ms of CPU each, unless they are named above`,
  );
}
