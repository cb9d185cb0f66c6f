/** Attacks an engine with 512 MiB, one attack after another, and judges each: the engine survives, its memory stays below the limit, and
 *  an ordinary client is answered within a second throughout, or longer on a slow machine. In: a Postgres. Out: a verdict for each attack.
 *  An engine that has ended is started again. Not here: the attacks (attacks.ts). */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { slowness } from '../machine-speed.ts';
import { ATTACKS, type Attack } from './attacks.ts';
import { type LimitedEngine, startLimitedEngine } from './limited-engine.ts';
import { type Probes, probe } from './probe.ts';
import { createWorld, type World } from './world.ts';

const ATTACKER = new URL('./attacker.ts', import.meta.url);
/** The time after which an answer is late on a usual machine. */
const LATE_MS = 1_000;
/** The interval at which rows change during an attack, which sends a new result to every subscriber. */
const CHANGE_MS = 500;
/** The time after which an attack is judged even if it is not fully launched. */
const LAUNCH_SECONDS = 20;
/** An attack is repeated if answers were late and nothing else was wrong, because another process may have used the processor. */
const MOST_TRIES = 3;
const PAUSE_MS = 3_000;
/** The number of similar failures that are listed. */
const MOST_LISTED = 5;

export type Verdict = {
  readonly attack: string;
  readonly problems: readonly string[];
  /** True when late answers are the only problem. */
  readonly isOnlyLate: boolean;
  readonly tries: number;
  readonly slowestMs: number;
  /** The time within which 99 of 100 answers to others arrived, and what it would be on a usual machine. */
  readonly p99Ms: number;
  readonly usualP99Ms: number;
  readonly residentMb: number;
  readonly peakMb: number;
  readonly limitedBy: string;
  /** The time after which an answer was late on this machine. */
  readonly lateMs: number;
};

type AttackOptions = {
  /** The text that the names of attacks contain. Absent: all run. */
  readonly only?: string | undefined;
  /** The memory of the engine in MiB, of which each attack then gets a new one. Absent: one engine with 512. */
  readonly memory?: string | undefined;
};

export async function* attackAll(
  postgresUrl: string,
  { only, memory }: AttackOptions,
): AsyncGenerator<Verdict> {
  const lateMs = Math.round(LATE_MS * slowness());
  const limitBytes = memory === undefined ? undefined : Number(memory) * 2 ** 20;
  let target = await Target.start(postgresUrl, 0, limitBytes);
  let isUsed = false;
  try {
    for (const [number, attack] of ATTACKS.entries()) {
      if (only !== undefined && !attack.name.includes(only)) continue;
      if (!target.engine.isAlive() || (isUsed && limitBytes !== undefined)) {
        await target.stop();
        target = await Target.start(postgresUrl, number + 1, limitBytes);
      }
      isUsed = true;
      let verdict = { ...(await judge(target, attack, number, lateMs)), tries: 1, lateMs };
      while (verdict.isOnlyLate && verdict.tries < MOST_TRIES) {
        await sleep(PAUSE_MS);
        verdict = { ...verdict, ...(await judge(target, attack, number, lateMs)), tries: verdict.tries + 1 };
      }
      yield verdict;
    }
  } finally {
    await target.stop();
  }
}

class Target {
  readonly engine: LimitedEngine;
  readonly world: World;

  private constructor(engine: LimitedEngine, world: World) {
    this.engine = engine;
    this.world = world;
  }

  static async start(postgresUrl: string, number: number, limitBytes: number | undefined): Promise<Target> {
    const name = `attacked_${number}`;
    const postgres = new pg.Client({ connectionString: postgresUrl });
    await postgres.connect();
    await postgres.query(`create database ${name}`);
    await postgres.end();
    const databaseUrl = Object.assign(new URL(postgresUrl), { pathname: name }).href;
    const engine = await startLimitedEngine(databaseUrl, ['--unauthorized-role', 'anonymous'], {
      limitBytes,
    });
    return new Target(engine, await createWorld(databaseUrl, engine.url));
  }

  async stop(): Promise<void> {
    await this.world.close();
    await this.engine.stop();
  }
}

type Judged = Omit<Verdict, 'tries' | 'lateMs'>;

async function judge(
  { engine, world }: Target,
  attack: Attack,
  number: number,
  lateMs: number,
): Promise<Judged> {
  const attacker = fork(ATTACKER, [String(number), engine.url]);
  const exited = once(attacker, 'exit');
  const changing = setInterval(() => void world.changeRows().catch(() => {}), CHANGE_MS);
  const wrong: string[] = [];
  const over = (async () => {
    const launched = await Promise.race([
      once(attacker, 'message').then(() => true),
      sleep(LAUNCH_SECONDS * 1000, true),
      exited.then(() => false),
    ]);
    if (!launched) wrong.push('the attacker has failed');
    const verified = attack.verify?.(world) ?? Promise.resolve([]);
    const [problems] = await Promise.all([verified, sleep(attack.heldSeconds * 1000)]);
    wrong.push(...problems);
  })();
  const probes = await probe(engine.url, lateMs, over);
  clearInterval(changing);
  if (attacker.connected) attacker.send('end');
  await exited;
  return verdictOf(engine, attack, probes, wrong);
}

function verdictOf(
  engine: LimitedEngine,
  attack: Attack,
  { answered, slowestMs, p99Ms, failures, late }: Probes,
  wrong: readonly string[],
): Judged {
  const problems = [...failures.slice(0, MOST_LISTED), ...wrong];
  if (failures.length > MOST_LISTED) problems.push(`… ${failures.length} such, ${answered} answered well`);
  if (!engine.isAlive()) problems.unshift('the engine has ended');
  const peak = engine.peakBytes();
  if (peak > engine.limitBytes) problems.push(`the engine took ${mb(peak)} MB`);
  if (answered + late.length === 0) problems.push('no probe was answered');
  return {
    attack: attack.name,
    problems: [...problems, ...late.slice(0, MOST_LISTED)],
    isOnlyLate: problems.length === 0 && late.length > 0,
    slowestMs,
    p99Ms,
    usualP99Ms: p99Ms / slowness(),
    residentMb: mb(engine.residentBytes()),
    peakMb: mb(peak),
    limitedBy: engine.limitedBy,
  };
}

function mb(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
