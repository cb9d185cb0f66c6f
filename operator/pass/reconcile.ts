/** One pass over one engine: observe → decide → settle → one compare-and-swap write → check the replicas → report. The only file with this
 *  order. Folder mode and Kubernetes run the same pass with their own ports and decide when to run it.
 *  A pass never throws for an error of the engine or of a resource: the report contains it. Not here: each step. */

import { Metadata, variablesIn } from '@pergola/engine/metadata';
import { type Decision, type Decisions, decide, entryChanges, isWrite, ownerOf } from '../decide/decide.ts';
import { type Desired, desire } from '../decide/desired.ts';
import {
  fullScope,
  incrementalScope,
  isScopeSufficient,
  isStillApplied,
  type PassScope,
  type PassState,
  passStateAfter,
} from '../decide/incremental-scope.ts';
import { wantsPlan, withoutPlanPauses } from '../decide/pause.ts';
import { type ReplicaSync, syncReplicas } from '../engine/replica-sync.ts';
import { reservationChanges } from '../grants/reservation.ts';
import { type CrStatus, type CustomResource, crName, type Reason } from '../kinds.ts';
import { type PlannedMigrations, planMigrations } from '../migrations/plan-migrations.ts';
import { appliedMessages, isMigration, type Migrated, runMigrations } from '../migrations/run-migrations.ts';
import { type EntryChange, ledgerPatch } from '../objects/ledger.ts';
import { objectsIn } from '../objects/normal-form.ts';
import { ownerOfValues } from '../objects/value-name.ts';
import { failedByTable, failedText, gatedTable } from '../permission-tests/gates.ts';
import {
  type Clock,
  type CrSnapshot,
  type CrSource,
  type EnginePort,
  EngineProblem,
  type EngineReading,
  type InconsistentObject,
  inconsistentIn,
  type ReconcileOptions,
  type ResourceOutcome,
  type SchemaEffects,
  type StatusChange,
  type StatusSink,
  type TestMemory,
  type TestOutcome,
  type ValueChange,
  type Verdict,
} from '../ports.ts';
import { type HeldChanges, HoldBackBudget, NO_HELD_CHANGES, settleHoldingBack } from '../settle/hold-back.ts';
import { editsOf } from '../settle/order.ts';
import {
  backedOff,
  failsOnItsOwn,
  NO_BACKOFF,
  noteBlamed,
  noteRefusal,
  type RefusalBackoff,
  withoutApplied,
} from '../settle/refusal-backoff.ts';
import { settle } from '../settle/settle.ts';
import { isAboutContent, type SettleContext } from '../settle/trials.ts';
import { isChanged, isPassing, statusOf } from '../status/conditions.ts';
import { awaitedCall, deliveryOf } from '../status/delivery.ts';
import { planLines } from '../status/plan-text.ts';
import { outcomeOf, type PassPlan, type Report } from '../status/report.ts';
import { schemaLines } from '../status/schema-text.ts';
import { verdictsOf, withReplicaSync } from '../status/verdicts.ts';
import {
  type Comparison,
  comparisonOf,
  editsForMigrations,
  type HoldBackState,
  holdBackOf,
  holdsBack,
  withoutUnsentValues,
} from './hold-back.ts';
import { memoryOf, runTests } from './permission-tests.ts';

export type Ports = {
  readonly engine: EnginePort;
  readonly source: CrSource;
  readonly sink: StatusSink;
  readonly clock: Clock;
};

/** Results of the previous pass that the next one may use. */
export type PreviousPass = {
  readonly replicaSync?: ReplicaSync | undefined;
  readonly passState?: PassState | undefined;
  readonly backoff?: RefusalBackoff | undefined;
  readonly tests?: TestMemory | undefined;
  readonly heldBack?: HeldChanges | undefined;
};

const MOST_TRIES = 8;
/** Attempts of one pass to write in parts what the engine does not take at once. */
const MOST_PARTS = 64;
/** The most dry runs of a plan that find which changes the Engine holds back. A plan has no next pass. */
const MOST_COMPARISONS_OF_PLAN = 256;
const LEAST_PAUSE_MS = 50;
const MOST_PAUSE_MS = 500;

