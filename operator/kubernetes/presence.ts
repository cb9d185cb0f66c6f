/** Records this operator in the status of each Engine that it reconciles, and finds the other operators that do. Two releases of the chart
 *  that watch one namespace would otherwise write the same objects and statuses without a word.
 *  Each operator owns its entry in `status.operators` by a field manager of its own, so no operator removes the entry of another one.
 *  Not here: the condition that results (status/engine-status.ts), the lease (leader.ts). */
import type { CustomResource, OperatorEntry } from '../kinds.ts';
import { shortHash } from '../objects/normal-form.ts';
import type { KubeObject } from './reflector.ts';
import { pathOf } from './resource-path.ts';
import { FIELD_MANAGER } from './status-write.ts';
import type { Transport } from './transport.ts';

export type PresenceOptions = {
  readonly transport: Transport;
  readonly now: () => Date;
  /** The namespace and the name of the lease: the same for all replicas of an operator. */
  readonly lease: string;
  /** The identity of this replica. */
  readonly identity: string;
  readonly isLeading: () => boolean;
  /** Called with the Engine as the API server returned it. */
  readonly onWritten: (engine: CustomResource, object: KubeObject) => void;
  readonly onProblem: (engine: CustomResource, error: Error) => void;
};

/** The interval of records, and the age from which an entry counts as left over. */
const RECORD_MS = 300_000;
const RECENT_MS = 750_000;

export class Presence {
  readonly #options: PresenceOptions;
  /** The Engines with an entry of this process, and the time of the last attempt. */
  readonly #recorded = new Map<string, { readonly engine: CustomResource; readonly atMs: number }>();

  constructor(options: PresenceOptions) {
    this.#options = options;
  }

  /** Writes the entry of this operator, unless it was written within five minutes. Never rejects. */
  async record(engine: CustomResource): Promise<void> {
    const { lease, identity, now, isLeading } = this.#options;
    const { uid } = engine.metadata;
    const nowMs = now().getTime();
    if (!isLeading() || nowMs - (this.#recorded.get(uid)?.atMs ?? 0) < RECORD_MS) return;
    this.#recorded.set(uid, { engine, atMs: nowMs });
    const own = operatorsOf(engine).find((entry) => entry.lease === lease);
    const isFresh = own?.identity === identity && nowMs - Date.parse(own.seenTime) < RECORD_MS;
    if (!isFresh) await this.#write(engine, [{ lease, identity, seenTime: now().toISOString() }]);
  }

  /** Returns the other operators that recorded themselves within the last minutes. */
  rivalsOf(engine: CustomResource): readonly OperatorEntry[] {
    const oldest = this.#options.now().getTime() - RECENT_MS;
    return operatorsOf(engine).filter(
      ({ lease, seenTime }) => lease !== this.#options.lease && Date.parse(seenTime) > oldest,
    );
  }

  /** Removes the entries of this process, so that an operator with another lease may follow without a warning. Never rejects. */
  async withdraw(): Promise<void> {
    if (!this.#options.isLeading()) return;
    await Promise.all([...this.#recorded.values()].map(({ engine }) => this.#write(engine, [])));
  }

  async #write(engine: CustomResource, operators: readonly OperatorEntry[]): Promise<void> {
    const { transport, lease, onWritten, onProblem } = this.#options;
    const { name, namespace, uid } = engine.metadata;
    const { apiVersion, kind } = engine;
    try {
      const written = await transport.send<KubeObject>({
        method: 'PATCH',
        path: `${pathOf(engine)}/status`,
        query: { fieldManager: `${FIELD_MANAGER}-${shortHash(lease)}`, force: 'true' },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion, kind, metadata: { name, namespace, uid }, status: { operators } },
        timeoutMs: TIMEOUT_MS,
      });
      onWritten(engine, written);
    } catch (error) {
      onProblem(engine, error as Error);
    }
  }
}

/** The timeout of a write, and the longest delay of `withdraw`. */
const TIMEOUT_MS = 5000;

function operatorsOf({ status }: CustomResource): readonly OperatorEntry[] {
  return status?.operators ?? [];
}
