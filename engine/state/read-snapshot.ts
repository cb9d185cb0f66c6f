/** A stored document → the snapshot that serves it. Sources and remote schemas are read again where their catalog may have changed.
 *  In: the document, the gateway, what of the current snapshot may be reused. Out: a Snapshot. Never fails because of a source or a remote
 *  schema: its objects are inconsistent. None is waited for longer than the others can wait: what was known of it stands for its answer
 *  until that is there (take-in.ts).
 *  Not here: when a document is read, and whether its snapshot is published (state.ts); one database that changed (refresh-catalog.ts). */
import { normalMetadata } from '../metadata/normal-form.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { type Source, SourceConfiguration } from '../metadata/schema/source.ts';
import { type NamedVariable, variablesIn, variablesOf } from '../metadata/variables.ts';
import type { Upstream, Upstreams } from '../resolve/remote-schema.ts';
import type { StoredDocument } from '../store/document.ts';
import {
  type Gateway,
  isSameConnection,
  isSameEndpoint,
  keyOfRemote,
  keyOfSource,
  remoteWithoutAnswer,
  withoutAnswer,
} from './gateway.ts';
import type { Catalogs, Snapshot, SourceCatalog } from './snapshot.ts';
import { TargetReading } from './target-readings.ts';

export type Reusable = {
  readonly current: Snapshot | undefined;
  /** True when every catalog and introspection may be out of date. Otherwise they are valid where the document has the same. */
  readonly isFresh: boolean;
  /** References whose text may have changed since. */
  readonly changed: ReadonlySet<string>;
  /** How long targets are waited for that do not answer. */
  readonly patienceMs: number;
};

export async function readSnapshot(
  stored: StoredDocument,
  gateway: Gateway,
  reusable: Reusable,
): Promise<Snapshot> {
  const metadata = normalMetadata(stored.document);
  const [catalogs, upstreams] = await Promise.all([
    catalogsOf(metadata, gateway, reusable),
    upstreamsOf(metadata, gateway, reusable),
  ]);
  const { model, inconsistencies } = await gateway.resolve(stored.document, catalogs, upstreams);
  return {
    id: stored.id,
    versions: stored.versions,
    resourceVersion: stored.versions.resource,
    document: stored.document,
    damaged: stored.damaged,
    metadata,
    catalogStates: stored.catalogStates,
    catalogs,
    upstreams,
    model,
    inconsistencies,
  };
}

async function catalogsOf(
  metadata: Metadata,
  gateway: Gateway,
  { current, isFresh, changed, patienceMs }: Reusable,
): Promise<Catalogs> {
  const before = new Map(current?.metadata.sources.map((source) => [source.name, source]));
  const entries = metadata.sources.map(async (source): Promise<[string, SourceCatalog]> => {
    const catalog = current?.catalogs.get(source.name);
    const isMoved = refersTo(variablesIn(SourceConfiguration, source.configuration), changed);
    const isValid = !isFresh && catalog && !isMoved && isCovered(before.get(source.name), source, catalog);
    if (isValid && !('error' in catalog)) {
      const reading = new TargetReading(() => gateway.completeOrIntrospect(source, catalog));
      return [source.name, await answerIn<SourceCatalog>(patienceMs, reading, () => catalog)];
    }
    const reading = begin(gateway, keyOfSource(source), () => gateway.introspect(source), catalog);
    const isSame = catalog && !('error' in catalog) && isSameConnection(before.get(source.name), source);
    const without = () =>
      isSame && !isMoved ? { ...catalog, awaits: reading } : withoutAnswer(catalog, reading);
    return [source.name, await answerIn<SourceCatalog>(patienceMs, reading, without)];
  });
  return new Map(await Promise.all(entries));
}

/** Returns the upstreams of the document. Failed ones are introspected again. */
async function upstreamsOf(
  metadata: Metadata,
  gateway: Gateway,
  { current, isFresh, changed, patienceMs }: Reusable,
): Promise<Upstreams> {
  const before = new Map(current?.metadata.remote_schemas?.map((remote) => [remote.name, remote]));
  const remotes = metadata.remote_schemas ?? [];
  const entries = remotes.map(async (remote): Promise<[string, Upstream]> => {
    const upstream = current?.upstreams.get(remote.name);
    // A new token in a header needs no new introspection, which could fail.
    const isMoved = refersTo(
      variablesOf('remote_schema', remote).filter(({ path }) => !path.includes('headers')),
      changed,
    );
    const isSame =
      upstream &&
      !('error' in upstream) &&
      !upstream.late &&
      !isMoved &&
      isSameEndpoint(before.get(remote.name), remote.definition);
    if (isSame && !isFresh) return [remote.name, upstream];
    const read = () => gateway.introspectRemote(remote, metadata);
    const reading = begin(gateway, keyOfRemote(remote), read, upstream);
    const without = () =>
      isSame ? { ...upstream, awaits: reading } : remoteWithoutAnswer(remote, upstream, reading);
    return [remote.name, await answerIn<Upstream>(patienceMs, reading, without)];
  });
  return new Map(await Promise.all(entries));
}

/** Begins a reading. Only a target that has not answered before is asked once for several readers: an answer that is on its way may be
 *  older than the change that this reading follows. */
function begin<T extends object>(
  { readings }: Gateway,
  key: string,
  read: () => Promise<T>,
  known: object | undefined,
): TargetReading<T> {
  return !known || 'error' in known ? readings.begin(key, read) : readings.beginOwn(key, read);
}

/** Returns the answer, or what `without` returns when it takes longer. */
async function answerIn<T extends object>(
  patienceMs: number,
  reading: TargetReading<T>,
  without: () => T,
): Promise<T> {
  if (await reading.isAnsweredIn(patienceMs - reading.ageMs)) return reading.answer;
  reading.isLate = true;
  return without();
}

function refersTo(variables: readonly NamedVariable[], changed: ReadonlySet<string>): boolean {
  return changed.size > 0 && variables.some(({ name }) => changed.has(name));
}

/** True when the catalog is still valid for the source: the connection is unchanged, and the catalog has every newly tracked table. A
 *  table it lacks may be newer than the catalog. */
function isCovered(before: Source | undefined, after: Source, catalog: SourceCatalog): boolean {
  if ('error' in catalog || !before || !isSameConnection(before, after)) return false;
  const kept = new Set(before.tables);
  return after.tables.every((table) => {
    if (kept.has(table)) return true;
    const key = qualifiedKey(table.table);
    return catalog.tables.has(key) || before.tables.some((tracked) => qualifiedKey(tracked.table) === key);
  });
}
