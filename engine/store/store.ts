/** The document between starts: one row of pergola.metadata in the metadata database, shared by every replica.
 *  In: drafts with the version they were made from. Out: the stored document, or `conflict` when somebody was faster.
 *  Every write is one compare-and-swap and one NOTIFY in the same transaction: nothing is overwritten unseen.
 *  Not here: noticing other replicas' writes (watch.ts), the table itself (migrations/). */
import { randomUUID } from 'node:crypto';
import type { ClientBase } from 'pg';
import { fail } from '../errors/engine-error.ts';
import type { Database } from '../execute/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import { parseMetadata } from '../metadata/parse.ts';
import { emptyMetadata, type Metadata } from '../metadata/schema/metadata.ts';
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

/** Opaque JSON of clients, kept beside the document: the command line, the console, the operator's ledger. */
export type CatalogStates = {
  readonly cli: unknown;
  readonly console: unknown;
  readonly operator: unknown;
};

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
  readonly catalogStates?: Partial<CatalogStates>;
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
           insert into pergola.metadata (id, metadata) values ($1, $2) on conflict do nothing
           returning resource_version, metadata)
         insert into pergola.revision (resource_version, author, operations, metadata)
         select resource_version, 'engine', '{}', metadata from made`,
        [randomUUID(), JSON.stringify(emptyMetadata)],
      );
      return applied;
    });
  }

  async load(): Promise<StoredDocument> {
    const found = await this.#database.query(
      `select id, ${VERSION_COLUMNS}, metadata::text,
              cli_state::text, console_state::text, operator_state::text
         from pergola.metadata`,
    );
    return documentOf(found.rows[0]);
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
      await recordIntent(this.#database, { id, expected, draft, transactions });
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
    await lockDocument(client);
    const states = draft.catalogStates ?? {};
    const saved = await client.query(
      `with saved as (
       update pergola.metadata
          set resource_version = resource_version + $2::int,
              catalog_version = catalog_version + $3::int,
              state_version = state_version + $4::int,
              metadata = coalesce($5::json, metadata),
              cli_state = coalesce($6::json, cli_state),
              console_state = coalesce($7::json, console_state),
              operator_state = coalesce($8::json, operator_state)
        where resource_version = $1 and ${NO_INTENT}
    returning resource_version, catalog_version, state_version)
       select ${VERSION_COLUMNS}, pg_notify($9, concat_ws('/', resource_version, catalog_version, state_version, $10::text))
         from saved`,
      [
        expected,
        movesResource(draft) ? 1 : 0,
        draft.touchCatalog ? 1 : 0,
        states.cli !== undefined || states.console !== undefined ? 1 : 0,
        textOf(draft.metadata),
        textOf(states.cli),
        textOf(states.console),
        textOf(states.operator),
        CHANNEL,
        this.origin,
      ],
    );
    const row = saved.rows[0];
    if (!row) fail('conflict', { version: String(expected) });
    if (draft.metadata) await noteRevision(client, draft.by ?? ENGINE_ITSELF, this.#keptRevisions);
    return versionsOf(row);
  }
}

async function lockDocument(client: ClientBase): Promise<void> {
  await client.query('select from pergola.metadata for update');
}

/** The versions in a payload; undefined for text that is none of ours. */
export function parseVersions(text: string): Versions | undefined {
  const [resource, catalog, state] = text.split('/').slice(0, 3).map(Number);
  return resource && catalog && state ? { resource, catalog, state } : undefined;
}

/** The cli's and console's state are theirs alone and must not disturb who edits the document. The operator's ledger says
 *  who owns what in the document, so it moves the version as the document does. */
function movesResource(draft: Draft): boolean {
  return (
    draft.metadata !== undefined ||
    draft.catalogStates?.operator !== undefined ||
    draft.touchResource === true
  );
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

const VERSION_COLUMNS = 'resource_version::text, catalog_version::text, state_version::text';

type VersionsRow = {
  readonly resource_version: string;
  readonly catalog_version: string;
  readonly state_version: string;
};
type DocumentRow = VersionsRow & {
  readonly id: string;
  readonly metadata: string;
  readonly cli_state: string;
  readonly console_state: string;
  readonly operator_state: string;
};

function versionsOf(row: VersionsRow): Versions {
  return {
    resource: Number(row.resource_version),
    catalog: Number(row.catalog_version),
    state: Number(row.state_version),
  };
}

function documentOf(row: DocumentRow | undefined): StoredDocument {
  if (!row) throw new Error('the metadata database has lost its document: pergola.metadata is empty');
  return {
    id: row.id,
    versions: versionsOf(row),
    metadata: parseMetadata(parseJson(row.metadata)),
    catalogStates: {
      cli: parseJson(row.cli_state),
      console: parseJson(row.console_state),
      operator: parseJson(row.operator_state),
    },
  };
}
