/** Cuts the texts of others in errors: messages and bodies of services, messages of databases, names and values of requests. No response and
 *  no line of the log is as long as they are. Pure. Not here: errors (engine-error.ts).
 *  Reference: docs/reference/behaviour/errors.md, "Texts of others". */

/** The most characters of a message, a code or a path. */
export const MOST_TEXT = 16_384;
/** The most characters of a body or of a value as JSON. */
export const MOST_JSON = 65_536;

/** Returns a text, or its beginning and `…`. */
export function quotedText(text: string, most = MOST_TEXT): string {
  if (text.length <= most) return text;
  const start = text.slice(0, most);
  return `${/[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start}…`;
}

/** Returns a value, or the beginning of its JSON. */
export function quotedJson(value: unknown): unknown {
  const text = JSON.stringify(value);
  return text === undefined || text.length <= MOST_JSON ? value : quotedText(text, MOST_JSON);
}

/** True when the value may be quoted as it is. */
export function isQuotable(value: unknown): boolean {
  return JSON.stringify(value).length <= MOST_JSON;
}
