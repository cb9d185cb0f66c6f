/** An Engine's consent: which objects namespaces may own.
 *  Not here: computing it (grants/consent.ts). */
import type { MetadataObject } from '@pergola/engine/metadata';

/** The Engine's consent: which objects namespaces may own (grants/consent.ts). */
export type Consent = {
  /** The Engine's own namespace. */
  readonly home: string;
  /** A text that changes when any answer changes. */
  readonly fingerprint: string;
  /** False when an answer depends on labels of namespaces and the operator may not read them: then nothing is revoked. */
  readonly isCertain: boolean;
  /** Returns why resources of the namespace may not bind; undefined when they may. */
  readonly refusalOf: (namespace: string) => string | undefined;
  /** True when released keys of the namespace are reserved for it. */
  readonly reservesFor: (namespace: string) => boolean;
  /** Returns why a resource of the kind may not own the objects; undefined when it may. `held` returns the object of a key that the resource
   *  has already: needs that are new in this version are waived for it. */
  readonly objectionTo: (
    namespace: string,
    kind: string,
    objects: readonly MetadataObject[],
    held?: (key: string) => MetadataObject | undefined,
  ) => string | undefined;
};
