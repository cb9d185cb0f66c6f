/** Assembles the operator: transport → watches → queue → one pass at a time for each engine; a lease decides which replica is active.
 *  Standby replicas watch as well, to take over at once; they list again when they do, since a watch may have failed unnoticed. No pass
 *  starts before every kind is in sync or known to be readinessProblems: resources that are not listed yet must not count as deleted.
 *  Not here: the parts, a pass (pass/reconcile.ts). */
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { ArtifactStore } from '../artifacts/artifact-store.ts';
import { download } from '../artifacts/download.ts';
import { type CrStatus, type CustomResource, crName, purposeOf } from '../kinds.ts';
import { systemClock } from '../pass/clock.ts';
import type { StatusChange } from '../ports/statuses.ts';
import type { Report } from '../status/report.ts';
import { Cluster } from './cluster.ts';
import { type ClusterNames, namesOfCluster } from './cluster-name.ts';
import { Definitions } from './definitions.ts';
import { EngineConnections } from './engine-connections.ts';
import { EnginePass, NotLeading } from './engine-pass.ts';
import { Events } from './events.ts';
import { Finalizers } from './finalizers.ts';
import { serveHealth } from './health.ts';
import { Elector } from './leader.ts';
import { Metrics } from './metrics.ts';
import type { OperatorOptions } from './options.ts';
import { Presence } from './presence.ts';
import { Queue, type Requeue, type Turn } from './queue.ts';
import { References } from './references.ts';
import type { KubeObject } from './reflector.ts';
import { type Resolver, resolveByDns } from './replicas.ts';
import { StatusQueue } from './status-queue.ts';
import { writeStatus } from './status-write.ts';
import { sleep, systemTimers } from './timers.ts';
import { connect, type Transport } from './transport.ts';
import { createValuesKey } from './values-key.ts';

export type Operator = {
  readonly healthPort: number;
  /** Resolves when the operator has stopped: true after `stop`, false when the lease was lost. */
  readonly ended: Promise<boolean>;
  readonly stop: () => Promise<void>;
};

/** The longest duration of a pass: eight attempts at an engine that answers just before the timeout. A longer pass hangs. */
const LONGEST_PASS_MS = 300_000;
/** The delay until the next attempt after the lease expired during a pass. */
const OVERTAKEN_MS = 2000;
/** The delay after an unexpected error. */
const UNEXPECTED_MS = 30_000;
/** The time that running passes have to end at shutdown, within the grace period of pods. */
const FAREWELL_MS = 10_000;

export async function startOperator(
  config: KubeConfig,
  options: OperatorOptions,
  log: Logger,
  resolve: Resolver = resolveByDns,
): Promise<Operator> {
  const works = new OperatorProcess(config, await connect(config), options, log, resolve);
  const { promise: ended, resolve: end } = Promise.withResolvers<boolean>();
  let stopping: Promise<void> | undefined;
  const stop = (isWanted: boolean) => {
    stopping ??= works.stop().then(() => end(isWanted));
    return stopping;
  };
  const health = await works.start(() => {
    log.error('another replica holds the lease');
    void stop(false);
  });
  log.info({ namespaces: options.watchNamespaces, port: health.port }, 'watching');
  return { healthPort: health.port, ended, stop: () => stop(true) };
}

class OperatorProcess {
  readonly #config: KubeConfig;
  readonly #options: OperatorOptions;
  readonly #log: Logger;
  readonly #transport: Transport;
  readonly #metrics = new Metrics();
  readonly #queue: Queue;
  readonly #cluster: Cluster;
  readonly #references: References;
  readonly #connections: EngineConnections;
  readonly #artifacts: ArtifactStore;
  readonly #events: Events;
  readonly #pass: EnginePass;
  readonly #statuses: StatusQueue;
  readonly #presence: Presence;
  /** The start time of each running pass, by engine key. */
  readonly #running = new Map<string, number>();
  /** The last problem by subject. */
  readonly #lastProblems = new Map<string, string>();
  readonly #stopping = new AbortController();
  readonly #writing = new AbortController();
  #elector: Elector | undefined;
  #electing: Promise<void> | undefined;
  #health: Awaited<ReturnType<typeof serveHealth>> | undefined;
  #clusterNames: ClusterNames | undefined;
  /** Why the cluster name is not known yet. */
  #nameProblem: Error | undefined;
  /** True when the caches are no older than the lease. */
  #isFresh = false;
  #isOpen = false;

