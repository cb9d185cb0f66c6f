/** Processes an engine when the queue starts it: checks whether anything changed on either side, runs one pass over the resources of the
 *  engine, writes the status of the Engine, and returns when to process it again.
 *  Resources of an engine without an Engine resource get no pass; their status says so.
 *  Not here: the pass (pass/reconcile.ts), the order of engines (queue.ts). */

import { stateVersionOf } from '@pergola/engine/metadata';
import { nextResumption, pauseOf } from '../decide/pause.ts';
import { haveReplicasChanged, nextReplicaCheckMs } from '../engine/replica-sync.ts';
import { consentOf } from '../grants/consent.ts';
import type { CustomResource } from '../kinds.ts';
import { type PreviousPass, reconcile } from '../pass/reconcile.ts';
import {
  type Clock,
  type CrSnapshot,
  type EnginePort,
  EngineProblem,
  type EngineState,
  type Outcome,
  type ReconcileOptions,
  type StatusChange,
  type StatusSink,
} from '../ports.ts';
import { isChanged, isOutage, readyReasonOf, statusOf } from '../status/conditions.ts';
import { nextDeadline } from '../status/deadlines.ts';
import { engineStatusOf, pausedStatusOf } from '../status/engine-status.ts';
import { outcomeOf, type Report } from '../status/report.ts';
import type { Cluster } from './cluster.ts';
import {
  blockedBecause,
  blockerAfter,
  type DeletionBlocker,
  hasFinalizer,
  isDeleting,
  NOT_BLOCKED,
} from './deletion.ts';
import {
  adminSecretOf,
  intervalsOf,
  ownReferencesOf,
  reconcileOptionsOf,
  referencesOf,
  referencesOfResource,
} from './engine-binding.ts';
import type { EngineConnections } from './engine-connections.ts';
import type { Finalizers } from './finalizers.ts';
import type { Metrics } from './metrics.ts';
import { Outage, type OutageOptions } from './outage.ts';
import type { Requeue } from './queue.ts';
import type { References } from './references.ts';
import { reportSlowPass } from './slow-pass.ts';
import { backoffMs, type Timers } from './timers.ts';

export type EnginePassOptions = {
  readonly cluster: Cluster;
  readonly references: References;
  readonly finalizers: Finalizers;
  readonly connections: EngineConnections;
  readonly sink: StatusSink;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly metrics: Metrics;
  /** Stable name of this cluster. */
  readonly clusterName: () => string;
  /** May we write: another replica may know better by now. */
  readonly isLeading: () => boolean;
  readonly progressDeadlineSeconds: number;
  /** When and how fast resources are told that their engine does not answer. */
  readonly outage: OutageOptions;
  /** Nothing is deleted before: what is not there yet may still come. */
  readonly mayPruneAtMs: number;
  readonly onReport: (engine: string, report: Report) => void;
};

/** What one pass leaves for the next requeue. */
type EngineMemory = PreviousPass & {
  version: number | undefined;
  stateVersion: string;
  passedAt: number;
  reloadedAt: number;
  failures: number;
  isWaiting: boolean;
  /** When the first pause or grace period ends by itself, by the wall clock. */
  resumesAt: number | undefined;
};

/** What the last pass over an engine has seen, for metrics. */
type EngineSummary = {
  readonly objects: Readonly<Record<string, number>>;
  readonly resources: ReadonlyMap<string, readonly unknown[]>;
  readonly succeededAt: Date | undefined;
};

/** Nobody should wait for a minute after an engine has come back. */
const BACKOFF = { leastMs: 1000, mostMs: 30_000 };
/** A status that could not be written, or a secret that could not be read, is tried again so soon. */
const UNHEARD_MS = 5000;
/** A pass that did not come to try all changes is followed by another. */
const CUT_MS = 100;
/** What waits for the database to change is looked at again so often. */
const WAITING_MS = 30_000;

/** The lease ran out while a pass was under way. */
export class NotLeading extends Error {}

