/** The engine over HTTP, as the core needs it: one bulk read, a dry run, one atomic write. Requests are typed by OPERATIONS,
 *  answers are checked against answers.ts. Every failure is an EngineProblem: unreachable (network, timeout, 5xx, or
 *  something else than an engine answers), unauthorized, conflict (409), tooLarge (413), rejected, which names the edit it is about
 *  when the engine's error path does. Its message says what came back, shortened and without the admin secret. `cachedEngine` keeps what was read.
 *  Not here: when to send a request again (pass/reconcile.ts and its callers), when a pass is due (kubernetes/engine-pass.ts). */
import { createHash } from 'node:crypto';
import {
  type ArgsOf,
  type Edit,
  fromWire,
  type Metadata,
  type OperationName,
  parseJson,
} from '@pergola/engine/metadata';
import { patchedEntries, patchedReservations, readLedger, readReservations } from '../objects/ledger.ts';
import { isValueOf } from '../objects/value-name.ts';
import {
  type DeclaredCall,
  type DeliveryRecord,
  type EnginePort,
  EngineProblem,
  type EngineReading,
  type EngineWrite,
  type InconsistentObject,
  type MigrationsRequest,
  type MigrationsResult,
  type SchemaEffects,
  type ValueChange,
} from '../ports.ts';
import { bodyOf, type EngineAddress, type EngineFetch } from './address.ts';
import {
  type EventAnswer,
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
  UnexpectedAnswer,
} from './answers.ts';
import { jsonParts } from './json-parts.ts';
import { sendTest } from './permission-test.ts';

export type { EngineAddress } from './address.ts';

const TIMEOUT_MS = 30_000;

export function engineClient(address: EngineAddress): EnginePort {
  return {
    read: () => read(address),
    dryRun: (edits) => {
      const args = { ...patchOf(edits), dry_run: true };
      return namingEdits(edits, () => perform(address, operation('patch_metadata', args), readReport));
    },
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
    reload: () => perform(address, operation('reload_metadata', {}), readSuccess),
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
  };
}

/** Returns a port that caches the document and the ledger. They are read once and stay cached while the engine is at the same version; own
 *  writes update the cache. Reading them would otherwise be the most expensive part of a small change beside thousands of objects.
 *  A stale cache does no harm: writes compare and swap on the version, and after `maxAgeMs` everything is read again. */
