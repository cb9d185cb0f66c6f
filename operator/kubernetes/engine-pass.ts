/** Processes an engine when the queue starts it: checks whether anything changed on either side, runs one pass over the resources of the
 *  engine, writes the status of the Engine, and returns when to process it again.
 *  Resources of an engine without an Engine resource get no pass; their status says so.
 *  Not here: the pass (pass/reconcile.ts), the order of engines (queue.ts). */

import { isSameJson, stateVersionOf } from '@pergola/engine/metadata';
import { RECONCILE_ANNOTATION } from '../artifacts/artifact-request.ts';
import type { ArtifactStore } from '../artifacts/artifact-store.ts';
import type { Decision } from '../decide/decide.ts';
import { nextResumption, pauseOf } from '../decide/pause.ts';
import { refusingEngine } from '../engine/refusing-engine.ts';
import { haveReplicasChanged, nextReplicaCheckMs } from '../engine/replica-sync.ts';
import { consentOf } from '../grants/consent.ts';
import { lineBreakText } from '../kinds/line-break.ts';
import { missingKeyText } from '../kinds/missing-key.ts';
import type { CrStatus, CustomResource } from '../kinds.ts';
import { type PreviousPass, reconcile } from '../pass/reconcile.ts';
import type { Clock } from '../ports/clock.ts';
import type { EnginePort, EngineVersions } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { ReconcileOptions } from '../ports/options.ts';
import type { CrSnapshot, ReferenceLookup } from '../ports/resources.ts';
import type { StatusChange, StatusSink } from '../ports/statuses.ts';
import type { ResourceOutcome } from '../ports/verdict.ts';
import { isChanged, statusOf } from '../status/conditions.ts';
import { nextDeadline } from '../status/deadlines.ts';
import { type EngineObservations, engineStatusOf, pausedStatusOf } from '../status/engine-status.ts';
import type { Report } from '../status/report.ts';
import { MigrationArtifacts } from './artifacts.ts';
import type { Cluster } from './cluster.ts';
import type { ClusterNames } from './cluster-name.ts';
import type { Definitions } from './definitions.ts';
import {
  blockedBecause,
  blockerAfter,
  type DeletionBlocker,
  engineBlockerAfter,
  hasFinalizer,
  isDeleting,
  NOT_BLOCKED,
  remainingMs,
  waitsForDeletion,
} from './deletion.ts';
import {
  adminSecretOf,
  authorityOf,
  consoleUrlOf,
  intervalsOf,
  ownReferencesOf,
  reconcileOptionsOf,
  referencesOf,
  referencesOfResource,
} from './engine-binding.ts';
import type { EngineConnections } from './engine-connections.ts';
import type { Finalizers } from './finalizers.ts';
import type { Metrics } from './metrics.ts';
import { type DueChanges, Outage, type OutageOptions } from './outage.ts';
import type { Presence } from './presence.ts';
import type { Requeue, Turn } from './queue.ts';
import type { References } from './references.ts';
import { reportSlowPass } from './slow-pass.ts';
import type { StatusQueue } from './status-queue.ts';
import { backoffMs, type Timers } from './timers.ts';

export type EnginePassOptions = {
  readonly cluster: Cluster;
  readonly references: References;
  readonly finalizers: Finalizers;
  readonly definitions: Definitions;
  readonly connections: EngineConnections;
  readonly artifacts: ArtifactStore;
  readonly statuses: StatusQueue;
  readonly presence: Presence;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly metrics: Metrics;
  /** The stable name of this cluster, and its earlier names. */
  readonly clusterNames: () => ClusterNames;
  /** True while this replica may write. Another replica may have become the leader. */
  readonly isLeading: () => boolean;
  readonly progressDeadlineSeconds: number;
  /** The grace period and the rate of statuses about an engine that does not answer. */
  readonly outage: OutageOptions;
  /** No object is deleted before this time: resources may not have been created yet. */
  readonly mayPruneAtMs: number;
  readonly onReport: (engine: string, report: Report) => void;
};

