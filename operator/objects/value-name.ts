/** The names under which an engine stores the values of Secrets: `NAMESPACE/OWNER/SECRET/KEY`. The namespace is first, because objects of a
 *  namespace may refer to its values only (grants/grants.ts). OWNER is a digest of the manager, so that operators of two clusters, and a folder,
 *  do not overwrite or remove each other's values.
 *  In and out: texts. Pure. Not here: storing them (engine/client.ts). Reference: docs/adr/0017-named-values.md. */
import { createHash } from 'node:crypto';

type SecretKey = {
  readonly manager: string;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
};

export function valueName({ manager, namespace, name, key }: SecretKey): string {
  return [namespace, ownerOfValues(manager), name, key].join('/');
}

/** Returns the key of the Secret that a name is of. */
export function secretOfValue(name: string): Omit<SecretKey, 'manager'> {
  const [namespace = '', , secret = '', ...key] = name.split('/');
  return { namespace, name: secret, key: key.join('/') };
}

/** Returns the second part of the names of the manager's values. */
export function ownerOfValues(manager: string): string {
  return createHash('sha256').update(manager).digest('hex').slice(0, 12);
}

/** True when a value with the name belongs to the owner. */
export function isValueOf(owner: string, name: string): boolean {
  return name.split('/')[1] === owner;
}
