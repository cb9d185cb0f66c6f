#!/usr/bin/env node
/** The `pergola` command: finds a Node that runs TypeScript directly (24), and starts the file of the command with it.
 *  It is plain JavaScript, because it may itself be started by an older Node (20).
 *  A command is a module that exports `run(argv)`, which resolves to its exit code or nothing when the command is done.
 *  Not here: what a command does, and its flags: each command prints its own help. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BUNDLED, fileOf, ROOT } from './bundled.mjs';
import { COMMANDS } from './commands.mjs';
import { keepMemorySmall } from './small-memory.mjs';
import { nameSources } from './source-lines.mjs';
import { makeOutputVisible } from './visible-output.mjs';

const LEAST_NODE = [24, 2];

const HELP = `pergola: a governed GraphQL API over Postgres, declared as custom resources.

  ${`pergola up ${example()}`.padEnd(41)}  a trial without a database or a cluster
  pergola init --database-url postgres://… -o resources
  pergola up resources --database-url postgres://…
  pergola serve --database-url postgres://…  the engine over your own database
  pergola plan -f ./resources --engine http://localhost:8080
  pergola apply -f ./resources --engine http://localhost:8080

Commands
${Object.entries(COMMANDS)
  .map(([name, [, doc]]) => `  ${name.padEnd(10)} ${doc}`)
  .join('\n')}
  version    print the version
  help       print this text; help COMMAND or COMMAND --help prints its flags
`;

outliveReaders();
nameSources();
if (runsTypeScript(process.versions.node)) await dispatch(process.argv.slice(2));
else startUnderNewerNode();

/** When a pipe or terminal is closed, as by `| head`, a command ends what it has begun, and its exit code stays. */
function outliveReaders() {
  for (const output of [process.stdout, process.stderr]) {
    output.on('error', (error) => {
      if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
    });
  }
}

/** Returns the path of the example, which is in the clone or in the package. */
function example() {
  const path = join(ROOT, 'deploy/examples/library');
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}

async function dispatch([command = 'help', ...argv]) {
  if (['version', '--version', '-v'].includes(command)) return printVersion();
  if (command === 'help' && argv[0] !== undefined) return start(argv[0], ['--help']);
  if (['help', '--help', '-h'].includes(command)) {
    const { runnable } = await import('../operator/folder/invocation.ts');
    return process.stdout.write(runnable(HELP));
  }
  return start(command, argv);
}

async function start(command, argv) {
  await printRunnableCommands(argv);
  if (!Object.hasOwn(COMMANDS, command)) return unknown(command);
  if (BUNDLED.includes(command)) keepMemorySmall();
  // The servers print logs, which are JSON.
  else makeOutputVisible();
  const file = fileOf(command);
  if (!existsSync(file)) return fail(`this build has no command ${command}`);
  // Compiled once per machine (NODE_COMPILE_CACHE says where): a third of what starting costs.
  module.enableCompileCache?.();
  // The first process of a container is not ended by a signal it does not listen to.
  const end = () => process.exit(143);
  process.once('SIGTERM', end);
  const { run } = await import(pathToFileURL(file).href);
  const running = run(argv);
  // Only now: a signal on its way is lost where nobody listens in between.
  process.off('SIGTERM', end);
  const code = await running;
  if (typeof code === 'number') process.exitCode = code;
}

/** Lets messages and help texts name commands as they can be run here. Other output may be data, and stays as it is. */
async function printRunnableCommands(argv) {
  const isHelp = argv.includes('--help') || argv.includes('-h') || argv.includes('help');
  const { runnable } = await import('../operator/folder/invocation.ts');
  for (const output of isHelp ? [process.stdout, process.stderr] : [process.stderr]) {
    const write = output.write.bind(output);
    output.write = (chunk, ...rest) => write(typeof chunk === 'string' ? runnable(chunk) : chunk, ...rest);
  }
}

function runsTypeScript(version) {
  const [major, minor] = version.split('.').map(Number);
  return major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
}

/** The same arguments under the Node that npm installed with us; its exit is ours, and signals are passed on. */
function startUnderNewerNode() {
  const node = installedNode();
  if (node === undefined) {
    return fail(
      `this is Node ${process.version}, and Node ${LEAST_NODE.join('.')} or newer is needed. In a clone, npm ci installs one; elsewhere, install it.`,
    );
  }
  const child = spawn(node, process.argv.slice(1), { stdio: 'inherit' });
  // Ctrl-C reaches the child from the terminal by itself; here it only must not end us first.
  process.on('SIGINT', () => {});
  for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (error) => fail(error.message));
  child.once('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)));
}

function installedNode() {
  try {
    return createRequire(import.meta.url).resolve('node/bin/node');
  } catch {
    return undefined;
  }
}

async function printVersion() {
  const { default: root } = await import('../package.json', { with: { type: 'json' } });
  process.stdout.write(`pergola ${root.version}\n`);
}

async function unknown(command) {
  const { nearest } = await import('../engine/errors/nearest.ts');
  const near = nearest(command, [...Object.keys(COMMANDS), 'version', 'help']);
  fail(`there is no command ${command}${near ? `; did you mean ${near}?` : ''}\nSee: pergola help`);
}

function fail(message) {
  process.stderr.write(`pergola: ${message}\n`);
  process.exitCode = 2;
}
