/** The composition root: options → log → state → server, and the reverse at shutdown. `startEngine` is for `pergola
 *  up` and for tests; `run` is the command `pergola serve`. Exit codes: 0 stopped on request, 1 could not start, 2
 *  invalid options.
 *  Not here: what these parts do (their rooms). */

import { declareMetadata } from './admin/declare.ts';
import { migrateAtStart } from './admin/migrate-at-start.ts';
import { createReferenceCatalogs } from './admin/reference-catalogs.ts';
import { isSecretSet } from './auth/accepted-secrets.ts';
import { differencesIn } from './config/compatibility.ts';
import { type ForeignSettings, foreignSettings, loadOptions, OptionsError } from './config/load-options.ts';
import { type Options, settingsOf, variableOf } from './config/options.ts';
import { optionsHelp } from './config/options-help.ts';
import type { PoolOptions } from './database/pool.ts';
import { DeliverySlots, slotLimits } from './events/delivery-slots.ts';
import { eventFeeds } from './events/event-feed.ts';
import { scheduledFeed } from './events/scheduled-feed.ts';
import { type Feed, Worker } from './events/worker.ts';
import { type HttpServer, openServer } from './http/server.ts';
import { VERSION } from './http/version.ts';
import { type Grace, graceOf } from './limits/grace.ts';
import { growHeapMore } from './limits/heap-growth.ts';
import { returnIdleMemory } from './limits/idle-memory.ts';
import { collectUnderPressure } from './limits/memory-pressure.ts';
import { foreignSources } from './metadata/foreign-sources.ts';
import { normalMetadata } from './metadata/normal-form.ts';
import { type ConnectionInfo, unservedText } from './metadata/schema/source.ts';
import { Activity } from './observe/activity.ts';
import { measure, measureSource } from './observe/measure.ts';
import type { Observe } from './observe/observation.ts';
import { Registry } from './observe/registry.ts';
import { type Log, openLog, silent } from './observe/sinks.ts';
import { setLoopbackHosts } from './outgoing/addresses.ts';
import { STRICT_RETURNING } from './resolve/model/features.ts';
import type { RequestBounds } from './resolve/request-policy.ts';
import { typeDefinitions } from './schema/definitions.ts';
import { damagedInconsistencies } from './state/inconsistencies.ts';
import { EngineState } from './state/state.ts';
import { readDirectory } from './store/directory.ts';
import { keyReader } from './values/keys.ts';
import { AsyncActions } from './webhook/async-actions.ts';

export type RunningEngine = {
  readonly url: string;
  /** Serves on for `--shutdown-delay`; each answer ends its connection. */
  readonly drain: () => Promise<void>;
  /** Lets requests in flight finish, then closes the pools. Returns the number of requests that were cut off. It
   *  takes at most the graceful timeout and two seconds (limits/grace.ts), even when a database or a service does not
   *  answer. */
  readonly close: () => Promise<number>;
};

/** Returns the replicas of the default source, one for each URL of the options. */
function defaultReplicasOf(options: Options): readonly ConnectionInfo[] {
  return options.readReplicaUrls.map((_, i) => ({
    database_url: { from_env: replicaVariable(i) },
    pool_settings: { max_connections: options.connectionsPerReadReplica ?? null },
  }));
}

