/** The headers of operations: those of the credentials, of the role and session variables that the user views as, and of the headers editor, which
 *  win. Everything in Explore takes them from here, so that operations, explanations and code are those of the same role.
 *  Pure. Names are in lower case, because a header that is sent twice has two values. */
import { objectIn } from './entry.js';

/** Returns the headers that an operation is sent with. */
export function sentHeaders(...parts) {
  return Object.fromEntries(
    parts.flatMap((part) => Object.entries(part).map(([name, value]) => [name.toLowerCase(), textOf(value)])),
  );
}

/** Returns a value of JSON as the value of a header. */
function textOf(value) {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Returns the headers of a role and of session variables, which are given as JSON with or without the prefix of their names. Throws for
 *  other text, and for values that a browser cannot send. */
export function viewAsHeaders(prefix, role, text) {
  const headers = { ...variablesIn(prefix, text), ...(role && { [`${prefix}role`]: role }) };
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w-]+$/.test(name)) throw new Error(`"${name}" cannot be the name of a session variable.`);
    if (!/^[\x20-\x7e\xa0-\xff]*$/.test(value))
      throw new Error(`A browser cannot send the value of ${name}.`);
  }
  return headers;
}

/** Returns the session variables of a text, by their whole names. Throws for text that is no JSON object, and for null. */
export function variablesIn(prefix, text) {
  const given = text.trim() === '' ? {} : objectIn(text, 'Session variables are JSON: {"user-id": "1"}');
  const named = Object.entries(given).map(([name, value]) => {
    if (value === null) throw new Error(`The session variable "${name}" is null. Leave it out.`);
    const lower = name.toLowerCase();
    return [lower.startsWith(prefix) ? lower : prefix + lower, textOf(value)];
  });
  return Object.fromEntries(named);
}

/** Returns the session of headers as `POST /v1/graphql/explain` takes it: the role and the session variables, without secrets. */
export function userOf(prefix, headers) {
  return Object.fromEntries(
    Object.entries(headers).filter(
      ([name]) => name.startsWith(prefix) && !/-(secret|access-key)$/.test(name),
    ),
  );
}
