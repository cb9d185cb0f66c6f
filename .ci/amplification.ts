/** Runs --cases random cases that could amplify: requests, answers, resources and migrations of up to 1 MB from a grammar. None may take more than a second of processor
 *  time of the engine, more than 64 MB, keep others waiting for 250 ms, or end it. Out: the ten worst by processor time, by memory and by waiting; --out JSON {passed, failed}; exit 1
 *  on a problem. The seed is printed; --seed S --case N --cases 1 repeats a case, --only NAME runs one generator. Linux only.
 *  A shorter run is part of the attack stage. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { amplify, type CaseVerdict } from '../testing/amplification/run.ts';

const { values: options } = parseArgs({
  options: {
    cases: { type: 'string', default: '5000' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    case: { type: 'string', default: '0' },
    only: { type: 'string' },
    out: { type: 'string' },
  },
});
const WORST = 10;

const [seed, from, count] = [Number(options.seed), Number(options.case), Number(options.cases)];
const folder = mkdtempSync(join(tmpdir(), 'pergola-amplification-'));
chmodSync(folder, 0o711);
const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
const verdicts: CaseVerdict[] = [];
console.log(`seed ${seed}`);
try {
  for await (const verdict of amplify(postgres.url, { seed, from, count, only: options.only })) {
    verdicts.push(verdict);
    if (verdict.problems.length > 0) console.log(`FAIL ${lineOf(verdict)}: ${verdict.problems.join(', ')}`);
    if (verdicts.length % 500 === 0) console.log(`${verdicts.length} cases`);
  }
} finally {
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
show('processor time', ({ cpuMs }) => cpuMs);
show('memory', ({ peakMb }) => peakMb);
show('the time that others waited', ({ pauseMs }) => pauseMs);
const failed = verdicts.filter(({ problems }) => problems.length > 0).length;
console.log(`${verdicts.length - failed} passed, ${failed} failed`);
if (options.out) writeFileSync(options.out, JSON.stringify({ passed: verdicts.length - failed, failed }));
process.exitCode = failed > 0 ? 1 : 0;

function show(title: string, of: (verdict: CaseVerdict) => number): void {
  console.log(`\nthe worst ${WORST} by ${title}:`);
  for (const verdict of verdicts.toSorted((a, b) => of(b) - of(a)).slice(0, WORST)) {
    console.log(`  ${lineOf(verdict)}\n    ${verdict.outcome.replaceAll('\n', ' ')}`);
  }
}

function lineOf({ generator, number, name, bytes, cpuMs, peakMb, pauseMs, slowness }: CaseVerdict): string {
  const usual = (ms: number) => `${ms.toFixed(0)} ms (${(ms / slowness).toFixed(0)} ms on a usual machine)`;
  const cost = `${usual(cpuMs)} of CPU, ${peakMb.toFixed(0)} MB, longest other answer ${usual(pauseMs)}`;
  return `${generator} ${number}: ${cost}, ${(bytes / 1000).toFixed(0)} kB of ${name}`;
}
