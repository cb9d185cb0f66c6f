/** The name of an artifact in a registry: its host, its repository, and a tag or a digest.
 *  Pure. Not here: the form of a repository in a resource (kinds/migration.ts). */
import { createHash } from 'node:crypto';

export type ArtifactReference = {
  /** The host with its port, if the repository names one: `ghcr.io`, `registry.example.com:5000`. */
  readonly host: string;
  /** The name of the repository without the host: `acme/library-migrations`. */
  readonly name: string;
  /** A tag, or a digest such as `sha256:…`. */
  readonly version: string;
};

export function referenceOf({
  repository,
  tag,
  digest,
}: {
  readonly repository: string;
  readonly tag?: string | undefined;
  readonly digest?: string | undefined;
}): ArtifactReference {
  const host = repository.split('/', 1)[0] ?? '';
  return { host, name: repository.slice(host.length + 1), version: digest ?? tag ?? '' };
}

/** Returns the reference as people write it: `ghcr.io/acme/library:v1`, `ghcr.io/acme/library@sha256:…`. */
export function printReference({ host, name, version }: ArtifactReference): string {
  return `${host}/${name}${isDigest(version) ? '@' : ':'}${version}`;
}

const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha512:[a-f0-9]{128})$/;

export function isDigest(version: string): boolean {
  return DIGEST.test(version);
}

/** Returns the digest of the bytes, with the algorithm of another digest. */
export function digestOf(bytes: Buffer, like = 'sha256:'): string {
  const algorithm = like.startsWith('sha512:') ? 'sha512' : 'sha256';
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}
