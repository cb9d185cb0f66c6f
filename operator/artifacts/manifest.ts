/** Reads manifests and image indexes of OCI registries.
 *  In: the bytes of a manifest. Out: the layers that contain files, or the manifest that an index names.
 *  Source: OCI Image Format Specification 1.1 (image-spec), "Image Manifest" and "Image Index"; for the types of Docker, Image Manifest
 *  Version 2, Schema 2. Pure. Raises ArtifactProblem. Not here: requests (registry.ts), the content of layers (layer.ts). */
import { isRecord } from '@pergola/engine/metadata';
import { ArtifactProblem } from './artifact-problem.ts';
import { LIMITS } from './limits.ts';
import { isDigest } from './reference.ts';

const MANIFESTS = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
];
const INDEXES = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];
/** The media types that requests accept. */
export const ACCEPTED_MANIFESTS = [...MANIFESTS, ...INDEXES].join(', ');

/** How a layer contains files: as an archive, or as one file with a name. */
const ARCHIVES: ReadonlyMap<string, 'tar' | 'tar+gzip'> = new Map([
  ['application/vnd.oci.image.layer.v1.tar', 'tar'],
  ['application/vnd.oci.image.layer.v1.tar+gzip', 'tar+gzip'],
  ['application/vnd.docker.image.rootfs.diff.tar.gzip', 'tar+gzip'],
  ['application/vnd.cncf.flux.content.v1.tar+gzip', 'tar+gzip'],
]);

/** The annotation in which `oras push` writes the name of a file. */
const TITLE = 'org.opencontainers.image.title';
/** The annotation with which `oras push` marks a folder, which it packs into an archive. */
const UNPACK = 'io.deis.oras.content.unpack';

export type Descriptor = { readonly digest: string; readonly size: number };
export type Layer = Descriptor & {
  readonly form: 'tar' | 'tar+gzip' | 'file';
  /** The name of the file. Empty for an archive. */
  readonly title: string;
};

/** The meaning of a manifest: its layers, or the only manifest of an index. */
export type ManifestContent = { readonly layers: readonly Layer[] } | { readonly manifest: Descriptor };

/** `contentType` is that of the response. It counts if the manifest has no media type of its own. */
export function readManifest(bytes: Buffer, contentType: string | undefined): ManifestContent {
  const manifest = parsed(bytes);
  const type = manifest['mediaType'] ?? contentType?.split(';')[0]?.trim();
  if (INDEXES.includes(String(type))) return { manifest: onlyManifestOf(manifest) };
  if (!MANIFESTS.includes(String(type))) {
    throw new ArtifactProblem(
      `the manifest has a media type that is not supported; supported are ${ACCEPTED_MANIFESTS}`,
    );
  }
  const layers = listOf(manifest['layers']).flatMap(layerOf);
  const total = layers.reduce((sum, { size }) => sum + size, 0);
  if (layers.length === 0) {
    throw new ArtifactProblem(
      `the artifact has no layer with files; supported are ${[...ARCHIVES.keys()].join(', ')}, and layers with the annotation ${TITLE}`,
    );
  }
  if (layers.length > LIMITS.layers)
    throw new ArtifactProblem(`the artifact has more than ${LIMITS.layers} layers`);
  if (total > LIMITS.blobBytes)
    throw new ArtifactProblem(`the layers are larger than ${LIMITS.blobBytes} bytes`);
  return { layers };
}

function parsed(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    if (isRecord(value)) return value;
  } catch {
    // Reported below without the text.
  }
  throw new ArtifactProblem('the manifest is not a JSON object');
}

/** Attestations, which `docker buildx` adds to an index, have no files. */
function onlyManifestOf(index: Readonly<Record<string, unknown>>): Descriptor {
  const entries = listOf(index['manifests']).filter(
    ({ annotations }) =>
      !isRecord(annotations) || annotations['vnd.docker.reference.type'] !== 'attestation-manifest',
  );
  const [only, another] = entries;
  if (!only || another) {
    throw new ArtifactProblem(
      `the index has ${entries.length} manifests and must have one; name the digest of one`,
    );
  }
  return descriptorOf(only);
}

function layerOf(layer: Readonly<Record<string, unknown>>): readonly Layer[] {
  const annotations = isRecord(layer['annotations']) ? layer['annotations'] : {};
  const form = annotations[UNPACK] === 'true' ? 'tar+gzip' : ARCHIVES.get(String(layer['mediaType']));
  const title = annotations[TITLE];
  // A single file has a title, whatever its media type; `oras push` gives it that of an uncompressed archive.
  if (typeof title === 'string' && form !== 'tar+gzip')
    return [{ ...descriptorOf(layer), form: 'file', title }];
  return form ? [{ ...descriptorOf(layer), form, title: '' }] : [];
}

function descriptorOf({ digest, size }: Readonly<Record<string, unknown>>): Descriptor {
  if (typeof digest !== 'string' || !isDigest(digest)) {
    throw new ArtifactProblem('the manifest has a digest that is neither sha256 nor sha512');
  }
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0) {
    throw new ArtifactProblem('the manifest has an invalid size');
  }
  return { digest, size };
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