export class EnginePass {
  readonly #options: EnginePassOptions;
  readonly #memories = new Map<string, EngineMemory>();
  readonly #summaries = new Map<string, EngineSummary>();
  readonly #outages = new Map<string, Outage>();

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
  async process(key: string, isMarked: boolean): Promise<Requeue> {
    const deleting = this.#options.cluster.deletingOf(key);
    const { requeue, blocker } = await this.#processEngine(key, isMarked || deleting.some(hasFinalizer));
    return earlier(requeue, await this.#options.finalizers.release(deleting, blocker));
  }

  /** When to come again, and what keeps resources that are being deleted. */
  async #processEngine(
    key: string,
    isMarked: boolean,
  ): Promise<{ readonly requeue: Requeue; readonly blocker: DeletionBlocker }> {
    const { cluster, finalizers } = this.#options;
    const engine = cluster.engine(key);
    const resources = cluster.resourcesOf(key);
    if (!engine) return { requeue: await this.#withoutEngine(key, resources), blocker: NOT_BLOCKED };
    const pause = pauseOf(engine, this.#options.clock.now());
    if (pause)
      return { requeue: await this.#whilePaused(key, engine, pause), blocker: blockedBecause(pause.message) };
    if (!(await this.#options.references.want(key, referencesOf(engine, resources)))) {
      // It may well be there: who does not know says nothing.
      this.#memories.delete(key);
      return {
        requeue: { afterMs: UNHEARD_MS },
        blocker: blockedBecause('the secrets of the Engine cannot be read'),
      };
    }
    const { port, problem } = this.#connect(key, engine);
    if (!problem && !(await this.#isDue(key, engine, port, isMarked))) {
      return {
        requeue: { afterMs: this.#restMs(key, engine) },
        blocker: blockedBecause('the engine is asked soon'),
      };
    }
    await finalizers.ensure(resources);
    const before = this.#memories.get(key);
    const report = await this.#pass(engine, this.#fenced(port), before);
    const unpublished = report.unpublished + (await this.#report(key, engine, report, problem));
    const requeue = this.#remember(key, engine, { ...report, unpublished });
    return { requeue, blocker: isDeleting(engine) ? NOT_BLOCKED : blockerAfter(report) };
  }

  /** Nothing is read or written; resources keep the statuses they have. */
  async #whilePaused(key: string, engine: CustomResource, pause: Outcome): Promise<Requeue> {
    const status = pausedStatusOf(engine, pause, this.#statusContext());
    const unpublished = isChanged(engine, status)
      ? await this.#options.sink.publish([{ cr: engine, status }])
      : 0;
    this.#memories.delete(key);
    if (unpublished > 0) return { afterMs: UNHEARD_MS };
    const now = this.#options.clock.now();
    const end = nextResumption([engine], now);
    return end === undefined ? {} : { afterMs: end - now.getTime() };
  }

  /** A secret that is missing is a problem of the Engine, and looks to its resources like an engine that lets nobody in. */
  #connect(
    key: string,
    engine: CustomResource,
  ): { readonly port: EnginePort; readonly problem: Outcome | undefined } {
    const { references, connections } = this.#options;
    const wanted = adminSecretOf(engine);
    const adminSecret = wanted && references.valueOf(wanted, wanted.key);
    if (!wanted || adminSecret !== undefined) {
      return { port: connections.portOf(key, engine, adminSecret), problem: undefined };
    }
    const message =
      references.refusalOf(wanted) ??
      `there is no key ${wanted.key} in a Secret ${wanted.namespace}/${wanted.name}`;
    const refuse = () => Promise.reject(new EngineProblem('unauthorized', message));
    const port = {
      read: refuse,
      dryRun: refuse,
      write: refuse,
      inconsistent: refuse,
      version: refuse,
      state: refuse,
      reload: refuse,
    };
    return { port, problem: { reason: 'SecretNotFound', message } };
  }

  /** Also lets the engine look at its databases again when something waits for that. */
  async #isDue(key: string, engine: CustomResource, port: EnginePort, isMarked: boolean): Promise<boolean> {
    const memory = this.#memories.get(key);
    if (isMarked || !memory || memory.failures > 0) return true;
    const now = this.#options.timers.nowMs();
    if (memory.isWaiting && now - memory.reloadedAt >= WAITING_MS) {
      memory.reloadedAt = now;
      // Where it fails the pass fails too, and says why.
      await port.reload().catch(ignoreEngine);
      return true;
    }
    if (now - memory.passedAt >= intervalsOf(engine).fullMs) return true;
    if (memory.resumesAt !== undefined && this.#options.clock.now().getTime() >= memory.resumesAt)
      return true;
    const { clock } = this.#options;
    if (memory.replicaSync && (await haveReplicasChanged(port, clock, memory.replicaSync))) return true;
    this.#options.metrics.add('pergola_engine_polls_total', { engine: key });
    const state = await port.state().catch(ignoreEngine);
    return !state || isMoved(state, memory);
  }

  /** A process that was stopped in the middle must not finish what another has gone on with since. */
  #fenced(port: EnginePort): EnginePort {
    const write: EnginePort['write'] = async (change) => {
      if (!this.#options.isLeading()) throw new NotLeading('the lease was not renewed; nothing is written');
      return port.write(change);
    };
    return { ...port, write };
  }

  /** Until it is looked at again when nothing is marked. */
  #restMs(key: string, engine: CustomResource): number {
    const question = nextReplicaCheckMs(this.#memories.get(key)?.replicaSync, this.#options.clock.now());
    return Math.min(intervalsOf(engine).versionMs, question ?? Number.POSITIVE_INFINITY);
  }

  async #pass(engine: CustomResource, port: EnginePort, before: PreviousPass | undefined): Promise<Report> {
    const { sink, clock, timers, cluster } = this.#options;
    const announcement = reportSlowPass(() => cluster.resourcesOf(keyOf(engine)), {
      sink,
      timers,
      context: () => this.#statusContext(),
    });
    const source = { snapshot: async () => this.#snapshot(engine) };
    const key = keyOf(engine);
    const publish: StatusSink['publish'] = (changes) => announcement.sink.publish(this.#due(key, changes));
    const ports = { engine: port, source, sink: { publish }, clock };
    const report = await reconcile(ports, this.#optionsOf(engine), before).finally(announcement.end);
    if (!report.problem || !isOutage(outcomeOf(report.problem).reason)) this.#outages.delete(key);
    return report;
  }

  #due(key: string, changes: readonly StatusChange[]): readonly StatusChange[] {
    if (!changes.some(({ status }) => isOutage(readyReasonOf(status)))) return changes;
    const now = this.#options.timers.nowMs();
    const outage = this.#outages.get(key) ?? new Outage(this.#options.outage, now);
    this.#outages.set(key, outage);
    return outage.due(changes, now);
  }

  #snapshot(engine: CustomResource): CrSnapshot {
    const { cluster, references, timers, clock, mayPruneAtMs } = this.#options;
    const resources = cluster.resourcesOf(keyOf(engine));
    const isComplete = cluster.isSynced && timers.nowMs() >= mayPruneAtMs;
    const labelsOf = cluster.seesNamespaces ? (name: string) => cluster.labelsOf(name) : undefined;
    return {
      at: clock.now(),
      resources,
      isComplete,
      seesNamespace: (namespace) => cluster.sees(namespace),
      references: {
        secret: (namespace, name, key) => references.valueOf({ kind: 'secrets', namespace, name }, key),
        configMap: (namespace, name, key) => references.valueOf({ kind: 'configmaps', namespace, name }, key),
      },
      consent: consentOf(engine, new Set(resources.map(({ metadata }) => metadata.namespace)), labelsOf),
      observed: (cr) => references.observed(referencesOfResource(engine, cr)),
    };
  }

  #optionsOf({ metadata, ...rest }: CustomResource): ReconcileOptions {
    const { clusterName, progressDeadlineSeconds } = this.#options;
    const manager = `${clusterName()}/${metadata.namespace}/${metadata.name}`;
    return reconcileOptionsOf({ metadata, ...rest }, { manager, progressDeadlineSeconds });
  }

  /** How many statuses could not be written: one, or none. */
  async #report(
    key: string,
    engine: CustomResource,
    report: Report,
    problem: Outcome | undefined,
  ): Promise<number> {
    const { sink, metrics, references } = this.#options;
    const observed = references.observed(ownReferencesOf(engine));
    const status = { ...engineStatusOf(engine, report, this.#statusContext(), problem), ...observed };
    const unpublished = isChanged(engine, status) ? await sink.publish([{ cr: engine, status }]) : 0;
    const result = report.problem ? 'failed' : report.wasWritten ? 'written' : 'unchanged';
    metrics.add('pergola_pass_total', { engine: key, result });
    this.#summaries.set(key, {
      objects: status.objects ?? {},
      resources: Map.groupBy(report.verdicts.values(), ({ outcome }) => outcome.reason),
      succeededAt: report.problem ? this.#summaries.get(key)?.succeededAt : this.#options.clock.now(),
    });
    this.#options.onReport(key, report);
    return unpublished;
  }

  #remember(key: string, engine: CustomResource, report: Report): Requeue {
    const { timers, clock, mayPruneAtMs } = this.#options;
    const now = timers.nowMs();
    const wallNow = clock.now();
    const resumesAt = nextDeadline(report, wallNow);
    const before = this.#memories.get(key);
    const failures = report.problem ? (before?.failures ?? 0) + 1 : 0;
    this.#memories.set(key, {
      version: report.resourceVersion,
      stateVersion: stateVersionOf(report.inconsistent),
      passedAt: now,
      reloadedAt: report.isWaiting && before?.isWaiting ? before.reloadedAt : now,
      failures,
      isWaiting: report.isWaiting,
      resumesAt,
      replicaSync: report.problem ? before?.replicaSync : report.replicaSync,
      passState: report.passState,
      backoff: report.backoff,
    });
    if (failures > 0) {
      const wait = backoffMs(timers, failures, BACKOFF);
      return { afterMs: wait, notBeforeMs: wait };
    }
    const isHeldBack = now < mayPruneAtMs;
    const isUnheard = report.unpublished > 0;
    if (isHeldBack || isUnheard || report.isCut) this.#memories.get(key)!.version = undefined;
    const next = [
      this.#restMs(key, engine),
      ...(isHeldBack ? [mayPruneAtMs - now] : []),
      ...(isUnheard ? [UNHEARD_MS] : []),
      ...(report.isCut ? [CUT_MS] : []),
      ...(resumesAt === undefined ? [] : [resumesAt - wallNow.getTime()]),
    ];
    return { afterMs: Math.min(...next) };
  }

  /** Resources may come before their engine. What they once owned stays: nobody says where it is. */
  async #withoutEngine(key: string, resources: readonly CustomResource[]): Promise<Requeue> {
    const { sink, references, connections, progressDeadlineSeconds } = this.#options;
    this.#memories.delete(key);
    this.#outages.delete(key);
    this.#summaries.delete(key);
    connections.close(key);
    await references.want(key, []);
    const outcome = { reason: 'DependencyNotReady', message: `there is no Engine ${key}` } as const;
    const verdict = { outcome, wasWritten: false, failing: [] };
    const changes = resources
      .map((cr) => ({ cr, status: statusOf(cr, verdict, this.#statusContext()) }))
      .filter(({ cr, status }) => isChanged(cr, status));
    const unpublished = await sink.publish(changes);
    if (unpublished > 0) return { afterMs: UNHEARD_MS };
    return resources.length === 0 ? {} : { afterMs: progressDeadlineSeconds * 1000 };
  }

  #statusContext(): { readonly now: Date; readonly progressDeadlineSeconds: number } {
    const { clock, progressDeadlineSeconds } = this.#options;
    return { now: clock.now(), progressDeadlineSeconds };
  }
}

/** Of two reasons to come again. */
function earlier(requeue: Requeue, { afterMs }: Requeue): Requeue {
  return afterMs === undefined
    ? requeue
    : { ...requeue, afterMs: Math.min(requeue.afterMs ?? afterMs, afterMs) };
}

function keyOf({ metadata }: CustomResource): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** True when the engine is at another version, or other objects are inconsistent, than after the last pass. */
function isMoved({ resourceVersion, stateVersion }: EngineState, memory: EngineMemory): boolean {
  return resourceVersion !== memory.version || (stateVersion ?? memory.stateVersion) !== memory.stateVersion;
}

function ignoreEngine(error: unknown): undefined {
  if (!(error instanceof EngineProblem)) throw error;
  return undefined;
}