export function cachedEngine(
  engine: EnginePort,
  { nowMs, maxAgeMs }: { readonly nowMs: () => number; readonly maxAgeMs: () => number },
): EnginePort {
  let known: { readonly reading: EngineReading; readonly readAtMs: number } | undefined;
  // Digests of the values that the engine has, since everything was read last.
  const sent = new Map<string, string>();
  let isTidy = false;
  return {
    ...engine,
    setValues: async (values) => {
      const changed = [...values].filter(([name, value]) => sent.get(name) !== digestOf(value));
      if (changed.length === 0) return;
      await engine.setValues?.(new Map(changed));
      for (const [name, value] of changed) sent.set(name, digestOf(value));
    },
    removeValues: async (owner, used) => {
      if (isTidy && [...sent.keys()].every((name) => used.has(name))) return;
      await engine.removeValues?.(owner, used);
      isTidy = true;
      for (const name of sent.keys()) if (!used.has(name)) sent.delete(name);
    },
    read: async () => {
      const remembered = known;
      if (remembered && nowMs() - remembered.readAtMs < maxAgeMs()) {
        const { reading, readAtMs } = remembered;
        // The inconsistent objects change without a new version when a database becomes available or unavailable.
        const inconsistent = await engine.inconsistent(reading.resourceVersion);
        if (inconsistent) {
          known = { reading: { ...reading, inconsistent }, readAtMs };
          return known.reading;
        }
      }
      // Release the previous reading first: two of them need twice the memory.
      known = undefined;
      // Values may have been changed by another client, or lost with their key: they are sent again.
      sent.clear();
      isTidy = false;
      known = { reading: await engine.read(), readAtMs: nowMs() };
      return known.reading;
    },
    write: async (change) => {
      const before = known;
      // Until the answer arrives the state of the engine is unknown.
      known = undefined;
      const written = await engine.write(change);
      if (before?.reading.resourceVersion === change.expectedVersion) {
        const ledger = patchedEntries(before.reading.ledger, change.ledger);
        const reservations = patchedReservations(before.reading.reservations, change.ledger);
        const reading = { ...written, metadata: change.document, ledger, reservations };
        known = { reading, readAtMs: before.readAtMs };
      }
      return written;
    },
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

function digestOf(value: string): string {
  return createHash('sha256').update(value).digest('base64');
}

/** Returns what the edits change in the schemas of roles. Throws EngineProblem `unsupported` when the engine does not know the argument. */
async function schemaEffects(address: EngineAddress, edits: readonly Edit[]): Promise<SchemaEffects> {
  const args = { ...patchOf(edits), dry_run: true, include_effects: true };
  try {
    const request = operation('patch_metadata', args);
    const effects = await namingEdits(edits, () => perform(address, request, readEffects));
    if (effects) return effects;
  } catch (error) {
    const isUnknown = error instanceof EngineProblem && error.kind === 'rejected';
    if (!isUnknown || !`${error.at} ${error.reason}`.includes('include_effects')) throw error;
  }
  const reason = 'the engine does not report what a change breaks; update the engine';
  throw new EngineProblem('unsupported', `${displayUrl(address)}: ${reason}`, { reason });
}

type Request = {
  readonly type: string;
  readonly version?: number;
  /** The request fails with `conflict` when the engine is at another version. */
  readonly resource_version?: number;
  readonly args: unknown;
};

export function operation<N extends OperationName>(type: N, args: ArgsOf<N>, version = 1): Request {
  return { type, version, args };
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
  const { operatorState, metadata: given, ...reading } = await perform(address, bulk, readBulk);
  // Inside the operator session variables have one prefix, as inside the engine.
  const metadata = fromWire(given, prefixOf(address)) as Metadata;
  return {
    ...reading,
    metadata,
    ledger: readLedger(operatorState),
    reservations: readReservations(operatorState),
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

/** Sends one request to `/v1/metadata`. `read` raises UnexpectedAnswer. Throws EngineProblem. */
export function perform<T>(address: EngineAddress, body: Request, read: (answer: unknown) => T): Promise<T> {
  return request(address, '/v1/metadata', body, read);
}

async function request<T>(
  address: EngineAddress,
  path: string,
  body: unknown,
  read: (answer: unknown) => T,
): Promise<T> {
  const prefix = prefixOf(address);
  const response = await send(address, path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': address.client ?? 'pergola-operator',
      ...(address.adminSecret === undefined ? {} : { [`${prefix}admin-secret`]: address.adminSecret }),
    },
    redirect: 'manual',
    ...(body === undefined ? {} : { body: bodyFor(address, body) }),
  });
  if (response.status !== 200) throw problemOf(response, address);
  return answerOf(response, address, read);
}

function prefixOf({ headerPrefix = 'x-engine-' }: EngineAddress): string {
  return headerPrefix;
}

/** Returns the JSON of a request, in parts where it is long. `fetch` takes a whole text: throws EngineProblem `tooLarge` for it when it
 *  exceeds the longest possible string. */
function bodyFor(address: EngineAddress, body: unknown): string | Iterable<string> {
  if (address.fetch) return partsOf(body);
  try {
    return JSON.stringify(body);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    throw new EngineProblem('tooLarge', `the request is too large to send: ${cause.message}`, { cause });
  }
}

function partsOf(body: unknown): string | Iterable<string> {
  const parts = jsonParts(body);
  const first = parts.next().value ?? '';
  const second = parts.next();
  return second.done ? first : joined([first, second.value], parts);
}

function* joined(...lists: readonly Iterable<string>[]): Generator<string> {
  for (const list of lists) yield* list;
}

type Answer = {
  readonly status: number;
  /** The content type; empty when there is none. */
  readonly contentType: string;
  readonly location: string | null;
  /** Empty when the text was parsed. */
  readonly text: string;
  /** The value of a response that is JSON. */
  readonly json?: { readonly value: unknown };
};

async function send(
  address: EngineAddress,
  path: string,
  init: Omit<Parameters<EngineFetch>[1], 'signal'>,
): Promise<Answer> {
  return parsed(await receive(address, path, init));
}

async function receive(
  address: EngineAddress,
  path: string,
  init: Omit<Parameters<EngineFetch>[1], 'signal'>,
): Promise<Answer> {
  const url = address.url.replace(/\/+$/, '') + path;
  try {
    const signal = AbortSignal.timeout(address.timeoutMs ?? TIMEOUT_MS);
    const response = await (address.fetch ?? (fetch as EngineFetch))(url, { ...init, signal });
    return {
      status: response.status,
      contentType: response.headers.get('content-type') ?? '',
      location: response.headers.get('location'),
      text: await bodyOf(response),
    };
  } catch (error) {
    const cause = causeOf(error);
    const detail = `the engine at ${displayUrl(address)} does not answer: ${cause}${adviceOn(error, cause)}`;
    throw new EngineProblem('unreachable', withoutSecret(detail, address.adminSecret), { cause: error });
  }
}

/** Returns the response with the value instead of its text. The text of whole metadata is not kept while they are read. */
function parsed(response: Answer): Answer {
  if (response.status !== 200) return response;
  try {
    return { ...response, text: '', json: { value: parseJson(response.text) } };
  } catch {
    return response;
  }
}

/** Returns the URL of the engine without a user and password. */
function displayUrl({ url }: EngineAddress): string {
  if (!URL.canParse(url)) return 'its endpoint';
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, '');
}

/** Returns the cause of a network error. The message of `fetch` is only "fetch failed", or repeats a URL with its password. */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message.includes('includes credentials')) {
    return 'its URL has a user or a password, which belong into adminSecretRef';
  }
  const { message } = networkErrorOf(error);
  return message === '' ? (codeOf(error) ?? error.message) : message;
}

