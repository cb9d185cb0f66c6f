/** One admin request's unit of work: a draft of the document, catalogs that go with it, transactions left open on sources.
 *  Operations change the draft; `settle` checks it (one resolve), `commit` writes it (one save) and commits the sources;
 *  nobody else sees anything before. Not here: what operations do (perform.ts), who waits for whom (state.ts).
 *
 *  Atomicity. A source in the metadata database itself: one transaction, all or nothing. Another database: the metadata is
 *  written first, under a row lock, then the source commits, then the metadata. A source that cannot commit (a deferred
 *  constraint) takes the metadata back with it; after a crash between the two commits the metadata follows the source
 *  (store/intents.ts). Several sources in one request commit one after the other: a crash in between leaves one ahead, which
 *  shows as inconsistent objects. */
import type { PathStep } from '../errors/engine-error.ts';
import { followSchedules } from '../events/upcoming.ts';
import { mergePatch } from '../metadata/merge-patch.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Upstream, Upstreams } from '../resolve/remote-schema.ts';
import type { Resolution } from '../resolve/resolve.ts';
import type { Inconsistency } from '../resolve/types.ts';
import { type CatalogStates, changesOperator, patchStates, setStates } from '../store/catalog-states.ts';
import type { ForeignTransaction } from '../store/intents.ts';
import type { Authorship } from '../store/revisions.ts';
import type { Draft, Versions } from '../store/store.ts';
import { draftOf } from './draft.ts';
import { capture } from './event-capture.ts';
import type { Ground } from './ground.ts';
import { newInconsistencies } from './inconsistencies.ts';
import { type OpenTransaction, openTransaction } from './open-transaction.ts';
import { connectsAlike, isSameEndpoint } from './same-place.ts';
import type { Catalogs, Snapshot, SourceCatalog } from './snapshot.ts';
import { refusingSql } from './sql-failure.ts';

/** A state of the draft one can go back to. */
export type Checkpoint = {
  readonly metadata: Metadata;
  readonly states: CatalogStates;
  readonly patches: readonly unknown[] | undefined;
  readonly catalogs: Catalogs;
  readonly upstreams: Upstreams;
  readonly asked: ReadonlySet<string>;
  readonly tolerated: readonly Inconsistency[];
  readonly edits: readonly Edit[];
};

/** A document an operation made, and where that operation stands in the request. */
export type Edit = { readonly path: readonly PathStep[]; readonly metadata: Metadata };

export class Work {
  readonly base: Snapshot;
  readonly ground: Ground;
  /** What custom resources own; null where the request is the operator's own. */
  readonly ledger: (() => unknown) | null;
  /** reload_metadata moves the version even when nothing differs. */
  touchesResource = false;
  /** run_sql and reload_metadata: other replicas must introspect again. */
  touchesCatalog = false;
  /** Sources whose event triggers are made anew. */
  readonly recaptured = new Set<string>();
  /** What cannot be taken back, and so waits until all else is written. */
  readonly afterCommit: (() => Promise<void>)[] = [];
  /** Another database was told to commit, and this process has not heard that all is done. */
  isInDoubt = false;
  /** Something happened that a second attempt would do twice (SQL outside a transaction). */
  isRepeatable = true;
  #metadata: Metadata;
  #states: CatalogStates;
  #patches: readonly unknown[] | undefined = [];
  #catalogs: Catalogs;
  #upstreams: Upstreams;
  #edits: readonly Edit[] = [];
  #tolerated: readonly Inconsistency[] = [];
  #view: Pick<Snapshot, 'metadata' | 'catalogs' | 'upstreams'> & { readonly made: Resolution };
  /** Sources this request has introspected, as they are configured: see `identityOf`. */
  #asked: ReadonlySet<string> = new Set();
  readonly #transactions = new Map<string, OpenTransaction & { readonly source: Source }>();
  readonly #abandoned = new AbortController();
  /** Ends the request's interest in whether its client still waits. */
  readonly #keep: () => void;

  constructor(
    base: Snapshot,
    ground: Ground,
    { signal, ...options }: { readonly isOperator?: boolean; readonly signal?: AbortSignal | undefined } = {},
  ) {
    const abandon = () => this.#abandoned.abort(signal?.reason);
    if (signal?.aborted) abandon();
    signal?.addEventListener('abort', abandon);
    this.#keep = () => signal?.removeEventListener('abort', abandon);
    this.base = base;
    this.ledger = options.isOperator ? null : () => base.catalogStates.operator;
    this.#states = base.catalogStates;
    this.ground = ground;
    this.#metadata = base.metadata;
    this.#catalogs = base.catalogs;
    this.#upstreams = base.upstreams;
    this.#view = { ...base, made: base };
  }

