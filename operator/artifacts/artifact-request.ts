/** Reads what a Migration says about its artifact, with the Secret and the certificates that it names.
 *  In: the resource and the look-up of its references. Out: a request, or why there is none. Pure.
 *  Not here: the download (download.ts), whether the Engine grants the host (grants/). */
import { createHash } from 'node:crypto';
import type { MigrationSpec } from '../kinds/migration.ts';
import { type KeyLookup, type MissingKey, missingKeyText } from '../kinds/missing-key.ts';
import type { CustomResource } from '../kinds.ts';
import type { ReferenceLookup } from '../ports/resources.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { DOCKER_CONFIG_KEY } from './credentials.ts';
import { type ArtifactReference, referenceOf } from './reference.ts';

export type ArtifactRequest = {
  readonly reference: ArtifactReference;
  /** The namespace of the resource. */
  readonly namespace: string;
  /** The folder of the migrations. Empty: the top of the artifact. */
  readonly path: string;
  readonly plainHttp: boolean;
  readonly ca: string | undefined;
  /** The content of the Secret: the configuration of a Docker client. */
  readonly dockerConfig: string | undefined;
  /** A digest of everything that the result depends on. Two requests that share it have the same files. */
  readonly fingerprint: string;
};

/** The annotation whose new value makes the operator look at a tag again. */
export const RECONCILE_ANNOTATION = 'pergola.dev/reconcile-now';

/** `fallback` is the configuration for an artifact whose Secret does not exist. */
export function artifactRequestOf(
  cr: CustomResource,
  references: ReferenceLookup,
  fallback?: string,
): ArtifactRequest | ResourceOutcome {
  const { ociArtifact } = cr.spec as MigrationSpec;
  if (!ociArtifact) return { reason: 'InvalidSpec', message: 'spec.ociArtifact is missing' };
  const { namespace } = cr.metadata;
  const { secretRef, ca: caSource, path = '', plainHttp = false } = ociArtifact;
  const config = secretRef && references.secret(namespace, secretRef.name, DOCKER_CONFIG_KEY);
  if (secretRef && config === undefined && fallback === undefined) {
    const wanted = { kind: 'Secret', namespace, name: secretRef.name, key: DOCKER_CONFIG_KEY } as const;
    return missing('SecretNotFound', 'secretRef', wanted, references);
  }
  const dockerConfig = config ?? fallback;
  const { value, secretKeyRef, configMapKeyRef } = caSource ?? {};
  const fromSecret = secretKeyRef && references.secret(namespace, secretKeyRef.name, secretKeyRef.key);
  const fromConfigMap =
    configMapKeyRef && references.configMap(namespace, configMapKeyRef.name, configMapKeyRef.key);
  const ca = value ?? fromSecret ?? fromConfigMap;
  if (ca === undefined && secretKeyRef) {
    const wanted = { kind: 'Secret', namespace, ...secretKeyRef } as const;
    return missing('SecretNotFound', 'ca', wanted, references);
  }
  if (ca === undefined && configMapKeyRef) {
    const wanted = { kind: 'ConfigMap', namespace, ...configMapKeyRef } as const;
    return missing('DependencyNotReady', 'ca', wanted, references);
  }
  const reference = referenceOf(ociArtifact);
  const parts = [reference, namespace, path, plainHttp, ca ?? null, dockerConfig ?? null];
  const fingerprint = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return { reference, namespace, path, plainHttp, ca, dockerConfig, fingerprint };
}

function missing(
  reason: ResourceOutcome['reason'],
  field: string,
  wanted: MissingKey,
  lookup: KeyLookup,
): ResourceOutcome {
  return { reason, message: `spec.ociArtifact.${field}: ${missingKeyText(wanted, lookup)}` };
}
