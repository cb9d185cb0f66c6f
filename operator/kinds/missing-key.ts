/** The sentence about a key of a Secret or ConfigMap that a resource refers to and that cannot be read. Not here: reading them
 *  (kubernetes/references.ts, folder/folder-source.ts). */

/** The most keys that the sentence lists. */
const MOST_KEYS = 10;

export type MissingKey = {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** Returns the keys that exist; undefined when there is no such object, or it may not be read. Absent: it is not known which exist. */
  readonly keysOf?: ((namespace: string, name: string) => readonly string[] | undefined) | undefined;
};

/** Returns the sentence. It has names of keys, never values. */
export function missingKeyText({ kind, namespace, name, key, keysOf }: MissingKey): string {
  const holder = `${namespace}/${name}`;
  if (!keysOf) return `there is no key ${key} in a ${kind} ${holder}`;
  const keys = keysOf(namespace, name)?.toSorted();
  if (!keys) return `there is no ${kind} ${holder}, or the operator may not read it`;
  const shown = keys.slice(0, MOST_KEYS).join(', ');
  const more = keys.length > MOST_KEYS ? `, and ${keys.length - MOST_KEYS} more` : '';
  return `the ${kind} ${holder} has no key ${key}; its keys are ${shown || 'none'}${more}`;
}
