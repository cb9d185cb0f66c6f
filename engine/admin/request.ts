/** Parses the body of an admin request into operations, in order; a batch is a tree of them. Checks the envelope `{type, args, version,
 *  resource_version}` and looks each type up in OPERATIONS. `args` are parsed when the operation is performed. Also the type of an
 *  answer.
 *  Not here: performing (perform.ts). Spec: "Schema/metadata API". */

import { EngineError, fail, type PathStep } from '../errors/engine-error.ts';
import type { ErrorDialect } from '../errors/errors.ts';
import { nearestNumber } from '../json/number.ts';
import { isRecord, nameOfJson } from '../json/value.ts';
import {
  type ArgsOf,
  findOperation,
  kindOfOperation,
  type OperationName,
  type OperationRow,
} from '../metadata/operations.ts';
import type { Session } from '../resolve/session.ts';
import type { Snapshot } from '../state/snapshot.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';

export type AdminEndpoint = '/v1/query' | '/v1/metadata' | '/v2/query';

/** The endpoint and the client of a request. */
export type AdminCaller = {
  readonly endpoint: AdminEndpoint;
  readonly showInternal: boolean;
  /** The user who changes the document, and the name of their program. */
  readonly author: string;
  readonly client: string | null;
  readonly session: Session;
};

export type AdminRequest = {
  readonly operation: OperationRow;
  readonly args: unknown;
  /** The path of `args` in the body: `$.args`, `$.args[1].args`. */
  readonly path: readonly PathStep[];
  /** The path of `args` in the errors of arguments that do not parse. The older endpoint leaves `args` out, and so do operations whose
   *  name says the kind of the source: `$.limit`, `$[1].table`. */
  readonly parsePath: readonly PathStep[];
  /** The version of the document that the client expects; null if it named none. */
  readonly resourceVersion: number | null;
  readonly caller: AdminCaller;
  /** The operations of a batch. An operation that does not parse is refused at once; in a batch that keeps going, its error takes its
   *  place. */
  readonly items: readonly (AdminRequest | EngineError)[];
};

/** Returns the body of an answer. Some answers include the version of the snapshot that was published in the end. */
export type AdminAnswer = (published: Snapshot) => unknown;

/** An operation that is more than a function of the document: it changes the unit of work and returns the answer. */
export type Performer<N extends OperationName> = (
  work: UnitOfWork,
  args: ArgsOf<N>,
  request: AdminRequest,
) => AdminAnswer | Promise<AdminAnswer>;

export const SUCCESS: AdminAnswer = () => ({ message: 'success' });

/** Returns the wording of errors: /v1/query uses the specification's, the other endpoints the newer one. */
export function dialectOf(endpoint: AdminEndpoint | undefined): ErrorDialect {
  return endpoint === '/v1/query' ? 'specification' : 'newer';
}

export function parseRequest(
  body: unknown,
  caller: AdminCaller,
  path: readonly PathStep[] = [],
): AdminRequest {
  const envelope = parseEnvelope(body, path);
  const version = envelope.version ?? impliedVersion(envelope.type, envelope.args);
  const operation = findOperation(envelope.type, version, caller.endpoint);
  if (!operation) refuseType(envelope.type, version, caller.endpoint, path);
  const inner = [...path, 'args'];
  const isOlder = caller.endpoint === '/v1/query';
  const kind = kindOfOperation(envelope.type);
  const isBare = isOlder || (caller.endpoint === '/v1/metadata' && kind !== undefined);
  const parsePath = (isBare ? path : inner).filter((step) => !isOlder || step !== 'args');
  return {
    operation,
    // The name of the operation says the kind of the source.
    args:
      operation.name === 'pg_add_source' && isRecord(envelope.args)
        ? { ...envelope.args, kind }
        : envelope.args,
    path: inner,
    parsePath,
    resourceVersion: envelope.resourceVersion,
    caller,
    items: operation.effect === 'batch' ? parseItems(operation, envelope.args, caller, inner) : [],
  };
}

function parseItems(
  operation: OperationRow,
  args: unknown,
  caller: AdminCaller,
  path: readonly PathStep[],
): AdminRequest['items'] {
  if (!Array.isArray(args)) {
    const text = `parsing [] failed, expected Array, but encountered ${nameOfJson(args)}`;
    fail('parseFailed', { text }, { path });
  }
  return args.map((item, index) => {
    try {
      return parseRequest(item, caller, [...path, index]);
    } catch (error) {
      if (operation.batch === 'each' && error instanceof EngineError) return error;
      throw error;
    }
  });
}

type Envelope = {
  readonly type: string;
  readonly args: unknown;
  readonly version: number | null;
  readonly resourceVersion: number | null;
};

function parseEnvelope(body: unknown, path: readonly PathStep[]): Envelope {
  if (!isRecord(body)) {
    const text = `parsing Object failed, expected Object, but encountered ${nameOfJson(body)}`;
    fail('parseFailed', { text }, { path });
  }
  const { type, args, version, resource_version: resourceVersion } = body;
  if (type === undefined) fail('parseFailed', { text: "the key 'type' was not present" }, { path });
  if (typeof type !== 'string') {
    const text = `parsing Text failed, expected String, but encountered ${nameOfJson(type)}`;
    fail('parseFailed', { text }, { path: [...path, 'type'] });
  }
  return {
    type,
    args: args ?? {},
    version: parseVersion(version, [...path, 'version']),
    resourceVersion: parseResourceVersion(resourceVersion, [...path, 'resource_version']),
  };
}

function parseVersion(given: unknown, path: readonly PathStep[]): number | null {
  const version = nearestNumber(given);
  if (version === undefined || version === null) return null;
  if (version === 1 || version === 2) return version;
  refuseNumber(version, 'expected 1 or 2', path);
}

function parseResourceVersion(given: unknown, path: readonly PathStep[]): number | null {
  const version = nearestNumber(given);
  if (version === undefined || version === null) return null;
  if (typeof version === 'number' && Number.isSafeInteger(version) && version >= 0) return version;
  refuseNumber(version, 'expected a non-negative integer', path);
}

function refuseNumber(value: unknown, expectation: string, path: readonly PathStep[]): never {
  const text =
    typeof value === 'number'
      ? `${expectation}, encountered ${value}`
      : `parsing Integer failed, expected Number, but encountered ${nameOfJson(value)}`;
  fail('parseFailed', { text }, { path });
}

/** Returns the version of a request that names none. `replace_metadata` is in its second form if the arguments wrap the document in
 *  `metadata`. */
function impliedVersion(type: string, args: unknown): number {
  return type === 'replace_metadata' && isRecord(args) && 'metadata' in args ? 2 : 1;
}

/** Operations on databases that do not speak PostgreSQL's protocol. */
const FOREIGN = /^(mssql|bigquery|mysql|dataconnector)_/;

function refuseType(
  type: string,
  version: number,
  endpoint: AdminEndpoint,
  path: readonly PathStep[],
): never {
  const other = version === 1 ? 2 : 1;
  if (findOperation(type, other, endpoint)) {
    refuseNumber(version, `expected ${other}`, [...path, 'version']);
  }
  const kind = FOREIGN.exec(type)?.[1];
  if (kind !== undefined)
    fail(
      'notSupported',
      { text: `sources of the kind "${kind}" are not supported` },
      { path: [...path, 'type'] },
    );
  const command = endpoint === '/v2/query' ? 'query command' : 'metadata command';
  fail('parseFailed', { text: `unknown ${command} "${type}"` }, { path: [...path, 'type'] });
}