  constructor(
    config: KubeConfig,
    transport: Transport,
    options: OperatorOptions,
    log: Logger,
    resolve: Resolver,
  ) {
    this.#config = config;
    this.#isFresh = !options.leaderElect;
    this.#options = options;
    this.#log = log;
    this.#transport = transport;
    const timers = systemTimers;
    const shared = { transport, timers, onProblem: this.#onProblem };
    this.#queue = new Queue((key, turn) => this.#requeue(key, turn), timers);
    const definitions = new Definitions({
      ...{ transport, timers, signal: this.#stopping.signal },
      onProblem: (problem) => this.#onProblem('the definitions of deleted resources', problem),
    });
    this.#cluster = new Cluster({
      ...shared,
      definitions,
      namespaces: options.watchNamespaces,
      // A change of the Engine, such as a new address, may fix a failing engine.
      onChange: (engine, { isItself = false, isEdit = false }) =>
        this.#queue.mark(engine, { isUrgent: isItself, isEdit }),
      onSettled: () => this.#settle(),
    });
    this.#references = new References({
      ...shared,
      onChange: (engine) => this.#queue.mark(engine, { isUrgent: true }),
    });
    this.#connections = new EngineConnections({
      references: this.#references,
      nowMs: timers.nowMs,
      resolve,
      hosts: options.engineHosts,
      onRequest: (engine) => this.#metrics.add('pergola_engine_requests_total', { engine }),
    });
    const policy = { hosts: options.registries, allowsLoopback: false };
    this.#artifacts = new ArtifactStore({
      nowMs: timers.nowMs,
      download: (request, given) => download(request, { ...given, policy }),
      onChange: (engine) => this.#queue.mark(engine, { isUrgent: true }),
    });
    this.#events = new Events({
      transport,
      timers,
      now: systemClock.now,
      identity: options.identity,
      engineOf: (cr) => this.#cluster.engineOf(cr),
      onResult: (result) => this.#metrics.add('pergola_events_total', { result }),
      onProblem: (problem) => this.#onProblem('events', problem),
    });
    this.#statuses = this.#createStatuses();
    this.#presence = this.#createPresence();
    this.#pass = new EnginePass({
      cluster: this.#cluster,
      references: this.#references,
      finalizers: this.#finalizers(),
      definitions,
      connections: this.#connections,
      artifacts: this.#artifacts,
      statuses: this.#statuses,
      presence: this.#presence,
      clock: systemClock,
      timers,
      metrics: this.#metrics,
      // No pass runs before the names are known.
      clusterNames: () => this.#clusterNames!,
      isLeading: () => this.#isLeading(),
      progressDeadlineSeconds: options.progressDeadlineSeconds,
      outage: {
        graceMs: options.unreachableGraceSeconds * 1000,
        writesPerSecond: options.unreachableWritesPerSecond,
      },
      mayPruneAtMs: timers.nowMs() + options.pruneDelaySeconds * 1000,
      onReport: this.#onReport,
    });
    this.#readMetrics();
  }

  async start(onLoss: () => void): Promise<{ readonly port: number }> {
    const { healthHost, healthPort } = this.#options;
    const health = {
      livenessProblems: () => this.#livenessProblems(),
      readinessProblems: () => this.#readinessProblems(),
      metrics: () => this.#metrics.text(),
    };
    this.#health = await serveHealth(health, healthHost, healthPort);
    this.#cluster.start();
    void this.#learnName();
    void this.#createValuesKey();
    if (this.#options.leaderElect) this.#elect(onLoss);
    return this.#health;
  }

  /** Stops the operator: waits for running passes, then releases the lease, so the next replica need not wait for its expiry. */
  async stop(): Promise<void> {
    this.#log.info('stopping');
    this.#artifacts.stop();
    const closed = this.#queue.close();
    const written = closed.then(() => this.#statuses.drained());
    await Promise.race([written, sleep(systemTimers, FAREWELL_MS, this.#stopping.signal)]);
    this.#statuses.stop();
    this.#writing.abort();
    await this.#events.stop();
    this.#connections.stop();
    await closed;
    await this.#presence.withdraw();
    this.#stopping.abort();
    await this.#electing;
    await Promise.all([this.#cluster.stop(), this.#references.stop(), this.#health?.close()]);
    await this.#transport.close();
  }

  #elect(onLoss: () => void): void {
    this.#elector = new Elector({
      transport: this.#transport,
      timers: systemTimers,
      now: systemClock.now,
      namespace: this.#options.leaseNamespace,
      name: this.#options.leaseName,
      identity: this.#options.identity,
      onLead: () => void this.#lead(),
      onLoss,
      onProblem: (problem) => this.#onProblem('the lease', problem),
    });
    this.#electing = this.#elector.run(this.#stopping.signal);
  }

  async #lead(): Promise<void> {
    this.#log.info({ identity: this.#options.identity }, 'leading');
    this.#isFresh = false;
    // A replica that has just started has no old state to refresh.
    if (this.#cluster.isSettled) await this.#cluster.refresh();
    this.#isFresh = true;
    if (this.#isOpen) this.#markAll();
    else this.#open();
  }

  /** Determines the cluster name, which is part of the owner in ledgers. No pass runs before. */
  async #learnName(): Promise<void> {
    const { signal } = this.#stopping;
    const { clusterName: configured, leaseNamespace: namespace, leaseName: name } = this.#options;
    const names = await namesOfCluster(
      {
        transport: this.#transport,
        timers: systemTimers,
        config: this.#config,
        configured,
        lease: { namespace, name },
        onProblem: (problem) => {
          this.#nameProblem = problem;
          this.#onProblem('the name of the cluster', problem);
        },
      },
      signal,
    );
    this.#clusterNames = names;
    this.#nameProblem = undefined;
    if (signal.aborted) return;
    this.#log.info({ cluster: names?.name, earlier: names?.earlier }, 'determined the cluster name');
    this.#open();
  }

  /** Creates the key of named values. Replicas may do so at once: the API server accepts one of them. */
  async #createValuesKey(): Promise<void> {
    const { leaseNamespace: namespace, valuesKeySecret: name } = this.#options;
    if (name === '') return;
    const onProblem = (problem: Error) =>
      this.#onProblem(`the Secret ${name} with the key of named values`, problem);
    const where = { transport: this.#transport, timers: systemTimers, namespace, name, onProblem };
    if (await createValuesKey(where, this.#stopping.signal))
      this.#log.info({ namespace, secret: name }, 'created the key of named values');
  }

  #isLeading(): boolean {
    return this.#isFresh && (this.#elector?.isLeading ?? true);
  }

  /** Called when a kind is in sync or found missing. */
  #settle(): void {
    if (!this.#isOpen) this.#open();
    else if (this.#cluster.isSynced) this.#markAll();
  }

  #open(): void {
    const isReady = this.#isFresh && this.#clusterNames !== undefined && this.#cluster.isSettled;
    if (this.#isOpen || !isReady || !this.#isLeading()) return;
    this.#isOpen = true;
    this.#markAll();
    this.#queue.open();
  }

  #markAll(): void {
    for (const key of this.#cluster.engineKeys()) this.#queue.mark(key);
  }

  async #requeue(key: string, turn: Turn): Promise<Requeue> {
    const began = systemTimers.nowMs();
    this.#running.set(key, began);
    try {
      return await this.#pass.process(key, turn);
    } catch (error) {
      if (error instanceof NotLeading) {
        this.#log.warn({ engine: key }, error.message);
        return { afterMs: OVERTAKEN_MS };
      }
      this.#log.error({ engine: key, error: (error as Error).stack }, 'unexpected error in a pass');
      return { afterMs: UNEXPECTED_MS, notBeforeMs: UNEXPECTED_MS };
    } finally {
      this.#running.delete(key);
      this.#metrics.add('pergola_pass_seconds_total', { engine: key }, (systemTimers.nowMs() - began) / 1000);
    }
  }

  #createStatuses(): StatusQueue {
    const write = {
      transport: this.#transport,
      timers: systemTimers,
      signal: this.#writing.signal,
      onWritten: ({ cr, corrected }: StatusChange, object: KubeObject) => {
        this.#metrics.add('pergola_status_writes_total', { kind: cr.kind });
        this.#cluster.accept(cr, object);
        this.#events.record(cr, (object as unknown as { readonly status: CrStatus }).status, corrected);
      },
      onProblem: (cr: CustomResource, error: Error) => {
        this.#metrics.add('pergola_status_failures_total', { kind: cr.kind });
        this.#log.warn({ resource: crName(cr), error: error.message }, 'the status could not be written');
      },
    };
    return new StatusQueue({
      write: (change) => writeStatus(write, change),
      // The status of an Engine does not wait for those of its resources.
      engineOf: (cr) => (purposeOf(cr) === 'engine' ? crName(cr) : this.#cluster.engineOf(cr)),
      mayWrite: () => this.#isLeading(),
      timers: systemTimers,
    });
  }

  #createPresence(): Presence {
    const { leaseNamespace, leaseName, identity } = this.#options;
    return new Presence({
      transport: this.#transport,
      now: systemClock.now,
      lease: `${leaseNamespace}/${leaseName}`,
      identity,
      isLeading: () => this.#isLeading(),
      onWritten: (cr, object) => this.#cluster.accept(cr, object),
      onProblem: (cr, error) => this.#onProblem(`the entry in the status of ${crName(cr)}`, error),
    });
  }

  #finalizers(): Finalizers {
    return new Finalizers({
      transport: this.#transport,
      sink: this.#statuses,
      clock: systemClock,
      namespace: this.#options.leaseNamespace,
      deadlineSeconds: this.#options.progressDeadlineSeconds,
      isLeading: () => this.#isLeading(),
      onWritten: (cr, object) => this.#cluster.accept(cr, object),
      onProblem: (cr, error) => this.#onProblem(`the finalizer of ${crName(cr)}`, error),
    });
  }

  /** Logs a problem. Repetitions of the same problem are logged at level debug. */
  readonly #onProblem = (what: string, problem: Error): void => {
    const isNews = this.#lastProblems.get(what) !== problem.message;
    this.#lastProblems.set(what, problem.message);
    this.#log[isNews ? 'warn' : 'debug']({ what, error: problem.message }, 'failed; will be retried');
  };

  readonly #onReport = (engine: string, report: Report): void => {
    const { resourceVersion, problem, wasWritten, resources } = report;
    const tookMs = Math.round(systemTimers.nowMs() - this.#running.get(engine)!);
    const fields = { engine, resources: resources.length, resourceVersion, tookMs };
    if (problem) this.#log.warn({ ...fields, error: problem.message }, 'the engine could not be reconciled');
    else if (wasWritten) this.#log.info(fields, 'written');
    else this.#log.debug(fields, 'unchanged');
  };

  #livenessProblems(): readonly string[] {
    const now = systemTimers.nowMs();
    return [...this.#running]
      .filter(([, began]) => now - began > LONGEST_PASS_MS)
      .map(([key, began]) => `the pass over ${key} has not ended for ${Math.round((now - began) / 1000)} s`);
  }

  #readinessProblems(): readonly string[] {
    if (this.#nameProblem) return [`the name of the cluster: ${this.#nameProblem.message}`];
    if (this.#cluster.isSynced) return [];
    return ['not every kind has been read yet', ...this.#cluster.problems];
  }

  #readMetrics(): void {
    const metrics = this.#metrics;
    const one = (read: () => number) => () => [{ labels: {}, value: read() }];
    metrics.read(
      'pergola_is_leader',
      one(() => (this.#isLeading() ? 1 : 0)),
    );
    metrics.read(
      'pergola_workqueue_depth',
      one(() => this.#queue.depth),
    );
    metrics.read(
      'pergola_watch_lists_total',
      one(() => this.#cluster.counts.lists),
    );
    metrics.read(
      'pergola_watch_starts_total',
      one(() => this.#cluster.counts.watches),
    );
    metrics.read(
      'pergola_watch_failures_total',
      one(() => this.#cluster.counts.failures),
    );
  }
}
