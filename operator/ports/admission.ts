/** The question to an engine which edits fit together, and its answer (ADR 26).
 *  Not here: what is asked in a pass (settle/), the answer of the engine (engine/admit). */
import type { AccessChange, Edit, PathStep } from '@pergola/engine/metadata';
import type { InconsistentObject } from './inconsistent-object.ts';

/** A question which edits fit. */
export type AdmissionRequest = {
  /** In order of priority, removals first: of edits that do not fit together the later one is left out. */
  readonly edits: readonly Edit[];
  /** The keys of objects that no edit may break. */
  readonly foreign: readonly string[];
  /** The keys of objects without which an edit is left out, by the key of the edit. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  /** The names of values that are sent before the write: what lacks one of them fits. */
  readonly unsentValues: readonly string[];
  /** The edits that are left out, in groups, when they have one of the effects. */
  readonly holdBack?: {
    readonly effects: readonly HoldBackEffect[];
    readonly groups: readonly {
      readonly keys: readonly string[];
      /** True when an earlier comparison found nothing that breaks. */
      readonly isCompared: boolean;
    }[];
  };
};

export type AdmissionAnswer = {
  /** The objects that are inconsistent, or not enforced, after the edits that fit. */
  readonly inconsistent: readonly InconsistentObject[];
  readonly leftOut: readonly LeftOut[];
  readonly held: readonly HeldGroup[];
  /** The numbers of the groups that were not compared for lack of time. */
  readonly notCompared: readonly number[];
};

/** An edit that does not fit. `fault`: its object does not. `breaks`: another object would not any more. `missing`: it needs an object that does
 *  not exist. `refused`, `cycle`: the engine refuses it, for `reason`. `unknown`: there was no time to find out which of several does not fit. */
export type LeftOut = {
  readonly key: string;
  readonly because: 'fault' | 'breaks' | 'missing' | 'cycle' | 'refused' | 'unknown';
  readonly object?: InconsistentObject | undefined;
  readonly missing?: string | undefined;
  readonly reason?: string | undefined;
  readonly path?: readonly PathStep[] | undefined;
  /** The keys of the objects that it does not go together with. */
  readonly rivals?: readonly string[] | undefined;
};

/** Why a group of edits is held back: at least one of them. */
export type HeldGroup = {
  /** The number of the group in the question. */
  readonly group: number;
  readonly breaks?: Breaks | undefined;
  /** Why it is not known what the group breaks. */
  readonly unknown?: string | undefined;
  readonly widens?: Widenings | undefined;
};

/** The first change that breaks clients, the number of others, and that of the further roles that they concern. */
export type Breaks = {
  readonly first: { readonly role: string; readonly description: string } | { readonly access: AccessChange };
  readonly others: number;
  readonly roles: number;
};

/** The first access that becomes wider, and the number of others. */
export type Widenings = { readonly first: AccessChange; readonly others: number };

/** Breaking: an operation of a role that was valid may be invalid. Widened: a role that has a permission reaches more rows. */
export type HoldBackEffect = 'Breaking' | 'Widened';