/** Returns the error of the connection, which `fetch` wraps. */
function networkErrorOf(error: Error): Error {
  return error.cause instanceof Error ? error.cause : error;
}

/** Returns the code of the network error. The one of a DOMException is a number and means nothing. */
function codeOf(error: Error): string | undefined {
  const { code } = networkErrorOf(error) as { readonly code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

function adviceOn(error: unknown, detail: string): string {
  const code = (error instanceof Error && codeOf(error)) || '';
  if (/CERT|SIGNATURE|ALTNAME/.test(code) || detail.includes('certificate')) {
    return '; name the authority of its certificate in spec.tls.caRef';
  }
  if (code === 'EPROTO' || detail.includes('SSL') || code.startsWith('HPE_')) {
    return '; is the endpoint https, or http?';
  }
  return '';
}

function answerOf<T>(response: Answer, address: EngineAddress, read: (answer: unknown) => T): T {
  const { contentType, text, json } = response;
  if (contentType !== '' && !/[/+]json\b/i.test(contentType)) {
    throw unexpectedAnswer('its content type is not JSON', response, address);
  }
  if (!json) {
    throw unexpectedAnswer(text === '' ? 'its answer is empty' : 'its answer is not JSON', response, address);
  }
  try {
    return read(json.value);
  } catch (error) {
    if (!(error instanceof UnexpectedAnswer)) throw error;
    throw unexpectedAnswer(error.message, response, address);
  }
}

/** Returns the problem of an answer that is not the one of an engine of this version. */
function unexpectedAnswer(what: string, response: Answer, address: EngineAddress): EngineProblem {
  const { status, contentType, json } = response;
  const text = json ? jsonParts(json.value).next().value : response.text;
  const type = contentType === '' ? 'without a content type' : excerpt(contentType);
  const came = text === '' ? '' : `: ${excerpt(withoutSecret(text, address.adminSecret))}`;
  const detail =
    `${displayUrl(address)} does not answer as an engine of this version: ${what}. ` +
    `It sent ${status} ${type}${came}. Check the endpoint, and that the engine is not older than the operator`;
  return new EngineProblem('unreachable', withoutSecret(detail, address.adminSecret));
}

function problemOf(response: Answer, address: EngineAddress): EngineProblem {
  const { status, text } = response;
  const url = displayUrl(address);
  const { code, error, path } = refusalIn(text);
  const detail = excerpt(withoutSecret(error ?? text, address.adminSecret));
  if (status === 401 || status === 403 || code === 'access-denied') {
    return new EngineProblem('unauthorized', `${url} does not accept the admin secret: ${detail}`);
  }
  if (status === 400 && code === INCONSISTENT) {
    return new EngineProblem('inconsistent', `${url} finds the change does not fit: ${detail}`);
  }
  if (status === 409) {
    return new EngineProblem('conflict', `the metadata of ${url} changed meanwhile: ${detail}`);
  }
  const message = `${url} answers ${status}: ${detail}`;
  // A proxy before the engine may be the one that refuses the size.
  if (status === 413) return new EngineProblem('tooLarge', message, { reason: detail });
  if (code === undefined && status < 500) return unexpectedAnswer(whatIs(response), response, address);
  const mayPass = status >= 500 || status === 404 || status === 429 || status === 408;
  return new EngineProblem(mayPass ? 'unreachable' : 'rejected', message, { reason: detail, at: path });
}

/** Returns a description of the answer. A redirect is not followed: its location may be the right endpoint. */
function whatIs({ status, location }: Answer): string {
  const isRedirect = status >= 300 && status < 400;
  return isRedirect
    ? `it redirects to ${location === null ? 'nowhere' : excerpt(location)}`
    : `it answers ${status}`;
}

/** The error code of the engine for a document with inconsistent objects (ERRORS, `inconsistentMetadata`). */
const INCONSISTENT = 'unexpected';

type ErrorBody = { readonly code?: string; readonly error?: string; readonly path?: string | undefined };

/** Returns the code, text and path of an error of the engine. */
function refusalIn(text: string): ErrorBody {
  try {
    const body = JSON.parse(text) as { readonly [key in keyof ErrorBody]: unknown } | null;
    const { code, error, path } = body ?? {};
    if (typeof code !== 'string' || typeof error !== 'string') return {};
    return { code, error, path: typeof path === 'string' ? path : undefined };
  } catch {
    return {};
  }
}

const MOST_CHARACTERS = 160;
/** The least length of a secret to mask. A shorter one would be replaced inside ordinary words. */
const LEAST_SECRET = 4;

/** Returns the text as one short line. */
function excerpt(text: string): string {
  const line = text
    .slice(0, 4 * MOST_CHARACTERS)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they would break the line
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)}…` : line;
}

/** Returns the text without the secret: a service may send back its requests. */
function withoutSecret(text: string, secret: string | undefined): string {
  if (secret === undefined || secret.length < LEAST_SECRET) return text;
  const forms = new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]);
  return [...forms].reduce((left, form) => left.replaceAll(form, '•••'), text);
}