export async function reconcile(
  ports: Ports,
  options: ReconcileOptions,
  before: PreviousPass = {},
): Promise<Report> {
  const { snapshot, report: attempted } = await attempt(ports, options, before);
  const scope = attempted.plan?.scope;
  const resources = scope?.snapshot.resources ?? snapshot.resources;
  const reached = await withReplicas(ports, resources, attempted, before.replicaSync);
  const delivered = await withDeliveries(ports, resources, reached);
  const report = await withTests(ports, { snapshot, resources, options }, delivered, before.tests);
  const context = { now: ports.clock.now(), progressDeadlineSeconds: options.progressDeadlineSeconds };
  const plans = report.problem ? NO_PLANS : await preview(ports.engine, snapshot, options, report);
  const statuses = new Map(
    resources.map((cr) => {
      const { uid } = cr.metadata;
      const lines = plans.get(uid);
      const extras = { ...snapshot.observed?.(cr), ...(lines ? { plan: lines } : {}) };
      return [uid, statusOf(cr, report.verdicts.get(uid)!, context, extras)];
    }),
  );
  const changes = resources.map((cr) => changeOf(cr, report.verdicts, statuses)).filter(isNews);
  // After a conflict alone nothing new is known of the resources: their statuses remain valid.
  const isOvertaken = report.problem?.kind === 'conflict';
  const unpublished = isOvertaken ? 0 : await ports.sink.publish(changes);
  const isWaiting = [...report.verdicts.values()].some(({ outcome }) => helpsReload(outcome));
  const passState = unpublished === 0 ? passStateOf(report, options) : undefined;
  const isCut = report.plan?.settled.isCut === true;
  const verdicts = allVerdicts(report);
  return { ...report, verdicts, resources, statuses, unpublished, isWaiting, isCut, passState };
}

function changeOf(
  cr: CustomResource,
  verdicts: ReadonlyMap<string, Verdict>,
  statuses: ReadonlyMap<string, CrStatus>,
): StatusChange {
  const { uid } = cr.metadata;
  const { corrected } = verdicts.get(uid)!;
  return { cr, status: statuses.get(uid)!, ...(corrected === undefined ? {} : { corrected }) };
}

function isNews({ cr, status, corrected }: StatusChange): boolean {
  return corrected !== undefined || isChanged(cr, status);
}

/** True when a resource waits for a change that the engine finds when it reads its catalogs again. Not for a database that does not
 *  answer: the engine detects its return without a reload, and a reload meanwhile would remove the tables of that source. */
function helpsReload(outcome: ResourceOutcome): boolean {
  return isPassing(outcome) && outcome.reason !== 'SourceUnavailable';
}

/** Returns the state for the next pass; undefined when the next pass needs the full scope. */
function passStateOf({ plan, verdicts, resourceVersion, problem }: Attempt, options: ReconcileOptions) {
  if (!plan || problem || resourceVersion === undefined || plan.pruneHold || plan.settled.isCut)
    return undefined;
  const { scope, settled, entries, owned } = plan;
  const left = { options, document: settled.document, resourceVersion, owned };
  return passStateAfter(scope, { ...left, entries, verdicts });
}

function allVerdicts({ plan, verdicts }: Attempt): ReadonlyMap<string, Verdict> {
  if (!plan || plan.scope.skipped.size === 0) return verdicts;
  const all = new Map(verdicts);
  for (const [uid, { verdict }] of plan.scope.skipped) all.set(uid, verdict);
  return all;
}

/** Returns the report with the state of the replicas. */
async function withReplicas(
  { engine, clock }: Ports,
  resources: readonly CustomResource[],
  report: Attempt,
  before: ReplicaSync | undefined,
): Promise<Attempt> {
  if (!engine.laggingReplicas || report.problem || report.resourceVersion === undefined) return report;
  const replicaSync = await syncReplicas(engine, clock, report.resourceVersion, before);
  if (!replicaSync) return report;
  const verdicts = new Map(
    resources.map((cr) => {
      const { uid } = cr.metadata;
      return [uid, withReplicaSync(cr, report.verdicts.get(uid)!, replicaSync)];
    }),
  );
  return { ...report, verdicts, replicaSync };
}