  /** Aborted when the client has gone before the request is committed. */
  get signal(): AbortSignal {
    return this.#abandoned.signal;
  }

  get metadata(): Metadata {
    return this.#metadata;
  }

  get catalogs(): Catalogs {
    return this.#catalogs;
  }

  get upstreams(): Upstreams {
    return this.#upstreams;
  }

  get catalogStates(): CatalogStates {
    return this.#states;
  }

  /** The operations that changed the document so far, in order. */
  get edits(): readonly Edit[] {
    return this.#edits;
  }

  edit(path: readonly PathStep[], metadata: Metadata): void {
    if (metadata === this.#metadata) return;
    this.#metadata = metadata;
    this.#edits = [...this.#edits, { path, metadata }];
  }

  setCatalogState(kind: keyof CatalogStates, state: unknown): void {
    this.#states = setStates(this.#states, { [kind]: state });
    if (kind === 'operator') this.#patches = undefined;
  }

  /** JSON Merge Patch. */
  patchCatalogState(kind: keyof CatalogStates, patch: unknown): void {
    if (kind !== 'operator' || !this.#patches) {
      this.setCatalogState(kind, mergePatch(this.#states[kind], patch));
    } else if (changesOperator(this.#states, patch)) {
      this.#states = patchStates(this.#states, [patch]);
      this.#patches = [...this.#patches, patch];
    }
  }

  /** What a source says now. */
  setCatalog(source: Source, catalog: SourceCatalog): void {
    this.#asked = new Set(this.#asked).add(identityOf(source));
    this.#catalogs = new Map(this.#catalogs).set(source.name, catalog);
  }

  checkpoint(): Checkpoint {
    return {
      metadata: this.#metadata,
      states: this.#states,
      patches: this.#patches,
      catalogs: this.#catalogs,
      upstreams: this.#upstreams,
      asked: this.#asked,
      tolerated: this.#tolerated,
      edits: this.#edits,
    };
  }

  restore(checkpoint: Checkpoint): void {
    this.#metadata = checkpoint.metadata;
    this.#states = checkpoint.states;
    this.#patches = checkpoint.patches;
    this.#catalogs = checkpoint.catalogs;
    this.#upstreams = checkpoint.upstreams;
    this.#asked = checkpoint.asked;
    this.#tolerated = checkpoint.tolerated;
    this.#edits = checkpoint.edits;
  }

  /** Runs `body` and, when it throws, takes back what it did to the draft and in open transactions. */
  async attempt<T>(body: () => Promise<T>): Promise<T> {
    const before = this.checkpoint();
    const open = new Map(this.#transactions);
    for (const { client } of open.values()) await client.query('savepoint attempt');
    try {
      const result = await body();
      for (const { client } of open.values()) await client.query('release savepoint attempt');
      return result;
    } catch (error) {
      this.restore(before);
      for (const [name, transaction] of this.#transactions) {
        if (open.has(name)) {
          await transaction.client.query('rollback to savepoint attempt; release savepoint attempt');
        } else {
          this.#transactions.delete(name);
          await transaction.rollback();
        }
      }
      throw error;
    }
  }

  source(name: string): Source | undefined {
    return this.#metadata.sources.find((source) => source.name === name);
  }

  /** The draft resolved; made once for a draft. Catalogs must cover its sources: see `cover`. */
  view(): Resolution {
    const now = { metadata: this.#metadata, catalogs: this.#catalogs, upstreams: this.#upstreams };
    const isCurrent =
      this.#view.metadata === now.metadata &&
      this.#view.catalogs === now.catalogs &&
      this.#view.upstreams === now.upstreams;
    if (!isCurrent) {
      const made = this.ground.resolve(now.metadata, now.catalogs, now.upstreams);
      this.#view = { ...now, made };
    }
    return this.#view.made;
  }

  /** Introspects sources that are new or connect elsewhere than in the base; forgets those that are gone. */
  async cover(): Promise<void> {
    await this.#coverRemoteSchemas();
    if (this.#metadata.sources === this.base.metadata.sources) return;
    const before = new Map(this.base.metadata.sources.map((source) => [source.name, source]));
    const unknown = this.#metadata.sources.filter(
      (source) =>
        !this.#asked.has(identityOf(source)) &&
        (!this.#catalogs.has(source.name) || !connectsAlike(before.get(source.name), source)),
    );
    await Promise.all(
      unknown.map(async (source) => {
        const ask = () => this.#introspected(source);
        this.setCatalog(source, await this.ground.slowFailures.ask(identityOf(source), ask));
      }),
    );
    for (const source of this.#metadata.sources) await this.#complete(source);
    const names = new Set(this.#metadata.sources.map((source) => source.name));
    if ([...this.#catalogs.keys()].some((name) => !names.has(name))) {
      this.#catalogs = new Map([...this.#catalogs].filter(([name]) => names.has(name)));
    }
  }

  async #coverRemoteSchemas(): Promise<void> {
    const remotes = this.#metadata.remote_schemas ?? [];
    const before = new Map(this.base.metadata.remote_schemas?.map((remote) => [remote.name, remote]));
    const unknown = remotes.filter(({ name, definition }) => {
      const upstream = this.#upstreams.get(name);
      if (!upstream) return true;
      return upstream === this.base.upstreams.get(name) && !isSameEndpoint(before.get(name), definition);
    });
    await Promise.all(
      unknown.map(async (remote) => {
        const key = `${remote.name}\n${JSON.stringify(remote.definition)}`;
        const ask = () => this.introspectRemote(remote);
        this.#setUpstream(remote.name, await this.ground.slowFailures.ask(key, ask));
      }),
    );
    const names = new Set(remotes.map(({ name }) => name));
    if ([...this.#upstreams.keys()].some((name) => !names.has(name))) {
      this.#upstreams = new Map([...this.#upstreams].filter(([name]) => names.has(name)));
    }
  }

  /** Asks the remote schema again. */
  async introspectRemote(remote: RemoteSchema): Promise<Upstream> {
    const upstream = await this.ground.introspectRemote(remote, this.#metadata);
    this.#setUpstream(remote.name, upstream);
    return upstream;
  }

  #setUpstream(name: string, upstream: Upstream): void {
    this.#upstreams = new Map(this.#upstreams).set(name, upstream);
  }

  /** Asks the source again, inside its open transaction when there is one. */
  async introspect(source: Source): Promise<void> {
    this.setCatalog(source, await this.#introspected(source));
  }

  #introspected(source: Source): Promise<SourceCatalog> {
    return this.ground.introspect(source, this.#transactions.get(source.name)?.client);
  }

  /** Native queries that are new get their judgement, tables that are enums now are read; the rest is as it was. */
  async #complete(source: Source): Promise<void> {
    const catalog = this.#catalogs.get(source.name);
    if (!catalog || 'error' in catalog) return;
    const whole = await this.ground.complete(source, catalog, this.#transactions.get(source.name)?.client);
    if (whole !== catalog) this.#catalogs = new Map(this.#catalogs).set(source.name, whole);
  }

  /** The request's transaction on a source, begun at the first call. */
  async transaction(source: Source): Promise<OpenTransaction> {
    const open = this.#transactions.get(source.name);
    if (open) return open;
    const begun = await openTransaction(this.ground.database(source), {
      isForeign: true,
      signal: this.signal,
    });
    this.#transactions.set(source.name, { ...begun, source });
    return begun;
  }

  /** Commits what SQL has done in the source so far; for statements that cannot run beside a transaction. */
  async endTransaction(source: Source): Promise<void> {
    const open = this.#transactions.get(source.name);
    this.#transactions.delete(source.name);
    if (open) await this.#commitSource(source.name, open);
  }

  /** Resolves the draft; the inconsistencies it adds to those that were there. When there are some, the catalog may be
   *  behind the database (somebody used psql): asks the sources concerned once, then decides. */
  async settle(): Promise<readonly Inconsistency[]> {
    await this.cover();
    const fresh = this.#added();
    const concerned = new Set(fresh.map((inconsistency) => sourceOf(inconsistency.key)));
    const behind = this.#metadata.sources.filter(
      (source) => concerned.has(source.name) && !this.#asked.has(identityOf(source)),
    );
    if (behind.length === 0) return fresh;
    await Promise.all(behind.map((source) => this.introspect(source)));
    return this.#added();
  }

  /** An operation that was told to go on although these do not fit. */
  tolerate(inconsistencies: readonly Inconsistency[]): void {
    this.#tolerated = [...this.#tolerated, ...inconsistencies];
  }

  /** Writes the draft and commits the sources: all or nothing as far as the header says. The snapshot to publish.
   *  Raises `conflict` when the stored document is no longer the base. */
  async commit(by?: Authorship): Promise<Snapshot> {
    // From here on the request is completed, whether or not its client waits.
    this.signal.throwIfAborted();
    this.#keep();
    const { model, inconsistencies } = this.view();
    const after = { metadata: this.#metadata, model, catalogs: this.#catalogs };
    const transaction = (source: Source) => this.transaction(source);
    await capture(this.base, after, { transaction, remade: this.recaptured });
    const draft = draftOf(this.base, { ...this.checkpoint(), touches: this });
    const versions = await this.#write(draft && by ? { ...draft, by } : draft);
    await followSchedules(this.ground.metadataDatabase, this.base.model, model, versions.resource);
    for (const finish of this.afterCommit) await finish();
    return {
      id: this.base.id,
      versions,
      resourceVersion: versions.resource,
      metadata: this.#metadata,
      catalogStates: this.#states,
      catalogs: this.#catalogs,
      upstreams: this.#upstreams,
      model,
      inconsistencies,
    };
  }

  async rollback(): Promise<void> {
    this.#keep();
    const open = [...this.#transactions.values()];
    this.#transactions.clear();
    await Promise.allSettled(open.map((transaction) => transaction.rollback()));
  }

  async #write(draft: Draft | undefined): Promise<Versions> {
    if (!draft) {
      await this.#commitSources();
      return this.base.versions;
    }
    const expected = this.base.resourceVersion;
    const home = this.#metadata.sources.find(
      (source) => this.#transactions.has(source.name) && this.ground.isMetadataDatabase(source),
    );
    if (home) {
      const transaction = await this.transaction(home);
      const versions = await this.ground.store.saveIn(transaction.client, draft, expected);
      await this.#commitSources(home.name);
      return versions;
    }
    const transactions = await this.#foreignTransactions();
    if (transactions.length === 0) {
      const versions = await this.ground.store.save(draft, expected);
      await this.#commitSources();
      return versions;
    }
    const commit = () => {
      this.isInDoubt = true;
      return this.#commitSources();
    };
    const versions = await this.ground.store.saveBeside(draft, expected, { transactions, commit });
    this.isInDoubt = false;
    return versions;
  }

  /** Those that have written something, by the number their database gave them. */
  async #foreignTransactions(): Promise<readonly ForeignTransaction[]> {
    const found: ForeignTransaction[] = [];
    for (const { source, client } of this.#transactions.values()) {
      const { rows } = await client.query('select pg_current_xact_id_if_assigned()::text as xid');
      if (rows[0]?.xid) found.push({ source, xid: rows[0].xid });
    }
    return found;
  }

  /** `last` holds the metadata: when another source cannot commit, it must still be able to go back. */
  async #commitSources(last?: string): Promise<void> {
    const open = [...this.#transactions].sort(([a], [b]) => Number(a === last) - Number(b === last));
    for (const [name, transaction] of open) {
      this.#transactions.delete(name);
      await this.#commitSource(name, transaction);
    }
  }

  /** A constraint checked at the end fails here, after the SQL has answered. */
  async #commitSource(name: string, transaction: OpenTransaction): Promise<void> {
    const about = { source: name, statement: 'commit' };
    await refusingSql(about, transaction.commit);
  }

  #added(): readonly Inconsistency[] {
    return newInconsistencies([...this.#baseline(), ...this.#tolerated], this.view().inconsistencies);
  }

  /** What was wrong before, judged by the catalogs of now: a table somebody else dropped is not this request's doing. */
  #baseline(): readonly Inconsistency[] {
    const { base } = this;
    if (this.#catalogs === base.catalogs) return base.inconsistencies;
    const catalogs = new Map([...base.catalogs, ...this.#catalogs]);
    return this.ground.resolve(base.metadata, catalogs, base.upstreams).inconsistencies;
  }
}

function identityOf(source: Source): string {
  return `${source.name}\n${JSON.stringify(source.configuration)}`;
}

/** Keys of objects inside a source have its name in the second place: `table/default/public/author`. */
function sourceOf(key: string): string {
  return decodeURIComponent(key.split('/')[1] ?? '');
}