/** The state that a pass keeps for the next one. */
type EngineMemory = PreviousPass & {
  version: number | undefined;
  stateVersion: string;
  passedAt: number;
  reloadedAt: number;
  failures: number;
  /** The time of the next pass after failures, unless the engine answers before. */
  retryAt: number;
  /** True when the engine did not answer the last pass, and requests for its version may end the delay. */
  isProbed: boolean;
  /** True when the engine answered such a request. If the pass then fails, too, the delay is waited for in the end. */
  isBack: boolean;
  isWaiting: boolean;
  /** The time when the first pause or grace period ends, by the wall clock. */
  resumesAt: number | undefined;
  /** The value of the annotation `reconcile-now`: a new one asks for a full comparison. */
  request: string | undefined;
};

function requestOf(engine: CustomResource): string | undefined {
  return engine.metadata.annotations?.[RECONCILE_ANNOTATION];
}

/** The results of the last pass over an engine, for metrics. */
type EngineSummary = {
  readonly objects: Readonly<Record<string, number>>;
  readonly resources: ReadonlyMap<string, readonly unknown[]>;
  readonly succeededAt: Date | undefined;
};

/** The range of delays after failures. */
const BACKOFF = { leastMs: 1000, mostMs: 30_000 };
/** The interval of requests for the version of an engine that did not answer. The first answer ends the delay. */
const PROBE_MS = 1000;
/** The failures after which the delay is waited for although the engine answered a request for its version: its passes fail for another
 *  reason than an outage. */
const MOST_RETURNS = 4;
/** The delay after a status was held back or a Secret could not be read. */
const RETRY_MS = 5000;
/** The delay after a pass that did not try all changes. */
const CUT_MS = 50;
/** The interval of checks of an Engine that is being deleted. */
const WAITING_DELETION_MS = 5000;
/** The interval of checks for changes of the database that a resource waits for. */
const WAITING_MS = 30_000;

const UNPROTECTED =
  'spec.waitForDeletion has no effect: the operator may not write the finalizer (operator.waitingDeletion of the chart), or the Engine is ' +
  'in its namespace';

/** When to process an engine again, and what blocks the deletion of its resources; undefined when this is not known. */
type Processed = { readonly requeue: Requeue; readonly blocker: DeletionBlocker | undefined };

/** Thrown when the lease expired during a pass. */
export class NotLeading extends Error {}

export class EnginePass {
  readonly #options: EnginePassOptions;
  readonly #memories = new Map<string, EngineMemory>();
  readonly #summaries = new Map<string, EngineSummary>();
  readonly #outages = new Map<string, Outage>();
  /** The versions at the last poll of each engine. */
  readonly #versions = new Map<string, EngineVersions>();

  constructor(options: EnginePassOptions) {
    this.#options = options;
    this.#readMetrics(options.metrics);
  }

