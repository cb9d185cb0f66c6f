/** The operator, put together: transport → watches → queue → one pass at a time for each engine; a lease decides which replica
 *  works. Standbys watch too, so that they can take over at once; they list anew when they do, for a watch may be deaf without
 *  knowing. Nothing starts before every kind is in sync or known to be missing: what has not been seen must not look deleted.
 *  Not here: the parts, and what a pass is (pass/reconcile.ts). */
import type { KubeConfig } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import { type CrStatus, crName } from '../kinds.ts';
import { systemClock } from '../pass/clock.ts';
import type { StatusSink } from '../ports.ts';
import type { Report } from '../status/report.ts';
import { Cluster } from './cluster.ts';
import { nameOfCluster } from './cluster-name.ts';
import { EngineConnections } from './engine-connections.ts';
import { EnginePass, NotLeading } from './engine-pass.ts';
import { Events } from './events.ts';
import { Finalizers } from './finalizers.ts';
import { serveHealth } from './health.ts';
import { Elector } from './leader.ts';
import { Metrics } from './metrics.ts';
import type { OperatorOptions } from './options.ts';
import { Queue, type Requeue } from './queue.ts';
import { References } from './references.ts';
import { type Resolver, resolveByDns } from './replicas.ts';
import { statusSink } from './status-sink.ts';
import { sleep, systemTimers } from './timers.ts';
import { connect, type Transport } from './transport.ts';

export type Operator = {
  readonly healthPort: number;
  /** Resolves when it has stopped: true by `stop`, false because the lease was lost. */
  readonly ended: Promise<boolean>;
  readonly stop: () => Promise<void>;
};

