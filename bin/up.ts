/** `pergola up [FOLDER]`: an embedded Postgres (or the one of --database-url), the engine, and the reconcile loop over a folder of
 *  custom resources, until Ctrl-C stops all of it, the last started first. A second start finds its data again.
 *  Not here: each part (up/, embedded-postgres.ts, operator/folder). */
import { join } from 'node:path';
import { engineClient } from '../operator/engine/client.ts';
import { operation, perform } from '../operator/engine/request.ts';
import { reportFailure, runCommand } from '../operator/folder/flag-problem.ts';
import { folderOptions } from '../operator/folder/flags.ts';
import { FolderSource } from '../operator/folder/folder-source.ts';
import { follow } from '../operator/folder/follow.ts';
import { invocation, runnable } from '../operator/folder/invocation.ts';
import { shellWord } from '../operator/folder/shell-word.ts';
import { watchOutput } from '../operator/folder/watch-output.ts';
import { systemClock } from '../operator/pass/clock.ts';
import type { Report } from '../operator/status/report.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { writeForConsole } from './up/console-files.ts';
import { ensureDatabases, recreateApp } from './up/databases.ts';
import { databaseWaitOutput, deliveryOutput, logFile } from './up/engine-log.ts';
import { choosePort, type EngineProcess, startEngineProcess } from './up/engine-process.ts';
import { watchEnter } from './up/enter-key.ts';
import { watchNewTables } from './up/new-tables.ts';
import { folderToServe } from './up/offer-init.ts';
import { HELP, parseUp, type UpOptions } from './up/options.ts';
import { watchLaunchers } from './up/processes.ts';
import { type SeedDatabase, type SeedLoop, seedHint, seedLoop } from './up/seed-loop.ts';
import {
  adminSecretIn,
  openStateFolder,
  postgresPortIn,
  type StateFolder,
  valuesKeyIn,
} from './up/state-folder.ts';
import { unsetVariablesOutput } from './up/unset-variables.ts';
import { welcome } from './up/welcome.ts';

const print = (text: string) => void process.stdout.write(runnable(text));

export function run(argv: readonly string[]): Promise<number> {
  return runCommand('up', () => parseUp(argv, process.env), up, { help: HELP });
}

/** Started in order; each says how to stop it, and they are stopped in reverse, also when a later one fails to start. */
async function up(given: UpOptions): Promise<number> {
  const stops: (() => unknown)[] = [];
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  // A terminal or a reader of the output that has gone away.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => stop.abort());
  stops.push(watchLaunchers(() => stop.abort()));
  let hasStarted = false;
  try {
    const state = await openStateFolder(given.data);
    hasStarted = true;
    stops.push(state.release);
    if (state.ended.length > 0) {
      process.stdout.write(`Ended what an earlier start left running: ${state.ended.join(', ')}.\n`);
    }
    const databases = await startDatabases(given, state, stops);
    const options = { ...given, folder: await servedFolder(given, databases.databaseUrl, stop.signal) };
    if (stop.signal.aborted) return 0;
    const adminSecret = options.adminSecret ?? adminSecretIn(state);
    const log = logFile(join(state.path, 'engine.log'));
    stops.push(log.close);
    const engine = await startEngineProcess({
      ...options,
      ...databases,
      port: await choosePort(options.port),
      adminSecret,
      valuesKey: options.hasValuesKey ? undefined : valuesKeyIn(state),
      environment: options.engineEnvironment,
      onStart: state.noteEngine,
      onLine: logReceiver(log.write),
      signal: stop.signal,
    });
    stops.push(engine.stop);
    if (stop.signal.aborted) return 0;
    const databaseUrl = options.databaseUrl === undefined ? databases.databaseUrl : undefined;
    const running = { url: engine.url, adminSecret, databaseUrl, statePath: state.path };
    const hasKey = isInteractive();
    const greet = () => print(welcome(options, running, hasKey));
    const onFirstPass = () => {
      greet();
      if (hasKey) stops.push(watchEnter(process.stdin, greet));
    };
    const appUrl = databases.databaseUrl;
    const { seeds } = databases;
    return await loop({ ...options, appUrl, adminSecret, engine, seeds, onFirstPass }, stop);
  } catch (error) {
    // The reason first, and then that what has started is stopped for it.
    return reportFailure('up', error);
  } finally {
    if (hasStarted) print('Stopping.\n');
    for (const end of stops.reverse()) await end();
  }
}

