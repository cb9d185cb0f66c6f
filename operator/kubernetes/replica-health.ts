/** Combines the inconsistent objects of all replicas of an engine: one replica may have lost a database that the others reach. An object
 *  is inconsistent when any replica reports it, with the address of that replica. Otherwise conditions would alternate.
 *  In and out: an EnginePort. Not here: the replicas (replicas.ts), the versions they serve (engine/replica-sync.ts). */
import { stateVersionOf } from '@pergola/engine/metadata';
import type { ReplicaVersion } from '../kinds.ts';
import type { EnginePort, EngineVersions } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { InconsistentObject } from '../ports/inconsistent-object.ts';

export type Replica = {
  readonly address: string;
  readonly engine: Pick<EnginePort, 'state' | 'inconsistent'>;
  readonly close: () => void;
};

/** Returns the engine with the inconsistent objects of all replicas. `replicas` may be empty and never rejects. */
export function withReplicas(engine: EnginePort, replicas: () => Promise<readonly Replica[]>): EnginePort {
  /** True when the replicas differed at the last comparison: only then are their lists read. */
  let isDivided = false;
  const union = async (version: number, own: readonly InconsistentObject[]) =>
    isDivided ? unionOf(own, await onReplicas(replicas, (each) => each.inconsistent(version))) : own;
  return {
    ...engine,
    read: async () => {
      const reading = await engine.read();
      return { ...reading, inconsistent: await union(reading.resourceVersion, reading.inconsistent) };
    },
    write: async (change) => {
      const written = await engine.write(change);
      return { ...written, inconsistent: await union(written.resourceVersion, written.inconsistent) };
    },
    inconsistent: async (version) => {
      const own = await engine.inconsistent(version);
      return own && (await union(version, own));
    },
    state: async (options) => {
      const own = await engine.state(options);
      const states = await onReplicas(replicas, (each) => each.state({ isUnchecked: true }));
      isDivided = states.some(({ found }) => found.stateVersion !== own.stateVersion);
      const versions = { ...own, replicas: states.flatMap(versionOf) };
      if (!isDivided) return versions;
      const inconsistent = await engine.inconsistent(own.resourceVersion);
      if (!inconsistent) return versions;
      const all = await union(own.resourceVersion, inconsistent);
      return { ...versions, stateVersion: stateVersionOf(all) };
    },
  };
}

type Found<T> = { readonly address: string; readonly found: T };

/** Returns the answers of replicas, by address. A replica that does not answer or serves another version is absent. */
async function onReplicas<T>(
  replicas: () => Promise<readonly Replica[]>,
  query: (engine: Replica['engine']) => Promise<T | undefined>,
): Promise<readonly Found<T>[]> {
  const answers = (await replicas()).map(async ({ address, engine, close }): Promise<readonly Found<T>[]> => {
    try {
      const found = await query(engine);
      return found === undefined ? [] : [{ address, found }];
    } catch (error) {
      if (!(error instanceof EngineProblem)) throw error;
      return [];
    } finally {
      close();
    }
  });
  return (await Promise.all(answers)).flat();
}

function versionOf({ address, found: { engineVersion } }: Found<EngineVersions>): readonly ReplicaVersion[] {
  return engineVersion === undefined ? [] : [{ address, engineVersion }];
}

function unionOf(
  own: readonly InconsistentObject[],
  others: readonly Found<readonly InconsistentObject[]>[],
): readonly InconsistentObject[] {
  const all = new Map(own.map((object) => [object.key, object]));
  for (const { address, found } of others) {
    for (const object of found) {
      if (all.has(object.key)) continue;
      all.set(object.key, { ...object, reason: `${object.reason} (on replica ${address})` });
    }
  }
  return [...all.values()];
}
