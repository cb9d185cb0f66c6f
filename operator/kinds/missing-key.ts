/** The sentence about a key of a Secret or ConfigMap that a resource refers to and that cannot be read. Not here: reading them
 *  (kubernetes/references.ts, folder/folder-source.ts). */
import { listText } from '@pergola/engine/list-text';

/** The most keys that the sentence lists. */
const MOST_KEYS = 10;

export type MissingKey = {
  readonly kind: 'Secret' | 'ConfigMap';
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
};

/** Returns the keys that exist; undefined when there is no such object, or it may not be read. */
export type KeysOf = (namespace: string, name: string) => readonly string[] | undefined;

/** Looks up the keys of Secrets and ConfigMaps. An absent function: no such object is known as a whole. */
export type KeyLookup = {
  readonly secretKeys?: KeysOf;
  readonly configMapKeys?: KeysOf;
  /** True when they are read from files. Absent: from a cluster, where the operator may lack a right. */
  readonly isFiles?: boolean;
};

/** Returns the sentence. It has names of keys, never values. */
export function missingKeyText({ kind, namespace, name, key }: MissingKey, lookup: KeyLookup): string {
  const holder = `${namespace}/${name}`;
  const keysOf = kind === 'Secret' ? lookup.secretKeys : lookup.configMapKeys;
  if (!keysOf) return `there is no key ${key} in a ${kind} ${holder}`;
  const keys = keysOf(namespace, name)?.toSorted();
  if (!keys) {
    return `there is no ${kind} ${holder}${lookup.isFiles ? ' in the files' : ', or the operator may not read it'}`;
  }
  const shown = listText(keys, { most: MOST_KEYS });
  return `the ${kind} ${holder} has no key ${key}; its keys are ${shown || 'none'}`;
}
