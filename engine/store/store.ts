/** The document between starts, in the metadata database, shared by every replica: one row of pergola.metadata has the versions.
 *  In: drafts with the version they were made from. Out: the stored document, or `conflict` when somebody was faster.
 *  Every write is one compare-and-swap and one NOTIFY in the same transaction: nothing is overwritten unseen.
 *  Not here: noticing other replicas' writes (watch.ts), the table itself (migrations/). */
import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';
import { fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import type { Edit } from '../metadata/edit.ts';
import { parseMetadata } from '../metadata/parse.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
import { type CatalogStates, patchStates, setStates } from './catalog-states.ts';
import {
  changed,
  isComplete,
  isOverdue,
  lockDocument,
  newestWhole,
  parsePatches,
  prune,
  setsOperator,
  textOf,
  withEdits,
  writeWhole,
  written,
} from './changes.ts';
import {
  type ForeignTransaction,
  forgetIntent,
  listIntents,
  NO_INTENT,
  type Outcome,
  recordIntent,
} from './intents.ts';
import { migrate } from './migrate.ts';
import {
  type Authorship,
  ENGINE_ITSELF,
  listRevisions,
  loadRevision,
  noteRevision,
  type Revision,
} from './revisions.ts';
/** NOTIFY channel; the payload is the three versions of the row and who wrote it: `7/2/1/0b1c…`. */
export const CHANNEL = 'pergola_metadata';

/** Three counters, so that a replica knows what to do about a change. `resource`: the document or the operator's ledger,
 *  what clients compare and swap on; `catalog`: a database changed, introspect again; `state`: the cli's or console's. */
export type Versions = { readonly resource: number; readonly catalog: number; readonly state: number };

export type StoredDocument = {
  readonly id: string;
  readonly versions: Versions;
  readonly metadata: Metadata;
  readonly catalogStates: CatalogStates;
};

/** What a write changes; absent parts stay. */
export type Draft = {
  readonly metadata?: Metadata;
  /** What makes the document of the stored one, where that can be said. */
  readonly edits?: readonly Edit[];
  readonly catalogStates?: Partial<CatalogStates>;
  /** JSON Merge Patches that make the operator's state of the stored one, one after the other. */
  readonly operatorPatches?: readonly unknown[];
  /** Moves `versions.resource` even when nothing else does (reload_metadata). */
  readonly touchResource?: boolean;
  /** Moves `versions.catalog`: every replica introspects again. */
  readonly touchCatalog?: boolean;
  /** Told by the revision, when the document changes. */
  readonly by?: Authorship;
};

/** What has to be committed in other databases with a draft. */
export type Beside = {
  readonly transactions: readonly ForeignTransaction[];
  readonly commit: () => Promise<void>;
};

export class Store {
  /** Tells our own notifications from those of other replicas. */
  readonly origin: string = randomUUID();
  readonly #database: Database;
  readonly #keptRevisions: number;
  #isOverdue = false;

  /** Of `keptRevisions`, the newest is the document itself; 0 keeps none. */
  constructor(database: Database, keptRevisions = 50) {
    this.#database = database;
    this.#keptRevisions = keptRevisions;
  }

  /** Migrations, and the empty document at the very first start. The versions applied, in order. */
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

  /** As it is stored now. Of a document that is `known`, only what has changed is read, and what has not stays the same value. */
  async load(known?: StoredDocument): Promise<StoredDocument> {
    return (known && (await this.#follow(known))) ?? (await this.#loadWhole());
  }

  async #loadWhole(): Promise<StoredDocument> {
    const found = await this.#database.query(
      `select ${BESIDE_COLUMNS}, document.content::text as document, operator.content::text as operator,
              ${changed('edits', 'document.resource_version', 'm.resource_version')} as edits,
              ${changed('operator_patches', 'operator.resource_version', 'm.resource_version')} as patches
         from pergola.metadata m,
              lateral ${newestWhole('document', 'm.resource_version')} document,
              lateral ${newestWhole('operator_state', 'm.resource_version')} operator`,
    );
    const row: WholeRow = found.rows[0] ?? lost();
    const metadata = withEdits(parseMetadata(parseJson(row.document)), row.edits);
    return documentOf(row, metadata, { ...statesOf(row), operator: parseJson(row.operator) });
  }

  /** Undefined where what has changed cannot be told from this version on. */
  async #follow({
    id,
    versions,
    metadata,
    catalogStates,
  }: StoredDocument): Promise<StoredDocument | undefined> {
    const found = await this.#database.query(
      `select ${BESIDE_COLUMNS}, ${changed('edits', '$1::bigint', 'm.resource_version')} as edits,
              ${changed('operator_patches', '$1::bigint', 'm.resource_version')} as patches
         from pergola.metadata m`,
      [versions.resource],
    );
    const row: ChangeRow = found.rows[0] ?? lost();
    const ahead = versionsOf(row).resource - versions.resource;
    if (row.id !== id || !isComplete(row.edits, ahead) || !isComplete(row.patches, ahead)) return undefined;
    return documentOf(row, withEdits(metadata, row.edits), setStates(catalogStates, statesOf(row)));
  }

  async versions(): Promise<Versions> {
    const found = await this.#database.query(`select ${VERSION_COLUMNS} from pergola.metadata`);
    return versionsOf(found.rows[0]);
  }

  /** Newest first. */
  async revisions(most: number): Promise<readonly Revision[]> {
    return listRevisions(this.#database, most);
  }

  /** The document as it was at a version. Raises `revisionNotExists`. */
  async revision(version: number): Promise<Metadata> {
    return loadRevision(this.#database, version);
  }

  /** Raises `conflict` as `saveIn` does. */
  async save(draft: Draft, expected: number): Promise<Versions> {
    return this.#database.transaction({}, (client) => this.saveIn(client, draft, expected));
  }

  /** Saves, and has other databases commit in between: nothing is kept when `commit` throws. The row stays locked meanwhile.
   *  Should this process end before it is done, or not learn whether they have, the intent stays: see `settleIntents`. */
  async saveBeside(draft: Draft, expected: number, { transactions, commit }: Beside): Promise<Versions> {
    const id = randomUUID();
    return this.#database.transaction({}, async (client) => {
      const versions = await this.saveIn(client, draft, expected);
      await recordIntent(this.#database, { id, expected, draft: smallest(draft), transactions });
      await commit();
      await forgetIntent(client, id);
      return versions;
    });
  }

  /** Writes what was left to be written by whoever ended in the middle of it, if the other databases have committed. An intent
   *  about which one of them answers as in `waitsFor` stays. */
  async settleIntents(
    outcomeOf: (transaction: ForeignTransaction) => Promise<Outcome>,
    waitsFor: readonly Outcome[],
  ): Promise<void> {
    if ((await listIntents(this.#database)).length === 0) return;
    await this.#database.transaction({}, async (client) => {
      // Whoever is still at it holds the row; afterwards there is no intent.
      await lockDocument(client);
      for (const { id, expected, draft, transactions } of await listIntents(client)) {
        const outcomes = await Promise.all(transactions.map(outcomeOf));
        if (outcomes.some((outcome) => waitsFor.includes(outcome))) continue;
        await forgetIntent(client, id);
        if (outcomes.includes('committed')) await this.saveIn(client, draft, expected);
      }
    });
  }

  /** One compare-and-swap inside a transaction of the caller's on the metadata database. Raises `conflict` when `expected` is
   *  not the stored resource version, or while there is an intent nobody has settled. */
  async saveIn(client: ClientBase, draft: Draft, expected: number): Promise<Versions> {
    // The statement must see intents of those it had to wait for.
    const gathered = await lockDocument(client);
    const states = draft.catalogStates ?? {};
    const { edits, document, patches, operatorState } = written(draft, gathered);
    const saved = await client.query(
      `with saved as (
       update pergola.metadata
          set resource_version = resource_version + $2::int,
              catalog_version = catalog_version + $3::int,
              state_version = state_version + $4::int,
              cli_state = coalesce($5::json, cli_state),
              console_state = coalesce($6::json, console_state)
        where resource_version = $1 and ${NO_INTENT}
    returning resource_version, catalog_version, state_version),
       changed as (
       insert into pergola.change (resource_version, edits, operator_patches, bytes)
       select resource_version, edits::json, patches::json, coalesce(octet_length(edits), 0) + coalesce(octet_length(patches), 0)
         from saved, (values ($7::text, $8::text)) as written (edits, patches) where resource_version > $1),
       whole as (
       insert into pergola.whole (part, resource_version, content, bytes)
       select part, resource_version, content::json, octet_length(content)
         from saved, (values ('document', $9::text), ('operator_state', $10::text)) as parts (part, content)
        where content is not null)
       select ${VERSION_COLUMNS}, pg_notify($11, concat_ws('/', resource_version, catalog_version, state_version, $12::text))
         from saved`,
      [
        expected,
        movesResource(draft) ? 1 : 0,
        draft.touchCatalog ? 1 : 0,
        states.cli !== undefined || states.console !== undefined ? 1 : 0,
        textOf(states.cli),
        textOf(states.console),
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
    if (changesDocument(draft)) {
      await noteRevision(client, {
        ...(draft.by ?? ENGINE_ITSELF),
        version: row.resource_version,
        kept: this.#keptRevisions,
      });
    }
    if (document !== null || operatorState !== null) await prune(client);
    this.#isOverdue ||= isOverdue(gathered, { edits, document, patches, operatorState });
    return versionsOf(row);
  }

  /** Have so many changes gathered since this store wrote one, that the document had better be written whole? */
  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  /** Writes it whole, so that what came before can be forgotten. Nobody waits for it, nor it for anybody: of a version there is
   *  only one document. Should it fail, the next change asks for it again. */
  async gather(document: StoredDocument): Promise<void> {
    this.#isOverdue = false;
    await this.#database.transaction({}, (client) => writeWhole(client, document));
    await this.#database.transaction({}, async (client) => {
      await lockDocument(client);
      await prune(client);
    });
  }
}

/** The versions in a payload; undefined for text that is none of ours. */
export function parseVersions(text: string): Versions | undefined {
  const [resource, catalog, state] = text.split('/').slice(0, 3).map(Number);
  return resource && catalog && state ? { resource, catalog, state } : undefined;
}

/** As little as says the same. */
function smallest(draft: Draft): Draft {
  const { metadata, edits, catalogStates = {}, operatorPatches, by, ...touches } = draft;
  const { cli, console } = catalogStates;
  const isWhole = setsOperator(draft) && !operatorPatches;
  return {
    ...(edits ? { edits } : metadata ? { metadata } : {}),
    catalogStates: {
      ...(cli === undefined ? {} : { cli }),
      ...(console === undefined ? {} : { console }),
      ...(isWhole ? { operator: catalogStates.operator } : {}),
    },
    ...(operatorPatches ? { operatorPatches } : {}),
    ...(by ? { by } : {}),
    ...touches,
  };
}

function changesDocument({ metadata, edits }: Draft): boolean {
  return metadata !== undefined || edits !== undefined;
}

/** The cli's and console's state are theirs alone and must not disturb who edits the document. The operator's ledger says
 *  who owns what in the document, so it moves the version as the document does. */
function movesResource(draft: Draft): boolean {
  return (
    changesDocument(draft) ||
    setsOperator(draft) ||
    draft.operatorPatches !== undefined ||
    draft.touchResource === true
  );
}

const VERSION_COLUMNS = 'resource_version::text, catalog_version::text, state_version::text';
const BESIDE_COLUMNS = `id, m.resource_version::text, catalog_version::text, state_version::text,
  cli_state::text, console_state::text`;

type VersionsRow = {
  readonly resource_version: string;
  readonly catalog_version: string;
  readonly state_version: string;
};
type ChangeRow = VersionsRow & {
  readonly id: string;
  readonly cli_state: string;
  readonly console_state: string;
  readonly edits: string;
  readonly patches: string;
};
type WholeRow = ChangeRow & { readonly document: string; readonly operator: string };

function versionsOf(row: VersionsRow): Versions {
  return {
    resource: Number(row.resource_version),
    catalog: Number(row.catalog_version),
    state: Number(row.state_version),
  };
}

function documentOf(row: ChangeRow, metadata: Metadata, states: CatalogStates): StoredDocument {
  const catalogStates = patchStates(states, parsePatches(row.patches));
  return { id: row.id, versions: versionsOf(row), metadata, catalogStates };
}

function statesOf(row: ChangeRow) {
  return { cli: parseJson(row.cli_state), console: parseJson(row.console_state) };
}

function lost(): never {
  throw new Error('the metadata database has lost its document: pergola.metadata is empty');
}
