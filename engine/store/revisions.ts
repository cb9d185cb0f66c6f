/** Revisions: who wrote the document at each of its last versions, and with which operations; the document of then is what
 *  changes.ts keeps. Written in the transaction that writes the document (store.ts), so there is one for every version or none of it.
 *  In: the metadata database. Out: what there is, and the document of one. Not here: going back (admin/revisions.ts). */

import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';
import { fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { parseMetadata } from '../metadata/parse.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { changed, newestWhole, withEdits } from './changes.ts';

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

/** Of a version of the document, in the transaction that has just written it; forgets those beyond what is `kept`. */
export async function noteRevision(
  client: ClientBase,
  {
    author,
    client: program,
    operations,
    version,
    kept,
  }: Authorship & { readonly version: string; readonly kept: number },
): Promise<void> {
  await client.query(
    `with noted as (
       insert into pergola.revision (resource_version, author, client, operations)
       select $1::bigint, $2::text, $3::text, $4::text[] where $5::int > 0)
     delete from pergola.revision
      where resource_version not in (
            select resource_version from pergola.revision
             order by resource_version desc limit greatest($5::int - 1, 0))`,
    [version, author, program, operations, kept],
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
    `select whole.content::text as document, ${changed('edits', 'whole.resource_version', 'r.resource_version')} as edits
       from pergola.revision r, lateral ${newestWhole('document', 'r.resource_version')} whole
      where r.resource_version = $1`,
    [version],
  );
  const row = found.rows[0] ?? fail('revisionNotExists', { version });
  return withEdits(parseMetadata(parseJson(row.document)), row.edits);
}
