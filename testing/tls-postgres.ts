/** Starts a Postgres for tests that accepts encrypted connections, with certificates that `openssl` creates at the start. User `postgres`
 *  may connect either way, `secret` only encrypted, `bare` only plainly, `certified` only with a certificate,
 *  `scram` with the password `word`.
 *  Not here: the Postgres of the run (setup.ts). PostgreSQL manual, "Secure TCP/IP Connections with SSL". */
import { execFileSync } from 'node:child_process';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../bin/embedded-postgres.ts';

export type TlsPostgres = {
  /** The URL with 127.0.0.1, which the certificate does not name. */
  readonly url: string;
  /** The certificates and keys, in PEM. */
  readonly pem: Readonly<Record<'ca' | 'otherCa' | 'cert' | 'key' | 'lockedKey', string>>;
  readonly close: () => Promise<void>;
};

export const KEY_PASSWORD = 'open-sesame';

const RULES = `local all all trust
hostssl all certified 127.0.0.1/32 cert
hostnossl all certified 127.0.0.1/32 reject
hostnossl all secret 127.0.0.1/32 reject
hostssl all bare 127.0.0.1/32 reject
host all scram 127.0.0.1/32 scram-sha-256
host all all 127.0.0.1/32 trust
`;

export async function startTlsPostgres(): Promise<TlsPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-tls-postgres-'));
  const postgres = await startEmbeddedPostgres({ folder, isDurable: false });
  const pem = makeCertificates(join(folder, 'pem'));
  const data = join(folder, 'data');
  const isRoot = process.getuid?.() === 0;
  const write = (name: string, text: string) => {
    writeFileSync(join(data, name), text, { mode: 0o600 });
    if (isRoot) chownSync(join(data, name), 65534, 65534);
  };
  write('server.crt', pem.server);
  write('server.key', pem.serverKey);
  write('ca.crt', pem.ca);
  write('pg_hba.conf', RULES);
  await onServer(postgres.url, [
    ...['secret', 'bare', 'certified'].map((user) => `create role ${user} login superuser`),
    `create role scram login superuser password 'word'`,
    `alter system set ssl_ca_file = 'ca.crt'`,
    'alter system set ssl = on',
    'select pg_reload_conf()',
  ]);
  await untilEncrypted(postgres.url);
  return {
    url: postgres.url,
    pem,
    close: async () => {
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Creates certificates: the server is `localhost`, the client `certified`. */
function makeCertificates(folder: string) {
  mkdirSync(folder);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '36500'];
  for (const ca of ['ca', 'other']) {
    openssl('req', '-x509', ...key, '-subj', `/CN=${ca}`, '-keyout', `${ca}.key`, '-out', `${ca}.crt`);
  }
  for (const [name, subject] of [
    ['server', 'localhost'],
    ['client', 'certified'],
  ] as const) {
    openssl(
      'req',
      ...key.slice(0, 5),
      '-subj',
      `/CN=${subject}`,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
    );
    writeFileSync(join(folder, `${name}.ext`), `subjectAltName=DNS:${subject}\n`);
    openssl(
      ...['x509', '-req', '-in', `${name}.csr`, '-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
      ...['-days', '36500', '-extfile', `${name}.ext`, '-out', `${name}.crt`],
    );
  }
  const locked = ['-in', 'client.key', '-v2', 'aes-256-cbc', '-passout', `pass:${KEY_PASSWORD}`];
  openssl('pkcs8', '-topk8', ...locked, '-out', 'locked.key');
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  return {
    ca: read('ca.crt'),
    otherCa: read('other.crt'),
    cert: read('client.crt'),
    key: read('client.key'),
    lockedKey: read('locked.key'),
    server: read('server.crt'),
    serverKey: read('server.key'),
  };
}

async function onServer(url: string, statements: readonly string[], ssl?: object): Promise<void> {
  const client = new pg.Client({ connectionString: url, ...(ssl && { ssl }) });
  client.on('error', () => {});
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Waits until the server accepts an encrypted connection, because its processes reload the settings one after another. */
async function untilEncrypted(url: string): Promise<void> {
  for (let left = 200; ; left--) {
    try {
      await onServer(url, ['select 1'], { rejectUnauthorized: false });
      return;
    } catch (error) {
      if (left === 0) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
