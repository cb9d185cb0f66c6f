/** Finds the decisions of a write that the engine accepts. What is known without it is left out first: what it refused a moment ago, deletions
 *  that would take objects of somebody else along, and changes that wait for a confirmation. Which of the rest fit is one question to the
 *  engine; none, when nothing is inconsistent and nothing is held back: the write itself then says whether all of them fit.
 *  In: the live document, decisions. Out: the document to write, and why decisions are left out.
 *  Not here: what fits (engine/admit), the outcomes (left-out.ts), what is held back (hold-back.ts), the write (pass/attempt.ts). */
import { feasible } from '@pergola/engine/admit';
import type { Metadata } from '@pergola/engine/metadata';
import { type Decision, isWrite } from '../decide/decide.ts';
import { heldDeletions, replacementsIn } from '../decide/replacement.ts';
import { objectsIn } from '../objects/normal-form.ts';
import type { AdmissionAnswer, AdmissionRequest } from '../ports/admission.ts';
import type { InconsistentObject } from '../ports/inconsistent-object.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { foreignDependents } from './foreign-cascades.ts';
import { type HeldChanges, HoldBack, type HoldBackOptions } from './hold-back.ts';
import { keptForDependent } from './inconsistency.ts';
import { addLeftOut, servedInstead, waitsForTurn } from './left-out.ts';
import { byPriority, compose, editOf } from './order.ts';

export type Settled = {
  readonly document: Metadata;
  /** The decisions the document contains. */
  readonly applied: readonly Decision[];
  /** The outcomes of decisions left out, by key. */
  readonly excluded: ReadonlyMap<string, ResourceOutcome>;
  /** True when some decisions wait for the next write. */
  readonly isCut: boolean;
  /** True unless the engine was asked, and left something out. */
  readonly fits: boolean;
  /** The inconsistent or unenforced objects of the document. */
  readonly inconsistent: readonly InconsistentObject[];
  /** The objects that left out changes would break, by the key of the change: the engine has searched for it. */
  readonly broken: ReadonlyMap<string, string>;
  /** The changes that the policy of the Engine holds back. */
  readonly heldBack: HeldChanges;
};

export type SettleContext = {
  readonly live: Metadata;
  readonly inconsistent: readonly InconsistentObject[];
  /** True for objects of this manager. Only objects of other managers must not break. */
  readonly isOwned: (key: string) => boolean;
  /** Returns the resource that claims or owns the object, as `Kind namespace/name`. */
  readonly ownerOf: (key: string) => string | undefined;
  /** Returns the namespace of the resource that claims the object. */
  readonly claimedIn: (key: string) => string | undefined;
  readonly admit: (request: AdmissionRequest) => Promise<AdmissionAnswer>;
  /** True when the write fails if anything does not fit, so that the question is not needed. */
  readonly mustFit: boolean;
  /** Returns the outcome of a decision that was refused before, and that need not be tried again yet. `written` are the keys of all changes. */
  readonly refusedBefore: (decision: Decision, written: ReadonlySet<string>) => ResourceOutcome | undefined;
  /** The names of values that are sent before the write. */
  readonly unsentValues: readonly string[];
  readonly holdBack: HoldBackOptions | undefined;
  /** The most decisions of one write. Undefined means no limit. */
  readonly most: number | undefined;
};

