/** The engine over HTTP, as the core needs it: one bulk read, the question which edits fit, one atomic write. A refusal names the edit it is about when the
 *  engine's error path does.
 *  In: an address. Out: an EnginePort, whose failures are EngineProblems (problem.ts).
 *  Not here: sending (request.ts), answers (answers.ts), what is kept of them (cached-engine.ts), when a pass is due
 *  (kubernetes/engine-pass.ts). */
import { type ArgsOf, type Edit, fromWire, type Metadata } from '@pergola/engine/metadata';
import type { DeclaredCall } from '../kinds.ts';
import { readLedger, readReservations } from '../objects/ledger.ts';
import { readNotes } from '../objects/notes.ts';
import { isValueOf } from '../objects/value-name.ts';
import type { AdmissionAnswer, AdmissionRequest, HoldBackEffect } from '../ports/admission.ts';
import type { DeliveryRecord } from '../ports/delivery.ts';
import type { EnginePort, EngineReading, EngineWrite, ValueChange } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { InconsistentObject } from '../ports/inconsistent-object.ts';
import type { MigrationsRequest, MigrationsResult } from '../ports/migrations.ts';
import type { SchemaEffects } from '../ports/schema-effects.ts';
import { TextPool } from '../text-pool.ts';
import type { EngineAddress } from './address.ts';
import {
  type EventAnswer,
  readAdmission,
  readBulk,
  readConfig,
  readEffects,
  readEvents,
  readMigrated,
  readReport,
  readSuccess,
  readValueChanges,
  readValues,
  readWritten,
} from './answers.ts';
import { sendTest } from './permission-test.ts';
import { displayUrl } from './problem.ts';
import { operation, perform, prefixOf, request } from './request.ts';

export function engineClient(address: EngineAddress): EnginePort {
  return {
    read: () => read(address),
    admit: (question) => admit(address, question),
    schemaEffects: (edits) => schemaEffects(address, edits),
    inconsistent: (version) => inconsistentAt(address, version),
    write: (change) => write(address, change),
    version: async () => (await request(address, '/v1alpha1/config', undefined, readConfig)).resource_version,
    state: async (options) => {
      const path = `/v1alpha1/config${options?.isUnchecked ? '' : '?check_sources=true'}`;
      const config = await request(address, path, undefined, readConfig);
      const { resource_version, state_version, version } = config;
      return { resourceVersion: resource_version, stateVersion: state_version, engineVersion: version };
    },
    reload: ({ ifChanged = false } = {}) =>
      perform(address, operation('reload_metadata', ifChanged ? { if_changed: true } : {}), readSuccess),
    setValues: (values) => setValues(address, values),
    planValues: (owner, values) => planValues(address, owner, values),
    removeValues: async (owner, used) => {
      for (const names of inParts(await unusedValues(address, owner, used))) {
        await perform(address, operation('delete_values', { names: [...names] }), readSuccess);
      }
    },
    deliveries: (calls) => deliveriesOf(address, calls),
    migrate: (request) => migrate(address, request),
    runTest: (spec) => sendTest(address, spec),
    laggingReplicas: async () => undefined,
  };
}

/** The most values of one request. Each has at most 64 KiB. */
const MOST_VALUES = 100;

async function setValues(address: EngineAddress, values: ReadonlyMap<string, string>): Promise<void> {
  for (const part of inParts([...values])) {
    const args = { values: part.map(([name, value]) => ({ name, value })) };
    await perform(address, operation('set_values', args), readSuccess);
  }
}

/** Returns the names of the stored values of the owner that are not among `used`. */
async function unusedValues(
  address: EngineAddress,
  owner: string,
  used: { readonly has: (name: string) => boolean },
): Promise<readonly string[]> {
  const { values } = await perform(address, operation('list_values', {}), readValues);
  return values.map(({ name }) => name).filter((name) => isValueOf(owner, name) && !used.has(name));
}