/** Starts an engine in this process. Throws when the metadata database is unreachable or the port is in use. */
export async function startEngine(
  options: Options,
  env: NodeJS.ProcessEnv = process.env,
  log: Log = silent,
): Promise<RunningEngine> {
  setLoopbackHosts(options.loopbackHosts);
  const { registry, activity, observe } = await openCounting(options, log);
  const declared = declaredMetadata(options, observe);
  const state = new EngineState({
    metadataDatabaseUrl: options.metadataDatabaseUrl ?? options.databaseUrl!,
    ...secretsOf(options, env),
    hasDatabaseUrl: options.databaseUrl !== undefined,
    stringifyNumericTypes: options.stringifyNumericTypes,
    inferFunctionPermissions: options.inferFunctionPermissions,
    namingConvention: options.experimentalFeatures.includes('naming_convention')
      ? options.defaultNamingConvention
      : undefined,
    validatesNativeQueries: !options.disableNativeQueryValidation,
    features: featuresOf(options),
    enableAllowlist: options.enableAllowlist,
    strictWrites: options.strictWrites,
    countWithoutAggregations: options.countWithoutAggregations,
    defaultTimeLimitMs: options.defaultTimeLimit > 0 ? options.defaultTimeLimit * 1000 : null,
    defaultResponseBytes: options.maxRoleResponseLength,
    requestBounds: requestBoundsOf(options),
    ...remoteOptionsOf(options),
    typeDefinitions,
    headerPrefix: options.headerPrefix,
    isReadOnly: options.enableMaintenanceMode,
    pool: poolOptionsOf(options),
    defaultReplicas: defaultReplicasOf(options),
    metadataExtensionsSchema: options.metadataDatabaseExtensionsSchema,
    metadataRevisions: options.metadataRevisions,
    fieldUsageDays: options.fieldUsageDays,
    pollIntervalMs: options.schemaSyncPollInterval,
    sourceCheckIntervalMs: options.sourceCheckInterval * 1000,
    report: (event) => observe({ kind: 'state', event }),
    timed: registry === null ? undefined : measureSource.bind(null, registry),
    activity,
  });
  await state.start();
  reportDamaged(state, observe);
  const { asyncActions, rowEvents, scheduledEvents } = openWorkers(options, state, observe);
  if (registry !== null) readShares(registry, { row: rowEvents, scheduled: scheduledEvents });
  const open = async () => {
    await prepareDatabases(options, { state, declared, env, observe });
    if (declared) await declareMetadata(state, declared, 'pergola serve --metadata-dir');
    return openServer(options, state, observe, { registry, asyncActions, tap: log.tap });
  };
  const stop = async (grace: Grace, server?: HttpServer): Promise<number> => {
    const [cutOff = 0] = await Promise.all([
      server?.close(grace),
      rowEvents.close(grace),
      scheduledEvents.close(grace),
      asyncActions.close(grace),
    ]);
    await state.close(grace.cut);
    grace.done();
    return cutOff;
  };
  const server = await open().catch(async (error: unknown) => {
    await stop(graceOf(0));
    throw error;
  });
  return {
    url: server.url,
    drain: () => server.drain(options.shutdownDelay * 1000),
    close: () => stop(graceOf(options.gracefulShutdownTimeout * 1000), server),
  };
}

/** The most damaged objects that the line of the log names. */
const MOST_DAMAGED = 20;

/** Reports the objects of the stored document that cannot be parsed. */
function reportDamaged(state: EngineState, observe: Observe): void {
  const damaged = damagedInconsistencies(state.snapshot().damaged);
  if (damaged.length === 0) return;
  const objects = damaged.slice(0, MOST_DAMAGED).map(({ name, reason }) => ({ name, reason }));
  observe({ kind: 'state', event: { kind: 'damaged objects', count: damaged.length, objects } });
}

/** Returns the metadata of `--metadata-dir`; undefined without the option. */
function declaredMetadata(options: Options, observe: Observe): ReturnType<typeof readDirectory> | undefined {
  if (options.metadataDir === undefined) return undefined;
  const document = readDirectory(options.metadataDir, (reason) =>
    observe({ kind: 'state', event: { kind: 'metadata key unknown', reason } }),
  );
  for (const { name, kind } of foreignSources(document)) {
    const reason = `source ${name}: ${unservedText(kind)}`;
    observe({ kind: 'state', event: { kind: 'source not supported', reason } });
  }
  return document;
}

/** Creates the schema of `--compatibility reference` and runs the migrations of `--migrations-dir`; nothing without these options. */
async function prepareDatabases(
  options: Options,
  at: {
    readonly state: EngineState;
    readonly declared: ReturnType<typeof declaredMetadata>;
    readonly env: NodeJS.ProcessEnv;
    readonly observe: Observe;
  },
): Promise<void> {
  const { state, declared, observe } = at;
  const { migrationsDir: folder, migrationsDatabaseEnvVar: variable, databaseUrl } = options;
  const secrets = { env: withDatabaseUrls(options, at.env), folders: options.dynamicSecretsPath };
  const reporting = (kind: 'migration at start' | 'reference catalog') => (reason: string) =>
    observe({ kind: 'state', event: { kind, reason } });
  if (options.compatibility === 'reference') {
    const metadataDatabaseUrl = options.metadataDatabaseUrl ?? databaseUrl!;
    const report = reporting('reference catalog');
    await createReferenceCatalogs(declared ? normalMetadata(declared) : state.snapshot().metadata, {
      metadataDatabaseUrl,
      secrets,
      report,
    });
  }
  if (folder === undefined) return;
  const report = reporting('migration at start');
  await migrateAtStart(state, { folder, variable, databaseUrl, declared, secrets, report });
}