/** Returns the report with the state of awaited deliveries of applied resources. An engine that cannot say it leaves them as they are. */
async function withDeliveries(
  { engine, clock }: Ports,
  resources: readonly CustomResource[],
  report: Attempt,
): Promise<Attempt> {
  if (!engine.deliveries || report.problem) return report;
  const awaited = resources.flatMap((cr) => {
    const isApplied = report.verdicts.get(cr.metadata.uid)?.outcome.reason === 'Applied';
    const call = isApplied ? awaitedCall(cr) : undefined;
    return call ? [{ cr, call }] : [];
  });
  if (awaited.length === 0) return report;
  try {
    const records = await engine.deliveries(awaited.map(({ call }) => call));
    const verdicts = new Map(report.verdicts);
    for (const [i, { cr, call }] of awaited.entries()) {
      const delivery = deliveryOf(cr, call, records[i], clock.now());
      verdicts.set(cr.metadata.uid, { ...verdicts.get(cr.metadata.uid)!, delivery });
    }
    return { ...report, verdicts };
  } catch (error) {
    if (error instanceof EngineProblem) return report;
    throw error;
  }
}

/** Returns the report with the results of PermissionTests. A test that fails is not Ready. After a problem of the engine they stay as they
 *  are. */
async function withTests(
  { engine, clock }: Ports,
  {
    snapshot,
    resources,
    options,
  }: {
    readonly snapshot: CrSnapshot;
    readonly resources: readonly CustomResource[];
    readonly options: ReconcileOptions;
  },
  report: Attempt,
  before: TestMemory = new Map(),
): Promise<Attempt> {
  const { problem, resourceVersion, replicaSync } = report;
  if (problem || resourceVersion === undefined) return { ...report, tests: before };
  const isSynced = (replicaSync?.lagging ?? []).length === 0;
  const { consent } = snapshot;
  const pass = { engine, clock, consent, policies: options.policies, resourceVersion, isSynced, before };
  const applied = resources.filter(
    ({ metadata }) => report.verdicts.get(metadata.uid)?.outcome.reason === 'Applied',
  );
  const results = await runTests(applied, pass);
  const verdicts = new Map(report.verdicts);
  for (const [uid, test] of results) verdicts.set(uid, withTest(verdicts.get(uid)!, test));
  const failed = failedByTable(applied, results);
  const names = new Set(snapshot.resources.map(crName));
  for (const cr of applied) {
    const { uid } = cr.metadata;
    const tests = failed.get(crName(cr));
    if (tests)
      verdicts.set(uid, withOutcome(verdicts.get(uid)!, 'TestFailed', failedText('the table is', tests)));
    const table = gatedTable(cr);
    if (table !== undefined && !names.has(table)) {
      verdicts.set(uid, withOutcome(verdicts.get(uid)!, 'DependencyNotReady', missingText(table)));
    }
  }
  return { ...report, verdicts, tests: memoryOf(applied, results, pass) };
}

function missingText(table: string): string {
  return `spec.gate names ${table}, and the Engine has no such resource; correct the name, or remove the gate`;
}

function withOutcome(verdict: Verdict, reason: Reason, message: string): Verdict {
  return { ...verdict, outcome: { reason, message } };
}

function withTest(verdict: Verdict, test: TestOutcome): Verdict {
  const { reason, message } = test;
  return { ...(reason === 'TestFailed' ? withOutcome(verdict, reason, message) : verdict), test };
}

const NO_PLANS: ReadonlyMap<string, readonly string[]> = new Map();

/** Returns the plan of each resource whose plan is requested, by uid. Empty when the engine does not answer. */
async function preview(
  engine: EnginePort,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  before: Pick<Report, 'backoff' | 'heldBack'>,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const resources = withoutPlanPauses(snapshot.resources);
  if (!resources) return NO_PLANS;
  try {
    const made = await plan(engine, { ...snapshot, resources }, options, before);
    const verdicts = verdictsOf(made, made.settled.inconsistent);
    const effects = await effectLines(engine, made);
    return new Map(
      snapshot.resources
        .filter(wantsPlan)
        .map((cr) => [cr.metadata.uid, planLines(cr, made, verdicts.get(cr.metadata.uid)!.outcome, effects)]),
    );
  } catch (error) {
    if (error instanceof EngineProblem) return NO_PLANS;
    throw error;
  }
}

/** Returns the changes of the schemas of roles by all planned changes together, as lines. */
async function effectLines(engine: EnginePort, made: PassPlan): Promise<readonly string[]> {
  try {
    const lines = schemaLines(await schemaEffectsOf(engine, made));
    const owners = new Set(made.settled.applied.map(ownerOf));
    return lines.length > 0 && owners.size > 1
      ? [`with the changes of ${owners.size} resources together:`, ...lines]
      : lines;
  } catch (error) {
    if (error instanceof EngineProblem) return [`the effect on schemas is not known: ${error.message}`];
    throw error;
  }
}

