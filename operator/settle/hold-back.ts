/** The changes of resources that wait until a person confirms them, for Engines whose policy holds back what would break clients or let a role
 *  reach more rows. The engine finds which do. Restorations and confirmed changes are in no group, and are written with what is not held
 *  back. A held change is remembered over passes by its hash, so that schemas are compared once for it and not in each pass.
 *  In: decisions, the confirmations, what the engine found. Out: the groups of a question, the outcomes of held changes.
 *  Not here: finding them (engine/admit/hold-back.ts), the hash of a change (decide/pending-change.ts). */
import { containerKeyOf, isSameJson, parseKey, referencesOf } from '@pergola/engine/metadata';
import { type Decision, ownerOf } from '../decide/decide.ts';
import { CONFIRM_CHANGE_ANNOTATION, type PendingChange, pendingChanges } from '../decide/pending-change.ts';
import type { AdmissionAnswer, AdmissionRequest, HeldGroup, HoldBackEffect } from '../ports/admission.ts';
import type { InconsistentObject } from '../ports/inconsistent-object.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { breaksText, wideningText } from './held-text.ts';
import { isUnavailability, outcomeOfInconsistency } from './inconsistency.ts';

/** A change that is held back. */
export type HeldChange = {
  readonly hash: string;
  readonly outcome: ResourceOutcome;
  /** True when the comparison of schemas objects to the change. */
  readonly isObjected: boolean;
  /** How often it has been compared, and when it may be compared again. */
  readonly times: number;
  readonly retryAtMs: number;
};

/** The held changes by the resource, as `Kind namespace/name`. */
export type HeldChanges = ReadonlyMap<string, HeldChange>;

export const NO_HELD_CHANGES: HeldChanges = new Map();

export type HoldBackOptions = {
  readonly effects: ReadonlySet<HoldBackEffect>;
  readonly isConfirmed: (change: PendingChange) => boolean;
  readonly before: HeldChanges;
  readonly nowMs: number;
};

const LEAST_DELAY_MS = 30_000;
const MOST_DELAY_MS = 600_000;

const WAITS_FOR_COMPARISON: ResourceOutcome = {
  reason: 'Applying',
  message: 'it waits for its turn: other changes would break clients, and it is being found out which',
};

export class HoldBack {
  readonly held = new Map<string, HeldChange>();
  readonly #options: HoldBackOptions | undefined;
  readonly #changes: ReadonlyMap<string, PendingChange>;
  /** The outcomes of decisions that need no question. */
  readonly #waiting = new Map<Decision, ResourceOutcome>();

  constructor(
    {
      holdBack,
      inconsistent,
    }: {
      readonly holdBack: HoldBackOptions | undefined;
      readonly inconsistent: readonly InconsistentObject[];
    },
    decisions: readonly Decision[],
  ) {
    this.#options = holdBack;
    const open = holdBack
      ? [...pendingChanges(decisions)].filter(([, one]) => !holdBack.isConfirmed(one))
      : [];
    this.#changes = new Map(open);
    for (const change of this.#changes.values()) {
      const away = holdBack!.effects.has('Breaking') ? unavailableFor(change, inconsistent) : undefined;
      const known = this.#known(change);
      if (!away && known?.isObjected) this.held.set(change.owner, known);
      const outcome = away ?? (known?.isObjected ? known.outcome : undefined);
      if (outcome) for (const decision of change.decisions) this.#waiting.set(decision, outcome);
    }
  }

  /** Returns why a decision waits without a question to the engine. */
  outcomeOf(decision: Decision): ResourceOutcome | undefined {
    return this.#waiting.get(decision);
  }

  /** Returns the changes that the decisions are part of, in their order. */
  groupsIn(decisions: readonly Decision[]): readonly PendingChange[] {
    const owners = new Set(decisions.map((decision) => ownerOf(decision) ?? ''));
    const tried = new Set(decisions);
    return [...owners].flatMap((owner) => {
      const change = this.#changes.get(owner);
      return change?.decisions.some((decision) => tried.has(decision)) ? [change] : [];
    });
  }

