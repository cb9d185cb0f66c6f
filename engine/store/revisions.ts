/** Revisions: the document as it was stored at each of its last versions, with who wrote it and with which operations.
 *  Written in the transaction that writes the document (store.ts), so there is one for every version or none of it.
 *  In: the metadata database. Out: what there is, and the document of one. Not here: going back (admin/revisions.ts). */

import type { ClientBase } from 'pg';
import { fail } from '../errors/engine-error.ts';
import type { Database } from '../execute/pool.ts';
import { parseJson } from '../json/parse-json.ts';
import { parseMetadata } from '../metadata/parse.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';

/** Who changed the document, and how. */
export type Authorship = {
  /** The session's `x-engine-user-id`, or its role; `engine` for what the engine did by itself. */
  readonly author: string;
  /** The program, as it calls itself in `User-Agent`. */
  readonly client: string | null;
  /** Names of the operations, each once, in the order of the request. */
  readonly operations: readonly string[];
};

export const ENGINE_ITSELF: Authorship = { author: 'engine', client: null, operations: [] };

type Queryable = Pick<Database, 'query'>;

export type Revision = Authorship & { readonly resourceVersion: number; readonly writtenAt: Date };

/** Of the document as it stands, in the transaction that has just written it. A statement of its own copies what is stored,
 *  compressed as it is: in that of the write, Postgres would compress the same text twice (1.6 MB: 70 ms of its CPU, not 48). */
export async function noteRevision(client: ClientBase, by: Authorship, kept: number): Promise<void> {
  await client.query(
    `with noted as (
       insert into pergola.revision (resource_version, author, client, operations, metadata)
       select resource_version, $1, $2, $3::text[], metadata from pergola.metadata where $4::int > 0)
     delete from pergola.revision
      where resource_version not in (
            select resource_version from pergola.revision
             order by resource_version desc limit greatest($4::int - 1, 0))`,
    [by.author, by.client, by.operations, kept],
  );
}

/** Newest first. */
export async function listRevisions(database: Queryable, most: number): Promise<readonly Revision[]> {
  const found = await database.query(
    `select resource_version::text as version, written_at, author, client, operations
       from pergola.revision order by resource_version desc limit $1`,
    [most],
  );
  return found.rows.map(({ version, written_at, author, client, operations }) => ({
    resourceVersion: Number(version),
    writtenAt: written_at,
    author,
    client,
    operations,
  }));
}

/** Raises `revisionNotExists`. */
export async function loadRevision(database: Queryable, version: number): Promise<Metadata> {
  const found = await database.query(
    'select metadata::text from pergola.revision where resource_version = $1',
    [version],
  );
  const row = found.rows[0] ?? fail('revisionNotExists', { version });
  return parseMetadata(parseJson(row.metadata));
}
