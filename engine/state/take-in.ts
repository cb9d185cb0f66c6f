/** Takes the answer of a database or remote schema, which was not there when its document was published, into the snapshot. Stores
 *  nothing, but creates event triggers that the database lacks: they were declared while it did not answer.
 *  In: the current snapshot and the answer. Out: the next one; undefined if the target has been read or changed otherwise since, or if
 *  another engine has written the document. Not here: who asks (target-recovery.ts, target-readings.ts). */
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Upstream } from '../resolve/remote-schema.ts';
import { lacksTriggers } from './event-capture.ts';
import { type Gateway, keyOfRemote, keyOfSource } from './gateway.ts';
import { commitRefreshed } from './refresh-catalog.ts';
import type { Snapshot, SourceCatalog } from './snapshot.ts';
import type { TargetWaits } from './target-waits.ts';
import { UnitOfWork } from './unit-of-work.ts';

/** An answer and its target. `seen`: the reading that was awaited when the answer was asked for. */
export type Arrival = {
  readonly key: string;
  readonly answer: SourceCatalog | Upstream;
  readonly seen: object | undefined;
};

/** Throws TargetsPending. */
export async function takeIn(
  base: Snapshot,
  gateway: Gateway,
  arrival: Arrival,
  waits: TargetWaits,
): Promise<Snapshot | undefined> {
  const work = new UnitOfWork(base, gateway, { waits });
  try {
    if (!(await put(work, base.metadata, arrival))) return undefined;
    return await commitRefreshed(work);
  } finally {
    await work.rollback();
  }
}

/** Puts the answer into the draft. Returns false if nothing waits for it. */
async function put(
  work: UnitOfWork,
  { sources, remote_schemas: remotes = [] }: Metadata,
  { key, answer, seen }: Arrival,
): Promise<boolean> {
  const source = sources.find((each) => keyOfSource(each) === key);
  if (source) {
    if (!isMissing(work.catalogs.get(source.name), seen)) return false;
    work.setCatalog(source, answer as SourceCatalog);
    const { model } = await work.resolution();
    const triggers = [...(model.sources.get(source.name)?.eventTriggers.values() ?? [])];
    if (triggers.length === 0) return true;
    await work.reach(source);
    if (await lacksTriggers(work.database(source), triggers)) work.recreatedTriggers.add(source.name);
    return true;
  }
  const remote = remotes.find((each) => keyOfRemote(each) === key);
  if (!remote || !isMissing(work.upstreams.get(remote.name), seen)) return false;
  work.setUpstream(remote.name, answer as Upstream);
  return true;
}

/** True when the target has no answer, or one that is assumed, since the same reading. */
function isMissing(
  known: { readonly awaits?: object | undefined } | undefined,
  seen: object | undefined,
): boolean {
  return known === undefined || (isWithoutAnswer(known) && known.awaits === seen);
}

/** True when what is known of a target is a failure or assumed, so that it has to be asked again. */
export function isWithoutAnswer(known: { readonly awaits?: object | undefined }): boolean {
  return 'error' in known || known.awaits !== undefined;
}
