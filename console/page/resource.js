/** The resource of a spec: its text for Git, the objects of the metadata that it declares, the spec of objects that exist, and the field that a problem of
 *  an object is about.
 *  The operator's own translation, so that the page says what the operator will do.
 *  Pure. Not here: the kinds (operator/kinds), the requests (requests.js). */

import { GROUP_VERSION, KINDS } from '@pergola/operator/kinds';
import { yamlOf } from './yaml.js';

/** The kinds whose resources declare objects from their spec alone. */
const OTHERS = new Set([
  'Engine',
  'EngineSettings',
  'MetadataBundle',
  'Migration',
  'PermissionTest',
  'Source',
]);

export const FORMS = KINDS.filter(({ kind }) => !OTHERS.has(kind));

export function resourceText({ kind, name, spec }) {
  return yamlOf({ apiVersion: GROUP_VERSION, kind, metadata: { name }, spec });
}

/** Returns the edits of `patch_metadata`. Throws when a value comes from Kubernetes, where only the operator reads it. */
export function editsOf(row, spec) {
  return row.translate(spec, CONTEXT).map(({ key, kind, definition }) => ({ key, kind, definition }));
}

const CONTEXT = {
  valueFrom: ({ value, env, file }, path) => {
    if (env !== undefined) return { from_env: env };
    if (file !== undefined) return { from_file: file };
    if (value !== undefined) return value;
    throw new Error(
      `${path} comes from a Secret or a ConfigMap, which only the operator reads: the effect is not known here`,
    );
  },
};

/** Returns the keys of the objects that a spec names, also of those that it does not declare yet, such as each operation of a permission, and without those
 *  that are nested in them; none while their names are incomplete. */
export function keysNamed(row, spec) {
  const missing = row.objects.flatMap(({ at, key, when }) => {
    if (at !== undefined) return key.length === 0 ? [at] : [];
    return when === undefined || key.includes(when) ? [] : [when];
  });
  const nested = row.objects.flatMap(({ at, key, kind }) => (at && key.length > 0 ? [kind] : []));
  const isNamedByFields = row.objects.flatMap(({ key }) => key).every((name) => typeof name === 'string');
  // Types and actions have their names in the schema language.
  const given = isNamedByFields && row.objects.length > 0 ? namesIn(row, spec) : { sdl: spec.sdl };
  try {
    const whole = { ...Object.fromEntries(missing.map((name) => [name, {}])), ...given };
    const keys = row.translate(whole, CONTEXT).map(({ key }) => key);
    return keys.filter((key) => {
      const [kind, ...segments] = key.split('/');
      return !nested.includes(kind) && segments.every((segment) => segment !== '');
    });
  } catch {
    return [];
  }
}

/** Returns the fields of a spec that name its objects. */
export function namesIn(row, spec) {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => isName(row, name)));
}

/** Returns the other fields. */
export function withoutNames(row, spec) {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !isName(row, name)));
}

function isName(row, name) {
  return row.objects.some(({ at, key }) => at === undefined && key.includes(name));
}

/** Returns the spec that declares the objects, each `{key, parent, definition}`; undefined when the kind cannot express them. */
export function specOf(row, objects) {
  const all = objects.map((object) => ({ ...object, kind: object.key.split('/')[0] }));
  const inventory = {
    all: (kind) => all.filter((object) => object.kind === kind),
    under: (parent, kind) => all.filter((object) => object.parent === parent && object.kind === kind),
  };
  try {
    // Each operation of a permission is a resource of its own.
    const specs = row.describe(inventory).map(({ spec }) => spec);
    return specs.length === 0 ? undefined : Object.assign({}, ...specs);
  } catch {
    return undefined;
  }
}

/** Returns where a problem at a path of the definition of an edit is in the spec. */
export function fieldOf(row, spec, edit, path) {
  const field = row.fieldAt(spec, edit, path);
  return field === undefined ? undefined : `spec.${field.replace(/^spec\.?/, '')}`;
}

/** Returns the path of an error, such as `$.args.put[3].definition.filter`, as the number of the edit and the steps in its definition. */
export function editAt(path = '') {
  const found = /^\$\.args\.put\[(\d+)\](?:\.definition)?(.*)$/.exec(path);
  if (!found) return undefined;
  const steps = [...found[2].matchAll(/\.([^.[\]]+)|\[(\d+)\]/g)];
  return { edit: Number(found[1]), steps: steps.map(([, name, i]) => name ?? Number(i)) };
}
