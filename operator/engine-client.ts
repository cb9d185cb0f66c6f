/** The engine over HTTP, as the core needs it: one bulk read, a dry run, one atomic write. Requests are typed by OPERATIONS.
 *  Every failure is an EngineProblem: unreachable (network, timeout, 5xx), unauthorized, conflict (409), rejected.
 *  Not here: when to ask again (reconcile.ts and its callers). */
import {
  type ArgsOf,
  type Edit,
  type OperationName,
  parseJson,
  parseMetadata,
} from '@pergola/engine/metadata';
import { readLedger } from './ledger.ts';
import {
  type EnginePort,
  EngineProblem,
  type EngineReading,
  type EngineWrite,
  type InconsistentObject,
} from './ports.ts';

export type EngineAddress = {
  /** Without a path. */
  readonly url: string;
  readonly adminSecret?: string | undefined;
  /** Default `x-engine-`. */
  readonly headerPrefix?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** What we call ourselves; default `pergola-operator`. */
  readonly client?: string | undefined;
  /** In place of the global one: certificates, keep-alive. */
  readonly fetch?: typeof fetch | undefined;
};

const TIMEOUT_MS = 30_000;

export function engineClient(address: EngineAddress): EnginePort {
  return {
    read: () => read(address),
    dryRun: async (edits) => {
      const args = { ...patchOf(edits), dry_run: true };
      return (await perform<Report>(address, operation('patch_metadata', args))).inconsistent_objects;
    },
    inconsistent: (version) => inconsistentAt(address, version),
    write: (change) => write(address, change),
    version: async () => {
      const config = await request<{ resource_version: number }>(address, '/v1alpha1/config', undefined);
      return config.resource_version;
    },
    reload: async () => {
      await perform(address, operation('reload_metadata', {}));
    },
  };
}

type Request = {
  readonly type: string;
  readonly version?: number;
  /** Refused with `conflict` where the engine is at another one. */
  readonly resource_version?: number;
  readonly args: unknown;
};

type Report = { readonly inconsistent_objects: readonly InconsistentObject[] };

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

async function read(address: EngineAddress): Promise<EngineReading> {
  const [exported, report, states] = await perform<
    [{ resource_version: number; metadata: unknown }, Report, { operator_state?: unknown }]
  >(address, {
    type: 'bulk',
    args: [
      operation('export_metadata', {}, 2),
      operation('get_inconsistent_metadata', { include_keys: true }),
      operation('get_catalog_state', {}),
    ],
  });
  return {
    resourceVersion: exported.resource_version,
    metadata: parseMetadata(exported.metadata),
    inconsistent: report.inconsistent_objects,
    ledger: readLedger(states.operator_state),
  };
}

/** Undefined: the engine is at another version. */
async function inconsistentAt(
  address: EngineAddress,
  version: number,
): Promise<readonly InconsistentObject[] | undefined> {
  const asked = operation('get_inconsistent_metadata', { include_keys: true });
  try {
    const report = await perform<Report>(address, { ...asked, resource_version: version });
    return report.inconsistent_objects;
  } catch (error) {
    if (error instanceof EngineProblem && error.kind === 'conflict') return undefined;
    throw error;
  }
}

async function write(address: EngineAddress, change: EngineWrite): ReturnType<EnginePort['write']> {
  const { edits, ledger, expectedVersion, mustFit } = change;
  const [patched] = await perform<[Report & { readonly resource_version: number }]>(address, {
    type: 'bulk_atomic',
    resource_version: expectedVersion,
    args: [
      operation('patch_metadata', { ...patchOf(edits), allow_inconsistent_metadata: !mustFit }),
      operation('patch_catalog_state', { type: 'operator', patch: ledger }),
    ],
  });
  return { resourceVersion: patched.resource_version, inconsistent: patched.inconsistent_objects };
}

/** One request to /v1/metadata. Throws EngineProblem. */
export function perform<T>(address: EngineAddress, body: Request): Promise<T> {
  return request<T>(address, '/v1/metadata', body);
}

async function request<T>(address: EngineAddress, path: string, body: unknown): Promise<T> {
  const prefix = address.headerPrefix ?? 'x-engine-';
  const response = await reach(address, path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      'content-type': 'application/json',
      'user-agent': address.client ?? 'pergola-operator',
      ...(address.adminSecret === undefined ? {} : { [`${prefix}admin-secret`]: address.adminSecret }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { status, text } = response;
  if (status === 200) return parsed(text, address) as T;
  throw problemOf(status, text, address);
}

async function reach(
  address: EngineAddress,
  path: string,
  init: RequestInit,
): Promise<{ readonly status: number; readonly text: string }> {
  const url = address.url.replace(/\/+$/, '') + path;
  try {
    const signal = AbortSignal.timeout(address.timeoutMs ?? TIMEOUT_MS);
    const response = await (address.fetch ?? fetch)(url, { ...init, signal });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    throw new EngineProblem(
      'unreachable',
      `the engine at ${address.url} does not answer: ${causeOf(error)}`,
      {
        cause: error,
      },
    );
  }
}

/** fetch hides what happened behind "fetch failed". */
function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  if (cause instanceof Error && cause.message !== '') return cause.message;
  return (cause as { code?: string } | undefined)?.code ?? error.message;
}

function parsed(text: string, address: EngineAddress): unknown {
  try {
    return parseJson(text);
  } catch (cause) {
    throw new EngineProblem('unreachable', `the answer of ${address.url} is no JSON: is an engine there?`, {
      cause,
    });
  }
}

function problemOf(status: number, text: string, { url }: EngineAddress): EngineProblem {
  const said = errorText(text);
  if (status === 401 || status === 403) return new EngineProblem('unauthorized', refused(said, url));
  const { code } = codeOf(text);
  if (code === INCONSISTENT)
    return new EngineProblem('inconsistent', `${url} finds the change does not fit: ${said}`);
  if (code === 'access-denied') return new EngineProblem('unauthorized', refused(said, url));
  if (status === 409)
    return new EngineProblem('conflict', `the metadata of ${url} changed meanwhile: ${said}`);
  const isTheirs = status >= 500 || status === 404 || status === 429 || status === 408;
  return new EngineProblem(isTheirs ? 'unreachable' : 'rejected', `${url} answers ${status}: ${said}`);
}

/** What the engine says of a document that does not fit (ERRORS, `inconsistentMetadata`). */
const INCONSISTENT = 'unexpected';

function refused(said: string, url: string): string {
  return `${url} does not accept the admin secret: ${said}`;
}

function codeOf(text: string): { readonly code?: string; readonly error?: string } {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? body : {};
  } catch {
    return {};
  }
}

function errorText(text: string): string {
  const { error } = codeOf(text);
  return error ?? (text.length > 200 ? `${text.slice(0, 200)}…` : text);
}
