/** The objects that an engine does not serve as the document declares them, as it reports them.
 *  Not here: their owners and conditions (status/). */
import type { PathStep } from '@pergola/engine/metadata';

/** An object that the engine keeps but cannot serve; with the code `not-enforced`, one whose restriction has no effect. */
export type InconsistentObject = {
  readonly key: string;
  readonly type: string;
  readonly name: string;
  readonly reason: string;
  /** The failure of a request to another service. Absent in answers of older engines. */
  readonly message?: { readonly message: string } | undefined;
  /** The error code of the cause in the specification: `not-exists`, `permission-error` and others. */
  readonly code?: string | undefined;
  /** The code of the error behind the cause, where the specification has one code for all causes: `not-exists` for a missing column of an
   *  event trigger. */
  readonly behind?: string | undefined;
  /** The path of the problem in the definition of the object. Absent when the whole object is inconsistent. */
  readonly path?: readonly PathStep[] | undefined;
  /** True for an object that the engine serves without a part of it, such as a Source without a replica that does not answer. */
  readonly served?: boolean | undefined;
  /** True for a source or remote schema that only does not answer. */
  readonly away?: boolean | undefined;
  /** The existing names that are nearest to one that does not exist. */
  readonly nearest?: readonly string[] | undefined;
  /** The further errors of the object. */
  readonly more?: readonly Pick<InconsistentObject, 'reason' | 'path' | 'nearest'>[] | undefined;
};

/** The code of an object that fits, but declares a restriction the engine does not enforce. */
export const NOT_ENFORCED = 'not-enforced';

/** The code of an inherited role whose parents disagree: the engine serves what they agree on. */
export const PARTLY_SERVED = 'partly-served';

/** The code of an object that a Citus cluster cannot serve, because of how its tables are distributed. */
export const DISTRIBUTION_UNSUPPORTED = 'distribution-unsupported';

/** Returns the objects that the engine cannot serve: without those that are only not enforced, or served in part. */
export function unfit(found: readonly InconsistentObject[]): readonly InconsistentObject[] {
  return inconsistentIn(found).filter(({ code }) => code !== PARTLY_SERVED);
}

/** Returns the objects that the engine calls inconsistent. While there is one, it refuses a write that must leave none. */
export function inconsistentIn(found: readonly InconsistentObject[]): readonly InconsistentObject[] {
  return found.filter(({ code }) => code !== NOT_ENFORCED);
}
