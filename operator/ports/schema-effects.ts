/** What edits change for each role, as an engine reports it.
 *  Not here: its text (status/). */
import type { AccessChange } from '@pergola/engine/metadata';
import type { InconsistentObject } from './inconsistent-object.ts';

/** The roles whose schema would change. */
export type SchemaEffects = {
  readonly schemas: readonly SchemaEffect[];
  /** False when the engine did not have time for every role. */
  readonly isComplete: boolean;
  /** The changes of access that only the engine knows: of the allow list if it is enforced, REST endpoints, limits, and functions that need no
   *  permission. Absent: unknown. */
  readonly requests?: readonly AccessChange[];
  /** The objects that would be inconsistent after the edits. Absent: unknown. */
  readonly inconsistent?: readonly InconsistentObject[];
  /** The days of the counts, and the first of them with a request; null when there is none. The whole is null or absent when the engine
   *  does not count what clients use. */
  readonly usage?: { readonly days: number; readonly since: string | null } | null;
};

/** The changes of the schema of one role, as the engine reports them. */
export type SchemaEffect = {
  readonly role: string;
  /** The number of changes of each severity. */
  readonly breaking: number;
  readonly dangerous: number;
  readonly safe: number;
  /** The number of breaking changes that affect an operation of a client. Absent when the engine does not count what clients use. */
  readonly breakingInUse?: number | undefined;
  /** The requests of the role that are not counted by operation. */
  readonly uncounted?: number | undefined;
  /** The changes that are not safe, the breaking ones first, up to a limit of the engine. */
  readonly changes: readonly {
    readonly severity: string;
    readonly type: string;
    readonly description: string;
    /** The number of operations that a breaking change affects, and those with most requests. */
    readonly usedByCount?: number | undefined;
    readonly usedBy?: readonly AffectedOperation[] | undefined;
  }[];
};

/** An operation of a client, which uses what a change removes. Names are null when the client gives none. */
export type AffectedOperation = {
  readonly operation: string | null;
  readonly client: string | null;
  readonly requests: number;
  /** The last day with a request: `2026-11-24`. */
  readonly lastDay: string;
};
