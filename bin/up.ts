/** `pergola up [FOLDER]`: an embedded Postgres (or the one of --database-url), the engine, and the reconcile loop over a folder of
 *  custom resources, until Ctrl-C stops all of it, the last started first. A second start finds its data again.
 *  Not here: each part (up/, embedded-postgres.ts, operator/folder). */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs, styleText } from 'node:util';
import { headerPrefix } from '../engine/config/option-types.ts';
import { engineClient } from '../operator/engine/client.ts';
import { folderOptions } from '../operator/folder/flags.ts';
import { FolderSource } from '../operator/folder/folder-source.ts';
import { follow } from '../operator/folder/follow.ts';
import { watchOutput } from '../operator/folder/watch-output.ts';
import { systemClock } from '../operator/pass/clock.ts';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { ensureDatabases, seed } from './up/databases.ts';
import { choosePort, type EngineProcess, startEngineProcess, USUAL_PORT } from './up/engine-process.ts';
import { watchLaunchers } from './up/launcher.ts';
import { adminSecretIn, openStateFolder, type StateFolder, valuesKeyIn } from './up/state-folder.ts';

const HELP = `pergola up [FOLDER]: run Postgres, the engine, and the reconcile loop over a folder of custom resources.
FOLDER (default .) may also contain *.sql files, which are run once in the embedded database.

      --port PORT           the port of the engine; default ${USUAL_PORT}, or the next free one; 0 is any free one
      --data DIR            the folder for the data; default .pergola
      --admin-secret TEXT   the admin secret; default ENGINE_GRAPHQL_ADMIN_SECRET, or one generated in the data folder
      --header-prefix TEXT  the prefix of the engine's headers and session variables, such as x-hasura-; default
                            ENGINE_GRAPHQL_HEADER_PREFIX, else x-engine-
      --database-url URL    your own database instead of the embedded one
  -h, --help                print this text
`;

type UpOptions = {
  readonly folder: string;
  readonly port: number | undefined;
  readonly data: string;
  readonly adminSecret: string | undefined;
  readonly headerPrefix: string;
  readonly databaseUrl: string | undefined;
};

class UsageProblem extends Error {}

export async function run(argv: readonly string[]): Promise<number> {
  try {
    const options = parse(argv);
    if (options === undefined) {
      process.stdout.write(HELP);
      return 0;
    }
    return await up(options);
  } catch (error) {
    const hint = error instanceof UsageProblem ? '\nSee: pergola up --help' : '';
    process.stderr.write(`pergola up: ${error instanceof Error ? error.message : String(error)}${hint}\n`);
    return error instanceof UsageProblem ? 2 : 1;
  }
}

function parse(argv: readonly string[]): UpOptions | undefined {
  const { values, positionals } = parseStrictly(argv);
  if (values.help) return undefined;
  if (positionals.length > 1) throw new UsageProblem(`expected one folder, not ${positionals.join(' and ')}`);
  const folder = resolve(positionals[0] ?? '.');
  if (!existsSync(folder)) throw new UsageProblem(`there is no folder ${folder}`);
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65536)) {
    throw new UsageProblem(`--port ${values.port} is no port`);
  }
  return {
    folder,
    port,
    data: values.data,
    adminSecret: values['admin-secret'] ?? (process.env['ENGINE_GRAPHQL_ADMIN_SECRET'] || undefined),
    headerPrefix: prefixOf(
      values['header-prefix'] ?? (process.env['ENGINE_GRAPHQL_HEADER_PREFIX'] || 'x-engine-'),
    ),
    databaseUrl: values['database-url'],
  };
}

function prefixOf(text: string): string {
  try {
    return headerPrefix.parse(text);
  } catch (error) {
    throw new UsageProblem(`--header-prefix ${(error as Error).message}`);
  }
}

function parseStrictly(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        port: { type: 'string' },
        data: { type: 'string', default: '.pergola' },
        'admin-secret': { type: 'string' },
        'header-prefix': { type: 'string' },
        'database-url': { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageProblem(error instanceof Error ? error.message : String(error));
  }
}

