/** Times subjects: the CPU of a target and of Postgres for each piece of work, the engine and the server that is written by hand in turn,
 *  so that whatever else the machine does meets both. All subjects take turns, too: a minute of other work spoils no single one.
 *  In: servers and subjects. Out: samples, one of each round, and their medians. Not here: limits (verdict.ts). */
import { cpuOf, cpuOfTree } from './processes.ts';
import type { Servers, Target } from './servers.ts';
import { PARALLEL, type Subject } from './subjects.ts';
import { requestsOf, type Workload } from './workloads.ts';
import { ADMIN_SECRET } from './world.ts';

/** A number, so that a machine that is busy compiles as much; the time limits those that take long. */
const WARM_REQUESTS = 2000;
const WARM_MS = 1500;

/** CPU of one piece of work in microseconds, and the times of requests in milliseconds. */
type Cost = { readonly own: number; readonly postgres: number; readonly p50: number; readonly p99: number };
export type Sample = { readonly engine: Cost; readonly byHand: Cost };

export type Timing = {
  /** The CPU of the engine and Postgres, as a multiple of that of the other server and Postgres. */
  readonly ratio: number;
  /** The lower bound of the 95 % confidence interval of the ratio. On a quiet machine it is close to the ratio. */
  readonly ratioAtLeast: number;
  readonly engine: Cost;
  readonly byHand: Cost;
};

/** Has both servers compile what requests need: all of them, whichever are measured, because they share most of the code. Without this,
 *  a request that is measured alone costs more than among others. */
export async function warm({ engine, byHand, load }: Servers, workloads: readonly Workload[]): Promise<void> {
  for (const workload of workloads) {
    const requests = requestsOf(workload, ADMIN_SECRET);
    for (const { port } of [engine, byHand]) {
      await load({ port, requests, connections: PARALLEL, count: WARM_REQUESTS, ms: WARM_MS });
    }
  }
}

/** Returns the samples of each subject, by its name. */
export async function sample(
  servers: Servers,
  subjects: readonly Subject[],
  { rounds, ms, progress }: { readonly rounds: number; readonly ms: number; readonly progress: () => void },
): Promise<ReadonlyMap<string, readonly Sample[]>> {
  const samples = new Map<string, Sample[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const subject of subjects) {
      if (round % subject.every > 0) continue;
      const measure = (target: Target) => costOf(servers, subject, target, ms);
      const isEngineFirst = round % 2 === 0;
      const first = await measure(isEngineFirst ? servers.engine : servers.byHand);
      const second = await measure(isEngineFirst ? servers.byHand : servers.engine);
      const [engine, byHand] = isEngineFirst ? [first, second] : [second, first];
      samples.get(subject.name)!.push({ engine, byHand });
    }
    progress();
  }
  return samples;
}

export function timingOf(samples: readonly Sample[]): Timing {
  const sum = ({ own, postgres }: Cost) => own + postgres;
  const costs = (of: 'engine' | 'byHand'): Cost => ({
    own: median(samples.map((one) => one[of].own)),
    postgres: median(samples.map((one) => one[of].postgres)),
    p50: median(samples.map((one) => one[of].p50)),
    p99: median(samples.map((one) => one[of].p99)),
  });
  const ratios = samples.map(({ engine, byHand }) => sum(engine) / sum(byHand));
  return {
    ratio: median(ratios),
    ratioAtLeast: lowerBound(ratios),
    engine: costs('engine'),
    byHand: costs('byHand'),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 > 0 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Returns the lower bound of the 95 % confidence interval of the median: an order statistic by the binomial distribution in its normal
 *  approximation, which supposes nothing about how the values are distributed. */
export function lowerBound(values: readonly number[]): number {
  const rank = Math.floor(values.length / 2 - 0.98 * Math.sqrt(values.length));
  return values.toSorted((a, b) => a - b)[Math.max(0, rank)]!;
}

async function costOf({ postgresPid }: Servers, subject: Subject, target: Target, ms: number): Promise<Cost> {
  const { work, close } = await subject.prepare(target);
  const before = { own: cpuOf(target.pid), postgres: cpuOfTree(postgresPid) };
  const { count, times } = await work(ms);
  const after = { own: cpuOf(target.pid), postgres: cpuOfTree(postgresPid) };
  close();
  return {
    own: (after.own - before.own) / count,
    postgres: (after.postgres - before.postgres) / count,
    p50: times[Math.floor(times.length * 0.5)] ?? 0,
    p99: times[Math.floor(times.length * 0.99)] ?? 0,
  };
}
