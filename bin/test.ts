/** `pergola test`: runs the PermissionTests of a folder against an engine and a Postgres of its own, without a cluster.
 *  Exit codes: 0 every test passed, 1 a test failed, 2 the tests could not run.
 *  Not here: each part (permission-tests/, up/, operator/folder). */
import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { nearest } from '../engine/errors/nearest.ts';
import { engineClient } from '../operator/engine/client.ts';
import { FlagProblem } from '../operator/folder/flag-problem.ts';
import { folderOptions } from '../operator/folder/flags.ts';
import { FolderSource } from '../operator/folder/folder-source.ts';
import { printProblems } from '../operator/folder/print.ts';
import { crName } from '../operator/kinds.ts';
import { systemClock } from '../operator/pass/clock.ts';
import { reconcile } from '../operator/pass/reconcile.ts';
import type { Report } from '../operator/status/report.ts';
import { freePort } from './free-port.ts';
import { type PermissionTest, scratchSource, testsIn } from './permission-tests/folder-tests.ts';
import { FORMATS, type Format, isPassed } from './permission-tests/report.ts';
import { runTests, type TestBed } from './permission-tests/run-tests.ts';
import { startScratchDatabases } from './permission-tests/scratch-databases.ts';
import { startEngineProcess } from './up/engine-process.ts';

const HELP = `pergola test -f FOLDER: run the PermissionTests of a folder, without a cluster.

Starts a Postgres and an engine for the duration of the tests, runs the *.sql files of the folder in the order of their names, applies
the resources, and sends the request of each PermissionTest as its role. Every test starts from the data of the *.sql files.
Triggers are not applied, and every Source leads to this Postgres: no database and no webhook of a trigger outside is used.

  -f, --filename FOLDER     the folder with resources, tests and *.sql files (required)
      --only NAME           run this test only; may be repeated
      --database-url URL    a Postgres server of your own, for example one with extensions; the tests create databases on it
                            and drop them, and the database that the URL names is not changed
  -o, --output FORMAT       ${Object.keys(FORMATS).join(', ')}; default text
  -h, --help                print this help

The engine takes its other options from the environment (ENGINE_GRAPHQL_*).
Exit codes: 0 every test passed, 1 a test failed, 2 the tests could not run.
`;

const FLAGS = {
  filename: { type: 'string', short: 'f' },
  only: { type: 'string', multiple: true },
  'database-url': { type: 'string' },
  output: { type: 'string', short: 'o', default: 'text' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type TestOptions = {
  readonly folder: string;
  readonly only: readonly string[];
  readonly databaseUrl: string | undefined;
  readonly format: Format;
};

/** A reason why the tests could not run. */
class TestRunProblem extends Error {}

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const options = parse(argv);
    if (options === undefined) {
      process.stdout.write(HELP);
      return 0;
    }
    return await test(options);
  } catch (error) {
    const hint = error instanceof FlagProblem ? '\nSee: pergola test --help' : '';
    process.stderr.write(`pergola test: ${error instanceof Error ? error.message : String(error)}${hint}\n`);
    return 2;
  }
}

function parse(argv: readonly string[]): TestOptions | undefined {
  const { filename, only = [], 'database-url': databaseUrl, output, help } = flagsIn(argv);
  if (help) return undefined;
  if (filename === undefined) throw new FlagProblem('the folder is required: -f FOLDER');
  if (!statSync(filename, { throwIfNoEntry: false })?.isDirectory()) {
    throw new FlagProblem(`there is no folder ${filename}`);
  }
  if (!Object.hasOwn(FORMATS, output)) {
    throw new FlagProblem(`-o ${output} is not supported; there are ${Object.keys(FORMATS).join(', ')}`);
  }
  if (databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    throw new FlagProblem('--database-url needs a URL such as postgres://user@host:5432/postgres');
  }
  return { folder: filename, only, databaseUrl, format: output as Format };
}

function flagsIn(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: FLAGS, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new FlagProblem((error as Error).message);
  }
}

