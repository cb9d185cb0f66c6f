/** Computes the status of an Engine resource: whether the engine answers, how many objects are owned, which
 *  resources are not Ready, which deletions are held.
 *  Pure. Not here: statuses of the other kinds (conditions.ts), the pass (pass/reconcile.ts). */

import { listText } from '@pergola/engine/list-text';
import { deletionsText, type PruneHold } from '../decide/prune-guard.ts';
import { withLagging } from '../engine/replica-sync.ts';
import {
  API_GROUP,
  type CrStatus,
  type CustomResource,
  kindAndNamespaceOf,
  kindOf,
  MOST_REPLICAS,
  type NamespaceStatus,
  type OperatorEntry,
} from '../kinds.ts';
import { objectsIn } from '../objects/normal-form.ts';
import { failedText } from '../permission-tests/gates.ts';
import type { EngineVersions } from '../ports/engine.ts';
import { inconsistentIn } from '../ports/inconsistent-object.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { outcomeOfInconsistency } from '../settle/inconsistency.ts';
import { type ConditionDraft, conditionsOf, progressConditions, type StatusContext } from './conditions.ts';
import { engineLinkOf } from './console-link.ts';
import { missingGrantText, notReady, notReadyText } from './not-ready.ts';
import { outcomeOf, type PassPlan, type Report } from './report.ts';
import { sentence } from './sentence.ts';
import { appliedText } from './verdicts.ts';

/** The annotation whose value releases deletions that wait for a confirmation. */
export const CONFIRM_PRUNE_ANNOTATION = 'pergola.dev/confirm-prune';

/** The observations of an engine besides a pass. */
export type EngineObservations = {
  /** The reason why no request could be sent to the engine. */
  readonly problem?: ResourceOutcome | undefined;
  readonly versions?: EngineVersions | undefined;
  /** Why the Engine is not deleted yet. Absent: it is not being deleted. */
  readonly deleting?: ResourceOutcome | undefined;
  /** A sentence about the Engine itself that its message ends with. */
  readonly note?: string | undefined;
  /** The other operators that reconcile the Engine. */
  readonly rivals?: readonly OperatorEntry[];
};

/** Returns the status of an Engine, without `operators`, which each operator writes for itself. */
export function engineStatusOf(
  cr: CustomResource,
  report: Report,
  context: StatusContext,
  { problem, deleting, note, versions, rivals = [] }: EngineObservations = {},
): CrStatus {
  const known = deleting ?? problem;
  const { reason, message } = known ?? outcomeOfPass(report);
  const clauses = [message, known ? undefined : notReadyText(report), missingGrantText(report), note];
  const outcome = { reason, message: clauses.filter((clause) => clause !== undefined).join('; ') };
  const drafts = [
    ...progressConditions(cr, outcome, context),
    ...reachable(report),
    ...consistent(report),
    ...contested(rivals),
  ];
  const pruneHold = report.plan?.pruneHold;
  const namespaces = namespacesOf(report);
  const failed = report.plan ? notReady(report).length : undefined;
  return {
    observedGeneration: cr.metadata.generation,
    target: kindOf('Engine')!.target(cr.spec),
    ...(report.resourceVersion === undefined ? {} : { resourceVersion: report.resourceVersion }),
    ...versionsOf(cr, versions),
    ...(failed === undefined ? {} : { notReady: failed, objects: countsOf(report) }),
    ...(pruneHold ? { pruneHash: pruneHold.hash } : {}),
    ...(namespaces.length > 0 ? { namespaces } : {}),
    ...(report.plan && report.plan.settled.heldBack.size > 0 ? { heldBack: heldChangesOf(report.plan) } : {}),
    conditions: conditionsOf(cr, linked(cr, drafts, failed ?? 0), context),
  };
}

