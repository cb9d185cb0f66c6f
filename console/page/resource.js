/** The resource of a spec: its text for Git, the objects of the metadata that it declares, and the field that a problem of an object is about.
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
