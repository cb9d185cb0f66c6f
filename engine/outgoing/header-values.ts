/** The values of HTTP headers as text. On the wire they are bytes, and Node's headers have one character for each byte; text in them is
 *  UTF-8, as clients, proxies and webhooks write it. In: a value in one form. Out: the other. Pure.
 *  Not here: which headers are read or sent (auth/, webhook/, remote/). */

const NOT_ASCII = /\P{ASCII}/u;
const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the text of a received header, its values joined by commas if it was sent more than once. Bytes that are not UTF-8 are read as
 *  ISO 8859-1, one character for each. */
export function headerText(received: string | readonly string[]): string {
  const value = typeof received === 'string' ? received : received.join(', ');
  if (!NOT_ASCII.test(value)) return value;
  try {
    return UTF_8.decode(Buffer.from(value, 'latin1'));
  } catch {
    return value;
  }
}

/** Returns received headers with their values as text. */
export function headerTexts(
  received: Readonly<Record<string, string | readonly string[] | undefined>>,
): Readonly<Record<string, string | readonly string[] | undefined>> {
  return Object.fromEntries(
    Object.entries(received).map(([name, value]) => [
      name,
      typeof value === 'string' ? headerText(value) : value?.map((one) => headerText(one)),
    ]),
  );
}

/** Returns the value that sends a text as UTF-8. */
export function headerBytes(text: string): string {
  return NOT_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text;
}
