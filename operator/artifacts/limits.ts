/** The limits of artifacts. A registry, or whoever pushes to it, chooses everything that they bound. */

const MIB = 1024 * 1024;

export const LIMITS = {
  /** The most bytes of a manifest or an index. */
  manifestBytes: MIB,
  /** The most bytes of the answer of a token service. */
  tokenBytes: 64 * 1024,
  /** The most layers with files. */
  layers: 2000,
  /** The most bytes of all layers together, as the registry sends them. */
  blobBytes: 8 * MIB,
  /** The most bytes of all layers together, decompressed. */
  unpackedBytes: 16 * MIB,
  /** The most entries of all archives together, folders included. */
  entries: 10_000,
  /** The most migrations of an artifact. */
  files: 2000,
  /** The most bytes of all migrations together. */
  fileBytes: 8 * MIB,
  /** The most redirects of one request. */
  redirects: 5,
  /** The time of a whole download, in milliseconds. */
  downloadMs: 60_000,
} as const;
