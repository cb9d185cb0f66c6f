/** Adds a finalizer to resources and Engines with `waitForDeletion`, and removes it when nothing blocks their deletion any more or the deadline has
 *  passed. It is the only write to a resource besides its status; the chart grants the right with `operator.waitingDeletion`.
 *  Resources in the namespace of the operator never get it: when that namespace is deleted, the operator stops first.
 *  Not here: what blocks a deletion (deletion.ts). */

import type { CustomResource } from '../kinds.ts';
import type { Clock } from '../ports/clock.ts';
import type { StatusSink } from '../ports/statuses.ts';
import { isChanged, statusOf } from '../status/conditions.ts';
import { type DeletionBlocker, FINALIZER, hasFinalizer, remainingMs, waitsForDeletion } from './deletion.ts';
import type { Requeue } from './queue.ts';
import type { KubeObject } from './reflector.ts';
import { pathOf } from './resource-path.ts';
import { FIELD_MANAGER } from './status-write.ts';
import { hasStatus, type Transport } from './transport.ts';

export type FinalizersOptions = {
  readonly transport: Transport;
  readonly sink: StatusSink;
  readonly clock: Clock;
  /** The namespace of the operator. */
  readonly namespace: string;
  /** The seconds after which a resource is released even if its objects still exist. */
  readonly deadlineSeconds: number;
  readonly isLeading: () => boolean;
  /** Called with the resource as the API server returned it. */
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

  /** Adds the finalizer to resources with `waitForDeletion` and removes it from all others. Failed writes are repeated by the next pass. */
  async ensure(resources: readonly CustomResource[]): Promise<void> {
    const { namespace } = this.#options;
    const mayWait = (cr: CustomResource) => waitsForDeletion(cr) && cr.metadata.namespace !== namespace;
    const wrong = resources.filter((cr) => mayWait(cr) !== hasFinalizer(cr));
    await this.#each(wrong, (cr) => (hasFinalizer(cr) ? this.#remove(cr) : this.#add(cr)));
  }

  /** Removes the finalizer from resources that nothing blocks, and writes the reason to the status of the others, with the page of the console. */
  async release(
    deleting: readonly CustomResource[],
    blocker: DeletionBlocker,
    consoleUrl: string | undefined,
  ): Promise<Requeue> {
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
    const context = { now, progressDeadlineSeconds: deadlineSeconds, consoleUrl };
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

  /** Removes the finalizer from an Engine. */
  async releaseEngine(engine: CustomResource): Promise<Requeue> {
    const failures = await this.#each([engine], (cr) => this.#remove(cr));
    return failures > 0 ? { afterMs: AGAIN_MS } : {};
  }

  /** Returns the milliseconds until a deleted resource is released in any case. */
  remainingMs(cr: CustomResource): number {
    const { clock, deadlineSeconds } = this.#options;
    return remainingMs(cr, clock.now(), deadlineSeconds);
  }

  #add(cr: CustomResource): Promise<void> {
    const { name, namespace, uid } = cr.metadata;
    const { apiVersion, kind } = cr;
    // The uid prevents a write to a later resource of the same name.
    const metadata = { name, namespace, uid, finalizers: [FINALIZER] };
    return this.#patch(cr, 'application/apply-patch+yaml', { apiVersion, kind, metadata });
  }

  /** Removes the finalizer, even one that someone else added. */
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
    const path = pathOf(cr);
    const isApply = contentType.startsWith('application/apply');
    const query = { fieldManager: FIELD_MANAGER, ...(isApply ? { force: 'true' } : {}) };
    onWritten(cr, await transport.send<KubeObject>({ method: 'PATCH', path, query, contentType, body }));
  }

  /** Runs up to 12 writes at a time and returns the number of failures. */
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
          // The resource no longer exists.
          if (hasStatus(error, 404)) return;
          failures++;
          this.#options.onProblem(cr, error as Error);
        });
      }
    };
    await Promise.all(Array.from({ length: Math.min(IN_FLIGHT, waiting.length) }, lane));
    return failures;
  }
}