const NOTHING_BEFORE = { backoff: NO_BACKOFF, heldBack: NO_HELD_CHANGES };

/** Computes the plan of a full pass. Writes nothing. Throws EngineProblem. */
export async function plan(
  engine: EnginePort,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  { backoff, heldBack }: Pick<Report, 'backoff' | 'heldBack'> = NOTHING_BEFORE,
): Promise<PassPlan> {
  const reading = await engine.read();
  const decided = decideOnAll({ snapshot, reading, options });
  const nowMs = snapshot.at.getTime();
  const migrations = await plannedMigrations(engine, snapshot, reading, decided);
  const changes = await plannedValues(engine, decided.decided.desired.values, options);
  // The values are sent with the write, so the engine does not have them yet.
  const sent = (found: readonly InconsistentObject[]) => withoutUnsent(found, changes);
  const made = await planOn(reading, decided, options, {
    dryRun: async (edits) => sent(await engine.dryRun(edits)),
    compare: withoutUnsentValues(comparisonOf(engine), sent),
    holdBack: { before: heldBack, budget: new HoldBackBudget(MOST_COMPARISONS_OF_PLAN) },
    backoff,
    nowMs,
  });
  const values = changes.filter(
    ({ action, name }) => action !== 'delete' || isRemovable(name, made, snapshot),
  );
  return { ...made, values, ...(migrations ? { migrations } : {}) };
}

/** Returns which named values would be sent or removed. Empty when the engine refuses values: what refers to them is then inconsistent. */
async function plannedValues(
  engine: EnginePort,
  values: ReadonlyMap<string, string>,
  { manager }: ReconcileOptions,
): Promise<readonly ValueChange[]> {
  try {
    return (await engine.planValues?.(ownerOfValues(manager), values)) ?? [];
  } catch (error) {
    if (!(error instanceof EngineProblem) || error.kind !== 'rejected') throw error;
    return [];
  }
}

/** True when a write that follows the plan removes the value: all resources are visible, and the document does not refer to it. */
function isRemovable(name: string, { scope, settled }: PassPlan, snapshot: CrSnapshot): boolean {
  if (scope.skipped.size > 0 || !snapshot.isComplete) return false;
  return !variablesIn(Metadata, settled.document).some((variable) => variable.name === `value:${name}`);
}

/** Returns which files of Migrations would run; undefined when there is no Migration. */
async function plannedMigrations(
  engine: EnginePort,
  snapshot: CrSnapshot,
  reading: EngineReading,
  { decided }: DecidedIn,
): Promise<PlannedMigrations | undefined> {
  if (!snapshot.resources.some(isMigration)) return undefined;
  const sources = new Set(reading.metadata.sources.map(({ name }) => name));
  return planMigrations({ engine, snapshot, sources, outcomes: decided.desired.outcomes, edits: [] });
}

const NO_EFFECTS: SchemaEffects = { schemas: [], isComplete: true };

/** Returns the roles whose schema the plan would change. A plan that changes nothing needs no comparison. */
export async function schemaEffectsOf(engine: EnginePort, { settled }: PassPlan): Promise<SchemaEffects> {
  if (settled.applied.length === 0) return NO_EFFECTS;
  return (await engine.schemaEffects?.(editsOf(settled.applied))) ?? NO_EFFECTS;
}

/** Returns the inconsistent objects without those that only lack a value that the write sends, or have one that cannot be decrypted. */
function withoutUnsent(
  inconsistent: readonly InconsistentObject[],
  changes: readonly ValueChange[],
): readonly InconsistentObject[] {
  const sent = changes
    .filter(({ action }) => action !== 'delete')
    .map(({ name }) => `named value "${name}" is `);
  return inconsistent.filter(({ reason }) => !sent.some((text) => reason.includes(text)));
}

type Decided = { readonly desired: Desired } & Decisions;

function decisionsIn(
  { snapshot, ledger }: PassScope,
  reading: EngineReading,
  options: ReconcileOptions,
): Decided {
  const live = objectsIn(reading.metadata);
  const desired = desire(snapshot, ledger, live, options);
  const decided = decide(desired, ledger, live, {
    ...options.policies,
    manager: options.manager,
    confirmPrune: options.confirmPrune,
    mayPrune: snapshot.isComplete,
  });
  return { desired, ...decided };
}

