/** Runs random cases against an engine, one after another, and judges each: none may take more than a second of processor time, or more
 *  than 64 MB at its peak, or end the engine. In: a Postgres, a seed. Out: a verdict for each case. A case that fails is repeated, because
 *  collections of memory that belong to others may fall into it. Not here: the cases (generators.ts). */
import pg from 'pg';
import { type LimitedEngine, startLimitedEngine } from '../attack/limited-engine.ts';
import { slowness } from '../machine-speed.ts';
import { type AmplificationCase, GENERATORS } from './generators.ts';
import { type Cost, measured } from './meter.ts';
import { Random } from './random.ts';
import { createAmplificationWorld } from './world.ts';

export const MOST_CPU_MS = 1_000;
export const MOST_MB = 64;
const TRIES = 3;
/** The cases after which heap and caches have their usual size. They are run, and judged by their processor time. */
const WARM_UP = 20;

export type CaseVerdict = Cost & {
  readonly generator: string;
  /** The number of the case, which repeats it with the same seed. */
  readonly number: number;
  readonly name: string;
  readonly bytes: number;
  readonly outcome: string;
  readonly problems: readonly string[];
};

export type Cases = {
  readonly seed: number;
  readonly from: number;
  readonly count: number;
  /** The name of a generator; all of them without it. */
  readonly only: string | undefined;
};

export async function* amplify(
  postgresUrl: string,
  { seed, from, count, only }: Cases,
): AsyncGenerator<CaseVerdict> {
  const mostCpuMs = MOST_CPU_MS * slowness();
  const generators = GENERATORS.filter(({ name }) => only === undefined || name === only);
  const databaseUrl = await createDatabase(postgresUrl);
  const start = () => startLimitedEngine(databaseUrl, ['--unauthorized-role', 'anonymous']);
  let engine = await start();
  try {
    await createAmplificationWorld(databaseUrl, engine.url);
    for (let i = 0; i < WARM_UP; i++) await generators[0]!.generate(new Random(-1 - i)).run(engine.url);
    for (let number = from; number < from + count; number++) {
      const generator = generators[number % generators.length]!;
      const generated = generator.generate(new Random(seed * 1_000_003 + number));
      const { name, bytes } = generated;
      let judged = await judge(engine, generated, mostCpuMs);
      for (let i = 1; i < TRIES && judged.problems.length > 0 && engine.isAlive(); i++) {
        judged = await judge(engine, generated, mostCpuMs);
      }
      yield { generator: generator.name, number, name, bytes, ...judged };
      if (engine.isAlive()) continue;
      await engine.stop();
      engine = await start();
    }
  } finally {
    await engine.stop();
  }
}

async function createDatabase(postgresUrl: string): Promise<string> {
  const postgres = new pg.Client({ connectionString: postgresUrl });
  await postgres.connect();
  await postgres.query('create database amplified');
  await postgres.end();
  return Object.assign(new URL(postgresUrl), { pathname: 'amplified' }).href;
}

type Judged = Cost & Pick<CaseVerdict, 'outcome' | 'problems'>;

async function judge(engine: LimitedEngine, { run }: AmplificationCase, mostCpuMs: number): Promise<Judged> {
  let outcome = '';
  try {
    const cost = await measured(engine, async () => {
      outcome = await run(engine.url);
    });
    const problems = [
      ...(cost.cpuMs > mostCpuMs ? [`${cost.cpuMs} ms of processor time`] : []),
      ...(cost.peakMb > MOST_MB ? [`${cost.peakMb.toFixed(0)} MB at its peak`] : []),
      ...(outcome.includes('"code":"unexpected"') ? ['an unexpected error'] : []),
    ];
    return { ...cost, outcome, problems };
  } catch (error) {
    const problems = [engine.isAlive() ? `no answer: ${error}` : 'the engine has ended'];
    return { cpuMs: 0, peakMb: 0, pauseMs: 0, outcome, problems };
  }
}
