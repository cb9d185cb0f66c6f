/** Downloads an artifact: the manifest of the tag or digest, its layers, and the migrations in them, which are chosen by the rules for folders
 *  (engine/migrate/read-migrations.ts): `VERSION_NAME.sql`, or `VERSION_NAME/up.sql`. Other files are ignored.
 *  In: the request, and the digest that was downloaded before. Out: the digest, and the files unless it is the same. Raises ArtifactProblem.
 *  Not here: when to download (artifact-store.ts), single requests (registry.ts), the addresses of a host (@pergola/engine/addresses), the
 *  hosts that the grants of an Engine cover (grants/needs.ts), the form of names and of statements, which the engine checks. */

import { TextDecoder } from 'node:util';
import type { AllowsLoopback } from '@pergola/engine/addresses';
import { isMatch } from '../grants/grants.ts';
import type { MigrationFile } from '../ports/migrations.ts';
import { ArtifactProblem } from './artifact-problem.ts';
import type { ArtifactRequest } from './artifact-request.ts';
import { credentialsFor } from './credentials.ts';
import { type FileContents, filesInLayers } from './layer.ts';
import { LIMITS } from './limits.ts';
import { readManifest } from './manifest.ts';
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

export type AddressPolicy = {
  /** Patterns of hosts, with a port if the repository names one: `ghcr.io`, `*.example.com`, `registry.example.com:5000`. */
  readonly hosts: readonly string[];
  /** True when a registry may be on this machine, as for the command line. */
  readonly allowsLoopback: boolean;
};

/** Returns why the host may not be requested; undefined when it may. */
export function hostProblem(host: string, { hosts }: AddressPolicy): string | undefined {
  return hosts.some((pattern) => isMatch(pattern, host))
    ? undefined
    : `the operator does not request artifacts from ${host}; its option --registries lists the hosts`;
}

/** Returns the hosts that may be on this machine: those of a registry that the list names without a pattern, all for the command line. */
function loopbackFor(host: string, policy: AddressPolicy): AllowsLoopback {
  const isAllowed = policy.allowsLoopback || policy.hosts.includes(host);
  return () => isAllowed;
}

/** Returns the migrations in a folder of the artifact; '' is the folder that has everything. */
function migrationFilesIn(files: FileContents, folder: string): readonly MigrationFile[] {
  const base = folder.replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '');
  const prefix = base === '' ? '' : `${base}/`;
  const found = [...files]
    .filter(([path]) => path.startsWith(prefix))
    .flatMap(([path, bytes]) => {
      const name = migrationName(path.slice(prefix.length));
      return name === undefined ? [] : [{ name, path, bytes }];
    })
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  if (found.length === 0) throw new ArtifactProblem(missingText(files, base));
  if (found.length > LIMITS.files)
    throw new ArtifactProblem(`the artifact has more than ${LIMITS.files} migrations`);
  const total = found.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > LIMITS.fileBytes)
    throw new ArtifactProblem(`the migrations are larger than ${LIMITS.fileBytes} bytes`);
  return found.map(({ name, path, bytes }) => ({ name, sql: textOf(path, bytes) }));
}

function migrationName(path: string): string | undefined {
  const [, folder] = /^(\d+_[^/]+)\/up\.sql$/.exec(path) ?? [];
  if (folder !== undefined) return `${folder}.sql`;
  return !path.includes('/') && path.endsWith('.sql') && !path.endsWith('.down.sql') ? path : undefined;
}

function textOf(path: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ArtifactProblem(`${JSON.stringify(path)} is not UTF-8 text`);
  }
}

/** The most folders that a message names. */
const MOST_FOLDERS = 3;

function missingText(files: FileContents, base: string): string {
  const where =
    base === '' ? 'the artifact has no migrations at its top' : `the artifact has no migrations in ${base}`;
  const folders = new Set(
    [...files.keys()]
      .filter((path) => path.endsWith('.sql'))
      .map((path) => path.replace(/\/\d+_[^/]+\/up\.sql$/, '').replace(/\/[^/]*\.sql$/, ''))
      .filter((path) => /^[\w./-]{1,100}$/.test(path) && !path.endsWith('.sql')),
  );
  const named = [...folders].slice(0, MOST_FOLDERS);
  return named.length === 0
    ? where
    : `${where}; name the folder in spec.ociArtifact.path: ${named.join(', ')}`;
}