/** Started in order; each says how to stop it, and they are stopped in reverse, also when a later one fails to start. */
async function up(options: UpOptions): Promise<number> {
  const stops: (() => unknown)[] = [];
  const stop = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  // A terminal or a reader of the output that has gone away.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => stop.abort());
  stops.push(watchLaunchers(() => stop.abort()));
  try {
    const state = await openStateFolder(options.data);
    stops.push(state.release);
    if (state.ended.length > 0) {
      process.stdout.write(`Ended what an earlier start left running: ${state.ended.join(', ')}.\n`);
    }
    const databases = await startDatabases(options, state, stops);
    if (stop.signal.aborted) return 0;
    const port = await choosePort(options.port);
    const adminSecret = options.adminSecret ?? adminSecretIn(state);
    const engine = await startEngineProcess({
      port,
      ...databases,
      adminSecret,
      valuesKey: process.env['ENGINE_GRAPHQL_VALUES_KEY'] || valuesKeyIn(state),
      headerPrefix: options.headerPrefix,
      onStart: state.noteEngine,
    });
    stops.push(engine.stop);
    welcome(options, engine, adminSecret, state);
    return await loop(options, engine, adminSecret, stop);
  } finally {
    process.stdout.write('Stopping.\n');
    for (const end of stops.reverse()) await end();
  }
}

async function startDatabases(
  options: UpOptions,
  state: StateFolder,
  stops: (() => unknown)[],
): Promise<{ readonly databaseUrl: string; readonly metadataUrl: string }> {
  // Somebody's own database is theirs: nothing is run there but the engine's own schema.
  if (options.databaseUrl !== undefined) {
    return { databaseUrl: options.databaseUrl, metadataUrl: options.databaseUrl };
  }
  const postgres = await startEmbeddedPostgres({ folder: state.postgres });
  stops.push(postgres.stop);
  const { app, metadata } = await ensureDatabases(postgres.url);
  for (const { file, state: outcome } of await seed(app, options.folder)) {
    if (outcome === 'run') process.stdout.write(`Ran ${file}.\n`);
    if (outcome === 'changed') {
      process.stdout.write(`${file} has changed since it was run; remove ${state.path} to start over.\n`);
    }
  }
  return { databaseUrl: app, metadataUrl: metadata };
}

/** Until a signal, or until the engine ends by itself. */
async function loop(
  options: UpOptions,
  engine: EngineProcess,
  adminSecret: string,
  stop: AbortController,
): Promise<number> {
  const source = new FolderSource(options.folder);
  const client = engineClient({ url: engine.url, adminSecret, headerPrefix: options.headerPrefix });
  let code = 0;
  engine.exited.then((status) => {
    if (stop.signal.aborted) return;
    process.stderr.write(`The engine exited with code ${status}.\n`);
    code = 1;
    stop.abort();
  });
  await follow(
    { engine: client, source, sink: source, clock: systemClock },
    {
      inputs: [options.folder],
      options: () => folderOptions(source, { headerPrefix: options.headerPrefix }),
      signal: stop.signal,
      onReport: watchOutput(source, (text) => process.stdout.write(text)),
      onError: (error) => process.stderr.write(`${error.message}\n`),
    },
  );
  return code;
}

function welcome(options: UpOptions, engine: EngineProcess, adminSecret: string, state: StateFolder): void {
  const bold = (text: string) => styleText('bold', text, { stream: process.stdout });
  const prefix = options.headerPrefix === 'x-engine-' ? '' : ` --header-prefix ${options.headerPrefix}`;
  const isElsewhere = options.port === undefined && !engine.url.endsWith(`:${USUAL_PORT}`);
  const lines = [
    '',
    `  GraphiQL      ${bold(`${engine.url}/`)}${isElsewhere ? `   (port ${USUAL_PORT} is in use)` : ''}`,
    `  GraphQL       ${engine.url}/v1/graphql`,
    `  Admin secret  ${bold(adminSecret)}`,
    `  Data          ${state.path}`,
    '',
    `  Edit a file below ${options.folder} and save: the API changes at once.`,
    `  Preview a change:  npx pergola plan -f ${options.folder} --engine ${engine.url} --admin-secret …${prefix}`,
    '  Ctrl-C stops everything; a second start keeps the data.',
    '',
    '',
  ];
  process.stdout.write(lines.join('\n'));
}
