/** The admin secrets that are accepted: those of options, and those in the files of a folder (--admin-secret-path). The folder is read
 *  again at the first request that is more than a second after the last look, so a mounted Kubernetes Secret is rotated without a restart.
 *  While the folder cannot be read or contains no secret, the previous secrets are kept: an engine never becomes open or closed by an
 *  unreadable folder.
 *  Not here: which requests the secret is for (authenticate.ts). Reference: docs/reference/behaviour/authentication.md. */
import { hash, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Options } from '../config/options.ts';
import type { Observe } from '../observe/observation.ts';

export type AdminSecretOptions = Pick<Options, 'adminSecret' | 'adminSecrets' | 'adminSecretPath'>;

/** Returns true when the text is one of the accepted secrets. */
export type AdminSecretCheck = (secret: string) => boolean;

const LOOK_EVERY_MS = 1000;
/** A file that is larger is not a secret but a mistake in the path. */
const MOST_BYTES = 4096;

export function isSecretSet(options: AdminSecretOptions): boolean {
  return secretsOf(options).length > 0 || options.adminSecretPath !== undefined;
}

/** Reads the folder, if there is one, and returns the check. Throws when the folder cannot be read or contains no secret. */
export function openAdminSecrets(
  options: AdminSecretOptions,
  observe: Observe,
  now: () => number = () => performance.now(),
): AdminSecretCheck {
  const { adminSecretPath: folder } = options;
  const always = secretsOf(options);
  if (folder === undefined) return checkOf(always);
  const report = (count: number, failure: string | null) =>
    observe({ kind: 'admin secrets read', folder, count, failure });
  let secrets = secretsIn(folder);
  let check = checkOf([...always, ...secrets]);
  let lastFailure: string | null = null;
  let lookedAt = now();
  report(secrets.length, null);
  const look = () => {
    lookedAt = now();
    try {
      const found = secretsIn(folder);
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

/** Returns the secrets of options; `admin-secrets` replaces `admin-secret`. */
function secretsOf({ adminSecret, adminSecrets }: AdminSecretOptions): readonly string[] {
  return adminSecrets ?? (adminSecret === undefined ? [] : [adminSecret]);
}

/** Returns the secrets in the files of the folder, without the line break at their end. Empty files, and names that start with a dot,
 *  such as the folders through which Kubernetes replaces all files at once, are left out. Errors contain paths, never content. */
function secretsIn(folder: string): readonly string[] {
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
  if (secrets.length === 0) throw new Error(`${folder} contains no file with an admin secret`);
  return secrets;
}

function checkOf(secrets: readonly string[]): AdminSecretCheck {
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
