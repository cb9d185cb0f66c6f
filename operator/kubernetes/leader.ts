/** Elects one active replica with a Lease. It is valid for 15 s, renewed every 2 s, and released at shutdown so that the next replica need not
 *  wait. After 10 s without a renewal the replica does not lead, and it leads again if it renews the lease before another one acquires it: an
 *  API server that is away stops no replica.
 *  The expiry of another replica's lease is measured by the local clock, from the last observed change: clocks of machines differ. A
 *  leader that has lost the lease unnoticed is harmless: the engine rejects its write by version.
 *  Not here: the work of the leader (operator.ts). */
import { leasesPath } from './resource-path.ts';
import { sleep, type Timers } from './timers.ts';
import { hasStatus, type Transport, unlessStatus } from './transport.ts';

export type LeaderOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly now: () => Date;
  readonly namespace: string;
  readonly name: string;
  /** The identity of this replica. */
  readonly identity: string;
  /** Called when this replica leads, also when it leads again. */
  readonly onLead: () => void;
  /** Called when another replica has the lease that this one had. */
  readonly onLoss: () => void;
  /** Called when the lease could not be read or written. The elector tries again. */
  readonly onProblem: (problem: Error) => void;
};

type Lease = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly resourceVersion?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: LeaseSpec;
};

type LeaseSpec = {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
};

const LEASE_SECONDS = 15;
const RENEW_WITHIN_MS = 10_000;
const RETRY_MS = 2000;
const REQUEST_MS = 5000;

export class Elector {
  readonly #options: LeaderOptions;
  readonly #path: string;
  #isLeading = false;
  #renewedAt = 0;
  /** The version of the lease at the last read, and the time it was first read. */
  #seen: { readonly version: string; readonly atMs: number } | undefined;

  constructor(options: LeaderOptions) {
    this.#options = options;
    this.#path = leasesPath(options.namespace);
  }

  /** True while the lease is valid. A process that was suspended also sees by its clock that the lease has expired. */
  get isLeading(): boolean {
    return this.#isLeading && this.#options.timers.nowMs() - this.#renewedAt <= RENEW_WITHIN_MS;
  }

  /** Acquires and renews the lease until the signal, then releases it. */
  async run(signal: AbortSignal): Promise<void> {
    const { timers } = this.#options;
    while (!signal.aborted) {
      const began = timers.nowMs();
      const isOurs = await this.#acquire().catch((error: unknown) => this.#failed(error));
      if (isOurs) this.#lead(began);
      await sleep(timers, RETRY_MS * (1 + timers.random() / 5), signal);
    }
    if (this.#isLeading) await this.#release().catch(() => {});
    this.#isLeading = false;
  }

  /** Records a renewal. The lease counts from the start of the request: the server may have written it at any time since. */
  #lead(began: number): void {
    const wasLeading = this.isLeading;
    this.#renewedAt = began;
    this.#isLeading = true;
    if (wasLeading) return;
    this.#options.onLead();
  }

  #failed(error: unknown): false {
    this.#options.onProblem(error as Error);
    return false;
  }

  #lose(): void {
    this.#isLeading = false;
    this.#options.onLoss();
  }

  async #acquire(): Promise<boolean> {
    const lease = await this.#read();
    const now = this.#options.now().toISOString().replace('Z', '000Z');
    const { identity } = this.#options;
    if (!lease) {
      const spec = { holderIdentity: identity, acquireTime: now, renewTime: now, leaseTransitions: 0 };
      return this.#write('POST', this.#path, this.#lease(undefined, spec));
    }
    const { spec = {}, metadata } = lease;
    const isOurs = spec.holderIdentity === identity;
    if (!isOurs && !this.#isFree(lease)) {
      // Another replica took the lease while this one was suspended.
      if (this.#isLeading) this.#lose();
      return false;
    }
    const transitions = spec.leaseTransitions ?? 0;
    return this.#write(
      'PUT',
      `${this.#path}/${metadata.name}`,
      this.#lease(metadata, {
        holderIdentity: identity,
        acquireTime: isOurs ? (spec.acquireTime ?? now) : now,
        renewTime: now,
        leaseTransitions: isOurs ? transitions : transitions + 1,
      }),
    );
  }

  #isFree({ spec = {}, metadata }: Lease): boolean {
    const now = this.#options.timers.nowMs();
    const version = metadata.resourceVersion ?? '';
    if (this.#seen?.version !== version) this.#seen = { version, atMs: now };
    const duration = (spec.leaseDurationSeconds ?? LEASE_SECONDS) * 1000;
    return !spec.holderIdentity || now - this.#seen.atMs > duration;
  }

  async #release(): Promise<void> {
    const lease = await this.#read();
    if (lease?.spec?.holderIdentity !== this.#options.identity) return;
    const free = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 };
    const path = `${this.#path}/${lease.metadata.name}`;
    await this.#write('PUT', path, this.#lease(lease.metadata, free));
  }

  #read(): Promise<Lease | undefined> {
    const { transport, name } = this.#options;
    const path = `${this.#path}/${name}`;
    return unlessStatus(transport.send<Lease>({ method: 'GET', path, timeoutMs: REQUEST_MS }), 404);
  }

  /** Writes the lease. False when another replica was faster. */
  async #write(method: 'POST' | 'PUT', path: string, body: Lease): Promise<boolean> {
    try {
      await this.#options.transport.send({ method, path, body, timeoutMs: REQUEST_MS });
      return true;
    } catch (error) {
      if (hasStatus(error, 409)) return false;
      throw error;
    }
  }

  /** Returns the lease to write. Annotations are kept: one has the name of the cluster (cluster-name.ts). */
  #lease(before: Lease['metadata'] | undefined, spec: LeaseSpec): Lease {
    const { name, namespace } = this.#options;
    const { resourceVersion, annotations } = before ?? {};
    return {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name,
        namespace,
        ...(resourceVersion === undefined ? {} : { resourceVersion }),
        ...(annotations === undefined ? {} : { annotations }),
      },
      spec: { leaseDurationSeconds: LEASE_SECONDS, ...spec },
    };
  }
}
