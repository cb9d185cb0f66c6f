/** Stores the document in the metadata database, which every replica shares. The single row of pergola.metadata holds the versions.
 *  In: writes, with the version they are based on. Out: the stored document, or `conflict` if another write came first.
 *  Every write is one compare-and-swap and one NOTIFY in the same transaction, so no write overwrites another one unseen.
 *  Not here: observing other replicas' writes (watch.ts), the tables (migrations/), the values (document.ts). */
import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';
import { EngineError, fail, thrownMessage } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { inSlices } from '../limits/slices.ts';
import { parsingDocument } from '../metadata/parse.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import type { SealedValue } from '../values/named-values.ts';
import { type CatalogStates, patchStates, setStates } from './catalog-states.ts';
import {
  applyEdits,
  changesSql,
  encodeWrite,
  isComplete,
  jsonText,
  latestFullCopySql,
  lockDocument,
  needsCompaction,
  parsePatches,
  prune,
  separateStored,
  writeFullCopies,
} from './changes.ts';
import {
  type Authorship,
  changesDocument,
  type MetadataWrite,
  minimalWrite,
  movesResource,
  type StoredDocument,
  type Versions,
} from './document.ts';
import { downgrade } from './downgrade.ts';
import {
  deleteIntent,
  type ForeignTransaction,
  listIntents,
  NO_OPEN_INTENT,
  recordIntent,
  type TransactionStatus,
} from './intents.ts';
import { hasLostTables, LOST_TABLES } from './lost-tables.ts';
import { migrate } from './migrate.ts';
import { ENGINE_ITSELF, listRevisions, loadRevision, type Revision, recordRevision } from './revisions.ts';
import { loadValues, readValues, type StoredValues, type ValueChanges, writeValues } from './values.ts';

/** The NOTIFY channel. A payload is the four versions of the row and the origin of the write: `7/2/1/3/0b1c…`. Earlier engines send no
 *  version of the values. */
export const CHANNEL = 'pergola_metadata';

/** Transactions in other databases that must commit together with a write. */
type ForeignCommit = {
  readonly transactions: readonly ForeignTransaction[];
  readonly commit: () => Promise<void>;
};

export class Store {
  /** Distinguishes this replica's notifications from those of other replicas. */
  readonly origin: string = randomUUID();
  readonly #database: Database;
  readonly #metadataRevisions: number;
  #needsCompaction = false;

  /** `metadataRevisions` counts the current document as the newest revision. With 0 no revisions are kept. */
  constructor(database: Database, metadataRevisions = 50) {
    this.#database = database;
    this.#metadataRevisions = metadataRevisions;
  }

