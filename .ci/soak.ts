/** Sends varied operations (testing/soak/operations.ts) for --minutes at --rate a second to an engine whose memory is limited to --memory
 *  MiB. The engine must stay alive, no operation may fail, and the live heap must not grow once caches are full.
 *  Out: each minute the operations, the live heap after a full collection, and the resident memory; exit 1 on a problem.
 *  Not here: hostile clients (.ci/attack.ts), random requests (.ci/fuzz.ts). */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { bundle } from '../bin/bundle.ts';
import { FOLDER } from '../bin/bundled.mjs';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';
import { ADMIN_SECRET, type LimitedEngine, startLimitedEngine } from '../testing/attack/limited-engine.ts';
import { perform, prepare } from '../testing/soak/operations.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    rate: { type: 'string', default: '40' },
    memory: { type: 'string', default: '256' },
  },
});
/** The growth of the live heap, from the middle of the run to its end, that is not yet a leak. */
const MOST_GROWTH_MB = 8;
const MB = 2 ** 20;

type Reading = { readonly liveMb: number; readonly residentMb: number };

const folder = mkdtempSync(join(tmpdir(), 'pergola-soak-'));
chmodSync(folder, 0o711);
const readingFile = join(folder, 'reading.json');
/** Collects all garbage at SIGUSR2, and writes the memory before and after it. */
const probe = `data:text/javascript,${encodeURIComponent(`
  import { renameSync, writeFileSync } from 'node:fs';
  process.on('SIGUSR2', () => {
    const residentMb = process.memoryUsage.rss() / ${MB};
    gc();
    const { heapUsed, external } = process.memoryUsage();
    writeFileSync('${readingFile}.new', JSON.stringify({ liveMb: (heapUsed + external) / ${MB}, residentMb }));
    renameSync('${readingFile}.new', '${readingFile}');
  });`)}`;

await bundle(FOLDER);
const postgres = await startEmbeddedPostgres({ folder: join(folder, 'postgres'), isDurable: false });
const engine = await startLimitedEngine(postgres.url, [], {
  limitBytes: Number(options.memory) * MB,
  nodeFlags: ['--expose-gc', '--import', probe],
});
const errors: string[] = [];
let done = 0;
try {
  const subject = { url: engine.url, adminSecret: ADMIN_SECRET };
  await prepare(subject);
  console.log(`memory limited by ${engine.limitedBy}`);
  const readings = [await reading(engine)];
  report(0, readings[0]!);
  for (let minute = 1; minute <= Number(options.minutes); minute++) {
    await run(subject, minute);
    readings.push(await reading(engine));
    report(minute, readings.at(-1)!);
  }
  conclude(readings);
} finally {
  await engine.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Sends the operations of a minute at the rate, also while earlier ones are running, except that those that change metadata wait. */
async function run(subject: Parameters<typeof perform>[0], minute: number): Promise<void> {
  const rate = Number(options.rate);
  const end = Date.now() + 60_000;
  const running = new Set<Promise<void>>();
  for (let n = (minute - 1) * 60 * rate; Date.now() < end && engine.isAlive(); n++) {
    const operation = perform(subject, n)
      .catch((error: unknown) => void errors.push(String(error)))
      .finally(() => {
        done++;
        running.delete(operation);
      });
    running.add(operation);
    if (n % 100 >= 95 || running.size > rate) await Promise.all(running);
    await sleep(1000 / rate);
  }
  await Promise.all(running);
}

/** Fails when the engine has ended. */
async function reading({ pid }: LimitedEngine): Promise<Reading> {
  rmSync(readingFile, { force: true });
  process.kill(pid, 'SIGUSR2');
  while (!existsSync(readingFile)) {
    if (!engine.isAlive()) throw new Error('the engine has ended');
    await sleep(50);
  }
  return JSON.parse(readFileSync(readingFile, 'utf8'));
}

function report(minute: number, { liveMb, residentMb }: Reading): void {
  const memory = `live ${liveMb.toFixed(1)} MB, resident ${residentMb.toFixed(0)} MB`;
  console.log(`${minute} min: ${done} operations, ${errors.length} errors, ${memory}`);
}

function conclude(readings: readonly Reading[]): void {
  const [middle, last] = [readings[Math.ceil(readings.length / 2)], readings.at(-1)!];
  const growthMb = middle ? last.liveMb - middle.liveMb : 0;
  const mostMb = (engine.peakBytes() / MB).toFixed(0);
  console.log(`most resident ${mostMb} MB; live heap in the second half ${growthMb.toFixed(1)} MB more`);
  for (const error of new Set(errors.slice(0, 20))) console.log(error);
  process.exitCode = errors.length > 0 || growthMb > MOST_GROWTH_MB ? 1 : 0;
}