function remoteOptionsOf(options: Options) {
  return {
    enableRemoteSchemaPermissions: options.enableRemoteSchemaPermissions,
    opensRemoteSchemas: options.compatibility === 'reference',
    mostRemoteDefinitions: options.maxRemoteSchemaSize,
    remoteSchemaPrioritizeData: options.remoteSchemaPrioritizeData,
    remoteSchemaSkipNulls: options.remoteSchemaSkipNulls,
  };
}

function poolOptionsOf(options: Options): PoolOptions {
  return {
    maxConnections: options.pgConnections,
    maxWaiting: options.pgMaxWaiting,
    idleTimeoutSeconds: options.pgTimeout,
    connectionLifetimeSeconds: options.pgConnLifetime,
    poolTimeoutSeconds: options.pgPoolTimeout,
    retries: options.noOfRetries,
    usePreparedStatements: options.usePreparedStatements,
    isolationLevel: options.txIsolation,
  };
}

function featuresOf(options: Options): readonly string[] {
  const byFlag = {
    apollo_federation: options.enableApolloFederation,
    v1_boolean_null_collapse: options.v1BooleanNullCollapse,
    null_in_nonnullable_variables: options.nullInNonnullableVariables,
    [STRICT_RETURNING]: options.strictReturning,
  };
  const enabled = Object.entries(byFlag).filter(([, isOn]) => isOn);
  return [...options.experimentalFeatures, ...enabled.map(([name]) => name)];
}

/** Returns the places that metadata reads secrets from. */
function secretsOf(options: Options, env: NodeJS.ProcessEnv) {
  return {
    env: withDatabaseUrls(options, env),
    dynamicSecretsPath: options.dynamicSecretsPath,
    valueKeys: keyReader(options),
  };
}

/** Returns the environment with the URLs of options, wherever they were given, as the variables that sources read. */
function withDatabaseUrls(
  { databaseUrl, readReplicaUrls }: Options,
  env: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const replicas = readReplicaUrls.map((url, i) => [replicaVariable(i), url]);
  return {
    ...env,
    ...(databaseUrl !== undefined && { [variableOf('database-url')]: databaseUrl }),
    ...Object.fromEntries(replicas),
  };
}

const replicaVariable = (i: number) => `${variableOf('read-replica-urls')}_${i + 1}`;

/** Creates the workers that run in the background. */
function openWorkers(
  options: Options,
  state: EngineState,
  observe: Observe,
): { readonly asyncActions: AsyncActions; readonly rowEvents: Worker; readonly scheduledEvents: Worker } {
  const outbound = {
    variables: state.outboundVariables,
    trusts: state.trusts,
    headerPrefix: options.headerPrefix,
    observe,
    configuredHeaderPrecedence: options.configuredHeaderPrecedence,
  };
  const asyncActions = new AsyncActions({
    calls: state.gateway.actionCalls,
    model: () => state.snapshot().model,
    outbound,
    intervalMs: options.asyncActionsFetchInterval,
    batchSize: options.asyncActionsFetchBatchSize,
    observe,
  });
  const around = { databases: state.sources, outbound: { ...outbound, headers: {} } };
  const scheduled = scheduledFeed(() => state.snapshot(), {
    ...around,
    metadataDatabase: state.gateway.metadataDatabase,
  });
  const { eventsHttpPoolSize, eventsTriggerConcurrency, eventsHostConcurrency } = options;
  const workerOf = (feeds: () => readonly Feed[]) =>
    new Worker({
      feeds,
      intervalMs: options.eventsFetchBatchSize === 0 ? 0 : options.eventsFetchInterval,
      batchSize: options.eventsFetchBatchSize,
      slots: new DeliverySlots(
        slotLimits(eventsHttpPoolSize, eventsTriggerConcurrency, eventsHostConcurrency),
      ),
      observe,
    });
  return {
    asyncActions,
    rowEvents: workerOf(() => eventFeeds(() => state.snapshot().model, around)),
    scheduledEvents: workerOf(() => [scheduled]),
  };
}

