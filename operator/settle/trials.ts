/** Tries parts of a change with dry runs, within a budget, so that no resource can make a pass endless. A cycle of inherited roles, for
 *  which the engine refuses the whole change, is found without a request.
 *  In: the settle context, decisions. Out: the inconsistent objects, or the refusal of the whole.
 *  Not here: which decisions are culprits (culprits.ts). */
import { cycleAmong, type Metadata, orderRoles } from '@pergola/engine/metadata';
import type { Decision } from '../decide/decide.ts';
import { EngineProblem, type InconsistentObject, type Outcome } from '../ports.ts';
import type { Refusal } from './bisect.ts';
import { compose } from './order.ts';

export type SettleContext = {
  readonly live: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
  /** True for objects of this manager, whether they change or not. Only objects of others must not break. */
  readonly isOwned: (key: string) => boolean;
  /** The resource that claims or owns the object: `Kind namespace/name`. Absent: unknown. */
  readonly ownerOf?: (key: string) => string | undefined;
  /** The namespace of the resource that claims the object now. */
  readonly claimedIn?: (key: string) => string | undefined;
  /** Returns what would be inconsistent with these decisions made. Throws EngineProblem. */
  readonly dryRun: (decisions: readonly Decision[]) => Promise<readonly InconsistentObject[]>;
  /** The outcome of a decision that was refused before and need not be tried again yet. `written`: keys of all changes. */
  readonly backedOff?: (decision: Decision, written: ReadonlySet<string>) => Outcome | undefined;
  /** True when an earlier search found that the decision fails for no other's sake. */
  readonly isKnownFault?: (decision: Decision) => boolean;
  /** Decisions beyond this number wait. Absent: no limit. */
  readonly most?: number;
};

/** The engine's verdict on a set of decisions. */
export type TrialResult =
  | { readonly inconsistent: readonly InconsistentObject[]; readonly refusal?: never }
  | { readonly refusal: Refusal; readonly inconsistent?: never };

/** More than a hundred culprits among thousands of changes take several passes. */
const MOST_DRY_RUNS = 256;

export class Trials {
  readonly context: SettleContext;
  #dryRuns = 0;
  #isSound = false;

  constructor(context: SettleContext) {
    this.context = context;
  }

  get hasBudget(): boolean {
    return this.#dryRuns < MOST_DRY_RUNS;
  }

  /** Throws EngineProblem for what is not about the content of the change. */
  async run(decisions: readonly Decision[], document = this.compose(decisions)): Promise<TrialResult> {
    const cycle = cycleOf(document, this.context.live);
    if (cycle) return { refusal: cycle };
    this.#dryRuns++;
    try {
      return { inconsistent: await this.context.dryRun(decisions) };
    } catch (error) {
      if (!(error instanceof EngineProblem) || !isAboutContent(error)) throw error;
      // An engine that refuses even no change at all has another problem than this change.
      if (!error.edit && !this.#isSound) await this.context.dryRun([]);
      this.#isSound = true;
      return { refusal: { reason: error.reason, edit: error.edit } };
    }
  }

  compose(decisions: readonly Decision[]): Metadata {
    return compose(this.context.live, decisions);
  }
}

/** True where the engine refuses what a request says, not the request. */
export function isAboutContent({ kind }: EngineProblem): boolean {
  return kind === 'rejected' || kind === 'inconsistent';
}

/** The refusal of a document in which inherited roles inherit from each other. */
function cycleOf({ inherited_roles: roles = [] }: Metadata, live: Metadata): Refusal | undefined {
  if (roles === live.inherited_roles) return undefined;
  const { stuck } = orderRoles(roles);
  return stuck.length === 0 ? undefined : refusalOfCycle(cycleAmong(stuck));
}

/** In the engine's words. `names`: of a cycle, the first of them once more at the end. */
export function refusalOfCycle(names: readonly string[]): Refusal {
  const cycle = names.slice(0, -1);
  const first = cycle.indexOf(cycle.toSorted()[0]!);
  const turned = [...cycle.slice(first), ...cycle.slice(0, first), cycle[first]];
  return { reason: `found cycle(s) in roles: ${JSON.stringify(turned)}`, isCycle: true };
}
