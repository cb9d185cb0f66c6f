/** Values of a spec that users enter as text. They are YAML, of which JSON is a part, because the documents write conditions and lists so:
 *  `{owner: {_eq: X-Engine-User-Id}}`, `["*"]`.
 *  Pure. Not here: the fields (spec-form.jsx), what a spec lacks (spec-value.js). */
import { CORE_SCHEMA, load } from 'js-yaml';

/** The value of a field whose text cannot be read: it is no part of the resource, which must not keep an earlier value in its place. */
export const UNREADABLE = Object.freeze({ isUnreadable: true });

/** Returns the value of a text for a schema; undefined for an empty text, UNREADABLE for one that is no YAML, or no object where the schema has one. */
export function valueIn(schema, text) {
  if (text.trim() === '') return undefined;
  try {
    const value = load(text, { schema: CORE_SCHEMA });
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return schema.type === 'object' && !isObject ? UNREADABLE : value;
  } catch {
    return UNREADABLE;
  }
}

/** Returns a list of texts: one on each line, or a list in brackets. */
export function textsIn(text) {
  const lines = text.split('\n').map((line) => line.trim());
  const given = text.trim().startsWith('[') ? valueIn({}, text) : undefined;
  return Array.isArray(given) ? given.map(String) : lines.filter((line) => line !== '');
}
