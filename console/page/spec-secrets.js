/** A spec without what may be a secret, to be kept in this tab or filled from an answer in which secrets are hidden. What may be a secret is marked in the
 *  schemas of the kinds; names of variables are no secrets.
 *  Pure. In: the schema of a spec, a value. Out: the value, and the paths of what was left out. */
import { concealed, HIDDEN, isRecord, SECRET_MARK } from '@pergola/engine/metadata';
import { UNREADABLE } from './spec-entry.js';
import { shapeOf } from './spec-value.js';

/** Returns `{kept, left}`: the value without null, secrets and text that cannot be read, and the paths of the last two. */
export function withoutSecrets(schema, value, path = 'spec') {
  const left = [];
  const kept = visit(schema, value, path, left);
  return { kept, left };
}

/** Returns the paths at which a spec has no value. */
export function missingIn(paths, spec) {
  return paths.filter((path) => {
    const steps = [...path.matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)].map(([, name, i]) => name ?? i);
    return steps.reduce((owner, step) => owner?.[step], spec) === undefined;
  });
}

function visit(schema, value, path, left) {
  if (value === null) return undefined;
  // The values of columns that a permission sets, of which session variables are none.
  if (schema[SECRET_MARK] && !schema.properties && isRecord(value) && value !== UNREADABLE)
    return visitEach(value, path, left);
  if (value === UNREADABLE || (schema[SECRET_MARK] && value !== '' && isSecret(value))) {
    left.push(path);
    return undefined;
  }
  const shape = shapeOf(schema);
  if (shape === 'list' && Array.isArray(value))
    return value.map((item, i) => visit(schema.items, item, `${path}[${i}]`, left) ?? {});
  if (shape !== 'object' || !isRecord(value)) return value;
  const members = Object.entries(value)
    .filter(([name]) => name in schema.properties)
    .map(([name, member]) => [name, visit(schema.properties[name], member, `${path}.${name}`, left)]);
  return Object.fromEntries(members.filter(([, member]) => member !== undefined));
}

/** Returns the members that are no secrets; undefined when none is left of some. */
function visitEach(value, path, left) {
  const entries = Object.entries(value);
  const kept = entries.filter(([, member]) => !isSecret(member));
  if (kept.length === 0 && entries.length > 0) {
    left.push(path);
    return undefined;
  }
  const names = entries.filter((entry) => !kept.includes(entry)).map(([name]) => `${path}.${name}`);
  left.push(...names);
  return Object.fromEntries(kept);
}

/** Returns true for a value that is, contains, or was replaced because it may contain, a secret. */
function isSecret(value) {
  if (value === HIDDEN || (typeof value === 'string' && value.endsWith('…'))) return true;
  return concealed(value) !== value;
}