async function test(options: TestOptions): Promise<number> {
  const source = new FolderSource(options.folder);
  const tests = chosen(await testsOf(source, options), options);
  const results = await onTestBed(options, source, (bed) => runTests(bed, tests));
  process.stdout.write(FORMATS[options.format]({ results }));
  return results.every(isPassed) ? 0 : 1;
}

/** Returns the tests of the folder. Prints the problems of its files and raises TestRunProblem when there are any. */
async function testsOf(source: FolderSource, options: TestOptions): Promise<readonly PermissionTest[]> {
  const { tests, problems } = testsIn(await source.snapshot(), source);
  const all = [...source.problems, ...problems];
  process.stderr.write(printProblems(all));
  if (all.length > 0) throw new TestRunProblem('correct the files above; no test was run');
  if (tests.length === 0) {
    throw new TestRunProblem(
      `${options.folder} has no PermissionTest; add one (docs/guides/testing-permissions.md)`,
    );
  }
  return tests;
}

function chosen(tests: readonly PermissionTest[], { only }: TestOptions): readonly PermissionTest[] {
  const names = tests.map(({ name }) => name);
  const unknown = only.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const near = nearest(unknown, names);
    throw new FlagProblem(`there is no test ${unknown}${near ? `; did you mean ${near}?` : ''}`);
  }
  return only.length === 0 ? tests : tests.filter(({ name }) => only.includes(name));
}

/** Runs the body with an engine that serves the resources of the folder, and stops everything afterwards, also after Ctrl-C. */
async function onTestBed<T>(
  { folder, databaseUrl }: TestOptions,
  source: FolderSource,
  body: (bed: TestBed) => Promise<T>,
): Promise<T> {
  const stops: (() => Promise<void>)[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => reject(new TestRunProblem(`stopped by ${signal}`)));
    }
  });
  const work = async () => {
    const databases = await startScratchDatabases(folder, databaseUrl);
    stops.push(databases.stop);
    const [adminSecret, valuesKey] = [randomBytes(16).toString('hex'), randomBytes(32).toString('hex')];
    const headerPrefix = process.env['ENGINE_GRAPHQL_HEADER_PREFIX'] || 'x-engine-';
    const started = await startEngineProcess({
      port: await freePort(),
      databaseUrl: databases.app,
      metadataUrl: databases.metadata,
      adminSecret,
      valuesKey,
      headerPrefix,
      onStart: () => {},
    });
    stops.push(started.stop);
    const engine = { url: started.url, adminSecret, headerPrefix, client: 'pergola test' };
    await applyAll(engine, source, databases.app);
    return body({ engine, databases });
  };
  try {
    return await Promise.race([work(), interrupted]);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Resources of these kinds need other services. When one is not Ready, only the tests that use it fail. */
const NEEDS_SERVICES: ReadonlySet<string> = new Set(['Action', 'RemoteSchema', 'RemoteRelationship']);

/** Applies the resources. Prints those that are not Ready. Raises TestRunProblem when one of the database is among them: a test that expects
 *  an error would pass without testing anything. */
async function applyAll(engine: TestBed['engine'], source: FolderSource, databaseUrl: string): Promise<void> {
  const ports = {
    engine: engineClient(engine),
    source: scratchSource(source, databaseUrl),
    sink: source,
    clock: systemClock,
  };
  const report = await reconcile(ports, folderOptions(source, { headerPrefix: engine.headerPrefix }));
  if (report.problem) throw new TestRunProblem(`the resources were not applied: ${report.problem.message}`);
  const failing = failingIn(report);
  for (const { cr, outcome } of failing) {
    process.stderr.write(`${crName(cr)} is not Ready: ${outcome.reason}: ${outcome.message}\n`);
  }
  if (failing.some(({ cr }) => !NEEDS_SERVICES.has(cr.kind))) {
    throw new TestRunProblem('correct the resources above; no test was run');
  }
}

function failingIn({ resources, verdicts }: Report) {
  return resources
    .map((cr) => ({ cr, outcome: verdicts.get(cr.metadata.uid)!.outcome }))
    .filter(({ outcome }) => outcome.reason !== 'Applied' && outcome.reason !== 'Paused');
}