/** Compares values in the engine, which returns neither them nor their digests. */
async function planValues(
  address: EngineAddress,
  owner: string,
  wanted: ReadonlyMap<string, string>,
): Promise<readonly ValueChange[]> {
  const changes: ValueChange[] = [];
  for (const part of inParts([...wanted])) {
    const args = { values: part.map(([name, value]) => ({ name, value })), dry_run: true };
    const { values } = await perform(address, operation('set_values', args), readValueChanges);
    for (const { name, change } of values) if (change !== 'none') changes.push({ action: change, name });
  }
  const unused = await unusedValues(address, owner, wanted);
  return [...changes, ...unused.map((name) => ({ action: 'delete', name }) as const)];
}

function inParts<T>(list: readonly T[]): readonly (readonly T[])[] {
  const count = Math.ceil(list.length / MOST_VALUES);
  return Array.from({ length: count }, (_, i) => list.slice(i * MOST_VALUES, (i + 1) * MOST_VALUES));
}

function migrate(address: EngineAddress, request: MigrationsRequest): Promise<MigrationsResult> {
  const {
    source,
    migrations,
    lockTimeoutSeconds,
    allowOutOfOrder,
    allowBreaking,
    isDryRun = false,
    edits,
  } = request;
  const { put = [], remove = [] } = patchOf(edits);
  const args: ArgsOf<'apply_migrations'> = {
    source,
    migrations: [...migrations],
    ...(lockTimeoutSeconds === undefined ? {} : { lock_timeout: lockTimeoutSeconds }),
    allow_out_of_order: allowOutOfOrder,
    allow_breaking: allowBreaking,
    dry_run: isDryRun,
    put,
    remove,
  };
  return perform(address, operation('apply_migrations', args), readMigrated);
}

/** The most calls that one request asks for. */
const MOST_CALLS = 100;

/** The most events of one name that are read: it has one for each time that its resource has declared. */
const MOST_TIMES = 1000;

async function deliveriesOf(
  address: EngineAddress,
  calls: readonly DeclaredCall[],
): Promise<readonly (DeliveryRecord | undefined)[]> {
  const found: (DeliveryRecord | undefined)[] = [];
  for (let i = 0; i < calls.length; i += MOST_CALLS) {
    const part = calls.slice(i, i + MOST_CALLS);
    const args = part.map(({ name }) =>
      operation('get_scheduled_events', { type: 'declared', trigger_name: name, limit: MOST_TIMES }),
    );
    const lists = await perform(address, { type: 'bulk', args }, (answer) => readEvents(answer, part.length));
    found.push(...lists.map((events, at) => eventAt(events, part[at]!)));
  }
  return found;
}

function eventAt(events: readonly EventAnswer[], { time }: DeclaredCall): DeliveryRecord | undefined {
  return events.find(({ scheduled_time: at }) => Date.parse(at) === time.getTime());
}

function admit(address: EngineAddress, question: AdmissionRequest): Promise<AdmissionAnswer> {
  const { edits, foreign, needs, unsentValues, holdBack } = question;
  const groups = holdBack?.groups.map(({ keys, isCompared }) => ({
    keys: [...keys],
    ...(isCompared ? { is_compared: true } : {}),
  }));
  const effects = holdBack?.effects.map((effect) => EFFECTS[effect]);
  const args: ArgsOf<'patch_metadata'> = {
    ...patchOf(edits),
    dry_run: true,
    admit: {
      protect: 'listed',
      listed: [...foreign],
      needs: Object.fromEntries([...needs].map(([key, needed]) => [key, [...needed]])),
      ...(unsentValues.length > 0 ? { unsent_values: [...unsentValues] } : {}),
      ...(effects && groups ? { hold_back: { effects, groups } } : {}),
    },
  };
  const missing = 'the engine does not say which changes fit; update the engine';
  return orUnsupported(address, 'admit', missing, () =>
    perform(address, operation('patch_metadata', args), readAdmission),
  );
}

const EFFECTS = { Breaking: 'breaking', Widened: 'widened' } as const satisfies Record<
  HoldBackEffect,
  string
>;