/** The inputs of a plan besides the decisions. */
type PlanOptions = {
  readonly dryRun: EnginePort['dryRun'];
  readonly compare: Comparison;
  readonly holdBack: HoldBackState;
  readonly backoff: RefusalBackoff;
  /** The most decisions of one write. */
  readonly most?: number | undefined;
  readonly nowMs: number;
};

async function planOn(
  reading: EngineReading,
  { scope, decided: { desired, decisions, pruneHold } }: DecidedIn,
  options: ReconcileOptions,
  { dryRun, compare, holdBack, backoff, most, nowMs }: PlanOptions,
): Promise<PassPlan> {
  const { manager } = options;
  const live = objectsIn(reading.metadata);
  const context: SettleContext = {
    live: reading.metadata,
    inconsistent: reading.inconsistent,
    isOwned: (key) => desired.claims.has(key) || reading.ledger.get(key)?.manager === manager,
    ownerOf: (key) => ownerOf({ claim: desired.claims.get(key), entry: reading.ledger.get(key) }),
    claimedIn: (key) => desired.claims.get(key)?.cr.metadata.namespace,
    dryRun: (active) => dryRun(editsOf(active)),
    backedOff: (decision, written) => backedOff(backoff, decision, { live, written, nowMs }),
    failsOnItsOwn: (decision) => failsOnItsOwn(backoff, decision),
    ...(most === undefined ? {} : { most }),
  };
  const { resources } = scope.snapshot;
  const { settled, heldBack } = holdsBack(options)
    ? await settleHoldingBack(context, decisions, holdBackOf(compare, resources, options, holdBack, nowMs))
    : { settled: await settle(context, decisions), heldBack: NO_HELD_CHANGES };
  const entries = entryChanges(decisions, settled.excluded, objectsIn(settled.document), manager);
  const owned = scope.owned + entries.reduce((sum, change) => sum + gained(change, manager), 0);
  const isClaimed = (key: string, namespace: string) =>
    desired.claims.get(key)?.cr.metadata.namespace === namespace;
  const reservations = reservationChanges(entries, { ...scope, options }, isClaimed);
  return {
    scope,
    reading,
    desired,
    decisions,
    settled,
    heldBack,
    entries,
    reservations,
    owned,
    ...(pruneHold ? { pruneHold } : {}),
  };
}

function gained({ before, after }: EntryChange, manager: string): number {
  return Number(after !== undefined) - Number(before?.manager === manager);
}

/** The result of an attempt. `verdicts` are those of the resources in scope. */
type Attempt = Omit<Report, 'statuses' | 'isWaiting' | 'isCut' | 'resources' | 'unpublished' | 'passState'>;

/** Plans and writes, and starts again from the current state when another client wrote in between. When the engine has no problem, a
 *  change is written without a dry run, which is half of the cost of a small change; only a refusal is analysed. A change that the
 *  engine accepts in a dry run and rejects in a write, or that is too large for one request, is written in parts. */
