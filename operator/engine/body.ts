/** The body of an answer, read within bounds, and the part of it that may be repeated in a message.
 *  Not here: what the answer means (client.ts). */

/** The largest metadata known have a few MB; the rest is what no operator has the memory for. */
const MOST_BYTES = 64 * 1024 * 1024;
/** The most bytes that are read of an error. An engine's error lists every inconsistent object and is read whole. */
const MOST_ERROR_BYTES = 16 * 1024 * 1024;
const MOST_CHARACTERS = 160;
/** A shorter secret would be replaced in the middle of ordinary words. */
const LEAST_SECRET = 4;

/** Raises an error when an answer that is no error is larger than 64 MiB. */
export async function bodyOf(response: Response): Promise<string> {
  const isError = response.status !== 200;
  const most = isError ? MOST_ERROR_BYTES : MOST_BYTES;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the rest.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= most) continue;
    if (isError) break;
    throw new Error(`its answer is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
  }
  return new TextDecoder().decode(Buffer.concat(chunks).subarray(0, most));
}

/** One short line. */
export function excerpt(text: string): string {
  const line = text
    .slice(0, 4 * MOST_CHARACTERS)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}

/** The text without the secret, which a service that repeats its requests sends back. */
export function withoutSecret(text: string, secret: string | undefined): string {
  if (secret === undefined || secret.length < LEAST_SECRET) return text;
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  return [...forms].reduce((left, form) => left.replaceAll(form, '•••'), text);
}
