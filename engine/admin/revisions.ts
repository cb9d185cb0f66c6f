/** Revisions of the document for clients: which there are, and going back to one. Going back is a replacement by what was
 *  stored, judged like any other; it makes a revision of its own, so that it can be taken back too. The operator's ledger
 *  stays as it is. Not here: keeping revisions (store/revisions.ts). */
import type { ArgsOf } from '../metadata/operations.ts';
import type { Answer } from './answer.ts';
import { replaceDocument } from './document-operations.ts';
import type { AdminRequest } from './request.ts';
import type { Work } from './work.ts';

const MOST_LISTED = 1000;

export async function listMetadataRevisions(
  work: Work,
  args: ArgsOf<'list_metadata_revisions'>,
): Promise<Answer> {
  const revisions = await work.ground.store.revisions(args.limit ?? MOST_LISTED);
  const body = revisions.map(({ resourceVersion, writtenAt, author, client, operations }) => ({
    resource_version: resourceVersion,
    written_at: writtenAt.toISOString(),
    author,
    client,
    operations,
  }));
  return () => body;
}

/** Raises `revisionNotExists` and what `replace_metadata` raises. */
export async function rollbackMetadata(
  work: Work,
  args: ArgsOf<'rollback_metadata'>,
  request: AdminRequest,
): Promise<Answer> {
  const then = await work.ground.store.revision(args.resource_version);
  return replaceDocument(work, then, { ...args, include_keys: false }, request);
}
