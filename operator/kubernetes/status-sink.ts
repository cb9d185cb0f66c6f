/** Statuses to the API server: server-side apply on the status subresource, a dozen at a time, those first whose Ready turns.
 *  Specs, labels and annotations are never written. One that cannot be written is reported and counted: the next pass finds it
 *  different again, and comes soon.
 *  Not here: which statuses changed (status/conditions.ts). */
import { type CustomResource, kindOf } from '../kinds.ts';
import type { StatusChange, StatusSink } from '../ports.ts';
import { conditionOf } from '../status/conditions.ts';
import type { KubeObject } from './reflector.ts';
import { sleep, type Timers } from './timers.ts';
import { ApiProblem, type Transport } from './transport.ts';

export const FIELD_MANAGER = 'pergola-operator';

export type StatusSinkOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly signal: AbortSignal;
  /** May we still: somebody else may know better by now. */
  readonly isLeading: () => boolean;
  /** The resource as the API server has it now. */
  readonly onWritten: (cr: CustomResource, object: KubeObject) => void;
  readonly onProblem: (cr: CustomResource, error: Error) => void;
};

const IN_FLIGHT = 12;
const MOST_TRIES = 3;
const BUSY_MS = 1000;

export function statusSink(options: StatusSinkOptions): StatusSink {
  return {
    publish: async (changes) => {
      const waiting = changes.toSorted((a, b) => Number(turns(b)) - Number(turns(a)));
      const mayGoOn = () => !options.signal.aborted && options.isLeading();
      let failures = 0;
      const lane = async () => {
        while (waiting.length > 0 && mayGoOn()) {
          const isHeard = await write(options, waiting.shift()!);
          if (!isHeard) failures++;
        }
      };
      await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, changes.length) }, lane));
      return failures + waiting.length;
    },
  };
}

function turns({ cr, status }: StatusChange): boolean {
  const ready = status.conditions.find(({ type }) => type === 'Ready')?.status;
  return conditionOf(cr, 'Ready')?.status !== ready;
}

/** Whether it was written, or need not be. */
async function write(options: StatusSinkOptions, change: StatusChange): Promise<boolean> {
  const { cr } = change;
  let status: object = change.status;
  const { name, namespace, uid } = cr.metadata;
  const path = `/apis/${cr.apiVersion}/namespaces/${namespace}/${kindOf(cr.kind)!.plural}/${name}/status`;
  for (let tries = 1; ; tries++) {
    try {
      const written = await options.transport.send<KubeObject>({
        method: 'PATCH',
        path,
        query: { fieldManager: FIELD_MANAGER, force: 'true' },
        contentType: 'application/apply-patch+yaml',
        // The uid keeps the status of a resource from its namesake that came after it.
        body: { apiVersion: cr.apiVersion, kind: cr.kind, metadata: { name, namespace, uid }, status },
      });
      options.onWritten(cr, written);
      return true;
    } catch (error) {
      if (isGone(error)) return true;
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

/** The status without the fields the API server says it does not know: definitions of a release before ours, which an upgrade
 *  may replace after us. Undefined where it says something else. */
function withoutUnknown(status: object, error: unknown): object | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  const unknown = new Set([...error.message.matchAll(UNKNOWN_FIELD)].map(([, field]) => field));
  const known = Object.entries(status).filter(([field]) => !unknown.has(field));
  return known.length < Object.keys(status).length ? Object.fromEntries(known) : undefined;
}

const UNKNOWN_FIELD = /\.status\.(\w+)[^:]*: field not declared in schema/g;

function isGone(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 404 || error.status === 409);
}

function isBusy(error: unknown): boolean {
  return error instanceof ApiProblem && (error.status === 429 || error.status >= 500);
}
