/** Why the files of an OCI artifact are not available. Messages name the host, the repository and the status of a response. They contain
 *  neither credentials nor text of a response: its author could choose any text, and the reader of a status may not be who may read it.
 *  Not here: when a download is tried again (artifact-store.ts). */

export class ArtifactProblem extends Error {
  /** The delay that the registry named, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, retryAfterMs?: number) {
    super(message);
    this.retryAfterMs = retryAfterMs;
  }
}
