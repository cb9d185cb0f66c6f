/** Translates a ValueSource of a resource to the metadata: the name of a variable, a file or a named value, or the text of a ConfigMap. The values of Secrets are collected, and sent to the engine before the objects.
 *  In: the resource, the references of the snapshot. Out: a TranslateContext. Throws SpecProblem. Pure.
 *  Not here: sending values (pass/values.ts), reading Secrets and ConfigMaps (kubernetes/references.ts). */
import { SpecProblem, type TranslateContext, type ValueSource } from '../kinds/kind.ts';
import { missingKeyText } from '../kinds/missing-key.ts';
import type { CustomResource } from '../kinds.ts';
import { valueName } from '../objects/value-name.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot } from '../ports/resources.ts';

/** The most characters of a value that an engine stores. */
const MOST_VALUE_CHARACTERS = 65_536;

/** `values` receives the values of Secrets, which the metadata refers to by name. */
export function contextOf(
  cr: CustomResource,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  values: Map<string, string>,
): TranslateContext {
  return {
    valueFrom: (source: ValueSource, path: string) => {
      if (source.env !== undefined) return { from_env: source.env };
      if (source.file !== undefined) return { from_file: source.file };
      if (source.configMapKeyRef) return configMapValue(cr, source.configMapKeyRef, path, snapshot);
      const { name = '', key = '' } = source.secretKeyRef ?? {};
      const { namespace } = cr.metadata;
      const value = snapshot.references.secret(namespace, name, key);
      const what = `key ${key} of Secret ${namespace}/${name}`;
      if (value === undefined) {
        const missing = missingKeyText({ kind: 'Secret', namespace, name, key }, snapshot.references);
        throw new SpecProblem('SecretNotFound', `${path}.secretKeyRef: ${missing}`);
      }
      if (value === '' || value.length > MOST_VALUE_CHARACTERS) {
        const problem = value === '' ? 'is empty' : `has more than ${MOST_VALUE_CHARACTERS} characters`;
        throw new SpecProblem('InvalidSpec', `${path}.secretKeyRef: ${what} ${problem}`);
      }
      const stored = valueName({ namespace, name, key, manager: options.manager });
      values.set(stored, value);
      return { from_value: stored };
    },
  };
}

function configMapValue(
  { metadata: { namespace } }: CustomResource,
  { name, key }: { readonly name: string; readonly key: string },
  path: string,
  { references }: CrSnapshot,
): string {
  const value = references.configMap(namespace, name, key);
  if (value !== undefined) return value;
  const missing = missingKeyText({ kind: 'ConfigMap', namespace, name, key }, references);
  throw new SpecProblem('DependencyNotReady', `${path}.configMapKeyRef: ${missing}`);
}
