/** Watches the Secrets and ConfigMaps that engines and resources refer to, each by name. No others are read, and unreferenced ones are
 *  dropped. A change marks the engines that refer to it.
 *  Out: values by key. Not here: which are referred to (engine-binding.ts). */
import { isSameJson, own } from '@pergola/engine/metadata';
import type { ObservedVersion } from '../kinds.ts';
import type { Observed } from '../ports/resources.ts';
import { type KubeObject, Reflector } from './reflector.ts';
import { sleep, type Timers } from './timers.ts';
import { type ApiProblem, hasStatus, type Transport } from './transport.ts';

export type Reference = {
  readonly kind: 'secrets' | 'configmaps';
  readonly namespace: string;
  readonly name: string;
};

type Holder = KubeObject & { readonly data?: Readonly<Record<string, string>> };

export type ReferencesOptions = {
  readonly transport: Transport;
  readonly timers: Timers;
  /** Called when a value that the engine uses changed. */
  readonly onChange: (engine: string) => void;
  readonly onProblem: (path: string, problem: Error) => void;
};

/** The longest wait for the first read of new references. */
const FIRST_READ_MS = 5000;
const LOOK_MS = 20;

export class References {
  readonly #options: ReferencesOptions;
  readonly #wanted = new Map<string, readonly Reference[]>();
  readonly #reflectors = new Map<string, Reflector<Holder>>();
  readonly #stop = new AbortController();

  constructor(options: ReferencesOptions) {
    this.#options = options;
  }

  /** Replaces the references of `engine`. Resolves to whether they have been read. Forbidden references count as read and missing. */
  async want(engine: string, references: readonly Reference[]): Promise<boolean> {
    if (references.length === 0) this.#wanted.delete(engine);
    else this.#wanted.set(engine, references);
    const all = new Map([...this.#wanted.values()].flat().map((reference) => [idOf(reference), reference]));
    for (const [id, reflector] of this.#reflectors) {
      if (all.has(id)) continue;
      this.#reflectors.delete(id);
      void reflector.stop();
    }
    for (const [id, reference] of all) if (!this.#reflectors.has(id)) this.#open(id, reference);
    return this.#read(references.map(idOf));
  }

  /** Returns the value of a key; undefined when it does not exist or may not be read. */
  valueOf(reference: Reference, key: string): string | undefined {
    const [holder] = this.#reflectors.get(idOf(reference))?.objects.values() ?? [];
    const value = own(holder?.data, key);
    if (value === undefined || reference.kind === 'configmaps') return value;
    return Buffer.from(value, 'base64').toString('utf8');
  }

  /** Returns the keys; undefined when there is no such object, or it may not be read. */
  keysOf(reference: Reference): readonly string[] | undefined {
    const [holder] = this.#reflectors.get(idOf(reference))?.objects.values() ?? [];
    return holder && Object.keys(holder.data ?? {});
  }

  /** Returns why the reference may not be read; undefined when it may, or was not read yet. */
  refusalOf(reference: Reference): string | undefined {
    const problem = this.#reflectors.get(idOf(reference))?.problem;
    return isForbidden(problem) ? problem.message : undefined;
  }

  /** Returns the versions of the references that exist. */
  observed(references: readonly Reference[]): Observed {
    const versionsOf = (kind: Reference['kind']): readonly ObservedVersion[] => {
      const ids = new Set(references.filter((reference) => reference.kind === kind).map(idOf));
      const holders = [...ids].flatMap((id) => [...(this.#reflectors.get(id)?.objects.values() ?? [])]);
      return holders
        .map(({ metadata: { name, resourceVersion } }) => ({ name, resourceVersion }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    };
    const [secrets, configMaps] = [versionsOf('secrets'), versionsOf('configmaps')];
    return {
      ...(secrets.length > 0 ? { observedSecrets: secrets } : {}),
      ...(configMaps.length > 0 ? { observedConfigMaps: configMaps } : {}),
    };
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all([...this.#reflectors.values()].map((reflector) => reflector.stop()));
  }

  #open(id: string, { kind, namespace, name }: Reference): void {
    const { transport, timers, onChange, onProblem } = this.#options;
    const notify = () => {
      for (const [engine, wanted] of this.#wanted) {
        if (wanted.some((reference) => idOf(reference) === id)) onChange(engine);
      }
    };
    const path = `/api/v1/namespaces/${namespace}/${kind}`;
    const reflector = new Reflector<Holder>({
      transport,
      timers,
      path,
      fieldSelector: `metadata.name=${name}`,
      isSame: (before, after) => isSameJson(before.data ?? {}, after.data ?? {}),
      onChange: notify,
      onSettled: () => {},
      onProblem: (problem) => onProblem(`${path}/${name}`, problem),
    });
    this.#reflectors.set(id, reflector);
    reflector.start();
  }

  async #read(ids: readonly string[]): Promise<boolean> {
    const { timers } = this.#options;
    const until = timers.nowMs() + FIRST_READ_MS;
    const isOpen = () =>
      ids.some((id) => {
        const reflector = this.#reflectors.get(id);
        return reflector && !reflector.isSynced && !isForbidden(reflector.problem);
      });
    while (isOpen() && timers.nowMs() < until && !this.#stop.signal.aborted) {
      await sleep(timers, LOOK_MS, this.#stop.signal);
    }
    return !isOpen();
  }
}

function isForbidden(problem: Error | undefined): problem is ApiProblem {
  return hasStatus(problem, 403);
}

function idOf({ kind, namespace, name }: Reference): string {
  return `${kind}/${namespace}/${name}`;
}
