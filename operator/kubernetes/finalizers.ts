/** The finalizer of resources that ask to stay until their objects are gone: given while they live, taken when nothing holds them
 *  any more or the deadline has passed. The only thing of a resource besides its status that is ever written, and only where
 *  somebody asks; the right to do it is asked for in the chart (`operator.waitingDeletion`).
 *  Resources beside the operator never get it: with their namespace the operator goes first, and nobody would take it away.
 *  Not here: what holds a resource (deletion.ts). */

import { type CustomResource, kindOf } from '../kinds.ts';
import type { Clock, StatusSink } from '../ports.ts';
import { isChanged, statusOf } from '../status/conditions.ts';
import { type DeletionBlocker, FINALIZER, hasFinalizer, remainingMs, waitsForDeletion } from './deletion.ts';
import type { Requeue } from './queue.ts';
import type { KubeObject } from './reflector.ts';
import { FIELD_MANAGER } from './status-sink.ts';
import { ApiProblem, type Transport } from './transport.ts';

export type FinalizersOptions = {
  readonly transport: Transport;
  readonly sink: StatusSink;
  readonly clock: Clock;
  /** Our own. */
  readonly namespace: string;
  /** After which a resource goes, whatever is left of it. */
  readonly deadlineSeconds: number;
  readonly isLeading: () => boolean;
  /** The resource as the API server has it now. */
  readonly onWritten: (cr: CustomResource, object: KubeObject) => void;
  readonly onProblem: (cr: CustomResource, error: Error) => void;
};

const IN_FLIGHT = 12;
const AGAIN_MS = 5000;

export class Finalizers {
  readonly #options: FinalizersOptions;

  constructor(options: FinalizersOptions) {
    this.#options = options;
  }

  /** Who asks to wait has it afterwards, and nobody else; what could not be written is tried again with the next pass. */
  async ensure(resources: readonly CustomResource[]): Promise<void> {
    const { namespace } = this.#options;
    const mayAsk = (cr: CustomResource) => waitsForDeletion(cr) && cr.metadata.namespace !== namespace;
    const wrong = resources.filter((cr) => mayAsk(cr) !== hasFinalizer(cr));
    await this.#each(wrong, (cr) => (hasFinalizer(cr) ? this.#remove(cr) : this.#add(cr)));
  }

  /** Lets go who may; the others say why not. */
  async release(deleting: readonly CustomResource[], blocker: DeletionBlocker): Promise<Requeue> {
    const { clock, sink, deadlineSeconds } = this.#options;
    const now = clock.now();
    const left = (cr: CustomResource) => remainingMs(cr, now, deadlineSeconds);
    const finalized = deleting.filter(hasFinalizer);
    const staying = finalized.flatMap((cr) => {
      const outcome = left(cr) > 0 ? blocker(cr) : undefined;
      return outcome ? [{ cr, outcome }] : [];
    });
    const kept = new Set(staying.map(({ cr }) => cr));
    const going = finalized.filter((cr) => !kept.has(cr));
    const failures = await this.#each(going, (cr) => this.#remove(cr));
    const context = { now, progressDeadlineSeconds: deadlineSeconds };
    const changes = staying
      .map(({ cr, outcome }) => ({
        cr,
        status: statusOf(cr, { outcome, wasWritten: false, failing: [] }, context),
      }))
      .filter(({ cr, status }) => isChanged(cr, status));
    await sink.publish(changes);
    if (failures > 0) return { afterMs: AGAIN_MS };
    return staying.length === 0 ? {} : { afterMs: Math.min(AGAIN_MS, ...staying.map(({ cr }) => left(cr))) };
  }

  #add(cr: CustomResource): Promise<void> {
    const { name, namespace, uid } = cr.metadata;
    const { apiVersion, kind } = cr;
    // The uid keeps it from a namesake that came after it.
    const metadata = { name, namespace, uid, finalizers: [FINALIZER] };
    return this.#patch(cr, 'application/apply-patch+yaml', { apiVersion, kind, metadata });
  }

  /** Whoever gave it. */
  #remove(cr: CustomResource): Promise<void> {
    const path = `/metadata/finalizers/${cr.metadata.finalizers?.indexOf(FINALIZER)}`;
    return this.#patch(cr, 'application/json-patch+json', [
      { op: 'test', path: '/metadata/uid', value: cr.metadata.uid },
      { op: 'test', path, value: FINALIZER },
      { op: 'remove', path },
    ]);
  }

  async #patch(cr: CustomResource, contentType: string, body: unknown): Promise<void> {
    const { transport, onWritten } = this.#options;
    const { name, namespace } = cr.metadata;
    const path = `/apis/${cr.apiVersion}/namespaces/${namespace}/${kindOf(cr.kind)!.plural}/${name}`;
    const isApply = contentType.startsWith('application/apply');
    const query = { fieldManager: FIELD_MANAGER, ...(isApply ? { force: 'true' } : {}) };
    onWritten(cr, await transport.send<KubeObject>({ method: 'PATCH', path, query, contentType, body }));
  }

  /** A dozen at a time; how many could not be written. */
  async #each(
    resources: readonly CustomResource[],
    write: (cr: CustomResource) => Promise<void>,
  ): Promise<number> {
    const waiting = [...resources];
    let failures = 0;
    const lane = async () => {
      while (waiting.length > 0 && this.#options.isLeading()) {
        const cr = waiting.shift()!;
        await write(cr).catch((error: unknown) => {
          if (isGone(error)) return;
          failures++;
          this.#options.onProblem(cr, error as Error);
        });
      }
    };
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, waiting.length) }, lane));
    return failures;
  }
}

/** With it went the finalizer. */
function isGone(error: unknown): boolean {
  return error instanceof ApiProblem && error.status === 404;
}
