/** Reads the catalog of one source again, as `reload_metadata` does, after its tables changed without the engine. Stores nothing.
 *  After a migration that this engine ran it notifies the other replicas. In: the current snapshot. Out: the next one; undefined if the database does not answer, or if another engine has written the
 *  document since: its write may belong to the change. Not here: when this is necessary (source-watch.ts). */
import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '../catalog/types.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { Gateway } from './gateway.ts';
import type { Snapshot } from './snapshot.ts';
import { UnitOfWork } from './unit-of-work.ts';

export async function refreshCatalog(
  base: Snapshot,
  gateway: Gateway,
  name: string,
  { hasMigrated = false } = {},
): Promise<Snapshot | undefined> {
  const source = base.metadata.sources.find((each) => each.name === name);
  const before = base.catalogs.get(name);
  if (!source || !before || 'error' in before) return undefined;
  const work = new UnitOfWork(base, gateway);
  try {
    await work.introspect(source);
    const after = work.catalogs.get(name);
    if (!after || 'error' in after) return undefined;
    // The model keeps its identity, so that plans and role schemas stay cached.
    const isSame = isSameCatalog(before, after);
    if (isSame && !hasMigrated) return { ...base, catalogs: work.catalogs };
    if ((await gateway.store.versions()).resource !== base.versions.resource) return undefined;
    // Otherwise the triggers of the next document could be dropped, because they do not fit this one.
    work.confirmsBase = true;
    work.touchesCatalog = hasMigrated;
    work.tolerate(await work.addedInconsistencies());
    const next = await work.commit();
    return isSame ? { ...next, model: base.model, inconsistencies: base.inconsistencies } : next;
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'conflict') return undefined;
    throw error;
  } finally {
    await work.rollback();
  }
}

/** True when nothing differs except fingerprints. */
function isSameCatalog(before: Catalog, after: Catalog): boolean {
  const bare = ({ fingerprints: _, ...catalog }: Catalog) => ({ ...catalog, lost: undefined });
  return before.lost === undefined && isDeepStrictEqual(bare(before), bare(after));
}