function servedFolder(options: UpOptions, url: string, signal: AbortSignal): Promise<string> {
  const { stdin, stdout } = process;
  const offer = { ...options, url, isOwnDatabase: options.databaseUrl !== undefined };
  return folderToServe(offer, { input: stdin, output: stdout, isInteractive: isInteractive(), signal });
}

/** True when somebody reads the output and can type. */
function isInteractive(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

function logReceiver(write: (line: string) => void): (line: string) => void {
  const outputs = [databaseWaitOutput(print), deliveryOutput(print)];
  return (line) => {
    write(line);
    for (const output of outputs) output(line);
  };
}

type Databases = {
  readonly databaseUrl: string;
  readonly metadataUrl: string;
  /** Undefined for a database of the user in which no SQL is run. */
  readonly seeds?: SeedLoop;
};

async function startDatabases(
  options: UpOptions,
  state: StateFolder,
  stops: (() => unknown)[],
): Promise<Databases> {
  const follow = async (database: SeedDatabase): Promise<SeedLoop> => {
    const seeds = seedLoop(options, database, print);
    stops.push(seeds.close);
    await seeds.run();
    return seeds;
  };
  // Somebody's own database is theirs: nothing is run there unasked but the engine's own schema.
  if (options.databaseUrl !== undefined) {
    const { databaseUrl, metadataDatabaseUrl, runsSql } = options;
    if (!runsSql) print((await seedHint(options.folder, options.migrations)) ?? '');
    const seeds = runsSql ? await follow({ url: databaseUrl, shownUrl: 'URL' }) : undefined;
    return { databaseUrl, metadataUrl: metadataDatabaseUrl ?? databaseUrl, ...(seeds && { seeds }) };
  }
  const port = await postgresPortIn(state);
  const postgres = await startEmbeddedPostgres({ folder: state.postgres, port });
  stops.push(postgres.stop);
  const { app, metadata } = await ensureDatabases(postgres.url);
  const seeds = await follow({
    url: app,
    shownUrl: app,
    recreate: () => recreateApp(postgres.url),
    statePath: state.path,
  });
  return { databaseUrl: app, metadataUrl: options.metadataDatabaseUrl ?? metadata, seeds };
}

/** Until a signal, or until the engine ends by itself. */
async function loop(
  options: Pick<UpOptions, 'folder' | 'headerPrefix' | 'databaseUrl'> & {
    /** The URL of the database with the tables. */
    readonly appUrl: string;
    readonly adminSecret: string;
    readonly engine: EngineProcess;
    readonly seeds: SeedLoop | undefined;
    /** Called when the first pass has ended, also when it failed. */
    readonly onFirstPass: () => void;
  },
  stop: AbortController,
): Promise<number> {
  const { engine, adminSecret, seeds } = options;
  const source = new FolderSource(options.folder);
  const address = { url: engine.url, adminSecret, headerPrefix: options.headerPrefix };
  const outputs = [watchOutput(source, print), unsetVariablesOutput(process.env, print)];
  let code = 0;
  let latest: Report | undefined;
  let isFirst = true;
  const afterPass = (isWhole: boolean) => {
    if (isFirst && isWhole) options.onFirstPass();
    if (isWhole) isFirst = false;
  };
  engine.exited.then((status) => {
    if (stop.signal.aborted) return;
    process.stderr.write(`The engine exited with code ${status}.\n${engine.said()}`);
    code = 1;
    stop.abort();
  });
  // The engine looks at the tables again; resources that wait for one are applied in the next pass. A new database has no triggers.
  const seeding = seeds?.follow(stop.signal, async (isRecreated) => {
    const args = isRecreated ? { recreate_event_triggers: ['default'] } : {};
    await perform(address, operation('reload_metadata', args), () => undefined).catch(() => {});
  });
  const looking = watchNewTables({
    url: options.appUrl,
    init: `${invocation()} init --database-url ${options.databaseUrl === undefined ? options.appUrl : 'URL'} -o ${shellWord(options.folder)}`,
    report: () => latest,
    print,
    signal: stop.signal,
  });
  const writing = writeForConsole({ address, folder: options.folder, print, signal: stop.signal });
  await follow(
    { engine: engineClient(address), source, sink: source, clock: systemClock },
    {
      inputs: [options.folder],
      options: () => folderOptions(source, { headerPrefix: options.headerPrefix }),
      signal: stop.signal,
      onReport: (report) => {
        for (const output of outputs) output(report);
        latest = report;
        afterPass(!report.isCut || report.problem !== undefined);
      },
      onError: (error) => {
        process.stderr.write(`${error.message}\n`);
        afterPass(true);
      },
    },
  );
  await Promise.all([seeding, looking, writing]);
  return code;
}
