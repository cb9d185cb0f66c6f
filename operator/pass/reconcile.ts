/** One pass over one engine: an attempt (observe → decide → settle → write), then its replicas, deliveries and tests, and the report. The only
 *  file with this order. Folder mode and Kubernetes run the same pass with their own ports and decide when to run it.
 *  A pass never throws for an error of the engine or of a resource: the report contains it. Not here: each step. */
import { type Pace, paceAfter, passStateAfter } from '../decide/incremental-scope.ts';
import type { ReplicaSync } from '../engine/replica-sync.ts';
import type { CrStatus, CustomResource } from '../kinds.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { TestMemory } from '../ports/permission-test.ts';
import type { Ports } from '../ports/ports.ts';
import type { StatusChange } from '../ports/statuses.ts';
import type { ResourceOutcome, Verdict } from '../ports/verdict.ts';
import { isChanged, isPassing, statusOf } from '../status/conditions.ts';
import { consoleLinkOf } from '../status/console-link.ts';
import type { Report } from '../status/report.ts';
import { sentence } from '../status/sentence.ts';
import { type Attempt, attempt, type PreviousAttempt } from './attempt.ts';
import { withDeliveries } from './deliveries.ts';
import { withTests } from './permission-tests.ts';
import { NO_PLANS, preview } from './preview.ts';
import { withReplicas } from './replicas.ts';

/** Results of the previous pass that the next one may use. */
export type PreviousPass = PreviousAttempt & {
  readonly replicaSync?: ReplicaSync | undefined;
  readonly tests?: TestMemory | undefined;
};

export async function reconcile(
  ports: Ports,
  options: ReconcileOptions,
  before: PreviousPass = {},
): Promise<Report> {
  const beganAt = ports.clock.now().getTime();
  const { snapshot, report: attempted } = await attempt(ports, options, before);
  const scope = attempted.plan?.scope;
  const resources = scope?.snapshot.resources ?? snapshot.resources;
  await ports.clock.sleep(0);
  const reached = await withReplicas(ports, resources, attempted, before.replicaSync);
  const delivered = await withDeliveries(ports, resources, reached);
  const report = await withTests(ports, { snapshot, resources, options }, delivered, before.tests);
  const { progressDeadlineSeconds, consoleUrl } = options;
  const context = { now: ports.clock.now(), progressDeadlineSeconds, consoleUrl };
  const plans = report.problem ? NO_PLANS : await preview(ports.engine, snapshot, options, report);
  const statuses = new Map(
    resources.map((cr) => {
      const { uid } = cr.metadata;
      const lines = plans.get(uid);
      const verdict = report.verdicts.get(uid)!;
      const extras = {
        ...snapshot.observed?.(cr),
        ...distributionOf(cr, verdict, report),
        ...(lines ? { plan: lines } : {}),
      };
      return [uid, statusOf(cr, verdict, context, extras)];
    }),
  );
  const changes = resources.map((cr) => changeOf(cr, report.verdicts, statuses, consoleUrl)).filter(isNews);
  // After a conflict alone nothing new is known of the resources: their statuses remain valid.
  const isOvertaken = report.problem?.kind === 'conflict';
  const unpublished = isOvertaken ? 0 : await ports.sink.publish(changes);
  const isWaiting = [...report.verdicts.values()].some(({ outcome }) => helpsReload(outcome));
  const last = { count: changes.length, tookMs: ports.clock.now().getTime() - beganAt };
  const pace = paceAfter(before.passState?.pace, last);
  const passState = unpublished === 0 ? passStateOf(report, options, pace) : undefined;
  const isCut =
    report.plan?.settled.isCut === true || scope?.isCut === true || scope?.snapshot.lost === 'unknown';
  const isOfEdits = scope?.isOfEdits === true;
  const verdicts = allVerdicts(report);
  return { ...report, verdicts, resources, statuses, unpublished, isWaiting, isCut, isOfEdits, passState };
}

/** Returns how the table of a resource is distributed. Without an answer of the engine it is as before. */
function distributionOf(
  { status }: CustomResource,
  { object }: Verdict,
  { distributions }: Pick<Attempt, 'distributions'>,
): Pick<CrStatus, 'distribution'> {
  const known = distributions ? distributions.get(object ?? '') : status?.distribution;
  return known === undefined ? {} : { distribution: known };
}

function changeOf(
  cr: CustomResource,
  verdicts: ReadonlyMap<string, Verdict>,
  statuses: ReadonlyMap<string, CrStatus>,
  consoleUrl: string | undefined,
): StatusChange {
  const { uid } = cr.metadata;
  const { corrected, object } = verdicts.get(uid)!;
  const status = statuses.get(uid)!;
  if (corrected === undefined) return { cr, status };
  const link = consoleLinkOf(cr, { reason: 'DriftCorrected', object }, consoleUrl);
  return { cr, status, corrected: sentence(`restored: ${corrected}`, link) };
}

function isNews({ cr, status, corrected }: StatusChange): boolean {
  return corrected !== undefined || isChanged(cr, status);
}

/** True when a resource waits for a change that the engine finds when it reads its catalogs again. Not for a database that does not
 *  answer: the engine detects its return without a reload, and a reload meanwhile would remove the tables of that source. */
function helpsReload(outcome: ResourceOutcome): boolean {
  return isPassing(outcome) && outcome.reason !== 'SourceUnavailable';
}

/** Returns the state for the next pass; undefined when the next pass needs the full scope, even for an edit. */
function passStateOf(
  { plan, verdicts, resourceVersion, problem }: Attempt,
  options: ReconcileOptions,
  pace: Pace | undefined,
) {
  if (!plan || problem || resourceVersion === undefined || plan.settled.isCut) return undefined;
  const { scope, settled, entries, owned, pruneHold } = plan;
  const isPending = pruneHold !== undefined;
  const left = { options, document: settled.document, resourceVersion, owned, isPending, pace };
  return passStateAfter(scope, { ...left, entries, verdicts });
}

function allVerdicts({ plan, verdicts }: Attempt): ReadonlyMap<string, Verdict> {
  if (!plan || plan.scope.skipped.size === 0) return verdicts;
  const all = new Map(verdicts);
  for (const [uid, { verdict }] of plan.scope.skipped) all.set(uid, verdict);
  return all;
}
