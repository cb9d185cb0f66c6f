/** Computes the verdict on each resource from the decisions on its objects, what was left out, and what the engine reports. The worst of
 *  its objects determines the outcome of a resource.
 *  Pure. Not here: conditions (conditions.ts). */

import { listText } from '@pergola/engine/list-text';
import { containerKeyOf } from '@pergola/engine/metadata';
import { type Decision, isWrite, ownerOf } from '../decide/decide.ts';
import { type Replacements, replacementsIn } from '../decide/replacement.ts';
import { type ReplicaSync, type TrackedReplica, withLagging } from '../engine/replica-sync.ts';
import { type CustomResource, crName, type Reason } from '../kinds.ts';
import { differencesOf, summarise } from '../objects/difference.ts';
import { objectsIn, printKey } from '../objects/normal-form.ts';
import type { InconsistentObject } from '../ports/inconsistent-object.ts';
import type { ResourceOutcome, Verdict } from '../ports/verdict.ts';
import { isUnavailability, outcomeOfInconsistency } from '../settle/inconsistency.ts';
import { waitsFor } from '../settle/left-out.ts';
import { conditionOf } from './conditions.ts';
import type { PassPlan } from './report.ts';

/** The reasons in descending order of severity. */
const SEVERITY: readonly Reason[] = [
  'RefNotPermitted',
  'NotPermitted',
  'InvalidSpec',
  'AnotherOperator',
  'Conflict',
  'AdoptionRequired',
  'RejectedByEngine',
  'NotEnforced',
  'PartlyServed',
  'ChangeHeldBack',
  'MigrationFailed',
  'MigrationRunning',
  'MigrationPending',
  'SecretNotFound',
  'PruneHeld',
  'DependencyNotReady',
  'SourceUnavailable',
  'RemoteUnavailable',
];
const MOST_MESSAGES = 3;

/** Returns the verdict on each resource in the scope of the plan if the plan is applied, by uid. */
export function verdictsOf(
  plan: PassPlan,
  inconsistent: readonly InconsistentObject[],
): ReadonlyMap<string, Verdict> {
  const byOwner = Map.groupBy(plan.decisions, ownerOf);
  const outcome: PlanOutcome = {
    plan,
    keys: objectsIn(plan.settled.document),
    inconsistent,
    byKey: new Map(inconsistent.map((found) => [found.key, found])),
    replacements: replacementsIn(plan.decisions),
  };
  return new Map(
    plan.scope.snapshot.resources.map((cr) => {
      const decisions = byOwner.get(crName(cr)) ?? [];
      return [cr.metadata.uid, verdictOf(cr, decisions, outcome)];
    }),
  );
}

/** A plan with the inconsistent objects that the engine reports. */
type PlanOutcome = {
  readonly plan: PassPlan;
  /** The keys in the document. */
  readonly keys: { readonly has: (key: string) => boolean };
  readonly inconsistent: readonly InconsistentObject[];
  readonly byKey: ReadonlyMap<string, InconsistentObject>;
  readonly replacements: Replacements;
};