  requestOf(groups: readonly PendingChange[]): AdmissionRequest['holdBack'] {
    if (groups.length === 0) return undefined;
    return {
      effects: [...this.#options!.effects],
      groups: groups.map((change) => ({
        keys: change.decisions.map(({ key }) => key),
        isCompared: this.#known(change) !== undefined,
      })),
    };
  }

  /** Takes what the engine found, and returns the outcomes of the decisions that wait. */
  take(
    groups: readonly PendingChange[],
    { held, notCompared }: AdmissionAnswer,
  ): ReadonlyMap<string, ResourceOutcome> {
    const outcomes = new Map<string, ResourceOutcome>();
    const leaveOut = ({ decisions }: PendingChange, outcome: ResourceOutcome) => {
      for (const { key } of decisions) outcomes.set(key, outcome);
    };
    for (const found of held) {
      const change = groups[found.group]!;
      const one = this.#heldChange(change, found);
      this.held.set(change.owner, one);
      leaveOut(change, one.outcome);
    }
    for (const group of notCompared) leaveOut(groups[group]!, WAITS_FOR_COMPARISON);
    return outcomes;
  }

  #heldChange(change: PendingChange, found: HeldGroup): HeldChange {
    const { hash } = change;
    const { times, retryAtMs } = this.#known(change) ?? this.#next(change);
    const message = `${reasonText(found)}; set the annotation ${CONFIRM_CHANGE_ANNOTATION}: ${hash} to apply it`;
    const isObjected = found.breaks !== undefined || found.unknown !== undefined;
    return { hash, outcome: { reason: 'ChangeHeldBack', message }, isObjected, times, retryAtMs };
  }

  /** Returns what an earlier comparison found for the change, until it may be compared again. */
  #known({ owner, hash }: PendingChange): HeldChange | undefined {
    const { before, nowMs, effects } = this.#options!;
    const known = effects.has('Breaking') ? before.get(owner) : undefined;
    return known?.hash === hash && nowMs < known.retryAtMs ? known : undefined;
  }

  #next({ owner, hash }: PendingChange): Pick<HeldChange, 'times' | 'retryAtMs'> {
    const { before, effects, nowMs } = this.#options!;
    // Nothing was compared.
    if (!effects.has('Breaking')) return { times: 0, retryAtMs: nowMs };
    const known = before.get(owner);
    const times = (known?.hash === hash ? known.times : 0) + 1;
    return { times, retryAtMs: nowMs + Math.min(MOST_DELAY_MS, LEAST_DELAY_MS * 2 ** (times - 1)) };
  }
}

function reasonText({ breaks, unknown, widens }: HeldGroup): string {
  const effects = [...(widens ? [wideningText(widens)] : []), ...(breaks ? [breaksText(breaks)] : [])];
  const unsure =
    unknown === undefined
      ? []
      : [`it is not known whether the change breaks clients, so it is held back: ${unknown}`];
  const sure = effects.length > 0 ? [`the change is held back, it ${effects.join('; and it ')}`] : [];
  return [...sure, ...unsure].join('; ');
}

/** Returns the outcome of a change that concerns a source or remote schema that does not answer: the engine serves nothing of it now, so a
 *  comparison would find nothing. A new connection is not held back: it may be the remedy. */
function unavailableFor(
  { decisions }: PendingChange,
  inconsistent: readonly InconsistentObject[],
): ResourceOutcome | undefined {
  const away = new Map(
    inconsistent
      .filter(({ key }) => containerKeyOf(key) === key)
      .map((found) => [found.key, outcomeOfInconsistency(found, inconsistent, undefined)] as const)
      .filter(([, outcome]) => isUnavailability(outcome)),
  );
  if (away.size === 0) return undefined;
  for (const decision of decisions) {
    const container = isReconnection(decision) ? undefined : concerns(decision).find((key) => away.has(key));
    // Any table may give an inherited role its fields.
    const [any] = parseKey(decision.key)?.kind === 'inherited_role' ? away.keys() : [];
    const found = away.get(container ?? any ?? '');
    if (found) {
      const message = `${found.message}; until then it is not known whether the change breaks clients, so it is held back`;
      return { ...found, message };
    }
  }
  return undefined;
}

/** Returns the sources and remote schemas that a decision is about, or that its object refers to, before or after. */
function concerns({ key, live, claim }: Decision): readonly string[] {
  const objects = [live, claim?.object].filter((object) => object !== undefined);
  const keys = [key, ...objects.flatMap((object) => referencesOf(object))];
  return keys.flatMap((one) => containerKeyOf(one) ?? []);
}

/** True when only the connection of a source or remote schema changes. */
function isReconnection({ key, action, live, claim }: Decision): boolean {
  if (containerKeyOf(key) !== key || action === 'delete' || !live || !claim) return false;
  return isSameJson(withoutConnection(live.definition), withoutConnection(claim.object.definition));
}

function withoutConnection(definition: unknown): unknown {
  const { configuration: _, definition: remote, ...rest } = definition as Record<string, unknown>;
  const { customization } = (remote ?? {}) as { readonly customization?: unknown };
  return { ...rest, customization };
}