/** Returns the versions of the engine and its replicas. While the engine does not answer they stay as they were. */
function versionsOf(
  { status }: CustomResource,
  versions: EngineVersions | undefined,
): Pick<CrStatus, 'engineVersion' | 'replicas'> {
  const { engineVersion, replicas } = versions ?? status ?? {};
  return {
    ...(engineVersion === undefined
      ? {}
      : { engineVersion: engineVersion.slice(0, MOST_VERSION_CHARACTERS) }),
    ...(replicas === undefined || replicas.length === 0
      ? {}
      : { replicas: replicas.slice(0, MOST_REPLICAS) }),
  };
}

/** The most characters of a version in the status. */
const MOST_VERSION_CHARACTERS = 64;

/** Returns the condition Contested while other operators reconcile the Engine. */
function contested(rivals: readonly OperatorEntry[]): readonly ConditionDraft[] {
  if (rivals.length === 0) return [];
  const named = rivals.map(({ lease, identity }) => `${identity} with the lease ${lease}`);
  const message =
    `another operator reconciles this Engine as well: ${named.join(', ')}; ` +
    'let only one of them watch this namespace';
  return [{ type: 'Contested', status: 'True', reason: 'AnotherOperator', message }];
}

/** Returns the status of a paused Engine: the previous status with the reason for the pause. */
export function pausedStatusOf(
  cr: CustomResource,
  outcome: ResourceOutcome,
  context: StatusContext,
): CrStatus {
  const { operators: _, ...before } = cr.status ?? {};
  return {
    ...before,
    observedGeneration: cr.metadata.generation,
    target: kindOf('Engine')!.target(cr.spec),
    conditions: conditionsOf(cr, linked(cr, progressConditions(cr, outcome, context), 0), context),
  };
}

/** Returns the conditions of the Engine with their pages of the console. */
function linked(
  cr: CustomResource,
  drafts: readonly ConditionDraft[],
  notReady: number,
): readonly ConditionDraft[] {
  return drafts.map((draft) => ({ ...draft, link: engineLinkOf(cr, draft, notReady) }));
}

export function outcomeOfPass({ plan, problem, replicaSync, verdicts }: Report): ResourceOutcome {
  if (problem) return outcomeOf(problem);
  const hold = plan?.pruneHold;
  if (hold) {
    return { reason: 'PruneHeld', message: holdText(hold) };
  }
  const kept = [...(plan?.settled.excluded.values() ?? [])].filter(({ reason }) => reason === 'PruneHeld');
  if (kept.length > 0) return { reason: 'PruneHeld', message: kept.map(({ message }) => message).join('; ') };
  const deletions = plan ? heldDeletions(plan) : [];
  if (deletions.length > 0) return { reason: 'ChangeHeldBack', message: heldText(deletions) };
  const failed = failedGates(verdicts);
  if (failed.length > 0) return { reason: 'TestFailed', message: failedText('the resources are', failed) };
  return {
    reason: 'Applied',
    message: withLagging(appliedText(plan?.owned ?? 0), replicaSync?.lagging ?? []),
  };
}

/** Returns the messages of held changes of resources that no longer exist: no other status has them. */
export function heldDeletions({ settled, desired }: PassPlan): readonly string[] {
  return [...settled.heldBack]
    .filter(([owner]) => !desired.present.has(owner))
    .map(([owner, { outcome }]) => `${owner} is deleted: ${outcome.message}`);
}

const MOST_NAMED = 3;

function heldText(messages: readonly string[]): string {
  const where = messages.length > MOST_NAMED ? ', see status.heldBack' : '';
  return `${listText(messages, { most: MOST_NAMED, separator: '; ' })}${where}`;
}

/** The most held changes in the status. */
const MOST_HELD = 100;

/** Returns the held changes by name. */
function heldChangesOf({ settled }: PassPlan): NonNullable<CrStatus['heldBack']> {
  return [...settled.heldBack]
    .map(([resource, { hash, outcome }]) => ({
      resource,
      hash,
      message: sentence(outcome.message),
    }))
    .toSorted((a, b) => (a.resource < b.resource ? -1 : 1))
    .slice(0, MOST_HELD);
}

/** Returns the names of the tests that fail and that the Engine waits for. */
function failedGates(verdicts: Report['verdicts']): readonly string[] {
  return [...verdicts.values()]
    .flatMap(({ test }) => (test?.reason === 'TestFailed' && test.gates !== undefined ? [test.gates] : []))
    .toSorted();
}