  /** Applies missing migrations and, at the very first start, stores the empty document. Returns the applied versions in order. */
  async migrate(): Promise<readonly number[]> {
    return this.#database.transaction({}, async (client) => {
      const applied = await migrate(client);
      await client.query(
        `with made as (
           insert into pergola.metadata (id) values ($1) on conflict do nothing returning resource_version),
         whole as (
           insert into pergola.whole (part, resource_version, content, bytes)
           select part, resource_version, content::json, octet_length(content)
             from made, (values ('document', $2::text), ('operator_state', '{}')) as parts (part, content))
         insert into pergola.revision (resource_version, author, operations)
         select resource_version, 'engine', '{}' from made`,
        [randomUUID(), JSON.stringify(emptyMetadata)],
      );
      return applied;
    });
  }

  /** Returns the document as it is stored now. Given a `cached` document, it reads only the changes since, and unchanged parts
   *  keep their identity. */
  async load(cached?: StoredDocument): Promise<StoredDocument> {
    return (cached && (await this.#loadChanges(cached))) ?? (await this.#loadFull(cached));
  }

  async #loadFull(cached?: StoredDocument): Promise<StoredDocument> {
    const found = await this.#database.query(
      `select ${ROW_COLUMNS}, document.content::text as document, operator.content::text as operator,
              ${changesSql('edits', 'document.resource_version', 'm.resource_version')} as edits,
              ${changesSql('operator_patches', 'operator.resource_version', 'm.resource_version')} as patches
         from pergola.metadata m,
              lateral ${latestFullCopySql('document', 'm.resource_version')} document,
              lateral ${latestFullCopySql('operator_state', 'm.resource_version')} operator`,
    );
    const row: FullRow = found.rows[0] ?? lost();
    const read = await readDocument(row, cached);
    return documentOf(row, read, {
      ...statesOf(row),
      operator: parseJson(row.operator),
    });
  }

  /** Applies the changes since the cached version. Returns undefined if they are not stored completely, or cannot be
   *  parsed. */
  async #loadChanges({
    id,
    versions,
    document,
    damaged,
    catalogStates,
  }: StoredDocument): Promise<StoredDocument | undefined> {
    const found = await this.#database.query(
      `select ${ROW_COLUMNS}, ${changesSql('edits', '$1::bigint', 'm.resource_version')} as edits,
              ${changesSql('operator_patches', '$1::bigint', 'm.resource_version')} as patches
         from pergola.metadata m`,
      [versions.resource],
    );
    const row: ChangeRow = found.rows[0] ?? lost();
    const ahead = versionsOf(row).resource - versions.resource;
    if (row.id !== id || !isComplete(row.edits, ahead) || !isComplete(row.patches, ahead)) return undefined;
    const edited = editedOrUndefined(document, row.edits);
    if (!edited) return undefined;
    return documentOf(row, { document: edited, damaged }, setStates(catalogStates, statesOf(row)));
  }

  async versions(): Promise<Versions> {
    const found = await this.#database.query(`select ${VERSION_COLUMNS} from pergola.metadata`);
    return versionsOf(found.rows[0]);
  }

  /** Returns what keeps the metadata from being stored; undefined for nothing. */
  async fault(timeoutMs: number): Promise<string | undefined> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      await this.#database.run({ name: '', text: 'select from pergola.metadata' }, [], { signal });
      return undefined;
    } catch (error) {
      return hasLostTables(error) ? LOST_TABLES : 'the metadata database does not answer';
    }
  }

  /** Lists at most `most` revisions, newest first. */
  async revisions(most: number): Promise<readonly Revision[]> {
    return listRevisions(this.#database, most);
  }

  /** Returns the document as it was at a version. Raises `revisionNotExists`. */
  async revision(version: number): Promise<Metadata> {
    return loadRevision(this.#database, version);
  }

  /** Stores the document of an earlier version as the newest one, whatever the current one is. Raises `revisionNotExists`, and the error of
   *  a document that cannot be parsed. */
  async restore(version: number, by: Authorship): Promise<Versions> {
    return this.#database.transaction({}, async (client) => {
      await lockDocument(client);
      const current = await client.query(`select ${VERSION_COLUMNS} from pergola.metadata`);
      const write = { metadata: await this.revision(version), by };
      return this.saveIn(client, write, versionsOf(current.rows[0]).resource);
    });
  }

  /** Takes the tables back to those of the release before marks of migrations, and returns what was deleted. Raises `DowngradeRefused`. */
  async downgrade(discards: boolean): Promise<readonly string[]> {
    return this.#database.transaction({}, (client) => downgrade(client, () => this.load(), discards));
  }

  /** Saves in a transaction of its own. Raises `conflict` as `saveIn` does. */
  async save(write: MetadataWrite, expected: number): Promise<Versions> {
    return this.#database.transaction({}, (client) => this.saveIn(client, write, expected));
  }

  /** Saves together with commits in other databases: writes, lets them commit, then commits the write. If `commit` throws, nothing
   *  is written. The row is locked meanwhile. If this process ends in between, or cannot learn whether the other databases
   *  committed, the intent remains for `completeIntents`. */
  async saveWithForeignCommit(
    write: MetadataWrite,
    expected: number,
    { transactions, commit }: ForeignCommit,
  ): Promise<Versions> {
    const id = randomUUID();
    return this.#database.transaction({}, async (client) => {
      const versions = await this.saveIn(client, write, expected);
      await recordIntent(this.#database, { id, expected, write: minimalWrite(write), transactions });
      await commit();
      await deleteIntent(client, id);
      return versions;
    });
  }

  /** Completes writes that a stopped engine left unfinished: applies an intent if its databases have committed, and drops it
   *  otherwise. An intent is kept if one of its transactions has a status in `waitsFor`. */
  async completeIntents(
    statusOf: (transaction: ForeignTransaction) => Promise<TransactionStatus>,
    waitsFor: readonly TransactionStatus[],
  ): Promise<void> {
    if ((await listIntents(this.#database)).length === 0) return;
    await this.#database.transaction({}, async (client) => {
      // An engine that is still writing holds the row; once it releases the row, its intent is gone.
      await lockDocument(client);
      for (const { id, expected, write, transactions } of await listIntents(client)) {
        const statuses = await Promise.all(transactions.map(statusOf));
        if (statuses.some((status) => waitsFor.includes(status))) continue;
        await deleteIntent(client, id);
        if (statuses.includes('committed')) await this.saveIn(client, write, expected);
      }
    });
  }

  /** Performs one compare-and-swap inside the caller's transaction on the metadata database. Raises `conflict` if `expected` is not
   *  the stored resource version, or while an intent is open. */
  async saveIn(client: ClientBase, write: MetadataWrite, expected: number): Promise<Versions> {
    // Locking first makes the statement see the intents of the writers it waited for.
    const sizes = await lockDocument(client);
    const states = write.catalogStates ?? {};
    const { edits, document, patches, operatorState } = encodeWrite(write, sizes);
    const saved = await client.query(
      `with saved as (
       update pergola.metadata
          set resource_version = resource_version + $2::int,
              catalog_version = catalog_version + $3::int,
              state_version = state_version + $4::int,
              cli_state = coalesce($5::json, cli_state),
              console_state = coalesce($6::json, console_state)
        where resource_version = $1 and ${NO_OPEN_INTENT}
    returning resource_version, catalog_version, state_version, values_version),
       changed as (
       insert into pergola.change (resource_version, edits, operator_patches, bytes)
       select resource_version, edits::json, patches::json, coalesce(octet_length(edits), 0) + coalesce(octet_length(patches), 0)
         from saved, (values ($7::text, $8::text)) as written (edits, patches) where resource_version > $1),
       whole as (
       insert into pergola.whole (part, resource_version, content, bytes)
       select part, resource_version, content::json, octet_length(content)
         from saved, (values ('document', $9::text), ('operator_state', $10::text)) as parts (part, content)
        where content is not null)
       select ${VERSION_COLUMNS}, pg_notify($11, concat_ws('/', resource_version, catalog_version, state_version, values_version, $12::text))
         from saved`,
      [
        expected,
        movesResource(write) ? 1 : 0,
        write.touchCatalog ? 1 : 0,
        states.cli !== undefined || states.console !== undefined ? 1 : 0,
        jsonText(states.cli),
        jsonText(states.console),
        edits,
        patches,
        document,
        operatorState,
        CHANNEL,
        this.origin,
      ],
    );
    const row = saved.rows[0];
    if (!row) fail('conflict', { version: String(expected) });
    if (changesDocument(write)) {
      await recordRevision(client, {
        ...(write.by ?? ENGINE_ITSELF),
        version: row.resource_version,
        kept: this.#metadataRevisions,
      });
    }
    if (document !== null || operatorState !== null) await prune(client);
    this.#needsCompaction ||= needsCompaction(sizes, { edits, document, patches, operatorState });
    return versionsOf(row);
  }

  /** Returns the named values as they are stored, with their version. */
  async values(): Promise<StoredValues> {
    return loadValues(this.#database);
  }

  /** Changes named values in one transaction: `decide` receives the stored ones and the versions, and returns the changes. Returns the
   *  changes. Needs no version of the document, and changes none. */
  async changeValues(
    names: readonly string[] | undefined,
    decide: (stored: readonly SealedValue[], versions: Versions) => ValueChanges,
  ): Promise<ValueChanges> {
    return this.#database.transaction({}, async (client) => {
      await lockDocument(client);
      const current = await client.query(`select ${VERSION_COLUMNS} from pergola.metadata`);
      const changes = decide(await readValues(client, names), versionsOf(current.rows[0]));
      const { set, resealed = [], removed } = changes;
      if (set.length + resealed.length + removed.length === 0) return changes;
      const row = await writeValues(client, changes);
      const { resource, catalog, state, values } = versionsOf(row);
      await client.query('select pg_notify($1, $2)', [
        CHANNEL,
        [resource, catalog, state, values, this.origin].join('/'),
      ]);
      return changes;
    });
  }

  /** True when enough changes have accumulated that the document should be compacted. */
  get needsCompaction(): boolean {
    return this.#needsCompaction;
  }

  /** Writes full copies of the document and the operator state, then deletes the changes they replace. Takes no lock while it
   *  writes, because a version has only one document. If it fails, the next change requests it again. */
  async compact(document: StoredDocument): Promise<void> {
    this.#needsCompaction = false;
    await this.#database.transaction({}, (client) => writeFullCopies(client, document));
    await this.#database.transaction({}, async (client) => {
      await lockDocument(client);
      await prune(client);
    });
  }
}

