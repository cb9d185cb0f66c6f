/** `pg_dump` as a child process: a database as SQL text. Only listed options are allowed, and none that writes files
 *  or connects elsewhere. In: an address, arguments. Out: the text, on request without the settings that only pg_dump needs.
 *  Not here: HTTP (http/pg-dump.ts). PostgreSQL manual, "pg_dump"; docs/reference/behaviour/endpoints.md. */
import { spawn } from 'node:child_process';
import { fail } from '../errors/engine-error.ts';
import type { Environment } from '../resolve/environment-variables.ts';
import { redactedText } from '../wire/redacted.ts';
import type { Tls } from '../wire/socket.ts';
import { textsOf, withoutTls } from './connect.ts';
import { type DatabaseAddress, isHidden } from './connection-defaults.ts';
import { printKeywords } from './connection-string.ts';
import { withTlsFiles } from './tls.ts';

/** Options that stand alone. */
const FLAGS: ReadonlySet<string> = new Set([
  ...['-a', '-b', '-B', '-c', '-C', '-O', '-s', '-v', '-x'],
  ...['--data-only', '--blobs', '--no-blobs', '--large-objects', '--no-large-objects', '--clean', '--create'],
  ...['--no-owner', '--schema-only', '--verbose', '--no-privileges', '--no-acl', '--binary-upgrade'],
  ...['--column-inserts', '--attribute-inserts', '--disable-dollar-quoting', '--disable-triggers'],
  ...['--enable-row-security', '--if-exists', '--inserts', '--load-via-partition-root', '--no-comments'],
  ...['--no-publications', '--no-security-labels', '--no-subscriptions', '--no-sync', '--no-tablespaces'],
  ...['--no-table-access-method', '--no-toast-compression', '--no-unlogged-table-data'],
  ...['--on-conflict-do-nothing', '--quote-all-identifiers', '--serializable-deferrable', '--strict-names'],
  ...['--use-set-session-authorization', '--version', '-V'],
]);

/** Options with a value, which comes with them (`--schema=app`, `-napp`) or next. */
const VALUED: ReadonlySet<string> = new Set([
  ...['-E', '-n', '-N', '-S', '-t', '-T', '-e'],
  ...[
    '--encoding',
    '--schema',
    '--exclude-schema',
    '--superuser',
    '--table',
    '--exclude-table',
    '--extension',
  ],
  ...['--exclude-table-data', '--extra-float-digits', '--include-foreign-data', '--lock-wait-timeout'],
  ...['--rows-per-insert', '--section', '--snapshot', '--role', '--table-and-children'],
  ...['--exclude-table-and-children', '--exclude-table-data-and-children'],
]);

/** The first argument that is not allowed; undefined when all are. */
export function forbiddenOption(options: readonly string[]): string | undefined {
  for (let i = 0; i < options.length; i++) {
    const option = options[i]!;
    const name = option.startsWith('--') ? option.split('=', 1)[0]! : option.slice(0, 2);
    if (VALUED.has(name)) {
      const hasValue = option.startsWith('--') ? option.includes('=') : option.length > 2;
      if (!hasValue) i += 1;
      continue;
    }
    const flags = option.startsWith('--') ? [option] : [...option.slice(1)].map((letter) => `-${letter}`);
    const isFine = option.startsWith('-') && flags.length > 0 && flags.every((flag) => FLAGS.has(flag));
    if (!isFine) return option;
  }
  return undefined;
}

/** Raises `pgDumpMissing`; `pgDumpFailed` with what it said. The password goes by the environment, which `ps` does not show. */
export function pgDump(
  address: DatabaseAddress,
  tls: Tls,
  options: readonly string[],
  env: Environment,
  signal?: AbortSignal,
): Promise<string> {
  return withTlsFiles(tls, (libpq) => dump(address, options, { path: env['PATH'], libpq, signal }));
}

type Surroundings = {
  readonly path: string | undefined;
  readonly libpq: Environment;
  /** Ends the program, which cancels what it runs. */
  readonly signal: AbortSignal | undefined;
};

async function dump(
  { target, origin }: DatabaseAddress,
  options: readonly string[],
  { path, libpq, signal }: Surroundings,
): Promise<string> {
  const child = spawn(
    'pg_dump',
    [...options, '--no-password', `--dbname=${printKeywords(withoutTls(target))}`],
    {
      env: {
        PATH: path,
        LANG: 'C.UTF-8',
        PGAPPNAME: 'pergola',
        PGPASSWORD: target.password ?? '',
        ...libpq,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    },
  );
  const [output, complaints] = [collect(child.stdout), collect(child.stderr)];
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    signal?.throwIfAborted();
    if (error.code === 'ENOENT') fail('pgDumpMissing', {});
    throw error;
  });
  if (code !== 0)
    fail(
      'pgDumpFailed',
      {},
      { internal: redactedText((await complaints).trim(), isHidden(origin) ? textsOf(target) : []) },
    );
  return output;
}

/** Removes what only pg_dump and psql need: settings, comments, empty lines, and objects that every database has. */
export function cleanDump(sql: string): string {
  const kept = sql.split('\n').filter((line) => !NOISE.some((noise) => noise.test(line)));
  return `SET check_function_bodies = false;\n${kept.join('\n')}\n`;
}

/** Whole lines; statements that span several are never among them. */
const NOISE: readonly RegExp[] = [
  /^\s*$/,
  /^--/,
  /^SET [a-z_]+ = .*;$/,
  /^SELECT pg_catalog\.set_config\('search_path', '', false\);$/,
  /^\\(?:un)?restrict /,
  /^CREATE SCHEMA public;$/,
  /^COMMENT ON SCHEMA public IS 'standard public schema';$/,
  /^CREATE EXTENSION IF NOT EXISTS plpgsql /,
  /^COMMENT ON EXTENSION plpgsql /,
];

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
