/** Values of a spec that users enter as text. They are YAML, of which JSON is a part, because the documents write conditions and lists so:
 *  `{owner: {_eq: X-Engine-User-Id}}`, `["*"]`.
 *  Numbers keep all digits. Pure. Not here: the fields (spec-form.jsx), what a spec lacks (spec-value.js). */
import { isRecord, YAML_SCHEMA } from '@pergola/engine/metadata';
import { load } from 'js-yaml';

/** The value of a field whose text cannot be read: it is no part of the resource, which must not keep an earlier value in its place. */
export const UNREADABLE = Object.freeze({ isUnreadable: true });

/** Returns the value of a text for a schema; undefined for an empty text, UNREADABLE for one that is no YAML, or no object where the schema has one. */
export function valueIn(schema, text) {
  if (text.trim() === '') return undefined;
  try {
    const value = load(text, { schema: YAML_SCHEMA });
    return schema.type === 'object' && !isRecord(value) ? UNREADABLE : value;
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
