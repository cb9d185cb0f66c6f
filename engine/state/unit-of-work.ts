/** The unit of work of one admin request: a draft of the document, the catalogs that go with it, and transactions open on sources.
 *  Operations change the draft, `validate` checks it (one resolve), `commit` writes it (one save) and commits the sources.
 *  Other requests see nothing before that. Not here: what operations do (admin/perform.ts), which request runs when (state.ts).
 *
 *  Atomicity. If a source is in the metadata database itself, one transaction holds both: all or nothing. For another database the
 *  metadata is written first, under a row lock; then the source commits; then the metadata commits. A source that cannot commit (a
 *  deferred constraint) takes the metadata back with it. After a crash between the two commits the metadata follows the source
 *  (store/intents.ts). Several sources in one request commit one after the other: a crash in between leaves some of them ahead of
 *  the document, which shows as inconsistent objects. */

import type pg from 'pg';
import type { Catalog } from '../catalog/types.ts';
import { type Database, wrapped } from '../database/pool.ts';
import type { OtherConnection } from '../database/sources.ts';
import { type EngineError, fail, type PathStep } from '../errors/engine-error.ts';
import { updateSchedules } from '../events/upcoming-events.ts';
import { isSameJsonText } from '../json/value.ts';
import { inSlices } from '../limits/slices.ts';
import { type DamagedObject, stillDamaged, withDamaged } from '../metadata/damaged.ts';
import type { Links } from '../metadata/dependencies.ts';
import { editsBetween } from '../metadata/diff.ts';
import { mergePatch } from '../metadata/merge-patch.ts';
import { normalMetadata } from '../metadata/normal-form.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';
import { targetOfField } from '../resolve/field-target.ts';
import type { Inconsistency } from '../resolve/model/inconsistency.ts';
import type { Upstream, Upstreams } from '../resolve/remote-schema.ts';
import type { Resolution } from '../resolve/resolve.ts';
import { type CatalogStates, changesOperator, patchStates, setStates } from '../store/catalog-states.ts';
import type { Authorship, MetadataWrite, Versions } from '../store/document.ts';
import { atEdit, causingPath, type PathOfObject, type RequestEdit, rootOf } from './blame.ts';
import { applyEventTriggers } from './event-capture.ts';
import {
  type Gateway,
  isSameConnection,
  isSameEndpoint,
  keyOfRemote,
  keyOfSource,
  NO_ANSWER,
  remoteWithoutAnswer,
  withoutAnswer,
} from './gateway.ts';
import { newInconsistencies, refuseInconsistencies } from './inconsistencies.ts';
import type { OpenTransaction } from './open-transaction.ts';
import { type Attempted, keyOfOther } from './other-connections.ts';
import { isSameCatalog } from './same-catalog.ts';
import type { Catalogs, Snapshot, SourceCatalog } from './snapshot.ts';
import { SourceTransactions } from './source-transactions.ts';
import { TargetReading } from './target-readings.ts';
import { type TargetRequest, TargetWaits } from './target-waits.ts';

/** Everything an operation may change before the commit. Immutable, so that it is its own checkpoint. */
type DraftState = {
  /** The document as it was given. */
  readonly document: Metadata;
  readonly damaged: readonly DamagedObject[];
  readonly catalogStates: CatalogStates;
  /** The patches of the operator's state since the base; undefined once that state was set as a whole. */
  readonly operatorPatches: readonly unknown[] | undefined;
  readonly catalogs: Catalogs;
  readonly upstreams: Upstreams;
  /** The sources this request has introspected, as they are configured: see `identityOf`. */
  readonly introspected: ReadonlySet<string>;
  /** Inconsistencies that an operation accepts. */
  readonly tolerated: readonly Inconsistency[];
  /** The operations that changed the document, in order. */
  readonly edits: readonly RequestEdit[];
};

type UnitOfWorkOptions = {
  readonly isOperator?: boolean;
  readonly signal?: AbortSignal | undefined;
  /** How long targets are waited for. By default as long as their requests take. */
  readonly waits?: TargetWaits;
};

type Resolved = Pick<Snapshot, 'metadata' | 'catalogs' | 'upstreams'> & { readonly resolution: Resolution };

