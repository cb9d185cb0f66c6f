/** An engine whose replicas see different things: one of them may have lost a database that the others reach. What any replica reports
 *  inconsistent is inconsistent, with the address of the replica. Otherwise conditions would follow whichever replica answered last.
 *  In and out: an EnginePort. Not here: which replicas there are (replicas.ts), versions they serve (engine/replica-sync.ts). */
import { stateVersionOf } from '@pergola/engine/metadata';
import { type EnginePort, EngineProblem, type InconsistentObject } from '../ports.ts';

export type Replica = {
  readonly address: string;
  readonly engine: Pick<EnginePort, 'state' | 'inconsistent'>;
  readonly close: () => Promise<unknown>;
};

/** `replicas` may be empty, and never rejects. */
export function withReplicas(engine: EnginePort, replicas: () => Promise<readonly Replica[]>): EnginePort {
  /** Whether the replicas differed when they were last compared: only then are their lists read. */
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
    state: async () => {
      const own = await engine.state();
      const states = await onReplicas(replicas, (each) => each.state({ isUnchecked: true }));
      isDivided = states.some(({ found }) => found.stateVersion !== own.stateVersion);
      if (!isDivided) return own;
      const inconsistent = await engine.inconsistent(own.resourceVersion);
      if (!inconsistent) return own;
      const all = await union(own.resourceVersion, inconsistent);
      return { ...own, stateVersion: stateVersionOf(all) };
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
      await close();
    }
  });
  return (await Promise.all(answers)).flat();
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