  #readMetrics(metrics: Metrics): void {
    const summaries = this.#summaries;
    metrics.read('pergola_objects', () =>
      [...summaries].flatMap(([engine, { objects }]) =>
        Object.entries(objects).map(([state, value]) => ({ labels: { engine, state }, value })),
      ),
    );
    metrics.read('pergola_resources', () =>
      [...summaries].flatMap(([engine, { resources }]) =>
        [...resources].map(([reason, same]) => ({ labels: { engine, reason }, value: same.length })),
      ),
    );
    metrics.read('pergola_last_success_timestamp_seconds', () =>
      [...summaries].flatMap(([engine, { succeededAt }]) =>
        succeededAt === undefined ? [] : [{ labels: { engine }, value: succeededAt.getTime() / 1000 }],
      ),
    );
  }

  /** Throws NotLeading. */
  async process(key: string, { isMarked, isForEdits }: Turn): Promise<Requeue> {
    const deleting = this.#deletingOf(key);
    const turn = { isMarked: isMarked || deleting.some(hasFinalizer), isForEdits };
    const { requeue, blocker } = await this.#processEngine(key, turn);
    // A pass over edits says nothing about deletions. The next one follows at once.
    if (!blocker) return requeue;
    const { finalizers } = this.#options;
    const engine = this.#engine(key);
    const consoleUrl = engine && consoleUrlOf(engine);
    return earlier(requeue, await finalizers.release(deleting, blocker, consoleUrl));
  }

  /** Processes the engine and returns when to do so again, and what blocks the deletion of resources. */
  async #processEngine(key: string, { isMarked, isForEdits }: Turn): Promise<Processed> {
    const { finalizers } = this.#options;
    const engine = this.#engine(key);
    const resources = this.#resourcesOf(key);
    if (!engine) return { requeue: await this.#withoutEngine(key, resources), blocker: NOT_BLOCKED };
    const isWaiting = isDeleting(engine) && hasFinalizer(engine);
    if (isWaiting && finalizers.remainingMs(engine) <= 0) return this.#release(engine);
    const pause = pauseOf(engine, this.#options.clock.now());
    // Its objects stay as they are, so there is nothing to wait for.
    if (pause && isWaiting) return this.#release(engine);
    if (pause)
      return { requeue: await this.#whilePaused(key, engine, pause), blocker: blockedBecause(pause.message) };
    if (!(await this.#options.references.want(key, referencesOf(engine, resources)))) {
      // The Secret may exist, so no status reports it as missing.
      this.#memories.delete(key);
      return {
        requeue: { afterMs: RETRY_MS },
        blocker: blockedBecause('the secrets of the Engine cannot be read'),
      };
    }
    const { port, problem } = this.#connect(key, engine);
    if (!problem && !(await this.#isDue(key, engine, port, isMarked || isWaiting))) {
      return {
        requeue: this.#rest(key, engine),
        blocker: blockedBecause('the engine is asked soon'),
      };
    }
    await finalizers.ensure(isDeleting(engine) ? resources : [...resources, engine]);
    const bound = isWaiting ? [...resources, ...this.#deletingOf(key)] : [];
    await this.#options.presence.record(engine);
    const before = this.#memories.get(key);
    // A full comparison was asked for.
    const isRequested = before !== undefined && before.request !== requestOf(engine);
    const previous = { ...before, ...(isRequested ? { passState: undefined } : {}), isForEdits };
    const report = await this.#pass(engine, this.#fenced(port), previous);
    this.#count(key, report);
    if (report.isOfEdits) return { requeue: this.#remember(key, engine, report), blocker: undefined };
    if (!report.problem) await this.#readVersions(key, port);
    const deleting = isWaiting ? this.#engineBlocker(engine, report, { problem, before: bound }) : undefined;
    await this.#report(key, engine, report, { problem, deleting, note: this.#noteOn(key) });
    const requeue = this.#remember(key, engine, report);
    if (deleting) {
      const afterMs = Math.min(WAITING_DELETION_MS, Math.max(0, finalizers.remainingMs(engine)));
      return { requeue: earlier(requeue, { afterMs }), blocker: blockerAfter(report) };
    }
    if (isWaiting) return this.#release(engine);
    return { requeue, blocker: isDeleting(engine) ? NOT_BLOCKED : blockerAfter(report) };
  }

  #engine(key: string): CustomResource | undefined {
    const { cluster, statuses } = this.#options;
    const engine = cluster.engine(key);
    return engine && statuses.seen(engine);
  }

  #resourcesOf(key: string): readonly CustomResource[] {
    const { cluster, statuses } = this.#options;
    return cluster.resourcesOf(key).map((cr) => statuses.seen(cr));
  }

  #deletingOf(key: string): readonly CustomResource[] {
    const { cluster, statuses } = this.#options;
    return cluster.deletingOf(key).map((cr) => statuses.seen(cr));
  }

  /** Returns what to say of an Engine whose finalizer could not be written. */
  #noteOn(key: string): string | undefined {
    const { cluster } = this.#options;
    const engine = cluster.engine(key);
    const isProtected = !engine || !waitsForDeletion(engine) || hasFinalizer(engine) || isDeleting(engine);
    return isProtected ? undefined : UNPROTECTED;
  }

  /** Lets the API server delete an Engine. Its resources wait no longer. */
  async #release(engine: CustomResource): Promise<Processed> {
    return { requeue: await this.#options.finalizers.releaseEngine(engine), blocker: NOT_BLOCKED };
  }

  /** Returns why an Engine that is being deleted stays; undefined when nothing can be removed from its engine any more, or all is. `before`
   *  are its resources at the start of the pass: one that went meanwhile still has its objects. */
  #engineBlocker(
    engine: CustomResource,
    report: Report,
    { problem, before }: { problem: ResourceOutcome | undefined; before: readonly CustomResource[] },
  ): ResourceOutcome | undefined {
    const { clock, outage } = this.#options;
    if (problem || !waitsForDeletion(engine)) return undefined;
    // The engine may have been deleted, too. One that restarts is back within the grace period.
    const isGivenUp = remainingMs(engine, clock.now(), outage.graceMs / 1000) <= 0;
    if (report.problem && isGivenUp) return undefined;
    const key = keyOf(engine);
    const bound = [...before, ...this.#resourcesOf(key), ...this.#deletingOf(key)];
    return engineBlockerAfter(report, [...new Map(bound.map((cr) => [cr.metadata.uid, cr])).values()]);
  }

  /** Writes the status of a paused Engine. The engine is not contacted, and resources keep their statuses. */
  async #whilePaused(key: string, engine: CustomResource, pause: ResourceOutcome): Promise<Requeue> {
    const status = pausedStatusOf(engine, pause, this.#statusContext());
    if (isEngineChanged(engine, status)) await this.#options.statuses.publish([{ cr: engine, status }]);
    this.#memories.delete(key);
    const now = this.#options.clock.now();
    const end = nextResumption([engine], now);
    return end === undefined ? {} : { afterMs: end - now.getTime() };
  }

  /** Returns the connection to an engine. For resources, a missing Secret is the same as a rejected admin secret. */
  #connect(
    key: string,
    engine: CustomResource,
  ): { readonly port: EnginePort; readonly problem: ResourceOutcome | undefined } {
    const { references, connections } = this.#options;
    const wanted = adminSecretOf(engine);
    const adminSecret = wanted && references.valueOf(wanted, wanted.key);
    // Everything may be deleted at once. What the last pass connected with serves until the Engine is gone.
    const last =
      isDeleting(engine) && this.#lacksCredentials(engine) ? connections.lastPortOf(key) : undefined;
    if (last) return { port: last, problem: undefined };
    const problem = wanted && this.#credentialsProblem(wanted, adminSecret);
    if (!problem) return { port: connections.portOf(key, engine, adminSecret), problem };
    return { port: refusingEngine(new EngineProblem('unauthorized', problem.message)), problem };
  }

  /** Returns why a value of a Secret cannot be sent as the admin secret. */
  #credentialsProblem(
    wanted: NonNullable<ReturnType<typeof adminSecretOf>>,
    value: string | undefined,
  ): ResourceOutcome | undefined {
    const { references } = this.#options;
    if (value === undefined) {
      const message =
        references.refusalOf(wanted) ??
        missingKeyText({ ...wanted, kind: 'Secret' }, { secretKeys: () => references.keysOf(wanted) });
      return { reason: 'SecretNotFound', message };
    }
    if (!/[\r\n]/.test(value)) return undefined;
    const message = lineBreakText(wanted, 'has a line break, which no header can have');
    return { reason: 'EngineRejectedCredentials', message };
  }

  /** True when the admin secret or the certificate authority that the Engine names does not exist. */
  #lacksCredentials(engine: CustomResource): boolean {
    const { references } = this.#options;
    const [secret, authorities] = [adminSecretOf(engine), authorityOf(engine)];
    const exists = (reference: NonNullable<typeof secret>) =>
      references.valueOf(reference, reference.key) !== undefined;
    return (secret && !exists(secret)) || (authorities.length > 0 && !authorities.some(exists));
  }

  /** True when a pass is due. Makes the engine read its databases again when a resource waits for that. */
  async #isDue(key: string, engine: CustomResource, port: EnginePort, isMarked: boolean): Promise<boolean> {
    const memory = this.#memories.get(key);
    if (isMarked || !memory) return true;
    const now = this.#options.timers.nowMs();
    if (memory.failures > 0) {
      if (now >= memory.retryAt) return true;
      memory.isBack = memory.isProbed && (await port.version().catch(ignoreEngine)) !== undefined;
      return memory.isBack;
    }
    if (memory.isWaiting && now - memory.reloadedAt >= WAITING_MS) {
      memory.reloadedAt = now;
      // When the reload fails, the pass fails as well and reports why.
      await port.reload({ ifChanged: true }).catch(ignoreEngine);
      return true;
    }
    if (now - memory.passedAt >= intervalsOf(engine).fullMs) return true;
    if (memory.resumesAt !== undefined && this.#options.clock.now().getTime() >= memory.resumesAt)
      return true;
    const { clock } = this.#options;
    if (memory.replicaSync && (await haveReplicasChanged(port, clock, memory.replicaSync))) return true;
    this.#options.metrics.add('pergola_engine_polls_total', { engine: key });
    const state = await port.state().catch(ignoreEngine);
    if (!state) return true;
    const before = this.#versions.get(key);
    this.#versions.set(key, state);
    return isMoved(state, memory) || !before || isUpgraded(before, state);
  }

  /** Returns the port with writes that fail without the lease: a suspended process must not finish a pass that another continued. */
  #fenced(port: EnginePort): EnginePort {
    const write: EnginePort['write'] = async (change) => {
      if (!this.#options.isLeading()) throw new NotLeading('the lease was not renewed; nothing is written');
      return port.write(change);
    };
    const migrate: EnginePort['migrate'] = async (request) => {
      if (!this.#options.isLeading()) throw new NotLeading('the lease was not renewed; no migration runs');
      return port.migrate(request);
    };
    return { ...port, write, migrate };
  }

  /** Returns when to check an unmarked engine that needs no pass now. */
  #rest(key: string, engine: CustomResource): Requeue {
    const memory = this.#memories.get(key);
    return memory && memory.failures > 0 ? this.#retry(memory) : { afterMs: this.#restMs(key, engine) };
  }

  /** Returns when to process an engine again whose last pass failed. */
  #retry({ retryAt, isProbed }: EngineMemory): Requeue {
    const { timers } = this.#options;
    const wait = Math.max(0, retryAt - timers.nowMs());
    const probe = PROBE_MS * (0.5 + timers.random() / 2);
    return { afterMs: isProbed ? Math.min(wait, probe) : wait, notBeforeMs: wait };
  }

  /** Returns the delay until the next check of an unmarked engine. */
  #restMs(key: string, engine: CustomResource): number {
    const question = nextReplicaCheckMs(this.#memories.get(key)?.replicaSync, this.#options.clock.now());
    return Math.min(intervalsOf(engine).versionMs, question ?? Number.POSITIVE_INFINITY);
  }

  async #pass(engine: CustomResource, port: EnginePort, before: PreviousPass): Promise<Report> {
    const { statuses, clock, timers } = this.#options;
    const announcement = reportSlowPass(() => this.#resourcesOf(keyOf(engine)), {
      sink: statuses,
      timers,
      context: () => this.#statusContext(),
    });
    const source = { snapshot: async () => this.#snapshot(engine) };
    const key = keyOf(engine);
    const publish: StatusSink['publish'] = async (changes) => {
      const { due, held } = this.#due(key, changes);
      return held + (await announcement.sink.publish(due));
    };
    const ports = { engine: port, source, sink: { publish }, clock };
    return reconcile(ports, this.#optionsOf(engine), before).finally(announcement.end);
  }

  #due(key: string, changes: readonly StatusChange[]): DueChanges {
    const outage = this.#outages.get(key) ?? new Outage(this.#options.outage);
    this.#outages.set(key, outage);
    return outage.due(changes, this.#options.timers.nowMs());
  }

  #snapshot(engine: CustomResource): CrSnapshot {
    const { cluster, references, artifacts, timers, clock, mayPruneAtMs, definitions } = this.#options;
    const resources = this.#resourcesOf(keyOf(engine));
    const lookup: ReferenceLookup = {
      secret: (namespace, name, key) => references.valueOf({ kind: 'secrets', namespace, name }, key),
      configMap: (namespace, name, key) => references.valueOf({ kind: 'configmaps', namespace, name }, key),
      secretKeys: (namespace, name) => references.keysOf({ kind: 'secrets', namespace, name }),
      configMapKeys: (namespace, name) => references.keysOf({ kind: 'configmaps', namespace, name }),
    };
    const used = new MigrationArtifacts(artifacts, engine, resources, lookup);
    const isComplete = cluster.isSynced && timers.nowMs() >= mayPruneAtMs;
    const labelsOf = cluster.seesNamespaces ? (name: string) => cluster.labelsOf(name) : undefined;
    return {
      at: clock.now(),
      resources,
      isComplete,
      lostAmong: (owners) => definitions.lostAmong(owners),
      hasStatuses: true,
      unbound: cluster.unbound,
      seesNamespace: (namespace) => cluster.sees(namespace),
      references: lookup,
      artifact: async (cr) => used.artifactOf(cr),
      consent: consentOf(engine, new Set(resources.map(({ metadata }) => metadata.namespace)), labelsOf),
      observed: (cr) => ({ ...references.observed(referencesOfResource(cr)), ...used.observed(cr) }),
    };
  }

  #optionsOf(engine: CustomResource): ReconcileOptions {
    const { clusterNames, presence, progressDeadlineSeconds } = this.#options;
    const { name, earlier } = clusterNames();
    const managerOf = (cluster: string) => `${cluster}/${keyOf(engine)}`;
    const manager = managerOf(name);
    // An operator beside this one may have the name.
    const earlierManagers = presence.rivalsOf(engine).length > 0 ? [] : earlier.map(managerOf);
    return reconcileOptionsOf(engine, { manager, earlierManagers, progressDeadlineSeconds });
  }

  /** Reads the versions of the engine and its replicas before the first status; later each poll reads them. */
  async #readVersions(key: string, port: EnginePort): Promise<void> {
    if (this.#versions.has(key)) return;
    const versions = await port.state({ isUnchecked: true }).catch(ignoreEngine);
    if (versions) this.#versions.set(key, versions);
  }

  /** Writes the status of the Engine. */
  async #report(
    key: string,
    engine: CustomResource,
    report: Report,
    found: Pick<EngineObservations, 'problem' | 'deleting' | 'note'>,
  ): Promise<void> {
    const { statuses, references, presence } = this.#options;
    const observed = references.observed(ownReferencesOf(engine));
    const observations = { ...found, versions: this.#versions.get(key), rivals: presence.rivalsOf(engine) };
    const status = { ...engineStatusOf(engine, report, this.#statusContext(), observations), ...observed };
    if (isEngineChanged(engine, status)) await statuses.publish([{ cr: engine, status }]);
    this.#summaries.set(key, {
      objects: status.objects ?? {},
      resources: Map.groupBy(report.verdicts.values(), ({ outcome }) => outcome.reason),
      succeededAt: report.problem ? this.#summaries.get(key)?.succeededAt : this.#options.clock.now(),
    });
  }

  #count(key: string, report: Report): void {
    const { metrics, onReport } = this.#options;
    const result = report.problem ? 'failed' : report.wasWritten ? 'written' : 'unchanged';
    metrics.add('pergola_pass_total', { engine: key, result });
    const corrected = report.wasWritten ? report.plan?.settled.applied.filter(isCorrection).length : 0;
    if (corrected) metrics.add('pergola_drift_corrected_total', { engine: key }, corrected);
    onReport(key, report);
  }

  #remember(key: string, engine: CustomResource, report: Report): Requeue {
    const { timers, clock, mayPruneAtMs } = this.#options;
    const now = timers.nowMs();
    const wallNow = clock.now();
    const resumesAt = nextDeadline(report, wallNow);
    const before = this.#memories.get(key);
    const failures = report.problem ? (before?.failures ?? 0) + 1 : 0;
    const memory: EngineMemory = {
      version: report.resourceVersion,
      stateVersion: stateVersionOf(report.inconsistent),
      passedAt: now,
      reloadedAt: report.isWaiting && before?.isWaiting ? before.reloadedAt : now,
      failures,
      retryAt: failures > 0 ? now + backoffMs(timers, failures, BACKOFF) : now,
      isProbed:
        report.problem?.kind === 'unreachable' && (before?.isBack !== true || failures <= MOST_RETURNS),
      isBack: false,
      isWaiting: report.isWaiting,
      resumesAt,
      replicaSync: report.problem ? before?.replicaSync : report.replicaSync,
      passState: report.passState,
      request: requestOf(engine),
      backoff: report.backoff,
      tests: report.tests,
      heldBack: report.heldBack,
      admitsFirst: report.admitsFirst,
    };
    this.#memories.set(key, memory);
    if (failures > 0) return this.#retry(memory);
    const isHeldBack = now < mayPruneAtMs;
    const isUnpublished = report.unpublished > 0;
    if (isHeldBack || isUnpublished || report.isCut) memory.version = undefined;
    const next = [
      this.#restMs(key, engine),
      ...(isHeldBack ? [mayPruneAtMs - now] : []),
      ...(isUnpublished ? [RETRY_MS] : []),
      ...(report.isCut ? [CUT_MS] : []),
      ...(resumesAt === undefined ? [] : [resumesAt - wallNow.getTime()]),
    ];
    return { afterMs: Math.min(...next), isCut: report.isCut, isOfEdits: report.isOfEdits };
  }

  /** Reports that the Engine does not exist. Resources may be created before it. Objects that they owned are kept. */
  async #withoutEngine(key: string, resources: readonly CustomResource[]): Promise<Requeue> {
    const { cluster, statuses, references, connections, artifacts, progressDeadlineSeconds } = this.#options;
    this.#memories.delete(key);
    this.#outages.delete(key);
    this.#summaries.delete(key);
    this.#versions.delete(key);
    connections.close(key);
    artifacts.keep(key, new Set());
    await references.want(key, []);
    const message = cluster.missingEngineText(key);
    const outcome = { reason: 'DependencyNotReady', message } as const;
    const verdict = { outcome, wasWritten: false, failing: [] };
    const changes = resources
      .map((cr) => ({ cr, status: statusOf(cr, verdict, this.#statusContext()) }))
      .filter(({ cr, status }) => isChanged(cr, status));
    await statuses.publish(changes);
    return resources.length === 0 ? {} : { afterMs: progressDeadlineSeconds * 1000 };
  }

  #statusContext(): { readonly now: Date; readonly progressDeadlineSeconds: number } {
    const { clock, progressDeadlineSeconds } = this.#options;
    return { now: clock.now(), progressDeadlineSeconds };
  }
}

/** Returns the requeue with the earlier of two delays. */
function earlier(requeue: Requeue, { afterMs }: Requeue): Requeue {
  return afterMs === undefined
    ? requeue
    : { ...requeue, afterMs: Math.min(requeue.afterMs ?? afterMs, afterMs) };
}

function keyOf({ metadata }: CustomResource): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** True when the engine is at another version, or other objects are inconsistent, than after the last pass. */
function isMoved({ resourceVersion, stateVersion }: EngineVersions, memory: EngineMemory): boolean {
  return resourceVersion !== memory.version || (stateVersion ?? memory.stateVersion) !== memory.stateVersion;
}

/** True when a status differs from the one the Engine has. The entries of operators are not part of it. */
function isEngineChanged(engine: CustomResource, status: CrStatus): boolean {
  if (!engine.status) return true;
  const { operators: _, ...own } = engine.status;
  return isChanged({ ...engine, status: own }, status);
}

/** True when the engine or a replica is of another version, or there are other replicas. */
function isUpgraded(before: EngineVersions, after: EngineVersions): boolean {
  return !isSameJson(
    [before.engineVersion, before.replicas ?? []],
    [after.engineVersion, after.replicas ?? []],
  );
}

function isCorrection({ action }: Decision): boolean {
  return action === 'correct';
}

function ignoreEngine(error: unknown): undefined {
  if (!(error instanceof EngineProblem)) throw error;
  return undefined;
}
