/** Translates an outcome to conditions as kstatus, Argo CD and `kubectl wait` read them: `Ready` always; `Reconciling`, `Stalled` and
 *  `Drifted` only while true; `observedGeneration` on each. A time changes only when its condition changes, so an unchanged outcome gives
 *  an unchanged status, which is not written. Each message is one sentence (sentence.ts).
 *  Pure: the time is an argument. Not here: the outcome (verdicts.ts), writing (a StatusSink). */
import { isSameJson } from '@pergola/engine/metadata';
import {
  type Condition,
  type ConditionType,
  type CrStatus,
  type CustomResource,
  kindOf,
  purposeOf,
  REASONS,
  type Reason,
} from '../kinds.ts';
import type { Observed } from '../ports/resources.ts';
import type { ResourceOutcome, Verdict } from '../ports/verdict.ts';
import { consoleLinkOf, deliveryLinkOf } from './console-link.ts';
import { sentence } from './sentence.ts';

/** True when the reason may go away without a change of the resource. */
export function isPassing({ reason }: ResourceOutcome): boolean {
  return REASONS[reason].stalls === 'late';
}

/** Reasons that say something else does not answer, with the kinds whose resources report it themselves. Of all other resources it is no
 *  event. */
const REPORTED_BY: Readonly<Partial<Record<Reason, readonly string[]>>> = {
  EngineUnreachable: ['Engine'],
  EngineRejectedCredentials: ['Engine'],
  SourceUnavailable: ['Engine', 'Source'],
  RemoteUnavailable: ['Engine', 'RemoteSchema'],
};

/** True when the reason says that an engine, a database or a remote schema does not answer. */
export function isOutage(reason: Reason | undefined): boolean {
  return reason !== undefined && REPORTED_BY[reason] !== undefined;
}

/** True when the reason says so, and resources of another kind than this one report it. */
export function isOutageOfOther(kind: string, reason: Reason | undefined): boolean {
  const reporters = reason && REPORTED_BY[reason];
  return reporters !== undefined && !reporters.includes(kind);
}

export function readyReasonOf({ conditions }: Pick<CrStatus, 'conditions'>): Reason | undefined {
  return conditions.find(({ type }) => type === 'Ready')?.reason;
}

/** A condition without the fields that depend on the previous status: its time and generation. */
export type ConditionDraft = Pick<Condition, 'type' | 'status' | 'reason' | 'message'> & {
  /** The page of the console that the message names. */
  readonly link?: string | undefined;
};

export type StatusContext = {
  readonly now: Date;
  readonly progressDeadlineSeconds: number;
  /** The URL of the engine's console. Absent: messages name no page. */
  readonly consoleUrl?: string | undefined;
};

/** The fields of a status besides its conditions. */
export type StatusExtras = Observed & Pick<CrStatus, 'plan' | 'distribution'>;

export function statusOf(
  cr: CustomResource,
  verdict: Verdict,
  context: StatusContext,
  extras: StatusExtras = {},
): CrStatus {
  const { outcome, drift, missingGrant, migration, replaced } = verdict;
  const message = drift === undefined ? outcome.message : `${outcome.message}; drift is left: ${drift}`;
  const { reason } = outcome;
  const link = consoleLinkOf(cr, { reason, object: verdict.object }, context.consoleUrl);
  const current = [
    ...progressConditions(cr, { ...outcome, message }, context),
    ...(drift === undefined ? [] : [activeCondition('Drifted', 'DriftReported', drift)]),
    ...(missingGrant === undefined ? [] : [activeCondition('GrantMissing', 'GrantMissing', missingGrant)]),
  ];
  const drafts = [
    ...current.map((draft) => ({ ...draft, link })),
    ...deliveryConditions(cr, verdict, context.consoleUrl),
    ...testConditions(cr, verdict, context.consoleUrl),
  ];
  const lastAppliedTime = verdict.wasWritten ? context.now.toISOString() : cr.status?.lastAppliedTime;
  return {
    observedGeneration: cr.metadata.generation,
    target: cut(targetOf(cr), MOST_TARGET_CHARACTERS),
    ...(lastAppliedTime === undefined ? {} : { lastAppliedTime }),
    ...extras,
    ...(migration ? { migration } : {}),
    ...(replaced ? { replaced } : {}),
    conditions: conditionsOf(cr, drafts, context),
  };
}

/** Returns `Delivered` of a resource that declares a call. The condition of an earlier pass stays when the engine was not asked. */
function deliveryConditions(
  cr: CustomResource,
  { delivery }: Verdict,
  consoleUrl: string | undefined,
): readonly ConditionDraft[] {
  const known = delivery ?? conditionOf(cr, 'Delivered');
  if (!known) return [];
  const { reason, message } = known;
  const status = reason === 'Delivered' ? 'True' : 'False';
  return [{ type: 'Delivered', status, reason, message, ...fresh(delivery, deliveryLinkOf(cr, consoleUrl)) }];
}