async function attempt(
  { engine, source, clock }: Ports,
  options: ReconcileOptions,
  { passState, backoff: earlier = NO_BACKOFF, heldBack: heldEarlier = NO_HELD_CHANGES }: PreviousPass,
): Promise<{ readonly snapshot: CrSnapshot; readonly report: Attempt }> {
  const parts = new Parts();
  const budget = new HoldBackBudget();
  let [isDoubtful, wasWritten, backoff, heldBack] = [false, false, earlier, heldEarlier];
  for (let tries = 1; ; ) {
    let snapshot = await source.snapshot();
    let decided: DecidedIn | undefined;
    let made: PassPlan | undefined;
    try {
      const observed = await afterMigrations(engine, snapshot, options, passState);
      const { reading, migrated } = observed;
      snapshot = migrated.snapshot;
      const mustFit = !isDoubtful && inconsistentIn(reading.inconsistent).length === 0;
      const dryRun: EnginePort['dryRun'] = mustFit ? async () => [] : (edits) => engine.dryRun(edits);
      const observation = { snapshot, reading, options };
      const mayBeIncremental = !isDoubtful && !wasWritten && passState;
      decided = (mayBeIncremental && decideIncrementally(passState, observation)) || decideOnAll(observation);
      await sendValues(engine, decided.decided.desired.values);
      const nowMs = clock.now().getTime();
      const memory = { backoff, holdBack: { before: heldBack, budget } };
      const compare = comparisonOf(engine);
      made = await planOn(reading, decided, options, { dryRun, compare, ...memory, most: parts.most, nowMs });
      backoff = rememberPlan(backoff, made, nowMs);
      heldBack = made.heldBack;
      const report = await apply(engine, made, mustFit);
      wasWritten ||= report.wasWritten;
      if (report.wasWritten && isConnected(migrated, made)) continue;
      if (!made.settled.isCut || !report.wasWritten || !parts.mayGoOn) {
        await removeUnusedValues(engine, made, snapshot, options);
        const left = withoutApplied(backoff, made.settled.excluded);
        const verdicts = withMigrations(report.verdicts, migrated);
        return { snapshot, report: { ...report, verdicts, wasWritten, backoff: left, heldBack } };
      }
      parts.grow();
    } catch (error) {
      if (!(error instanceof EngineProblem)) throw error;
      if (isAboutContent(error) && !isDoubtful) {
        isDoubtful = true;
        continue;
      }
      const sent = made ? made.settled.applied : sentInDryRun(decided, error);
      const [only, another] = sent;
      if (isAboutContent(error) || error.kind === 'tooLarge') {
        if (another) parts.shrink(sent.length);
        else if (only) backoff = noteRefusal(backoff, only, error, clock.now().getTime());
        if (only && parts.mayGoOn) continue;
      }
      if (error.kind !== 'conflict' || tries++ === MOST_TRIES) {
        return { snapshot, report: { ...failed(snapshot, error), backoff, heldBack } };
      }
      await clock.sleep(LEAST_PAUSE_MS + clock.random() * (MOST_PAUSE_MS - LEAST_PAUSE_MS));
    }
  }
}

/** Runs the Migrations among the resources, and reads the engine. The changes that the pass would make without them are sent along. */
async function afterMigrations(
  engine: EnginePort,
  snapshot: CrSnapshot,
  options: ReconcileOptions,
  passState: PassState | undefined,
): Promise<{ readonly reading: EngineReading; readonly migrated: Migrated }> {
  const reading = await engine.read();
  if (!snapshot.resources.some(isMigration)) return { reading, migrated: { ...NOT_MIGRATED, snapshot } };
  const scope = fullScope(snapshot, reading, options.manager);
  const { desired, decisions } = decisionsIn(scope, reading, options);
  const { outcomes } = desired;
  const known = await appliedMessages({ snapshot, outcomes }, (cr) => {
    const isKnown = passState && isStillApplied(cr, passState);
    return isKnown ? passState.resources.get(cr.metadata.uid)?.verdict.outcome.message : undefined;
  });
  const { resources } = snapshot;
  const isOpen = resources.some((cr) => isMigration(cr) && !known.has(cr.metadata.uid));
  const migrated = await runMigrations({
    engine,
    snapshot,
    sources: new Set(reading.metadata.sources.map(({ name }) => name)),
    outcomes,
    known,
    ...(isOpen ? await editsForMigrations(engine, decisions, resources, options) : { edits: [] }),
  });
  if (!migrated.hasRun) return { reading, migrated };
  // What waited for a table may fit now.
  await engine.reload();
  return { reading: await engine.read(), migrated };
}

const NOT_MIGRATED = { messages: new Map<string, string>(), hasRun: false, missing: new Set<string>() };

/** True when the pass has written a source that a Migration waits for. */
function isConnected({ missing }: Migrated, { settled }: PassPlan): boolean {
  return settled.document.sources.some(({ name }) => missing.has(name));
}

/** Returns the verdicts, in which an applied Migration names its version. */
function withMigrations(verdicts: Attempt['verdicts'], { messages }: Migrated): Attempt['verdicts'] {
  if (messages.size === 0) return verdicts;
  return new Map(
    [...verdicts].map(([uid, verdict]) => {
      const message = messages.get(uid);
      const isApplied = verdict.outcome.reason === 'Applied';
      return [uid, message && isApplied ? { ...verdict, outcome: { reason: 'Applied', message } } : verdict];
    }),
  );
}

