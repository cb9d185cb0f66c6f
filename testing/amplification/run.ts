/** Runs random cases against an engine, one after another, and judges each: none may take more than a second of processor time of a usual
 *  machine, or more than 64 MB at its peak, keep another client waiting, or end the engine. In: a Postgres, a seed. Out: a verdict for each
 *  case. A case that fails is repeated, because collections of memory that belong to others may fall into it. The limits of time grow by as
 *  much as the machine is slower in these seconds. Not here: the cases (generators.ts). */
import pg from 'pg';
import { type LimitedEngine, startLimitedEngine } from '../attack/limited-engine.ts';
import { slowness } from '../machine-speed.ts';
import { type AmplificationCase, GENERATORS } from './generators.ts';
import { type Cost, measured, probeCpuMs } from './meter.ts';
import { Random } from './random.ts';
import { startAmplificationService } from './service.ts';
import { createAmplificationWorld } from './world.ts';

export const MOST_CPU_MS = 1_000;
export const MOST_MB = 64;
/** The longest time that another client may wait. */
export const MOST_PAUSE_MS = 250;
const TRIES = 3;
/** The cases after which heap and caches have their usual size. They are run, and judged by their processor time. */
const WARM_UP = 20;
/** The time for which the speed of the machine is taken as unchanged. */
const SAME_SPEED_MS = 10_000;

export type CaseVerdict = Cost & {
  readonly generator: string;
  /** The number of the case, which repeats it with the same seed. */
  readonly number: number;
  readonly name: string;
  readonly bytes: number;
  readonly outcome: string;
  readonly problems: readonly string[];
  /** How many times as long as a usual machine this one took, when the case was run. */
  readonly slowness: number;
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
  const generators = GENERATORS.filter(({ name }) => only === undefined || name === only);
  const databaseUrl = await createDatabase(postgresUrl);
  const start = () => startLimitedEngine(databaseUrl, ['--unauthorized-role', 'anonymous']);
  let engine = await start();
  const service = await startAmplificationService();
  try {
    await createAmplificationWorld(databaseUrl, engine.url, { service });
    for (let i = 0; i < WARM_UP; i++) {
      await generators[0]!.generate(new Random(-1 - i), service, i).run(engine.url);
    }
    const meter = { eachProbeCpuMs: await probeCpuMs(engine), speed: new MachineSpeed() };
    for (let number = from; number < from + count; number++) {
      const generator = generators[number % generators.length]!;
      const generated = generator.generate(new Random(seed * 1_000_003 + number), service, number + 1);
      const { name, bytes } = generated;
      let judged = await judge(engine, generated, meter, 0);
      for (let i = 1; i < TRIES && judged.problems.length > 0 && engine.isAlive(); i++) {
        judged = await judge(engine, generated, meter, i);
      }
      yield { generator: generator.name, number, name, bytes, ...judged };
      if (engine.isAlive()) continue;
      await engine.stop();
      engine = await start();
    }
  } finally {
    await engine.stop();
    await service.close();
  }
}

async function createDatabase(postgresUrl: string): Promise<string> {
  const postgres = new pg.Client({ connectionString: postgresUrl });
  await postgres.connect();
  await postgres.query('create database amplified');
  await postgres.end();
  return Object.assign(new URL(postgresUrl), { pathname: 'amplified' }).href;
}

/** The slowness of the machine, measured again after some seconds and for each case that looks too slow. */
class MachineSpeed {
  #measuredAt = Number.NEGATIVE_INFINITY;
  #slowness = 1;

  of({ cpuMs, pauseMs }: Cost): number {
    const isSuspect = cpuMs > MOST_CPU_MS || pauseMs > MOST_PAUSE_MS;
    if (isSuspect || performance.now() > this.#measuredAt + SAME_SPEED_MS) {
      this.#slowness = slowness(isSuspect ? undefined : 1);
      this.#measuredAt = performance.now();
    }
    return this.#slowness;
  }
}

type Judged = Cost & Pick<CaseVerdict, 'outcome' | 'problems' | 'slowness'>;

async function judge(
  engine: LimitedEngine,
  { run }: AmplificationCase,
  { eachProbeCpuMs, speed }: { readonly eachProbeCpuMs: number; readonly speed: MachineSpeed },
  salt: number,
): Promise<Judged> {
  let outcome = '';
  try {
    const cost = await measured(engine, eachProbeCpuMs, async () => {
      outcome = await run(engine.url, salt);
    });
    const times = speed.of(cost);
    const usual = (ms: number) => `${ms.toFixed(0)} ms (${(ms / times).toFixed(0)} ms on a usual machine)`;
    const problems = [
      ...(cost.cpuMs > MOST_CPU_MS * times ? [`${usual(cost.cpuMs)} of processor time`] : []),
      ...(cost.pauseMs > MOST_PAUSE_MS * times ? [`others waited ${usual(cost.pauseMs)}`] : []),
      ...(cost.peakMb > MOST_MB ? [`${cost.peakMb.toFixed(0)} MB at its peak`] : []),
      // The code of these, `unexpected`, is also that of a service which has failed.
      ...(/internal (server )?error/.test(outcome) ? ['an unexpected error'] : []),
    ];
    return { ...cost, outcome, problems, slowness: times };
  } catch (error) {
    const problems = [engine.isAlive() ? `no answer: ${error}` : 'the engine has ended'];
    return { cpuMs: 0, peakMb: 0, pauseMs: 0, outcome, problems, slowness: 1 };
  }
}