function verdictOf(cr: CustomResource, decisions: readonly Decision[], result: PlanOutcome): Verdict {
  const { desired, settled } = result.plan;
  const issues = decisions.flatMap((decision) => {
    const outcome = issueOf(decision, result);
    return outcome ? [{ key: decision.key, outcome }] : [];
  });
  const whole = desired.outcomes.get(cr.metadata.uid);
  const outcomes = [...(whole ? [whole] : []), ...issues.map(({ outcome }) => outcome)];
  const drifted = decisions.filter(({ action }) => action === 'reportDrift');
  const claimed = decisions.filter(({ claim }) => claim).length;
  const judged = withServedGeneration(cr, worstOf(outcomes, claimed), decisions);
  const outcome = result.plan.migrations?.outcomeOf(cr, judged) ?? judged;
  const written = decisions.filter((d) => isWrite(d) && !settled.excluded.has(d.key));
  const corrected = written.filter(({ action }) => action === 'correct');
  const missingGrant = desired.missingGrants?.get(cr.metadata.uid);
  const own = new Set(decisions.flatMap(({ key, claim }) => (claim && result.keys.has(key) ? [key] : [])));
  const object = decisions.find(
    ({ key, claim }) => claim && own.has(key) && !own.has(claim.object.parent ?? ''),
  )?.key;
  const replaced = outcome.reason === 'Applied' ? replacedBy(cr, decisions, result) : [];
  return {
    outcome: withReplaced(outcome, replaced),
    ...(object === undefined ? {} : { object }),
    ...(replaced.length > 0 ? { replaced } : {}),
    ...(drifted.length > 0 ? { drift: drifted.map(driftOf).join('; ') } : {}),
    ...(corrected.length > 0 ? { corrected: shortened(corrected.map(driftOf)) } : {}),
    ...(missingGrant === undefined ? {} : { missingGrant }),
    wasWritten: written.length > 0,
    failing: issues.map(({ key }) => key),
  };
}

function issueOf(
  decision: Decision,
  { plan, keys, inconsistent: all, byKey }: PlanOutcome,
): ResourceOutcome | undefined {
  const { key, action, claim } = decision;
  const refused = plan.settled.excluded.get(key);
  if (refused) return refused;
  if (action === 'keep') return keptOutcome(decision);
  if (action === 'refuseAdoption') return adoptionRequired(decision);
  if (!claim || action === 'reportDrift' || action === 'ignoreDrift') return undefined;
  if (!keys.has(key)) {
    // It was deleted with its parent.
    return waitsFor(key, claim.object.parent ?? key);
  }
  if (all.length === 0) return undefined;
  const found = byKey.get(key);
  if (found) return outcomeOfInconsistency(found, all, claim);
  // The engine reports only the table, source or remote schema when it is inconsistent, and serves no object in it.
  const home = byKey.get(claim.object.parent ?? '') ?? byKey.get(containerKeyOf(key) ?? '');
  return home && !home.served ? containerOutcome(key, home, all) : undefined;
}

/** Returns why an unclaimed object is kept: a grace period, or a deletion that a person must confirm. */
function keptOutcome({ key, revocation, isPruneHeld }: Decision): ResourceOutcome | undefined {
  if (revocation) {
    const until = revocation.until.toISOString();
    return {
      reason: revocation.reason,
      message: `${printKey(key)} will be removed from the engine at ${until}`,
    };
  }
  if (!isPruneHeld) return undefined;
  const message = `${printKey(key)} would be deleted with too many others; the Engine says how to confirm`;
  return { reason: 'PruneHeld', message };
}

/** Returns the outcome of an object in an inconsistent container: the same while the container does not answer. An invalid container is
 *  reported on its own resource, and the object waits for it. */
function containerOutcome(
  key: string,
  home: InconsistentObject,
  all: readonly InconsistentObject[],
): ResourceOutcome {
  const why = outcomeOfInconsistency(home, all, undefined);
  return isUnavailability(why)
    ? outcomeOfInconsistency({ ...home, key, path: undefined }, all, undefined)
    : waitsFor(key, home.key, why);
}

/** Returns the outcome of an object that exists and that the policy of the resource does not take over. */
function adoptionRequired({ key, live, claim }: Decision): ResourceOutcome {
  const differences = summarise(differencesOf(live, claim?.object));
  const policy = claim?.policies.adoption ?? 'IfEqual';
  const isEqual = differences === '';
  const why = isEqual
    ? `it is equal, and adoptionPolicy is ${policy}`
    : `it differs, and adoptionPolicy is ${policy}: ${differences}`;
  const todo = isEqual
    ? 'set adoptionPolicy: IfEqual to take it over'
    : 'set adoptionPolicy: Always to overwrite it, or change the resource until both are equal' +
      (policy === 'Never' ? ' and set adoptionPolicy: IfEqual' : '');
  return {
    reason: 'AdoptionRequired',
    message: `${printKey(key)} exists and belongs to no resource: it was created by hand or with another tool; ${why}; ${todo}`,
  };
}

