/** Removes texts from errors. When a connection string comes from an environment variable or a file, no part of it
 *  may appear in a message, because the user who names the variable may not be allowed to read it. The class and the
 *  code of the error are kept.
 *  Not here: which texts (database/connect.ts). */

const PLACEHOLDER = '***';

/** Shorter texts occur in any message; they are removed only in quotes, as Postgres writes names. */
const MIN_LENGTH = 4;

/** The fields of Node.js and Postgres errors that may repeat connection parameters. */
const FIELDS = ['message', 'stack', 'detail', 'hint', 'hostname', 'host', 'address', 'path', 'dest'] as const;

/** Changes the error in place and returns it. */
export function redacted(error: unknown, hidden: readonly string[]): unknown {
  if (hidden.length === 0 || !(error instanceof Error)) return error;
  const fields = error as unknown as Record<string, unknown>;
  for (const field of FIELDS) {
    const text = fields[field];
    if (typeof text === 'string') fields[field] = redactedText(text, hidden);
  }
  if (error instanceof AggregateError) for (const inner of error.errors) redacted(inner, hidden);
  if (error.cause !== undefined) redacted(error.cause, hidden);
  return error;
}

export function redactedText(text: string, hidden: readonly string[]): string {
  return [...hidden]
    .filter((value) => value !== '')
    .sort((a, b) => b.length - a.length)
    .reduce((left, value) => {
      return value.length < MIN_LENGTH
        ? left.replaceAll(`"${value}"`, `"${PLACEHOLDER}"`)
        : left.replaceAll(value, PLACEHOLDER);
    }, text);
}
