/** The outcome of a resource or decision, and the result of a pass for one resource.
 *  Not here: finding it (status/verdicts.ts), conditions (status/conditions.ts). */
import type { AppliedMigration, Reason } from '../kinds.ts';
import type { Delivery } from './delivery.ts';
import type { TestOutcome } from './permission-test.ts';

/** The outcome of a resource or a decision, from which conditions are computed. */
export type ResourceOutcome = {
  readonly reason: Reason;
  readonly message: string;
};

/** The result of a pass for one resource. */
export type Verdict = {
  readonly outcome: ResourceOutcome;
  /** The difference from the resource that the policy leaves in place. */
  readonly drift?: string;
  /** The difference from the resource that the pass undid. */
  readonly corrected?: string;
  /** True when the pass wrote objects of the resource. */
  readonly wasWritten: boolean;
  /** The delivery of the call that the resource declares. Absent when it declares none, or its delivery ended before. */
  readonly delivery?: Delivery;
  /** The result of the test, of a PermissionTest. Absent when it was not decided in this pass. */
  readonly test?: TestOutcome;
  /** The key of the first object of the resource that the engine has. Absent: it has none of them, or the pass does not know. */
  readonly object?: string;
  /** The keys of the objects that the resource has replaced by its objects in this generation. Absent: none. */
  readonly replaced?: readonly string[];
  /** The state of a Migration that is applied. */
  readonly migration?: AppliedMigration;
  /** The grant that the resource needs although it is applied: it had its objects before the grant was needed. */
  readonly missingGrant?: string;
  /** True while some replica does not serve the applied objects. */
  readonly isLagging?: boolean;
  /** The keys of objects that the engine does not serve as the resource defines them. */
  readonly failing: readonly string[];
};
