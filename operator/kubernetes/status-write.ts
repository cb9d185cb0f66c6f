/** Writes a status with server-side apply on the status subresource. Specs, labels and annotations are never written.
 *  Not here: when it is written, and again after a failure (status-queue.ts). */
import type { CustomResource } from '../kinds.ts';
import type { StatusChange } from '../ports/statuses.ts';
import type { KubeObject } from './reflector.ts';
import { pathOf } from './resource-path.ts';
import { sleep, type Timers } from './timers.ts';
import { ApiProblem, hasStatus, type Transport } from './transport.ts';

export const FIELD_MANAGER = 'pergola-operator';

export type StatusWriteOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  /** Called with the resource as the API server returned it. */
  readonly onWritten: (change: StatusChange, object: KubeObject) => void;
  readonly onProblem: (cr: CustomResource, error: Error) => void;
};

const MOST_TRIES = 3;
const BUSY_MS = 1000;

/** Returns whether the status was written or needs no write. */
export async function writeStatus(options: StatusWriteOptions, change: StatusChange): Promise<boolean> {
  const { cr } = change;
  let status: object = change.status;
  const { name, namespace, uid } = cr.metadata;
  const path = `${pathOf(cr)}/status`;
  for (let tries = 1; ; tries++) {
    try {
      const written = await options.transport.send<KubeObject>({
        method: 'PATCH',
        path,
        query: { fieldManager: FIELD_MANAGER, force: 'true' },
        contentType: 'application/apply-patch+yaml',
        // The uid prevents a write to a later resource of the same name.
        body: { apiVersion: cr.apiVersion, kind: cr.kind, metadata: { name, namespace, uid }, status },
      });
      options.onWritten(change, written);
      return true;
    } catch (error) {
      if (hasStatus(error, 404)) return true;
      if (hasStatus(error, 409) && (await isReplaced(options.transport, cr))) return true;
      const known = withoutUnknown(status, error);
      if (known) {
        status = known;
        continue;
      }
      if (!isBusy(error) || tries === MOST_TRIES) {
        options.onProblem(cr, error as Error);
        return false;
      }
      await sleep(options.timers, (error as ApiProblem).retryAfterMs ?? BUSY_MS, options.signal);
    }
  }
}

/** Returns the status without the fields that the API server rejects as unknown: during an upgrade the definitions may be of an older
 *  release. Undefined for any other error. */
function withoutUnknown(status: object, error: unknown): object | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  const unknown = new Set([...error.message.matchAll(UNKNOWN_FIELD)].map(([, field]) => field));
  const known = Object.entries(status).filter(([field]) => !unknown.has(field));
  return known.length < Object.keys(status).length ? Object.fromEntries(known) : undefined;
}

const UNKNOWN_FIELD = /\.status\.(\w+)[^:]*: field not declared in schema/g;

/** True when the resource was deleted, and perhaps created again. A conflict may also come from a write at the same time. */
async function isReplaced(transport: Transport, cr: CustomResource): Promise<boolean> {
  try {
    const { metadata } = await transport.send<KubeObject>({ method: 'GET', path: pathOf(cr) });
    return metadata.uid !== cr.metadata.uid;
  } catch (error) {
    return hasStatus(error, 404);
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof ApiProblem && ([409, 429].includes(error.status) || error.status >= 500);
}
