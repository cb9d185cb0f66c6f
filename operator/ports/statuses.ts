/** The port of the sink for statuses.
 *  Not here: writing them (kubernetes/status-write.ts), computing them (status/). */
import type { CrStatus, CustomResource } from '../kinds.ts';

export interface StatusSink {
  /** Writes the statuses that changed, or sees to it that they are written. Never throws because of a single one. Resolves to the number of
   *  statuses that another pass has to publish. */
  publish(changes: readonly StatusChange[]): Promise<number>;
}

export type StatusChange = {
  readonly cr: CustomResource;
  readonly status: CrStatus;
  /** The sentence about the differences that another client had made to objects of the resource, and that the pass undid. */
  readonly corrected?: string;
};