function readShares(registry: Registry, workers: Readonly<Record<'row' | 'scheduled', Worker>>): void {
  const of = (number: (shares: DeliverySlots) => number) => () =>
    (['row', 'scheduled'] as const).map((kind) => ({
      labels: { kind },
      value: number(workers[kind].slots),
    }));
  registry.read(
    'pergola_events_in_flight',
    of(({ running }) => running),
  );
  registry.read(
    'pergola_events_full_triggers',
    of(({ fullTriggers }) => fullTriggers),
  );
}

/** Opens what is counted, and adds it to the log: for the API `metrics`, and for the console, which shows the last hour of it. */
async function openCounting(options: Options, log: Log) {
  const isCounting = options.enabledApis.includes('metrics') || options.enableConsole;
  const registry = isCounting ? await Registry.open() : null;
  const activity = new Activity(registry);
  if (registry === null) return { registry, activity, observe: log.observe };
  activity.start();
  const observe: Observe = (observation) => {
    measure(registry, observation);
    activity.observe(observation);
    log.observe(observation);
  };
  return { registry, activity, observe };
}

/** Runs `pergola serve` until it receives a signal, then ends the process, even with connections open whose other end
 *  is silent. Returns the exit code if nothing was started. */
export async function run(argv: readonly string[]): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(optionsHelp());
    return 0;
  }
  try {
    await serve(loadOptions(argv, process.env), foreignSettings(argv, process.env));
    process.exit(0);
  } catch (error) {
    process.stderr.write(complaint(error));
    if (error instanceof OptionsError) return 2;
    process.exit(1);
  }
}

async function serve(options: Options, foreign: ForeignSettings): Promise<void> {
  const log = openLog(options);
  try {
    if (foreign.aliases.length + foreign.withoutEffect.length > 0) {
      const differences = foreign.aliases.length > 0 ? differencesIn(options) : [];
      log.observe({ kind: 'foreign settings', ...foreign, differences });
    }
    observeFailures(log);
    const stopped = stopSignal();
    growHeapMore();
    returnIdleMemory();
    collectUnderPressure();
    const engine = await Promise.race([startEngine(options, process.env, log), stopped]);
    // The engine was still waiting for a database, so there is nothing to finish.
    if (typeof engine === 'string') return;
    log.observe({ kind: 'started', url: engine.url, version: VERSION, settings: settingsOf(options) });
    process.stderr.write(welcome(options, engine.url));
    const reason = await stopped;
    log.observe({ kind: 'stopping', reason });
    // A person at a terminal does not wait for a load balancer.
    if (reason === 'SIGTERM') await engine.drain();
    log.observe({ kind: 'stopped', requestsCutOff: await engine.close() });
  } finally {
    log.flush();
  }
}

/** Logs a failure that no request has, as a defect. The engine serves on after a promise that nobody awaits, because a change is a
 *  transaction; any other ends it. */
function observeFailures(log: Log): void {
  const observe = (error: unknown) => log.observe({ kind: 'unexpected', requestId: null, error });
  process.on('unhandledRejection', observe);
  process.on('uncaughtExceptionMonitor', (error) => {
    observe(error);
    log.flush();
  });
}

function welcome(options: Options, url: string): string {
  const console = options.enableConsole ? `, console at ${url}/console` : '';
  const warning = isSecretSet(options)
    ? ''
    : 'There is no admin secret: everyone who can reach this port is an administrator (--admin-secret).\n';
  return `Pergola serves GraphQL at ${url}/v1/graphql${console}\n${warning}`;
}

/** Resolves at the first SIGTERM or SIGINT. A second one ends the process at once. */
function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(1));
        resolve(signal);
      });
    }
  });
}

function complaint(error: unknown): string {
  if (error instanceof OptionsError) return `${error.problems.join('\n')}\nSee: pergola serve --help\n`;
  return `pergola serve: ${error instanceof Error ? error.message : String(error)}\n`;
}

function requestBoundsOf({ maxRequestFields, maxRequestInputs, maxBatchOperations }: Options): RequestBounds {
  return { mostFields: maxRequestFields, mostInputs: maxRequestInputs, mostOperations: maxBatchOperations };
}
