/** A Postgres and an engine with the resources of a folder, for the duration of the tests. In: the folder. Out: a TestBed.
 *  Not here: the databases (scratch-databases.ts), running tests (run-tests.ts). */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { engineClient } from '../../operator/engine/client.ts';
import { folderOptions } from '../../operator/folder/flags.ts';
import type { FolderSource } from '../../operator/folder/folder-source.ts';
import { isFailing } from '../../operator/folder/print.ts';
import { crName } from '../../operator/kinds.ts';
import { systemClock } from '../../operator/pass/clock.ts';
import { reconcile } from '../../operator/pass/reconcile.ts';
import type { Report } from '../../operator/status/report.ts';
import { freePort } from '../free-port.ts';
import type { DatabaseFolders } from '../prepare-database.ts';
import { startEngineProcess } from '../up/engine-process.ts';
import { migrationsDeclaredIn, scratchSource } from './folder-tests.ts';
import type { TestBed } from './run-tests.ts';
import { startScratchDatabases } from './scratch-databases.ts';

/** A reason why the tests could not run. */
export class TestRunProblem extends Error {}

/** Raised by Ctrl-C and its like. */
class Interruption extends Error {}

/** Runs the body on a test bed and stops everything afterwards, also after Ctrl-C. Prints the resources that are not Ready. */
export async function onTestBed<T>(
  { databaseUrl, ...folders }: DatabaseFolders & { readonly databaseUrl: string | undefined },
  source: FolderSource,
  body: (bed: TestBed) => Promise<T>,
): Promise<T> {
  const stops: (() => Promise<void>)[] = [];
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.once(signal, () => reject(new Interruption(`stopped by ${signal}`)));
    }
  });
  const work = async () => {
    const declared = await migrationsDeclaredIn(await source.snapshot());
    const databases = await startScratchDatabases({ ...folders, declared }, databaseUrl, (stop) => {
      stops.push(stop);
    });
    const [adminSecret, valuesKey] = [randomBytes(16).toString('hex'), randomBytes(32).toString('hex')];
    const headerPrefix = process.env['ENGINE_GRAPHQL_HEADER_PREFIX'] || 'x-engine-';
    const started = await startEngineProcess({
      port: await freePort(),
      databaseUrl: databases.app,
      metadataUrl: databases.metadata,
      adminSecret,
      valuesKey,
      headerPrefix,
      environment: { ENGINE_GRAPHQL_ENABLE_ALLOWLIST: 'false' },
      onStart: () => {},
    });
    stops.push(started.stop);
    const engine = { url: started.url, adminSecret, headerPrefix, client: 'pergola test' };
    const hasSql = declared.length > 0 || hasSqlFiles(folders);
    await applyAll(engine, source, databases.app, hasSql);
    return body({ engine, databases });
  };
  try {
    return await Promise.race([work(), interrupted]);
  } catch (error) {
    if (error instanceof Interruption) await exitAfter(stops, error);
    throw error;
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

/** Stops what has started and exits, since a part that is starting would otherwise keep the process alive. That part ends with the process
 *  (../end-with-us.ts). */
async function exitAfter(stops: (() => Promise<void>)[], { message }: Interruption): Promise<never> {
  process.stderr.write(`pergola test: ${message}\n`);
  for (const stop of stops.reverse()) await stop();
  process.exit(2);
}

const NO_SQL =
  'the folder has no SQL that creates the tables: add it, as docs/guides/testing-permissions.md says for a database that exists';

function hasSqlFiles({ folder, migrations }: DatabaseFolders): boolean {
  return [folder, migrations].some(
    (each) =>
      each && readdirSync(each, { recursive: true, encoding: 'utf8' }).some((file) => file.endsWith('.sql')),
  );
}

/** Resources of these kinds need other services. When one is not Ready, only the tests that use it fail. */
const NEEDS_SERVICES: ReadonlySet<string> = new Set(['Action', 'RemoteSchema', 'RemoteRelationship']);

/** Applies the resources. Prints those that are not Ready. Raises TestRunProblem when one of the database is among them: a test that expects
 *  an error would pass without testing anything. */
async function applyAll(
  engine: TestBed['engine'],
  source: FolderSource,
  databaseUrl: string,
  hasSql: boolean,
): Promise<void> {
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
    const advice = hasSql ? 'correct the resources above' : NO_SQL;
    throw new TestRunProblem(`${advice}; no test was run`);
  }
}

function failingIn({ resources, verdicts }: Report) {
  return resources.map((cr) => ({ cr, ...verdicts.get(cr.metadata.uid)! })).filter(isFailing);
}