function driftOf({ key, live, claim }: Decision): string {
  if (!live) return `${printKey(key)} was removed`;
  return `${printKey(key)} was changed: ${summarise(differencesOf(claim?.object, live))}`;
}

function worstOf(outcomes: readonly ResourceOutcome[], objects: number): ResourceOutcome {
  const [worst] = outcomes.toSorted((a, b) => SEVERITY.indexOf(a.reason) - SEVERITY.indexOf(b.reason));
  if (!worst) return { reason: 'Applied', message: appliedText(objects) };
  const same = outcomes.filter(({ reason }) => reason === worst.reason);
  // All objects of a resource that is held back have the same message.
  const messages = [...new Set(same.map(({ message }) => message))];
  return { reason: worst.reason, message: shortened(messages) };
}

/** Returns the message of what is applied, such as `3 objects applied`. */
export function appliedText(objects: number): string {
  return `${objects} ${objects === 1 ? 'object' : 'objects'} applied`;
}

function shortened(messages: readonly string[]): string {
  return listText(messages, { most: MOST_MESSAGES, separator: '; ' });
}

/** Returns the outcome with the generation that the engine still serves, when the current one cannot be applied. */
function withServedGeneration(
  cr: CustomResource,
  outcome: ResourceOutcome,
  decisions: readonly Decision[],
): ResourceOutcome {
  if (outcome.reason === 'Applied' || outcome.reason === 'Paused') return outcome;
  const served = decisions.flatMap(({ entry, live }) =>
    entry?.cr === crName(cr) && live ? [entry.generation] : [],
  );
  const generation = Math.max(...served);
  if (served.length === 0 || generation >= cr.metadata.generation) return outcome;
  return { ...outcome, message: `${outcome.message}; serving generation ${generation}` };
}

function withReplaced(outcome: ResourceOutcome, replaced: readonly string[]): ResourceOutcome {
  if (replaced.length === 0) return outcome;
  return { ...outcome, message: `${outcome.message}; replaces ${replaced.map(printKey).join(', ')}` };
}

/** Returns the keys of the objects that the resource replaced. They stay until the next generation: a status that names them for one pass
 *  would be written twice. */
function replacedBy(
  cr: CustomResource,
  decisions: readonly Decision[],
  { plan, replacements }: PlanOutcome,
): readonly string[] {
  const replaced = decisions.filter(({ key }) => replacements.has(key) && !plan.settled.excluded.has(key));
  if (replaced.length > 0) return replaced.map(({ key }) => key).slice(0, MOST_REPLACED);
  const { observedGeneration, replaced: before = [] } = cr.status ?? {};
  return observedGeneration === cr.metadata.generation ? before : [];
}

/** The limit in the definitions. */
const MOST_REPLACED = 50;

/** Returns the verdict with lagging replicas taken into account. A resource written since a replica began to lag is `Applying`; after
 *  the deadline it is `Applied`, with a message that names the replica. */
export function withReplicaSync(cr: CustomResource, verdict: Verdict, { lagging }: ReplicaSync): Verdict {
  const { outcome, wasWritten } = verdict;
  if (outcome.reason !== 'Applied') return verdict;
  const isNewFor = ({ since }: TrackedReplica) => wasWritten || isWrittenSince(cr, since) || isApplying(cr);
  const late = lagging.filter(isNewFor);
  if (late.length === 0) return verdict;
  const reason = late.some(({ isAwaited }) => isAwaited) ? 'Applying' : 'Applied';
  return { ...verdict, outcome: { reason, message: withLagging(outcome.message, late) }, isLagging: true };
}

function isWrittenSince({ status }: CustomResource, since: Date): boolean {
  return status?.lastAppliedTime !== undefined && Date.parse(status.lastAppliedTime) >= since.getTime();
}

/** True when the previous status is `Applying`, perhaps by a previous leader. */
function isApplying(cr: CustomResource): boolean {
  return conditionOf(cr, 'Ready')?.reason === 'Applying';
}