/** Returns the versions in a payload; undefined for any other text. */
export function parseVersions(text: string): Versions | undefined {
  const [resource, catalog, state, values] = text.split('/').slice(0, 4).map(Number);
  return resource && catalog && state ? { resource, catalog, state, values: values || 0 } : undefined;
}

const VERSION_COLUMNS =
  'resource_version::text, catalog_version::text, state_version::text, values_version::text';
const ROW_COLUMNS = `id, m.resource_version::text, catalog_version::text, state_version::text, values_version::text,
  cli_state::text, console_state::text`;

type VersionsRow = {
  readonly resource_version: string;
  readonly catalog_version: string;
  readonly state_version: string;
  readonly values_version: string;
};
type ChangeRow = VersionsRow & {
  readonly id: string;
  readonly cli_state: string;
  readonly console_state: string;
  readonly edits: string;
  readonly patches: string;
};
type FullRow = ChangeRow & { readonly document: string; readonly operator: string };

function versionsOf(row: VersionsRow): Versions {
  return {
    resource: Number(row.resource_version),
    catalog: Number(row.catalog_version),
    state: Number(row.state_version),
    values: Number(row.values_version),
  };
}

type ReadDocument = Pick<StoredDocument, 'document' | 'damaged'>;

/** Parses a stored document. Objects that cannot be parsed are `damaged`. Throws if nothing can be read, with the version. */
async function readDocument(row: FullRow, cached?: StoredDocument): Promise<ReadDocument> {
  try {
    const parsed = await inSlices(parsingDocument(parseJson(row.document), 'store', cached?.document));
    return { document: applyEdits(parsed, row.edits), damaged: [] };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return separated(row);
  }
}

/** Applies the edits of several versions. Returns undefined if one of them cannot be parsed. */
function editedOrUndefined(document: Metadata, edits: string): Metadata | undefined {
  try {
    return applyEdits(document, edits);
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}

function separated(row: FullRow): ReadDocument {
  try {
    return separateStored(parseJson(row.document), row.edits);
  } catch (error) {
    const text =
      `the metadata of version ${row.resource_version} cannot be read: ${thrownMessage(error)}; ` +
      'the command pergola rollback lists the earlier versions and goes back to one of them';
    throw new Error(text, { cause: error });
  }
}

function documentOf(row: ChangeRow, read: ReadDocument, states: CatalogStates): StoredDocument {
  const catalogStates = patchStates(states, parsePatches(row.patches));
  return { id: row.id, versions: versionsOf(row), ...read, catalogStates };
}

function statesOf(row: ChangeRow) {
  return { cli: parseJson(row.cli_state), console: parseJson(row.console_state) };
}

function lost(): never {
  throw new Error('the metadata database has lost its document: pergola.metadata is empty');
}
