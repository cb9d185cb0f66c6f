/** Reads the catalog of one source again, as `reload_metadata` does, after its tables changed without the engine. Stores nothing.
 *  After a migration that this engine ran it notifies the other replicas. In: the current snapshot. Out: the next one; undefined if the database does not answer, or if another engine has written the
 *  document since: its write may belong to the change. Not here: when this is necessary (source-watch.ts). */

import { EngineError } from '../errors/engine-error.ts';
import { inSlices } from '../limits/slices.ts';
import type { Gateway } from './gateway.ts';
import { isSameCatalog } from './same-catalog.ts';
import type { Snapshot } from './snapshot.ts';
import type { TargetWaits } from './target-waits.ts';
import { UnitOfWork } from './unit-of-work.ts';

type RefreshOptions = { readonly hasMigrated?: boolean; readonly waits?: TargetWaits };

/** Throws TargetsPending. */
export async function refreshCatalog(
  base: Snapshot,
  gateway: Gateway,
  name: string,
  { hasMigrated = false, ...options }: RefreshOptions = {},
): Promise<Snapshot | undefined> {
  const source = base.metadata.sources.find((each) => each.name === name);
  const before = base.catalogs.get(name);
  if (!source || !before || 'error' in before) return undefined;
  const work = new UnitOfWork(base, gateway, options);
  try {
    await work.introspect(source);
    const after = work.catalogs.get(name);
    if (!after || 'error' in after) return undefined;
    // The model keeps its identity, so that plans and role schemas stay cached.
    const isSame = await inSlices(isSameCatalog(before, after));
    if (isSame && !hasMigrated) return { ...base, catalogs: work.catalogs };
    work.touchesCatalog = hasMigrated;
    const next = await commitRefreshed(work);
    return next && isSame ? { ...next, model: base.model, inconsistencies: base.inconsistencies } : next;
  } finally {
    await work.rollback();
  }
}

/** Commits a unit of work that has read targets again and left the document as it is. Returns the snapshot to publish; undefined if
 *  another engine has written the document. */
export async function commitRefreshed(work: UnitOfWork): Promise<Snapshot | undefined> {
  const { base, gateway } = work;
  if ((await gateway.store.versions()).resource !== base.versions.resource) return undefined;
  // Otherwise the triggers of the next document could be dropped, because they do not fit this one.
  work.confirmsBase = true;
  work.tolerate(await work.addedInconsistencies());
  try {
    return await work.commit();
  } catch (error) {
    if (error instanceof EngineError && error.kind === 'conflict') return undefined;
    throw error;
  }
}
