/** The secrets that are accepted in the headers of requests: the admin secrets and the console secrets. Each are those of options, and those
 *  in the files of a folder (--admin-secret-path, --console-secret-path). A folder is read
 *  again at the first request that is more than a second after the last look, so a mounted Kubernetes Secret is rotated without a restart.
 *  While the folder cannot be read or contains no secret, the previous secrets are kept: an engine never becomes open or closed by an
 *  unreadable folder.
 *  Not here: which requests a secret is for (authenticate.ts). Reference: docs/reference/behaviour/authentication.md. */
import { hash, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../config/options.ts';
import type { Observe, SecretsRead } from '../observe/observation.ts';

export type AdminSecretOptions = Pick<Options, 'adminSecret' | 'adminSecrets' | 'adminSecretPath'>;
export type ConsoleSecretOptions = Pick<Options, 'consoleSecret' | 'consoleSecretPath'>;

/** Returns true when the text is one of the accepted secrets. */
export type SecretCheck = (secret: string) => boolean;

const LOOK_EVERY_MS = 1000;
/** A file that is larger is not a secret but a mistake in the path. */
const MOST_BYTES = 4096;

/** Returns true when the engine has an admin secret. */
export function isSecretSet(options: AdminSecretOptions): boolean {
  return adminSecretsOf(options).always.length > 0 || options.adminSecretPath !== undefined;
}

/** The secrets of one kind that options give. */
type GivenSecrets = {
  readonly kind: SecretsRead['secrets'];
  readonly always: readonly string[];
  readonly folder: string | undefined;
};

/** Returns the admin secrets; `admin-secrets` replaces `admin-secret`. */
export function adminSecretsOf({
  adminSecret,
  adminSecrets,
  adminSecretPath,
}: AdminSecretOptions): GivenSecrets {
  return { kind: 'admin', always: adminSecrets ?? listOf(adminSecret), folder: adminSecretPath };
}

export function consoleSecretsOf({ consoleSecret, consoleSecretPath }: ConsoleSecretOptions): GivenSecrets {
  return { kind: 'console', always: listOf(consoleSecret), folder: consoleSecretPath };
}

function listOf(secret: string | undefined): readonly string[] {
  return secret === undefined ? [] : [secret];
}

/** Reads the folder, if there is one, and returns the check. Throws when the folder cannot be read or contains no secret. */
export function openSecrets(
  { kind, always, folder }: GivenSecrets,
  observe: Observe,
  now: () => number = () => performance.now(),
): SecretCheck {
  if (folder === undefined) return checkOf(always);
  const report = (count: number, failure: string | null) =>
    observe({ kind: 'secrets read', secrets: kind, folder, count, failure });
  const read = () => secretsIn(folder, kind);
  let secrets = read();
  let check = checkOf([...always, ...secrets]);
  let lastFailure: string | null = null;
  let lookedAt = now();
  report(secrets.length, null);
  const look = () => {
    lookedAt = now();
    try {
      const found = read();
      const isSame = JSON.stringify(found) === JSON.stringify(secrets);
      if (isSame && lastFailure === null) return;
      lastFailure = null;
      if (!isSame) check = checkOf([...always, ...found]);
      secrets = found;
      report(secrets.length, null);
    } catch (error) {
      const failure = (error as Error).message;
      if (failure !== lastFailure) report(secrets.length, failure);
      lastFailure = failure;
    }
  };
  return (secret) => {
    if (now() - lookedAt >= LOOK_EVERY_MS) look();
    return check(secret);
  };
}

/** Returns the secrets in the files of the folder, without the line break at their end. Empty files, and names that start with a dot,
 *  such as the folders through which Kubernetes replaces all files at once, are left out. Errors contain paths, never content. */
function secretsIn(folder: string, kind: GivenSecrets['kind']): readonly string[] {
  const names = readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .toSorted();
  const secrets = names.flatMap((name) => {
    const file = join(folder, name);
    const { size } = statSync(file);
    if (size > MOST_BYTES) throw new Error(`${file} has more than ${MOST_BYTES} bytes`);
    const secret = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return secret === '' ? [] : [secret];
  });
  if (secrets.length === 0)
    throw new Error(`${folder} contains no file with ${kind === 'admin' ? 'an admin' : 'a console'} secret`);
  return secrets;
}

function checkOf(secrets: readonly string[]): SecretCheck {
  const digests = secrets.map(digestOf);
  // Secrets that were verified once: hashing them on every request took 3 % of a small one. A look-up in the set
  // compares hashes of whole texts, seeded per process; its time reveals nothing about a partly correct secret.
  const proven = new Set<string>();
  return (secret) => {
    if (proven.has(secret)) return true;
    const digest = digestOf(secret);
    // All digests are compared, and they have equal length, so the time reveals nothing about the secrets.
    const isKnown = digests.map((known) => timingSafeEqual(known, digest)).includes(true);
    if (isKnown) proven.add(secret);
    return isKnown;
  };
}

function digestOf(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}
