/** Encrypts named values at rest: AES-256-GCM under a key that is derived, for each value anew, from a key of the engine.
 *  In: texts of keys (--values-key), values. Out: ids of keys, sealed values, the values again.
 *  Layout of a sealed value: version (1 byte), salt (16), nonce (12), tag (16), ciphertext. The name of the value is authenticated, so
 *  a sealed value copied to another name does not open.
 *  Not here: where keys come from (keys.ts), where sealed values are stored (store/values.ts).
 *  Reference: docs/adr/0017-named-values.md; NIST SP 800-38D, RFC 5869. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** A key of the engine. `id` identifies it in the database and in messages, and reveals nothing about it. */
export type ValueKey = { readonly id: string; readonly secret: string };

/** Shorter texts could be guessed. `openssl rand -base64 32` prints 44 characters. */
export const LEAST_KEY_CHARACTERS = 32;

const LAYOUT = 1;
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Parses keys that are separated by commas or line ends, first to last. Throws an Error, without any part of the text, when a key is
 *  too short. */
export function parseKeys(text: string): readonly ValueKey[] {
  const secrets = text
    .split(/[\s,]+/)
    .map((secret) => secret.trim())
    .filter((secret) => secret !== '');
  for (const [i, secret] of secrets.entries()) {
    if (secret.length >= LEAST_KEY_CHARACTERS) continue;
    throw new Error(`key ${i + 1} of the named values has less than ${LEAST_KEY_CHARACTERS} characters`);
  }
  return [...new Set(secrets)].map((secret) => ({ id: idOf(secret), secret }));
}

function idOf(secret: string): string {
  return Buffer.from(hkdfSync('sha256', secret, '', 'pergola named values: key id', 8)).toString('hex');
}

export function seal(name: string, value: string, { secret }: ValueKey): Buffer {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', derived(secret, salt), nonce);
  cipher.setAAD(Buffer.from(name));
  const ciphertext = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
  return Buffer.concat([Buffer.of(LAYOUT), salt, nonce, cipher.getAuthTag(), ciphertext]);
}

/** Returns the value; undefined when the bytes are damaged, or sealed under another name or key. */
export function unseal(name: string, sealed: Buffer, { secret }: ValueKey): string | undefined {
  const start = 1 + SALT_BYTES + NONCE_BYTES + TAG_BYTES;
  if (sealed[0] !== LAYOUT || sealed.length < start) return undefined;
  const salt = sealed.subarray(1, 1 + SALT_BYTES);
  const nonce = sealed.subarray(1 + SALT_BYTES, start - TAG_BYTES);
  try {
    const decipher = createDecipheriv('aes-256-gcm', derived(secret, salt), nonce, {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(name));
    decipher.setAuthTag(sealed.subarray(start - TAG_BYTES, start));
    return Buffer.concat([decipher.update(sealed.subarray(start)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

function derived(secret: string, salt: Buffer): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, salt, 'pergola named values: value', 32));
}
