/** The types of headers.js for its test. */
type Headers = Readonly<Record<string, string>>;

/** Returns the headers that an operation is sent with. */
export function sentHeaders(...parts: readonly Readonly<Record<string, unknown>>[]): Headers;

/** Returns the headers of a role and of session variables. */
export function viewAsHeaders(prefix: string, role: string, text: string): Headers;

/** Returns the session of headers, without secrets. */
export function userOf(prefix: string, headers: Headers): Headers;

/** Returns the session variables of a text, by their whole names. */
export function variablesIn(prefix: string, text: string): Headers;
