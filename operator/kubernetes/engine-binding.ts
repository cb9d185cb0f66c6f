/** Translates an Engine resource for the reconcile core: the URL of the engine, its admin secret, the policies of its resources, and the
 *  Secrets and ConfigMaps that are needed.
 *  Pure. Not here: reading Secrets (references.ts), requests to the engine (engine/client.ts). */

import { CONFIRM_CHANGE_ANNOTATION } from '../decide/pending-change.ts';
import { IdentityCache } from '../identity-cache.ts';
import type { CustomResource } from '../kinds.ts';
import { DEFAULT_POLICIES, type Policies, type ReconcileOptions } from '../ports/options.ts';
import { CONFIRM_PRUNE_ANNOTATION } from '../status/engine-status.ts';
import type { Reference } from './references.ts';

type KeyRef = { readonly name: string; readonly key: string };

type ServicePort = { readonly name: string; readonly namespace?: string; readonly port: number };

/** The spec of an Engine. The API server has validated it against the definition. */
export type EngineSpec = {
  readonly endpoint: {
    readonly url?: string;
    readonly service?: ServicePort;
    readonly replicas?: ServicePort;
  };
  readonly adminSecretRef?: KeyRef;
  readonly headerPrefix?: string;
  readonly consoleUrl?: string;
  readonly tls?: { readonly caRef: KeyRef };
  readonly policies?: Partial<Omit<Policies, 'pruneGuard'>> & {
    readonly pruneGuard?: Partial<Policies['pruneGuard']>;
  };
  readonly polling?: { readonly versionSeconds?: number; readonly fullResyncMinutes?: number };
};

const VERSION_SECONDS = 10;
const FULL_RESYNC_MINUTES = 10;

export function engineSpecOf(engine: CustomResource): EngineSpec {
  return engine.spec as unknown as EngineSpec;
}

/** Returns the URL of the engine without a path. */
export function urlOf(engine: CustomResource): string {
  const { endpoint, tls } = engineSpecOf(engine);
  if (endpoint.url !== undefined) return endpoint.url;
  const { name = '', port } = endpoint.service ?? {};
  return `${tls ? 'https' : 'http'}://${hostOf(engine, { name, ...endpoint.service })}:${port}`;
}

/** Returns the host name of all pods of the engine, and their port; undefined when the resource names none. */
export function replicasOf(
  engine: CustomResource,
): { readonly host: string; readonly port: number } | undefined {
  const { replicas } = engineSpecOf(engine).endpoint;
  return replicas && { host: hostOf(engine, replicas), port: replicas.port };
}

function hostOf(engine: CustomResource, { name, namespace }: Omit<ServicePort, 'port'>): string {
  return `${name}.${namespace ?? engine.metadata.namespace}.svc`;
}

/** Returns the URL of the console of the engine; undefined when the Engine names none. */
export function consoleUrlOf(engine: CustomResource): string | undefined {
  return engineSpecOf(engine).consoleUrl;
}

export function intervalsOf(engine: CustomResource): { readonly versionMs: number; readonly fullMs: number } {
  const { versionSeconds = VERSION_SECONDS, fullResyncMinutes = FULL_RESYNC_MINUTES } =
    engineSpecOf(engine).polling ?? {};
  return { versionMs: versionSeconds * 1000, fullMs: fullResyncMinutes * 60_000 };
}

export function reconcileOptionsOf(
  engine: CustomResource,
  general: Pick<ReconcileOptions, 'manager' | 'earlierManagers' | 'progressDeadlineSeconds'>,
): ReconcileOptions {
  const { policies = {}, headerPrefix, consoleUrl } = engineSpecOf(engine);
  return {
    ...general,
    headerPrefix,
    consoleUrl,
    policies: {
      ...DEFAULT_POLICIES,
      ...policies,
      pruneGuard: { ...DEFAULT_POLICIES.pruneGuard, ...policies.pruneGuard },
    },
    confirmPrune: engine.metadata.annotations?.[CONFIRM_PRUNE_ANNOTATION],
    confirmChange: engine.metadata.annotations?.[CONFIRM_CHANGE_ANNOTATION],
  };
}

export function adminSecretOf(engine: CustomResource): (Reference & { readonly key: string }) | undefined {
  const found = engineSpecOf(engine).adminSecretRef;
  return found && { kind: 'secrets', namespace: engine.metadata.namespace, ...found };
}

/** Returns the references that may hold the certificate authority: a ConfigMap first, since the authority is not secret. */
export function authorityOf(engine: CustomResource): readonly (Reference & { readonly key: string })[] {
  const found = engineSpecOf(engine).tls?.caRef;
  if (!found) return [];
  const { namespace } = engine.metadata;
  return [
    { kind: 'configmaps', namespace, ...found },
    { kind: 'secrets', namespace, ...found },
  ];
}

/** Returns the references of the Engine and its resources. Secrets of resources are included only if the Engine allows literal secrets. */
export function referencesOf(
  engine: CustomResource,
  resources: readonly CustomResource[],
): readonly Reference[] {
  return referencesByEngine
    .get(engine, () => new IdentityCache())
    .get(resources, () => [
      ...ownReferencesOf(engine),
      ...resources.flatMap((cr) => referencesOfResource(cr)),
    ]);
}

const referencesByEngine = new IdentityCache<
  CustomResource,
  IdentityCache<readonly CustomResource[], readonly Reference[]>
>();

/** Returns the references to the admin secret and the certificate authority of the Engine. */
export function ownReferencesOf(engine: CustomResource): readonly Reference[] {
  return [adminSecretOf(engine), ...authorityOf(engine)].filter((reference) => reference !== undefined);
}

export function referencesOfResource({
  spec,
  metadata: { namespace },
}: CustomResource): readonly Reference[] {
  return namesBySpec.get(spec, () => namesIn(spec)).map(({ kind, name }) => ({ kind, namespace, name }));
}

const KEY_REFS = {
  secretRef: 'secrets',
  secretKeyRef: 'secrets',
  configMapKeyRef: 'configmaps',
  configMapRef: 'configmaps',
} as const;

const namesBySpec = new IdentityCache<CustomResource['spec'], ReturnType<typeof namesIn>>();

/** Returns every `secretRef`, `secretKeyRef`, `configMapKeyRef` and `configMapRef` in a spec. */
function namesIn(value: unknown): readonly Pick<Reference, 'kind' | 'name'>[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const kind = KEY_REFS[key as keyof typeof KEY_REFS];
    return kind && typeof inner?.name === 'string' ? [{ kind, name: inner.name }] : namesIn(inner);
  });
}
