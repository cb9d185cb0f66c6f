/** Downloads an artifact: the manifest of the tag or digest, its layers, and the migrations in them.
 *  In: the request, and the digest that was downloaded before. Out: the digest, and the files unless it is the same. Raises ArtifactProblem.
 *  Not here: when to download (artifact-store.ts), single requests (registry.ts). */
import type { MigrationFile } from '../ports/migrations.ts';
import { type AddressPolicy, hostProblem, loopbackFor } from './addresses.ts';
import { ArtifactProblem } from './artifact-problem.ts';
import type { ArtifactRequest } from './artifact-request.ts';
import { credentialsFor } from './credentials.ts';
import { filesInLayers } from './layer.ts';
import { LIMITS } from './limits.ts';
import { readManifest } from './manifest.ts';
import { migrationFilesIn } from './migration-files.ts';
import { isDigest } from './reference.ts';
import { RegistryClient } from './registry.ts';

/** `files` is absent when the digest is the one that was downloaded before. */
export type Download = { readonly digest: string; readonly files?: readonly MigrationFile[] };
export type DownloadOptions = {
  readonly policy: AddressPolicy;
  /** The digest that was downloaded before. */
  readonly previous: string | undefined;
  /** Aborted when the operator stops. */
  readonly signal: AbortSignal;
  /** The time of the download. Absent: LIMITS.downloadMs. */
  readonly downloadMs?: number | undefined;
};

export async function download(
  { reference, path, plainHttp, ca, dockerConfig }: ArtifactRequest,
  { policy, previous, signal, downloadMs = LIMITS.downloadMs }: DownloadOptions,
): Promise<Download> {
  const { host, name, version } = reference;
  const refusal = hostProblem(host, policy);
  if (refusal !== undefined) throw new ArtifactProblem(refusal);
  const registry = new RegistryClient({
    ...{ host, name, plainHttp, ca },
    allowsLoopback: loopbackFor(host, policy),
    credentialsFor: (at) =>
      dockerConfig === undefined ? undefined : credentialsFor(dockerConfig, { host: at, name }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(downloadMs)]),
  });
  try {
    if (previous !== undefined && !isDigest(version) && (await registry.digestOf(version)) === previous) {
      return { digest: previous };
    }
    const first = await registry.manifest(version);
    if (first.digest === previous) return { digest: previous };
    const content = readManifest(first.bytes, first.contentType);
    const files = await filesInLayers(await layersOf(registry, content));
    return { digest: first.digest, files: migrationFilesIn(files, path) };
  } finally {
    registry.close();
  }
}

async function layersOf(registry: RegistryClient, content: ReturnType<typeof readManifest>) {
  const inner = 'layers' in content ? content : await onlyManifest(registry, content.manifest);
  const layers = [];
  for (const layer of inner.layers) layers.push({ layer, bytes: await registry.blob(layer) });
  return layers;
}

async function onlyManifest(
  registry: RegistryClient,
  { digest, size }: { readonly digest: string; readonly size: number },
) {
  const { bytes, contentType } = await registry.manifest(digest, size);
  const content = readManifest(bytes, contentType);
  if ('manifest' in content)
    throw new ArtifactProblem('the index names another index, which is not supported');
  return content;
}
