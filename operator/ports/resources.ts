/** The port of the source of resources: all resources of one engine, with what they refer to.
 *  Not here: reading them (kubernetes/, folder/). */

import type { KeyLookup } from '../kinds/missing-key.ts';
import type { CrStatus, CustomResource } from '../kinds.ts';
import type { Consent } from './consent.ts';
import type { ArtifactAnswer } from './migrations.ts';
import type { ResourceOutcome } from './verdict.ts';

export interface CrSource {
  snapshot(): Promise<CrSnapshot>;
}

/** All resources of one engine at one moment. */
export type CrSnapshot = {
  /** The time of the snapshot. */
  readonly at: Date;
  /** The resources of every kind except Engine. */
  readonly resources: readonly CustomResource[];
  /** False while some resources cannot be seen (a kind not in sync, an invalid file): then nothing is deleted. */
  readonly isComplete: boolean;
  /** Returns the names of those deleted resources that were deleted with the definition of their kind; undefined when that cannot be read
   *  now. `owners` maps names to the times when the resources were created, where the ledger has them. Absent: there are no definitions, as in folder mode. */
  readonly lostAmong?: (
    owners: ReadonlyMap<string, string | undefined>,
  ) => Promise<ReadonlySet<string> | undefined>;
  /** The answer about the resources whose objects would be deleted; `unknown` when there was none: then nothing is deleted. */
  readonly lost?: ReadonlySet<string> | 'unknown';
  /** True when the resources have the statuses that were published, which others may change. */
  readonly hasStatuses?: true;
  /** The names of resources that have no Engine at the moment. An engine keeps the objects that they own. */
  readonly unbound?: ReadonlySet<string>;
  /** True when the operator watches the namespace. Absent: it watches all. Objects of resources in other namespaces are kept. */
  readonly seesNamespace?: ((namespace: string) => boolean) | undefined;
  readonly references: ReferenceLookup;
  /** Returns the artifact of a Migration, or why there is none. Absent: artifacts are not downloaded. */
  readonly artifact?: ((cr: CustomResource) => Promise<ArtifactAnswer>) | undefined;
  /** Returns why a resource waits with its objects as they are, besides its own problems. Absent: none waits. */
  readonly held?: ((cr: CustomResource) => ResourceOutcome | undefined) | undefined;
  /** The Engine's consent. Absent in folder mode: its user may write all metadata and name all variables. */
  readonly consent?: Consent | undefined;
  /** The consent of the Engine in a folder, which a cluster would ask for: what it does not cover is reported, and refused nothing. */
  readonly reportedConsent?: Consent | undefined;
  /** Returns the versions of the Secrets and ConfigMaps, and the digest of the artifact, that the resource was read with. */
  readonly observed?: ((cr: CustomResource) => Observed) | undefined;
};

/** Looks up values that resources refer to; undefined when there is none. */
export type ReferenceLookup = KeyLookup & {
  readonly secret: (namespace: string, name: string, key: string) => string | undefined;
  readonly configMap: (namespace: string, name: string, key: string) => string | undefined;
};

/** The fields of a status that list the Secrets, the ConfigMaps and the artifact a resource was read with. */
export type Observed = Pick<CrStatus, 'observedSecrets' | 'observedConfigMaps' | 'observedArtifact'>;