export class UnitOfWork {
  readonly base: Snapshot;
  readonly gateway: Gateway;
  /** The operator's ledger; null if the request comes from the operator itself. */
  readonly ledger: (() => unknown) | null;
  /** Set by reload_metadata, which increments the resource version even if nothing differs. */
  touchesResource = false;
  /** Set by run_sql and reload_metadata, after which other replicas must introspect again. */
  touchesCatalog = false;
  /** Set before a database is changed for a document that stays as it is: the commit then raises `conflict` if another engine has
   *  written the document meanwhile. */
  confirmsBase = false;
  /** The names of sources whose event triggers are created anew. */
  readonly recreatedTriggers = new Set<string>();
  /** Actions that cannot be undone and therefore run after everything else is written. */
  readonly afterCommit: (() => Promise<void>)[] = [];
  /** True while the commit in another database was sent and its result is not known. */
  isInDoubt = false;
  /** False once something happened that a second attempt would do twice (SQL outside a transaction). */
  isRepeatable = true;
  #draft: DraftState;
  #resolved: Resolved;
  readonly #waits: TargetWaits;
  /** The number of readings so far that are not shared. They are the same when the request is repeated. */
  #readings = 0;
  readonly #transactions = new SourceTransactions(
    (source) => this.database(source),
    (source) => this.gateway.answers(source),
  );
  readonly #abandoned = new AbortController();
  /** Stops listening for the client's disconnect. */
  readonly #ignoreDisconnect: () => void;

  constructor(base: Snapshot, gateway: Gateway, { signal, ...options }: UnitOfWorkOptions = {}) {
    this.#waits = options.waits ?? new TargetWaits();
    const abandon = () => this.#abandoned.abort(signal?.reason);
    if (signal?.aborted) abandon();
    signal?.addEventListener('abort', abandon);
    this.#ignoreDisconnect = () => signal?.removeEventListener('abort', abandon);
    this.base = base;
    this.gateway = gateway;
    this.ledger = options.isOperator ? null : () => base.catalogStates.operator;
    const { document, damaged, metadata, catalogStates, catalogs, upstreams } = base;
    const empty = { operatorPatches: [], introspected: new Set<string>(), tolerated: [], edits: [] };
    this.#draft = { document, damaged, catalogs, upstreams, catalogStates, ...empty };
    this.#resolved = { metadata, catalogs, upstreams, resolution: base };
  }

  /** Aborted when the client disconnects before the request commits. */
  get signal(): AbortSignal {
    return this.#abandoned.signal;
  }

  /** The document as it was given, which operations edit. */
  get document(): Metadata {
    return this.#draft.document;
  }

  /** The damaged objects of the stored document that the draft neither replaces nor drops. */
  get damaged(): readonly DamagedObject[] {
    return stillDamaged(this.document, this.#draft.damaged);
  }

  /** Drops the damaged objects with these keys; all of them without keys. */
  dropDamaged(keys?: readonly string[]): void {
    const kept = keys ? this.#draft.damaged.filter(({ key }) => !keys.includes(key)) : [];
    if (kept.length < this.#draft.damaged.length) this.#change({ damaged: kept });
  }

  /** The document in normal form. */
  get metadata(): Metadata {
    return normalMetadata(this.#draft.document);
  }

  get catalogs(): Catalogs {
    return this.#draft.catalogs;
  }

  get upstreams(): Upstreams {
    return this.#draft.upstreams;
  }

  get catalogStates(): CatalogStates {
    return this.#draft.catalogStates;
  }

  /** The tables that relationships, computed fields and functions of the base lead to, which only a database knows. */
  get links(): Links {
    const { sources } = this.base.model;
    return {
      field: (source, table, name) =>
        targetOfField(sources.get(source)?.tables.get(qualifiedKey(table)), name),
      function: (source, name) => sources.get(source)?.functions.get(qualifiedKey(name))?.returns,
    };
  }

  edit(path: readonly PathStep[], document: Metadata, pathOf?: PathOfObject): void {
    const { edits } = this.#draft;
    if (document !== this.document) this.#change({ document, edits: [...edits, { path, document, pathOf }] });
  }

  setCatalogState(kind: keyof CatalogStates, state: unknown): void {
    this.#change({ catalogStates: setStates(this.catalogStates, { [kind]: state }) });
    if (kind === 'operator') this.#change({ operatorPatches: undefined });
  }

  /** Applies a JSON Merge Patch to a state. */
  patchCatalogState(kind: keyof CatalogStates, patch: unknown): void {
    const { catalogStates, operatorPatches } = this.#draft;
    if (kind !== 'operator' || !operatorPatches) {
      this.setCatalogState(kind, mergePatch(catalogStates[kind], patch));
    } else if (changesOperator(catalogStates, patch)) {
      this.#change({
        catalogStates: patchStates(catalogStates, [patch]),
        operatorPatches: [...operatorPatches, patch],
      });
    }
  }

  /** Records the catalog that a source has now. */
  setCatalog(source: Source, catalog: SourceCatalog): void {
    this.#change({
      introspected: new Set(this.#draft.introspected).add(keyOfSource(source)),
      catalogs: new Map(this.catalogs).set(source.name, catalog),
    });
  }

  /** Returns the draft as it is now, for `restore`. */
  checkpoint(): DraftState {
    return this.#draft;
  }

  restore(checkpoint: DraftState): void {
    this.#draft = checkpoint;
  }

  #change(changes: Partial<DraftState>): void {
    this.#draft = { ...this.#draft, ...changes };
  }

  /** Runs `body`. If it throws, its changes to the draft and in open transactions are undone. */
  async attempt<T>(body: () => Promise<T>): Promise<T> {
    const before = this.checkpoint();
    try {
      return await this.#transactions.attempt(body);
    } catch (error) {
      this.restore(before);
      throw error;
    }
  }

  source(name: string): Source | undefined {
    return this.metadata.sources.find((source) => source.name === name);
  }

  /** Returns the source of that name. Raises `sourceNotFound`. */
  requireSource(name: string): Source {
    return this.source(name) ?? fail('sourceNotFound', { source: name });
  }

  /** Resolves the draft, once for each state of it. Catalogs must cover its sources: see `ensureCatalogs`. */
  async resolution(): Promise<Resolution> {
    if (this.#isResolved()) return this.#resolved.resolution;
    const { metadata } = this;
    const { catalogs, upstreams } = this.#draft;
    const resolution = await this.gateway.resolve(this.document, catalogs, upstreams);
    this.#resolved = { metadata, catalogs, upstreams, resolution };
    return resolution;
  }

  /** The resolution of the draft, after a call that needed it. */
  get resolved(): Resolution {
    if (!this.#isResolved()) throw new Error('the draft has changed since it was resolved');
    return this.#resolved.resolution;
  }

  #isResolved(): boolean {
    const { metadata, catalogs, upstreams } = this.#resolved;
    return (
      metadata === this.metadata && catalogs === this.#draft.catalogs && upstreams === this.#draft.upstreams
    );
  }

  /** Introspects sources and remote schemas that are new or connect elsewhere than in the base, and drops the catalogs of removed
   *  ones. */
  async ensureCatalogs(): Promise<void> {
    await this.#ensureUpstreams();
    const { sources } = this.metadata;
    if (sources === this.base.metadata.sources) return;
    const before = new Map(this.base.metadata.sources.map((source) => [source.name, source]));
    const unknown = sources.filter(
      (source) =>
        !this.#draft.introspected.has(keyOfSource(source)) &&
        (!this.catalogs.has(source.name) || !isSameConnection(before.get(source.name), source)),
    );
    await Promise.all(unknown.map((source) => this.#connect(source)));
    for (const source of sources) await this.#complete(source);
    this.#change({ catalogs: restrictedTo(sources, this.catalogs) });
  }

  async #connect(source: Source): Promise<void> {
    const others = this.gateway.sources.newOthersOf(source);
    const [catalog] = await Promise.all([
      this.#connectPrimary(source),
      ...others.map((other) => this.#tryOther(other)),
    ]);
    this.setCatalog(source, catalog);
  }

  async #connectPrimary(source: Source): Promise<SourceCatalog> {
    const inside = this.#transactions.clientOf(source);
    if (inside) return this.gateway.introspect(source, inside);
    const key = keyOfSource(source);
    const seen = this.base.catalogs.get(source.name);
    return this.#answerOf<SourceCatalog>(key, {
      seen,
      begin: () => this.gateway.readings.begin(key, () => this.gateway.introspect(source)),
      without: (awaited) => withoutAnswer(seen, awaited),
    });
  }

  async #tryOther(other: OtherConnection): Promise<void> {
    const key = keyOfOther(other);
    const attempted = await this.#answerOf<Attempted>(key, {
      seen: undefined,
      begin: () => this.gateway.readings.begin(key, () => this.gateway.tryOther(other)),
      without: () => ({ error: NO_ANSWER }),
    });
    this.gateway.others.note(other, attempted);
  }

  async #ensureUpstreams(): Promise<void> {
    const remotes = this.metadata.remote_schemas ?? [];
    const before = new Map(this.base.metadata.remote_schemas?.map((remote) => [remote.name, remote]));
    const unknown = remotes.filter(({ name, definition }) => {
      const upstream = this.upstreams.get(name);
      if (!upstream) return true;
      return upstream === this.base.upstreams.get(name) && !isSameEndpoint(before.get(name), definition);
    });
    await Promise.all(
      unknown.map(async (remote) => {
        const key = keyOfRemote(remote);
        const seen = this.base.upstreams.get(remote.name);
        const read = () => this.gateway.introspectRemote(remote, this.metadata);
        const upstream = await this.#answerOf<Upstream>(key, {
          seen,
          begin: () => this.gateway.readings.begin(key, read),
          without: (awaited) => remoteWithoutAnswer(remote, seen, awaited),
        });
        this.setUpstream(remote.name, upstream);
      }),
    );
    this.#change({ upstreams: restrictedTo(remotes, this.upstreams) });
  }

  /** Introspects the remote schema again. */
  async introspectRemote(remote: RemoteSchema): Promise<Upstream> {
    const key = keyOfRemote(remote);
    const seen = this.upstreams.get(remote.name);
    const read = () => this.gateway.introspectRemote(remote, this.metadata);
    const upstream = await this.#answerOf<Upstream>(this.#nextKey(key), {
      seen,
      begin: () => this.gateway.readings.beginOwn(key, read),
      without: (awaited) => remoteWithoutAnswer(remote, seen, awaited),
    });
    this.setUpstream(remote.name, upstream);
    return upstream;
  }

  /** Returns the answer of a target, in this turn or after it. Throws TargetsPending. */
  #answerOf<T extends object>(key: string, request: Omit<TargetRequest<T>, 'staysInTurn'>): Promise<T> {
    return this.#waits.answer(key, { ...request, staysInTurn: !this.isRepeatable });
  }

  /** Returns the key of one reading: a request may read a target several times. */
  #nextKey(key: string): string {
    this.#readings++;
    return `${this.#readings} ${key}`;
  }

  setUpstream(name: string, upstream: Upstream): void {
    this.#change({ upstreams: new Map(this.upstreams).set(name, upstream) });
  }

  /** Introspects the source again, inside its open transaction if there is one. */
  async introspect(source: Source): Promise<void> {
    this.setCatalog(source, await this.readCatalog(source));
  }

  /** Returns the catalog that the source has now, inside its open transaction if there is one. */
  async readCatalog(source: Source): Promise<SourceCatalog> {
    const inside = this.#transactions.clientOf(source);
    if (inside) return this.gateway.introspect(source, inside);
    const key = keyOfSource(source);
    const seen = this.catalogs.get(source.name);
    return this.#answerOf<SourceCatalog>(this.#nextKey(key), {
      seen,
      begin: () => this.gateway.readings.beginOwn(key, () => this.gateway.introspect(source)),
      without: (awaited) => withoutAnswer(seen, awaited),
    });
  }

  /** Validates new native queries and reads the rows of new enum tables. */
  async #complete(source: Source): Promise<void> {
    const catalog = this.catalogs.get(source.name);
    if (!catalog || 'error' in catalog) return;
    const complete = await this.#completed(source, catalog);
    if (complete !== catalog) this.#change({ catalogs: new Map(this.catalogs).set(source.name, complete) });
  }

  async #completed(source: Source, catalog: Catalog): Promise<Catalog> {
    const inside = this.#transactions.clientOf(source);
    if (inside) return this.gateway.complete(source, catalog, inside);
    return this.#answerOf<Catalog>(this.#nextKey(source.name), {
      seen: catalog,
      begin: () => new TargetReading(() => this.gateway.complete(source, catalog)),
      without: () => catalog,
    });
  }

  /** The database of a source on connections beside the request's transaction there, which they do not see and may wait for: an operation
   *  that can follow a change of the source reads through `reader`. What runs is cancelled when the client disconnects. */
  database(source: Source): Database {
    return wrapped(this.gateway.database(source), { signal: this.signal });
  }

  /** Returns the request's transaction on the source if one is open, or else its database. */
  reader(source: Source): pg.ClientBase | Database {
    return this.#transactions.clientOf(source) ?? this.database(source);
  }

  hasTransaction(source: Source): boolean {
    return this.#transactions.clientOf(source) !== undefined;
  }

  /** Returns the request's transaction on a source. The first call begins it. Raises `sourceUnreachable` for a database that does not
   *  answer: nobody must wait for it with the turn. */
  async transaction(source: Source): Promise<OpenTransaction> {
    if (!this.hasTransaction(source)) await this.reach(source);
    return this.#transactions.begin(source);
  }

  /** Returns once the database of the source has answered. Raises `sourceUnreachable` if it does not. */
  async reach(source: Source): Promise<void> {
    const key = `reach ${keyOfSource(source)}`;
    const { error } = await this.#answerOf<Attempted>(key, {
      seen: undefined,
      begin: () => this.gateway.readings.begin(key, () => this.gateway.reach(source), { isFresh: true }),
      without: () => ({ error: NO_ANSWER }),
    });
    if (error !== undefined) fail('sourceUnreachable', { reason: error });
  }

  /** Begins a transaction in place of one that SQL of the client has ended, and returns true when it had. The request then happens once. */
  async renewTransaction(source: Source): Promise<boolean> {
    const isRenewed = await this.#transactions.renew(source);
    if (isRenewed) this.isRepeatable = false;
    return isRenewed;
  }

  /** Commits the request's transaction on the source, if one is open, before statements that cannot run inside one. */
  endTransaction(source: Source): Promise<void> {
    return this.#transactions.commitOn(source);
  }

  /** Resolves the draft and returns the inconsistencies it adds to those of the base. If there are any, the catalog may be outdated
   *  (a table was created with psql), so the affected sources are introspected once before the final answer. */
  async addedInconsistencies(): Promise<readonly Inconsistency[]> {
    await this.ensureCatalogs();
    const added = await this.#added();
    const affected = new Set(added.map((inconsistency) => sourceOf(inconsistency.key)));
    const outdated = this.metadata.sources.filter(
      (source) => affected.has(source.name) && !this.#draft.introspected.has(keyOfSource(source)),
    );
    if (outdated.length === 0) return added;
    await this.#confirm(outdated);
    return this.#added();
  }

  /** Introspects sources whose catalogs may be outdated. Those that have not changed keep their identity, so that nothing is resolved
   *  again. Returns true when one has changed. */
  async #confirm(sources: readonly Source[]): Promise<boolean> {
    const before = this.catalogs;
    await Promise.all(sources.map((source) => this.introspect(source)));
    const same = await Promise.all(
      sources.map(async ({ name }) => {
        const [old, now] = [before.get(name), this.catalogs.get(name)];
        if (!old || !now) return false;
        if ('error' in old || 'error' in now) return failsAlike(old, now);
        return inSlices(isSameCatalog(old, now));
      }),
    );
    const changed = sources.filter((_, i) => !same[i]);
    const read = this.catalogs;
    const catalogs = new Map(before);
    for (const { name } of changed) catalogs.set(name, read.get(name)!);
    this.#change({ catalogs: changed.length === 0 ? before : catalogs });
    return changed.length > 0;
  }

  /** Introspects sources and remote schemas again. Those that have not changed keep their identity. Returns true when one has changed. */
  async confirm(sources: readonly Source[], remotes: readonly RemoteSchema[]): Promise<boolean> {
    const changes = remotes.map(async (remote) => {
      const old = this.upstreams.get(remote.name);
      const now = await this.introspectRemote(remote);
      if (!old || !isSameUpstream(old, now)) return true;
      this.setUpstream(remote.name, old);
      return false;
    });
    const hasChanged = await Promise.all([this.#confirm(sources), ...changes]);
    return hasChanged.includes(true);
  }

  /** Raises if the draft adds an inconsistency, at the path of the operation that caused it. */
  async validate(): Promise<void> {
    const added = await this.addedInconsistencies();
    const [first] = added;
    if (!first) return;
    const root = rootOf(added, this.base.metadata, this.metadata);
    const inconsistenciesIn = (document: Metadata) => this.#inconsistenciesIn(document);
    const path = await causingPath(root ?? first, this.#draft.edits, inconsistenciesIn);
    refuseInconsistencies(added, { path, root });
  }

  /** Returns the inconsistencies of a document under the catalogs of the draft. */
  async #inconsistenciesIn(document: Metadata): Promise<readonly Inconsistency[]> {
    return (await this.gateway.resolve(document, this.catalogs, this.upstreams)).inconsistencies;
  }

  /** Accepts these inconsistencies, because the client allows them. */
  tolerate(inconsistencies: readonly Inconsistency[]): void {
    this.#change({ tolerated: [...this.#draft.tolerated, ...inconsistencies] });
  }

  /** Writes the draft, commits the sources with the atomicity that the header describes, and returns the snapshot to publish.
   *  Raises `conflict` if the stored document is no longer the base. */
  async commit(by?: Authorship): Promise<Snapshot> {
    // From here on the request is completed even if its client disconnects.
    this.signal.throwIfAborted();
    this.#ignoreDisconnect();
    const { model, inconsistencies } = await this.resolution();
    const { metadata, damaged } = this;
    const { document, catalogStates, catalogs, upstreams } = this.#draft;
    const after = { metadata, model, catalogs };
    const transaction = (source: Source) => this.transaction(source);
    const { recreatedTriggers: recreated } = this;
    await applyEventTriggers(this.base, after, { transaction, recreated }).catch((error: unknown) => {
      throw atEdit(error, this.#draft.edits);
    });
    const write = await writeBetween(this.base, { ...this.#draft, damaged }, this);
    const versions = await this.#write(write && by ? { ...write, by } : write);
    await updateSchedules(this.gateway.metadataDatabase, this.base.model, model, versions.resource);
    for (const finish of this.afterCommit) await finish();
    return {
      id: this.base.id,
      versions,
      resourceVersion: versions.resource,
      document,
      damaged,
      metadata,
      catalogStates,
      catalogs,
      upstreams,
      model,
      inconsistencies,
    };
  }

  async rollback(): Promise<void> {
    this.#ignoreDisconnect();
    await this.#transactions.rollback();
  }

  async #write(write: MetadataWrite | undefined): Promise<Versions> {
    if (!write) {
      if (this.confirmsBase && this.#transactions.size > 0) await this.#commitWith({});
      else await this.#transactions.commit();
      return this.base.versions;
    }
    return this.#commitWith(write);
  }

  async #commitWith(write: MetadataWrite): Promise<Versions> {
    const { store } = this.gateway;
    const expected = this.base.resourceVersion;
    const home = this.metadata.sources.find(
      (source) => this.hasTransaction(source) && this.gateway.isMetadataDatabase(source),
    );
    if (home) {
      const { client } = await this.transaction(home);
      const versions = await store.saveIn(client, write, expected);
      // The metadata must still be able to roll back if another source cannot commit.
      await this.#transactions.commit(home);
      return versions;
    }
    const transactions = await this.#transactions.written();
    if (transactions.length === 0) {
      const versions = await store.save(write, expected);
      await this.#transactions.commit();
      return versions;
    }
    const commit = () => {
      this.isInDoubt = true;
      return this.#transactions.commit();
    };
    const versions = await store.saveWithForeignCommit(write, expected, { transactions, commit });
    this.isInDoubt = false;
    return versions;
  }

  async #added(): Promise<readonly Inconsistency[]> {
    const known = [...(await this.#baseline()), ...this.#draft.tolerated];
    return newInconsistencies(known, (await this.resolution()).inconsistencies);
  }

  /** Returns the inconsistencies of the base under the current catalogs, so that this request is not blamed for a table that another
   *  client dropped. A source that the request connects elsewhere keeps the catalog of the base. */
  async #baseline(): Promise<readonly Inconsistency[]> {
    const { base } = this;
    if (this.catalogs === base.catalogs) return base.inconsistencies;
    const before = new Map(base.metadata.sources.map((source) => [source.name, source]));
    const moved = this.metadata.sources.filter(
      (source) => !isSameConnection(before.get(source.name), source),
    );
    const current = new Map(this.catalogs);
    for (const { name } of moved) current.delete(name);
    const catalogs = new Map([...base.catalogs, ...current]);
    return (await this.gateway.resolve(base.document, catalogs, base.upstreams)).inconsistencies;
  }
}

/** Returns the shortest write that turns the stored document and states into the draft; undefined if nothing differs. */
async function writeBetween(
  base: Snapshot,
  draft: DraftState,
  { touchesResource, touchesCatalog }: Pick<UnitOfWork, 'touchesResource' | 'touchesCatalog'>,
): Promise<MetadataWrite | undefined> {
  const { document, operatorPatches: patches } = draft;
  const edits = await inSlices(editsBetween(base.document, document));
  const isSame = edits?.length === 0 && draft.damaged === base.damaged;
  // Edits of objects cannot express what happens to damaged ones.
  const isWhole = base.damaged.length > 0 || !edits;
  const metadata = withDamaged(document, draft.damaged) as Metadata;
  const catalogStates = changedStates(base.catalogStates, draft);
  const write: MetadataWrite = {
    ...(isSame ? {} : { metadata, ...(isWhole ? {} : { edits }) }),
    ...(Object.keys(catalogStates).length > 0 ? { catalogStates } : {}),
    ...(patches?.length ? { operatorPatches: patches } : {}),
    ...(touchesResource ? { touchResource: true } : {}),
    ...(touchesCatalog ? { touchCatalog: true } : {}),
  };
  return Object.keys(write).length > 0 ? write : undefined;
}

function isSameUpstream(old: Upstream, now: Upstream): boolean {
  if ('error' in old || 'error' in now) return failsAlike(old, now);
  return old.late === now.late && isSameJsonText(old.introspection, now.introspection);
}

/** Returns true for two readings of a target that fail for the same reason. */
function failsAlike(
  old: object | { readonly error: EngineError },
  now: object | { readonly error: EngineError },
): boolean {
  return 'error' in old && 'error' in now && old.error.message === now.error.message;
}

/** Returns the states that differ. If patches say what changed in the operator's state, that state is not read. */
function changedStates(
  before: CatalogStates,
  { catalogStates: after, operatorPatches: patches }: DraftState,
): Partial<CatalogStates> {
  if (before === after) return {};
  const differs = (kind: keyof CatalogStates) => !isSameJsonText(after[kind], before[kind]);
  const changed = {
    ...(differs('cli') ? { cli: after.cli } : {}),
    ...(differs('console') ? { console: after.console } : {}),
  };
  if (patches ? patches.length === 0 : !differs('operator')) return changed;
  return {
    ...changed,
    get operator() {
      return after.operator;
    },
  };
}

/** Returns the entries of existing sources or remote schemas; the map itself if it has no others. */
function restrictedTo<V>(
  named: readonly { readonly name: string }[],
  map: ReadonlyMap<string, V>,
): ReadonlyMap<string, V> {
  const names = new Set(named.map(({ name }) => name));
  const isComplete = [...map.keys()].every((name) => names.has(name));
  return isComplete ? map : new Map([...map].filter(([name]) => names.has(name)));
}

/** Returns the source in an object key, its second segment: `table/default/public/author`. */
function sourceOf(key: string): string {
  return decodeURIComponent(key.split('/')[1] ?? '');
}