/** Returns the message with one hash for all held deletions, and with one for each of several namespaces. */
function holdText({ hash, namespaces, lostKinds = [] }: PruneHold): string {
  const what = namespaces.map(deletionsText);
  const each = namespaces.map((one) => `${one.hash} for ${one.namespace}`);
  // A hash at the end would be copied with the full stop.
  return (
    `${what.join(', ')} would be deleted at once; ` +
    (lostKinds.length > 0 ? `${lostText(lostKinds)}; ` : '') +
    `confirm with ${CONFIRM_PRUNE_ANNOTATION}: ${hash}` +
    (namespaces.length > 1 ? `, or ${each.join(', ')},` : '') +
    ' if that is meant'
  );
}

function lostText(kinds: readonly string[]): string {
  const names = listText(
    kinds.map((kind) => `${kindOf(kind)?.plural}.${API_GROUP}`),
    { most: MOST_NAMED },
  );
  return kinds.length === 1
    ? `resources of them were deleted with their definition ${names}`
    : `resources of them were deleted with their definitions ${names}`;
}

/** The most namespaces in the status. */
const MOST_NAMESPACES = 100;

/** Returns held deletions and objects that will be removed, by namespace. */
function namespacesOf({ plan }: Report): readonly NamespaceStatus[] {
  const revoked = (plan?.decisions ?? []).filter(({ action, revocation }) => action === 'keep' && revocation);
  const byOwner = Map.groupBy(revoked, ({ entry }) => kindAndNamespaceOf(entry?.cr ?? '').namespace);
  return [
    ...(plan?.pruneHold?.namespaces ?? []).map(
      ({ namespace, count, hash }): NamespaceStatus => ({
        name: namespace,
        state: 'PruneHeld',
        objects: count,
        pruneHash: hash,
      }),
    ),
    ...[...byOwner].map(([name, all]): NamespaceStatus => {
      const first = Math.min(...all.map(({ revocation }) => revocation!.until.getTime()));
      return { name, state: 'Revoked', objects: all.length, until: new Date(first).toISOString() };
    }),
  ]
    .toSorted((a, b) => (`${a.name} ${a.state}` < `${b.name} ${b.state}` ? -1 : 1))
    .slice(0, MOST_NAMESPACES);
}

function reachable({ problem }: Report): readonly ConditionDraft[] {
  const isReached = problem === undefined || problem.kind === 'rejected' || problem.kind === 'conflict';
  if (isReached) {
    return [{ type: 'Reachable', status: 'True', reason: 'Applied', message: 'the engine answers' }];
  }
  return [{ type: 'Reachable', status: 'False', ...outcomeOf(problem) }];
}

/** Returns the condition MetadataConsistent, with the reason that all inconsistent objects share. It includes objects
 *  that the operator does not own. */
function consistent({ problem, inconsistent: found }: Report): readonly ConditionDraft[] {
  if (problem) return [];
  const inconsistent = inconsistentIn(found);
  const type = 'MetadataConsistent';
  if (inconsistent.length === 0) {
    return [{ type, status: 'True', reason: 'Applied', message: 'every object fits its database' }];
  }
  const texts = inconsistent.map(({ name, reason }) => `${name}: ${reason}`);
  const message = listText(texts, { most: MOST_NAMED, separator: '; ' });
  const reasons = new Set(inconsistent.map((one) => outcomeOfInconsistency(one, inconsistent).reason));
  const [reason = 'RejectedByEngine'] = reasons.size === 1 ? reasons : [];
  return [{ type, status: 'False', reason, message }];
}

function countsOf({ plan, verdicts }: Report): NonNullable<CrStatus['objects']> {
  const { owned, decisions, settled } = plan!;
  const failing = [...verdicts.values()].reduce((sum, verdict) => sum + verdict.failing.length, 0);
  const drifted = decisions.filter(({ action }) => action === 'reportDrift').length;
  return { owned, foreign: objectsIn(settled.document).size - owned, failing, drifted };
}