/** Returns what the edits change in the schemas of roles. Throws EngineProblem `unsupported` when the engine does not know the argument. */
async function schemaEffects(address: EngineAddress, edits: readonly Edit[]): Promise<SchemaEffects> {
  const args = { ...patchOf(edits), dry_run: true, include_effects: true };
  const missing = 'the engine does not report what a change breaks; update the engine';
  return orUnsupported(address, 'include_effects', missing, () =>
    namingEdits(edits, () => perform(address, operation('patch_metadata', args), readEffects)),
  );
}

/** Sends a request with an argument that an older engine refuses or ignores: then the problem is `unsupported`. */
async function orUnsupported<T>(
  address: EngineAddress,
  argument: string,
  reason: string,
  send: () => Promise<T | undefined>,
): Promise<T> {
  try {
    const answer = await send();
    if (answer !== undefined) return answer;
  } catch (error) {
    const isUnknown = error instanceof EngineProblem && error.kind === 'rejected';
    if (!isUnknown || !`${error.at} ${error.reason}`.includes(argument)) throw error;
  }
  throw new EngineProblem('unsupported', `${displayUrl(address)}: ${reason}`, { reason });
}

function patchOf(edits: readonly Edit[]): ArgsOf<'patch_metadata'> {
  return {
    put: edits.filter(({ definition }) => definition !== undefined),
    remove: edits.filter(({ definition }) => definition === undefined).map(({ key }) => key),
    allow_inconsistent_metadata: true,
    include_keys: true,
  };
}

/** Runs a request that sends the edits. A refusal whose path leads into one of them names that edit. */
async function namingEdits<T>(edits: readonly Edit[], send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof EngineProblem) || error.kind !== 'rejected') throw error;
    const { put = [], remove = [] } = patchOf(edits);
    const [, list, index, path = ''] = EDIT_PATH.exec(error.at ?? '') ?? [];
    const key = list === 'put' ? put[Number(index)]?.key : remove[Number(index)];
    if (list === undefined || key === undefined) throw error;
    const { reason, message } = error;
    throw new EngineProblem('rejected', message, { cause: error, reason, edit: { key, path } });
  }
}

/** `$.args[0].args.put[3].definition.role_set`, or without `[0].args` where the patch is not in a batch. */
const EDIT_PATH = /^\$\.args(?:\[0\]\.args)?\.(put|remove)\[(\d+)\](?:\.definition)?\.?(.*)$/s;

async function read(address: EngineAddress): Promise<EngineReading> {
  const bulk = {
    type: 'bulk',
    args: [
      operation('export_metadata', {}, 2),
      operation('get_inconsistent_metadata', { include_keys: true }),
      operation('get_catalog_state', {}),
    ],
  };
  const {
    operatorState,
    metadata: given,
    ...reading
  } = await perform(address, bulk, (answer) => readBulk(new TextPool().share(answer)));
  // Inside the operator session variables have one prefix, as inside the engine.
  const metadata = fromWire(given, prefixOf(address)) as Metadata;
  return {
    ...reading,
    metadata,
    ledger: readLedger(operatorState),
    reservations: readReservations(operatorState),
    ...readNotes(operatorState),
  };
}

/** Returns the inconsistent objects; undefined when the engine is at another version. */
async function inconsistentAt(
  address: EngineAddress,
  version: number,
): Promise<readonly InconsistentObject[] | undefined> {
  const report = operation('get_inconsistent_metadata', { include_keys: true });
  try {
    return await perform(address, { ...report, resource_version: version }, readReport);
  } catch (error) {
    if (error instanceof EngineProblem && error.kind === 'conflict') return undefined;
    throw error;
  }
}

function write(address: EngineAddress, change: EngineWrite): ReturnType<EnginePort['write']> {
  const { edits, ledger, expectedVersion, mustFit } = change;
  const atomic = {
    type: 'bulk_atomic',
    resource_version: expectedVersion,
    args: [
      operation('patch_metadata', { ...patchOf(edits), allow_inconsistent_metadata: !mustFit }),
      operation('patch_catalog_state', { type: 'operator', patch: ledger }),
    ],
  };
  return namingEdits(edits, () => perform(address, atomic, readWritten));
}
