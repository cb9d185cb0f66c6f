/** Takes texts out of errors: where a connection string comes from a variable or a file, nothing of it may be in a message, because
 *  whoever may name the variable need not be allowed to know it. The kind of the error and its code stay. Not here: which texts
 *  (database/connect.ts). */

const PLACEHOLDER = '***';

/** Shorter texts are words of any message; they are taken out only in quotes, as Postgres writes names. */
const SHORTEST = 4;

/** The fields of errors of Node.js and of Postgres that may repeat what one connected with. */
const FIELDS = ['message', 'stack', 'detail', 'hint', 'hostname', 'host', 'address', 'path', 'dest'] as const;

/** Changes the error and returns it. */
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
      return value.length < SHORTEST
        ? left.replaceAll(`"${value}"`, `"${PLACEHOLDER}"`)
        : left.replaceAll(value, PLACEHOLDER);
    }, text);
}
