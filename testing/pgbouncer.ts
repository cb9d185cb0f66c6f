/** Starts a pgbouncer for tests in transaction mode, with fewer connections to the database than tests use. Code that needs two
 *  statements on one connection without a transaction fails behind it. Debian: package `pgbouncer`. */
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../bin/free-port.ts';

export type Pgbouncer = {
  /** The URL of the same database through pgbouncer. */
  readonly url: string;
  readonly close: () => Promise<void>;
};

export function hasPgbouncer(): boolean {
  return spawnSync('pgbouncer', ['--version']).status === 0;
}

export async function startPgbouncer(databaseUrl: string, { poolSize = 2 } = {}): Promise<Pgbouncer> {
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const own = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'pergola-pgbouncer-'));
  const credentials = `user=${username}${password ? ` password=${decodeURIComponent(password)}` : ''}`;
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
* = host=${hostname} port=${port} ${credentials}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
`,
  );
  // pgbouncer refuses to run as root.
  chmodSync(folder, 0o755);
  const args = process.getuid?.() === 0 ? ['-u', 'nobody', file] : [file];
  const child = spawn('pgbouncer', args, { stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const url = `postgres://${username}@127.0.0.1:${own}${pathname}`;
  await untilReady(url);
  return {
    url,
    close: async () => {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function untilReady(url: string): Promise<void> {
  for (let left = 100; ; left--) {
    const client = new pg.Client(url);
    client.on('error', () => {});
    const failure = await client.connect().then(
      () => null,
      (error: Error) => error,
    );
    await client.end().catch(() => {});
    if (failure === null) return;
    if (left === 0) throw failure;
    await sleep(100);
  }
}