/** Returns `Passed` of a test. The condition of an earlier pass stays when this pass did not decide it, except that a test that has no result
 *  says what it waits for. */
function testConditions(
  cr: CustomResource,
  { test, outcome }: Verdict,
  consoleUrl: string | undefined,
): readonly ConditionDraft[] {
  if (purposeOf(cr) !== 'test') return [];
  const { reason, message } = test ?? resultBefore(cr) ?? waitingFor(cr, outcome);
  const link = consoleLinkOf(cr, { reason }, consoleUrl);
  return [{ type: 'Passed', status: PASSED[reason] ?? 'Unknown', reason, message, ...fresh(test, link) }];
}

/** Returns the link for a condition that this pass decided. Another one stays as a pass before this one wrote it. */
function fresh(decided: unknown, link: string | undefined): Pick<ConditionDraft, 'link'> {
  return decided === undefined || link === undefined ? {} : { link };
}

function resultBefore(cr: CustomResource): Pick<Condition, 'reason' | 'message'> | undefined {
  const known = conditionOf(cr, 'Passed');
  return known?.reason === 'NotRun' ? undefined : known;
}

/** Returns why a test without a result has not run. Of a pass that is running nothing new is known. */
function waitingFor(
  cr: CustomResource,
  { reason, message }: ResourceOutcome,
): Pick<Condition, 'reason' | 'message'> {
  if (reason === 'Applied' || reason === 'Applying') return conditionOf(cr, 'Passed') ?? NOT_RUN_YET;
  return { reason: 'NotRun', message: `the test runs once it is Ready, and it is ${reason}: ${message}` };
}

const NOT_RUN_YET = { reason: 'NotRun', message: 'the operator has not run the test yet' } as const;
const PASSED: Readonly<Partial<Record<Reason, Condition['status']>>> = {
  TestPassed: 'True',
  TestFailed: 'False',
};

/** Returns `Ready`, and `Reconciling` or `Stalled` with it. */
export function progressConditions(
  cr: CustomResource,
  outcome: ResourceOutcome,
  context: StatusContext,
): readonly ConditionDraft[] {
  const { reason, message } = outcome;
  if (reason === 'Applied') return [{ type: 'Ready', status: 'True', reason, message }];
  if (reason === 'Paused') return [{ type: 'Ready', status: 'Unknown', reason, message }];
  if (reason === 'Applying') {
    return [
      { type: 'Ready', status: 'Unknown', reason, message },
      activeCondition('Reconciling', reason, message),
    ];
  }
  const isStalled = !isPassing(outcome) || isOverdue(cr, reason, context);
  return [
    { type: 'Ready', status: 'False', reason, message },
    activeCondition(isStalled ? 'Stalled' : 'Reconciling', reason, message),
  ];
}

/** The conditions that do not exist only while true. */
const LASTING: ReadonlySet<ConditionType> = new Set(['Ready', 'Delivered', 'Passed']);

export function conditionsOf(
  cr: CustomResource,
  drafts: readonly ConditionDraft[],
  { now }: StatusContext,
): readonly Condition[] {
  return drafts.map(({ link, ...fresh }) => {
    const old = conditionOf(cr, fresh.type);
    // For conditions that exist only while true, a new reason starts a new transition.
    const isLasting = LASTING.has(fresh.type);
    const isOld = old?.status === fresh.status && (isLasting || old.reason === fresh.reason);
    const lastTransitionTime = isOld ? old.lastTransitionTime : now.toISOString();
    const message = sentence(fresh.message, link);
    return { ...fresh, message, observedGeneration: cr.metadata.generation, lastTransitionTime };
  });
}

/** True when the status differs from the one the resource has. */
export function isChanged(cr: CustomResource, status: CrStatus): boolean {
  return !isSameJson(cr.status ?? null, status);
}

export function conditionOf(cr: CustomResource, type: ConditionType): Condition | undefined {
  return cr.status?.conditions?.find((condition) => condition.type === type);
}

function activeCondition(type: ConditionType, reason: Reason, message: string): ConditionDraft {
  return { type, status: 'True', reason, message };
}

/** True when the resource has waited for the same reason for longer than the deadline, or was found so before. */
function isOverdue(cr: CustomResource, reason: Reason, context: StatusContext): boolean {
  if (conditionOf(cr, 'Stalled')?.reason === reason) return true;
  const since = conditionOf(cr, 'Reconciling');
  if (since?.reason !== reason) return false;
  return (
    context.now.getTime() - Date.parse(since.lastTransitionTime) > context.progressDeadlineSeconds * 1000
  );
}

/** The limit in the definitions: the API server refuses a status with a longer text. */
const MOST_TARGET_CHARACTERS = 1024;

/** Cuts a text to a number of UTF-16 units. A text has at least as many units as characters. */
function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text.toWellFormed();
}

/** Returns the target of the resource; empty when the spec is invalid. */
function targetOf(cr: CustomResource): string {
  try {
    return kindOf(cr.kind)?.target(cr.spec) ?? '';
  } catch {
    return '';
  }
}
