/** `patch_metadata`: puts and removes objects by their keys, all of them, or with `admit` those that fit.
 *  Not here: reading the edits (change/patch.ts), choosing those that fit (admission.ts). */
import { editsIn, pathOf } from '../change/patch.ts';
import { editObjects } from '../metadata/edit.ts';
import { refuseCycles } from '../metadata/inherited-roles.ts';
import type { ArgsOf } from '../metadata/operations.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import { admitPatch, type PatchAdmission } from './admission.ts';
import { comparisonFrom, replaceDocument, reportOf } from './document-operations.ts';
import type { AdminAnswer, AdminRequest, Performer } from './request.ts';

/** All other objects keep their identity, so that the cost is that of the change and not that of the document. Raises `parseFailed` for an
 *  invalid key, an invalid object, an object with another key, or an object without its parent. */
export const patchMetadata: Performer<'patch_metadata'> = (work, args, request) => {
  if (args.admit) return patchWithFitting(work, args, request);
  const next = editObjects(work.document, editsIn(args));
  refuseCycles(next.inherited_roles ?? []);
  if (!args.dry_run) work.dropDamaged(args.remove ?? []);
  return replaceDocument(work, next, args, request, (key) => pathOf(args, key));
};

/** Makes the edits that fit, and reports why it leaves out the others. A dry run only reports. */
async function patchWithFitting(
  work: UnitOfWork,
  args: ArgsOf<'patch_metadata'>,
  request: AdminRequest,
): Promise<AdminAnswer> {
  const before = work.checkpoint();
  const comparison = await comparisonFrom(work, args);
  const { document, removed, fits, ...answer }: PatchAdmission = await admitPatch(work, args, request);
  if (!args.dry_run) work.dropDamaged(removed);
  work.edit(request.path, document, (key) => pathOf(args, key));
  const added = await work.addedInconsistencies();
  const report = {
    ...(await reportOf(work, args.include_keys === true, (found) => !fits(found))),
    ...answer,
    ...(await comparison()),
  };
  if (args.dry_run) {
    work.restore(before);
    return () => report;
  }
  work.tolerate(added);
  return (published) => ({ ...report, resource_version: published.resourceVersion });
}
