/** Returns the Engine of a resource: the one that `engineRef` names; without it the one that an annotation of the namespace names, else the
 *  only Engine of the namespace.
 *  A resource without any of these is unbound. It has a key of its own, `namespace/`, so that a pass reports what is missing.
 *  Pure. Not here: whether the Engine admits the namespace (grants/consent.ts). */
import type { CustomResource } from '../kinds.ts';

/** The annotation of a namespace that names the Engine of its resources without `engineRef`: `main`, or `platform/main`. */
export const DEFAULT_ENGINE_ANNOTATION = 'pergola.dev/default-engine';

/** The facts about namespaces that the choice depends on. */
export type NamespaceFacts = {
  /** Returns the value of the annotation; undefined when there is none or namespaces are not watched. */
  readonly defaultEngineOf: (namespace: string) => string | undefined;
  /** Returns the names of the Engines of a namespace. */
  readonly enginesIn: (namespace: string) => readonly string[];
};

/** Returns the key of the Engine of a resource, `namespace/name`. The name is empty when the resource is unbound. */
export function engineKeyOf(
  { metadata: { namespace }, spec }: Pick<CustomResource, 'metadata' | 'spec'>,
  facts: NamespaceFacts,
): string {
  const reference = spec['engineRef'] as { readonly name: string; readonly namespace?: string } | undefined;
  if (reference) return `${reference.namespace ?? namespace}/${reference.name}`;
  const chosen = facts.defaultEngineOf(namespace);
  if (chosen !== undefined) return isWellFormed(chosen) ? keyIn(namespace, chosen) : unboundKey(namespace);
  const [only, ...others] = facts.enginesIn(namespace);
  return only !== undefined && others.length === 0 ? `${namespace}/${only}` : unboundKey(namespace);
}

/** True for the key of the unbound resources of a namespace. */
export function isUnboundKey(key: string): boolean {
  return key.endsWith('/');
}

/** Returns why resources have no Engine, from the key under which they are grouped. */
export function missingEngineText(key: string, facts: NamespaceFacts): string {
  if (!isUnboundKey(key)) {
    const engines = facts.enginesIn(key.slice(0, key.indexOf('/'))).toSorted();
    const known = engines.length === 0 ? '' : `; its namespace has ${engines.slice(0, 10).join(', ')}`;
    return `there is no Engine ${key}${known}`;
  }
  const namespace = key.slice(0, -1);
  const chosen = facts.defaultEngineOf(namespace);
  if (chosen !== undefined) {
    return `the annotation ${DEFAULT_ENGINE_ANNOTATION} of the namespace ${namespace} is ${JSON.stringify(chosen)}; it must be NAME or NAMESPACE/NAME`;
  }
  const engines = facts.enginesIn(namespace);
  const found =
    engines.length === 0 ? 'no Engine' : `${engines.length} Engines (${engines.toSorted().join(', ')})`;
  return (
    `spec.engineRef is absent and the namespace ${namespace} has ${found}; name one in spec.engineRef, ` +
    `or in the annotation ${DEFAULT_ENGINE_ANNOTATION} of the namespace`
  );
}

function unboundKey(namespace: string): string {
  return `${namespace}/`;
}

function keyIn(namespace: string, chosen: string): string {
  return chosen.includes('/') ? chosen : `${namespace}/${chosen}`;
}

function isWellFormed(chosen: string): boolean {
  return /^([a-z0-9][-a-z0-9]*\/)?[a-z0-9]([-.a-z0-9]*[a-z0-9])?$/.test(chosen);
}