/** A pass that takes longer hangs. The longest that does not: eight tries of an engine that answers just in time. */
const LONGEST_PASS_MS = 300_000;
/** Whether the lease is still ours shows so soon. */
const OVERTAKEN_MS = 2000;
/** After what nobody foresaw. */
const UNEXPECTED_MS = 30_000;
/** A pass that runs when we are told to stop may end, within the time pods are given. */
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
    log.error('the lease could not be kept; another replica may have it');
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
  readonly #events: Events;
  readonly #pass: EnginePass;
  /** Key → since when its pass runs. */
  readonly #running = new Map<string, number>();
  /** What went wrong last, by what it went wrong with. */
  readonly #lastProblems = new Map<string, string>();
  readonly #stopping = new AbortController();
  readonly #writing = new AbortController();
  #elector: Elector | undefined;
  #electing: Promise<void> | undefined;
  #health: Awaited<ReturnType<typeof serveHealth>> | undefined;
  #clusterName: string;
  /** What we know is no older than our lease. */
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
    this.#clusterName = options.clusterName;
    this.#isFresh = !options.leaderElect;
    this.#options = options;
    this.#log = log;
    this.#transport = transport;
    const timers = systemTimers;
    const shared = { transport, timers, onProblem: this.#onProblem };
    this.#queue = new Queue((key, isMarked) => this.#requeue(key, isMarked), timers);
    this.#cluster = new Cluster({
      ...shared,
      namespaces: options.watchNamespaces,
      // A new address may be what a failing engine waits for.
      onChange: (engine, isItself) => this.#queue.mark(engine, { isUrgent: isItself }),
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
      onRequest: (engine) => this.#metrics.add('pergola_engine_requests_total', { engine }),
    });
    this.#events = new Events({
      transport,
      timers,
      now: systemClock.now,
      identity: options.identity,
      onResult: (result) => this.#metrics.add('pergola_events_total', { result }),
      onProblem: (problem) => this.#onProblem('events', problem),
    });
    const sink = this.#sink();
    this.#pass = new EnginePass({
      cluster: this.#cluster,
      references: this.#references,
      finalizers: this.#finalizers(sink),
      connections: this.#connections,
      sink,
      clock: systemClock,
      timers,
      metrics: this.#metrics,
      clusterName: () => this.#clusterName,
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
      deadly: () => this.#deadly(),
      missing: () => this.#missing(),
      metrics: () => this.#metrics.text(),
    };
    this.#health = await serveHealth(health, healthHost, healthPort);
    this.#cluster.start();
    void this.#learnName();
    if (this.#options.leaderElect) this.#elect(onLoss);
    return this.#health;
  }

  /** What runs may end; then the lease goes, so that the next replica need not wait for it to run out. */
  async stop(): Promise<void> {
    this.#log.info('stopping');
    const closed = this.#queue.close();
    await Promise.race([closed, sleep(systemTimers, FAREWELL_MS, this.#stopping.signal)]);
    this.#writing.abort();
    await this.#events.stop();
    await this.#connections.stop();
    await closed;
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
    // One that has only just begun knows nothing old.
    if (this.#cluster.isSettled) await this.#cluster.refresh();
    this.#isFresh = true;
    this.#open();
  }

  /** Who owns what is written under this name: without it nothing is. */
  async #learnName(): Promise<void> {
    const { signal } = this.#stopping;
    if (this.#clusterName === '') {
      const sources = { transport: this.#transport, timers: systemTimers, config: this.#config };
      const onProblem = (problem: Error) => this.#onProblem('the name of the cluster', problem);
      this.#clusterName = await nameOfCluster({ ...sources, onProblem }, signal);
    }
    if (signal.aborted) return;
    this.#log.info({ cluster: this.#clusterName }, 'this is the cluster');
    this.#open();
  }

  #isLeading(): boolean {
    return this.#elector?.isLeading ?? true;
  }

  /** One kind more, or less, to judge by. */
  #settle(): void {
    if (!this.#isOpen) this.#open();
    else if (this.#cluster.isSynced) this.#markAll();
  }

  #open(): void {
    const isReady = this.#isFresh && this.#clusterName !== '' && this.#cluster.isSettled;
    if (this.#isOpen || !isReady || !this.#isLeading()) return;
    this.#isOpen = true;
    this.#markAll();
    this.#queue.open();
  }

  #markAll(): void {
    for (const key of this.#cluster.engineKeys()) this.#queue.mark(key);
  }

  async #requeue(key: string, isMarked: boolean): Promise<Requeue> {
    const began = systemTimers.nowMs();
    this.#running.set(key, began);
    try {
      return await this.#pass.process(key, isMarked);
    } catch (error) {
      if (error instanceof NotLeading) {
        this.#log.warn({ engine: key }, error.message);
        return { afterMs: OVERTAKEN_MS };
      }
      this.#log.error({ engine: key, error: (error as Error).stack }, 'a pass ended as nobody foresaw');
      return { afterMs: UNEXPECTED_MS, notBeforeMs: UNEXPECTED_MS };
    } finally {
      this.#running.delete(key);
      this.#metrics.add('pergola_pass_seconds_total', { engine: key }, (systemTimers.nowMs() - began) / 1000);
    }
  }

  #sink() {
    return statusSink({
      transport: this.#transport,
      timers: systemTimers,
      signal: this.#writing.signal,
      isLeading: () => this.#isLeading(),
      onWritten: (cr, object) => {
        this.#metrics.add('pergola_status_writes_total', { kind: cr.kind });
        this.#cluster.accept(cr, object);
        this.#events.record(cr, (object as unknown as { readonly status: CrStatus }).status);
      },
      onProblem: (cr, error) => {
        this.#metrics.add('pergola_status_failures_total', { kind: cr.kind });
        this.#log.warn({ resource: crName(cr), error: error.message }, 'its status could not be written');
      },
    });
  }

  #finalizers(sink: StatusSink): Finalizers {
    return new Finalizers({
      transport: this.#transport,
      sink,
      clock: systemClock,
      namespace: this.#options.leaseNamespace,
      deadlineSeconds: this.#options.progressDeadlineSeconds,
      isLeading: () => this.#isLeading(),
      onWritten: (cr, object) => this.#cluster.accept(cr, object),
      onProblem: (cr, error) => this.#onProblem(`the finalizer of ${crName(cr)}`, error),
    });
  }

  /** Tries that end the same way are one line, not one each. */
  readonly #onProblem = (what: string, problem: Error): void => {
    const isNews = this.#lastProblems.get(what) !== problem.message;
    this.#lastProblems.set(what, problem.message);
    this.#log[isNews ? 'warn' : 'debug']({ what, error: problem.message }, 'will be tried again');
  };

  readonly #onReport = (engine: string, report: Report): void => {
    const { resourceVersion, problem, wasWritten, resources } = report;
    const fields = { engine, resources: resources.length, resourceVersion };
    if (problem) this.#log.warn({ ...fields, error: problem.message }, 'the engine could not be reconciled');
    else if (wasWritten) this.#log.info(fields, 'written');
    else this.#log.debug(fields, 'unchanged');
  };

  #deadly(): readonly string[] {
    const now = systemTimers.nowMs();
    return [...this.#running]
      .filter(([, began]) => now - began > LONGEST_PASS_MS)
      .map(([key, began]) => `the pass over ${key} has not ended for ${Math.round((now - began) / 1000)} s`);
  }

  #missing(): readonly string[] {
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
