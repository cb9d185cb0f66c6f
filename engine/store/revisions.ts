/** Revisions: who wrote each of the latest versions of the document, and with which operations. The documents themselves are kept by
 *  changes.ts. A revision is recorded in the transaction that writes the document (store.ts).
 *  In: the metadata database. Out: the list of revisions, and the document of one. Not here: rollback (admin/document-operations.ts). */

import type { ClientBase } from 'pg';
import type { Database } from '../database/pool.ts';
import { fail } from '../errors/engine-error.ts';
import { parseJson } from '../json/parse-json.ts';
import { parseDocument } from '../metadata/parse.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { applyEdits, changesSql, latestFullCopySql } from './changes.ts';
import type { Authorship } from './document.ts';

export const ENGINE_ITSELF: Authorship = { author: 'engine', client: null, operations: [] };

type Queryable = Pick<Database, 'query'>;

export type Revision = Authorship & { readonly resourceVersion: number; readonly writtenAt: Date };

/** Records a revision in the transaction that has just written the document, and deletes revisions beyond the `kept` newest. */
export async function recordRevision(
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

/** Lists at most `most` revisions, newest first. */
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

/** Returns the document of a revision. Raises `revisionNotExists`. */
export async function loadRevision(database: Queryable, version: number): Promise<Metadata> {
  const found = await database.query(
    `select whole.content::text as document, ${changesSql('edits', 'whole.resource_version', 'r.resource_version')} as edits
       from pergola.revision r, lateral ${latestFullCopySql('document', 'r.resource_version')} whole
      where r.resource_version = $1`,
    [version],
  );
  const row = found.rows[0] ?? fail('revisionNotExists', { version });
  return applyEdits(parseDocument(parseJson(row.document), 'store'), row.edits);
}
