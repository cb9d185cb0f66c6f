/** The black-box conformance cases against an engine over a Citus cluster: a mirror compares its answers with those of an engine over a plain Postgres,
 *  which the runner checks. In: both servers, the folder of the cases, a seed, and how many classes of cases (0: all). Out: the mirror with its
 *  counts. Not here: cases over WebSockets, which have the same statements. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  environmentOf,
  REFERENCE_DEFAULTS,
  type Runner,
  runnerIn,
  SECRET,
} from '../../conformance-runner.ts';
import { startEngine } from '../../engine-process.ts';
import { choicesOf, type Servers } from '../worlds.ts';
import { Mirror } from './mirror.ts';

const GROUP = 'core';

type Manifest = {
  readonly classes: readonly {
    readonly id: string;
    readonly group?: string;
    readonly tests: readonly { readonly group?: string }[];
  }[];
};

export type ConformanceOptions = {
  readonly folder: string;
  readonly seed: number;
  /** The number of classes, chosen by the seed; 0 for all. */
  readonly classes: number;
  /** A regular expression that the runner takes instead. */
  readonly only?: string | undefined;
  /** A folder for keys. */
  readonly temporary: string;
};

/** Errors of all roles have their cause, which is not compared. */
const WITH_CAUSES = { ENGINE_GRAPHQL_DEV_MODE: 'true' };

export async function conformance(servers: Servers, options: ConformanceOptions): Promise<Mirror> {
  const runner = runnerIn(options.folder);
  const environment = environmentOf(runner, GROUP, options.temporary);
  const start = (url: string) =>
    startEngine({
      ...process.env,
      ...REFERENCE_DEFAULTS,
      ...environment,
      ...WITH_CAUSES,
      ENGINE_GRAPHQL_DATABASE_URL: url,
    });
  const plain = await start(servers.postgresUrl);
  const citus = await start(servers.citusUrl);
  const mirror = new Mirror(
    { url: plain.url, databaseUrl: servers.postgresUrl },
    { url: citus.url, databaseUrl: servers.citusUrl },
    options.seed,
  );
  try {
    const url = await mirror.open();
    const where = [
      '--url',
      url,
      '--pg',
      servers.postgresUrl,
      '--admin-secret',
      SECRET,
      '--cases',
      runner.cases,
    ];
    const how = [
      '--group',
      GROUP,
      '--transport',
      'http',
      '-q',
      '--errors',
      'code',
      '--jwt-keys',
      options.temporary,
    ];
    const program = spawn('node', [runner.program, ...where, ...how, '--class', classesOf(runner, options)], {
      stdio: 'inherit',
      env: { ...process.env, ...environment, CONF_TAG: '1' },
    });
    await once(program, 'exit');
  } finally {
    await mirror.close();
    await plain.stop();
    await citus.stop();
  }
  return mirror;
}

/** Returns a regular expression of the names of the classes to run. */
function classesOf({ cases }: Runner, { seed, classes, only }: ConformanceOptions): string {
  if (only !== undefined) return only;
  const manifest = JSON.parse(readFileSync(join(cases, 'manifest.json'), 'utf8')) as Manifest;
  const all = manifest.classes
    .filter(({ group, tests }) => tests.some((test) => (test.group ?? group) === GROUP))
    .map(({ id }) => id);
  const choices = choicesOf(seed, 0)(all.length);
  const shuffled = all
    .map((id) => [choices.below(1_000_000), id] as const)
    .sort(([one], [other]) => one - other);
  const chosen = classes === 0 ? shuffled : shuffled.slice(0, classes);
  return `^(${chosen.map(([, id]) => id).join('|')})$`;
}