/** Sends the values of Secrets before the objects that refer to them. A refusal is not an error of the pass: the objects are then
 *  inconsistent, and the engine's reason names the value and says what it lacks. */
async function sendValues(engine: EnginePort, values: ReadonlyMap<string, string>): Promise<void> {
  if (values.size === 0) return;
  try {
    await engine.setValues?.(values);
  } catch (error) {
    if (!(error instanceof EngineProblem) || error.kind !== 'rejected') throw error;
  }
}

/** Removes the values that no resource refers to any more, once a pass has seen all resources. The next pass repeats what fails. */
async function removeUnusedValues(
  engine: EnginePort,
  { scope, desired }: PassPlan,
  snapshot: CrSnapshot,
  { manager }: ReconcileOptions,
): Promise<void> {
  if (scope.skipped.size > 0 || !snapshot.isComplete) return;
  try {
    await engine.removeValues?.(ownerOfValues(manager), new Set(desired.values.keys()));
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
  }
}

/** The writes of a dry run that failed, when there is no plan. A refusal of its content is not the fault of a single change (settle/trials.ts). */
function sentInDryRun(decided: DecidedIn | undefined, { kind }: EngineProblem): readonly Decision[] {
  return kind === 'tooLarge' && decided ? decided.decided.decisions.filter(isWrite) : [];
}

/** The most changes of a write: halved after each refusal, doubled after each success. */
class Parts {
  most: number | undefined;
  #left = MOST_PARTS;

  get mayGoOn(): boolean {
    return this.#left > 0;
  }

  shrink(sent: number): void {
    this.#left--;
    this.most = sent >> 1;
  }

  grow(): void {
    this.#left--;
    if (this.most !== undefined) this.most *= 2;
  }
}

function rememberPlan(
  backoff: RefusalBackoff,
  { decisions, settled }: PassPlan,
  nowMs: number,
): RefusalBackoff {
  const { blamed, document } = settled;
  return noteBlamed(backoff, { decisions, blamed, live: objectsIn(document), nowMs });
}

type Observation = {
  readonly snapshot: CrSnapshot;
  readonly reading: EngineReading;
  readonly options: ReconcileOptions;
};
type DecidedIn = { readonly scope: PassScope; readonly decided: Decided };

/** Returns the decisions of the incremental scope; undefined when the scope is insufficient. */
function decideIncrementally(
  passState: PassState,
  { snapshot, reading, options }: Observation,
): DecidedIn | undefined {
  const scope = incrementalScope(passState, snapshot, reading, options);
  const decided = scope && decisionsIn(scope, reading, options);
  return decided && isScopeSufficient(decided, options) ? { scope, decided } : undefined;
}

function decideOnAll({ snapshot, reading, options }: Observation): DecidedIn {
  const scope = fullScope(snapshot, reading, options.manager);
  return { scope, decided: decisionsIn(scope, reading, options) };
}

async function apply(engine: EnginePort, made: PassPlan, mustFit: boolean): Promise<Attempt> {
  const { reading, settled, entries, reservations } = made;
  const { manager } = made.scope.ledger;
  const patch = ledgerPatch(entries, reservations, manager);
  if (settled.applied.length === 0 && !patch) {
    return done(made, reading.resourceVersion, reading.inconsistent, false);
  }
  const written = await engine.write({
    edits: editsOf(settled.applied),
    document: settled.document,
    ledger: patch ?? { manager, objects: {} },
    expectedVersion: reading.resourceVersion,
    mustFit,
  });
  return done(made, written.resourceVersion, written.inconsistent, true);
}

function done(
  made: PassPlan,
  resourceVersion: number,
  inconsistent: readonly InconsistentObject[],
  wasWritten: boolean,
): Attempt {
  const verdicts = verdictsOf(made, inconsistent);
  return { ...NOTHING_BEFORE, plan: made, verdicts, resourceVersion, inconsistent, wasWritten };
}

/** Returns the report of a pass without an answer of the engine. It has one outcome for all resources. */
function failed(snapshot: CrSnapshot, problem: EngineProblem): Attempt {
  const outcome = outcomeOf(problem);
  const verdict = { outcome, wasWritten: false, failing: [] };
  const verdicts = new Map(snapshot.resources.map((cr) => [cr.metadata.uid, verdict]));
  return { ...NOTHING_BEFORE, verdicts, inconsistent: [], wasWritten: false, problem };
}