export async function settle(context: SettleContext, decisions: readonly Decision[]): Promise<Settled> {
  const excluded = new Map<string, ResourceOutcome>();
  const holdBack = new HoldBack(context, decisions);
  const possible = possibleIn(context, decisions, holdBack, excluded);
  const tried = possible.slice(0, context.most ?? possible.length);
  const postponed = possible.slice(tried.length);
  for (const { key } of postponed) excluded.set(key, waitsForTurn(key));
  const isCut = postponed.length > 0;
  const common = { excluded, isCut, fits: true, broken: NOTHING_BROKEN, heldBack: holdBack.held };
  const live = { document: context.live, inconsistent: context.inconsistent };
  if (tried.length === 0) return { ...common, ...live, applied: [] };
  const groups = holdBack.groupsIn(tried);
  if (context.mustFit && groups.length === 0 && isWhole(context, tried)) {
    return { ...common, document: compose(context.live, tried), applied: tried, inconsistent: [] };
  }
  const answer = await context.admit(requestOf(context, decisions, tried, holdBack.requestOf(groups)));
  for (const [key, outcome] of holdBack.take(groups, answer)) excluded.set(key, outcome);
  addLeftOut(answer.leftOut, new Map(tried.map((one) => [one.key, one])), excluded, {
    ownerOf: context.ownerOf,
    keys: () => [...objectsIn(context.live).keys(), ...tried.map(({ key }) => key)],
  });
  const applied = tried.filter(({ key }) => !excluded.has(key));
  const isUnknown = answer.leftOut.some(({ because }) => because === 'unknown');
  return {
    ...common,
    document: compose(context.live, applied),
    applied,
    isCut: isCut || isUnknown || answer.notCompared.length > 0,
    fits: answer.leftOut.length === 0,
    inconsistent: answer.inconsistent,
    broken: new Map(
      answer.leftOut.flatMap(({ key, because, object }) =>
        because === 'breaks' && object ? [[key, object.key]] : [],
      ),
    ),
  };
}

const NOTHING_BROKEN: Settled['broken'] = new Map();

/** Returns the writes by priority without those that are known to wait, whose outcomes are added. */
function possibleIn(
  context: SettleContext,
  decisions: readonly Decision[],
  holdBack: HoldBack,
  excluded: Map<string, ResourceOutcome>,
): readonly Decision[] {
  const writes = byPriority(decisions.filter(isWrite));
  const written = new Set(writes.map(({ key }) => key));
  const foreign = foreignDependents(writes, objectsIn(context.live), context);
  for (const decision of writes) {
    const { key } = decision;
    const dependent = foreign.get(key);
    const outcome =
      dependent === undefined
        ? (context.refusedBefore(decision, written) ?? holdBack.outcomeOf(decision))
        : keptForDependent(key, dependent, context.claimedIn(dependent) && context.ownerOf(dependent));
    if (outcome) excluded.set(key, outcome);
  }
  const replacements = replacementsIn(decisions);
  const refused = new Set(
    decisions.filter(({ action }) => action === 'refuseAdoption').map(({ key }) => key),
  );
  const isMissing = (key: string) => excluded.has(key) || refused.has(key);
  for (const { key } of heldDeletions(writes, replacements, isMissing)) {
    if (!excluded.has(key)) excluded.set(key, servedInstead(key, excluded.get(replacements.get(key) ?? '')));
  }
  return writes.filter(({ key }) => !excluded.has(key));
}

function requestOf(
  context: SettleContext,
  decisions: readonly Decision[],
  tried: readonly Decision[],
  holdBack: AdmissionRequest['holdBack'],
): AdmissionRequest {
  const { live, isOwned, unsentValues } = context;
  return {
    edits: tried.map(editOf),
    foreign: [...objectsIn(live).keys()].filter((key) => !isOwned(key)),
    needs: replacementNeeds(decisions, tried),
    unsentValues,
    ...(holdBack ? { holdBack } : {}),
  };
}

/** Returns what replaced objects need before they are deleted, with the nested objects of the same resource: their replacement. */
function replacementNeeds(
  decisions: readonly Decision[],
  tried: readonly Decision[],
): ReadonlyMap<string, readonly string[]> {
  const needs = new Map<string, readonly string[]>();
  for (const [replaced, replacement] of replacementsIn(decisions)) {
    const together = heldDeletions(tried, new Map([[replaced, replacement]]), () => true);
    for (const { key } of together) needs.set(key, [replacement]);
  }
  return needs;
}

/** True when every object that the decisions put finds the objects that it needs. The engine would accept an entry of the allow list without its
 *  collection. */
function isWhole({ live }: SettleContext, tried: readonly Decision[]): boolean {
  return feasible(objectsIn(live), tried.map(editOf), new Map()).length === tried.length;
}
