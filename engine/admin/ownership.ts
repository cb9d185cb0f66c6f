/** `get_ownership` and `compare_metadata_revisions`: which custom resource owns which object of the document, and what changed between two versions of the
 *  document, without secrets. They read the document, the operator's ledger, and stored versions.
 *  Not here: reading the ledger (ledger.ts), the changes (object-changes.ts), who decides about owned objects (operator/), the list of versions and going back (document-operations.ts).
 *  Reference: docs/reference/behaviour/metadata-api.md. */
import { parseJson } from '../json/parse-json.ts';
import { isRecord } from '../json/value.ts';
import { normalMetadata } from '../metadata/normal-form.ts';
import { objectsOf } from '../metadata/objects.ts';
import { own } from '../metadata/own.ts';
import { entriesIn, memberOf, type OwnershipEntries, type OwnershipEntry } from './ledger.ts';
import { objectChanges } from './object-changes.ts';
import type { Performer } from './request.ts';

/** The most objects without an owner, and the most resources, that an answer lists. */
const MOST_LISTED = 1000;

export const getOwnership: Performer<'get_ownership'> = (work, { resource }, { caller }) => {
  const entries = entriesIn(work.catalogStates.operator);
  const objects = objectsOf(work.metadata);
  if (resource !== undefined) {
    const owned = [...entries].filter(([, { cr }]) => cr === resource);
    const listed = owned.map(([key, entry]) => ownedObject(key, entry, objects));
    const stored = manifestIn(work.catalogStates.operator, resource);
    return () => ({ resource, objects: listed, ...stored });
  }
  const unowned = [...objects.keys()].filter((key) => !entries.has(key));
  const unserved = unservedIn(work.catalogStates.operator, caller.session.isConsole ?? false);
  const body = {
    is_managed: entries.size > 0 || unserved.length > 0,
    resources: resourcesOf(entries, objects),
    unserved,
    released: releasedIn(work.catalogStates.operator),
    unowned: { count: unowned.length, keys: unowned.slice(0, MOST_LISTED) },
  };
  return (published) => ({ resource_version: published.resourceVersion, ...body });
};

/** Raises `revisionNotExists`. Without `to`, compares with the current document. */
export const compareMetadataRevisions: Performer<'compare_metadata_revisions'> = async (
  work,
  { from, to },
) => {
  const revision = async (version: number | undefined) =>
    version === undefined ? work.metadata : normalMetadata(await work.gateway.store.revision(version));
  const [before, after] = [await revision(from), await revision(to)];
  const changes = await objectChanges(before, after, { ledger: work.catalogStates.operator });
  return () => ({ from, to: to ?? work.base.versions.resource, ...changes });
};

function resourcesOf(entries: OwnershipEntries, objects: ReturnType<typeof objectsOf>) {
  const resources = new Map<string, OwnershipEntry & { count: number; missing: number; held: number }>();
  for (const [key, entry] of entries) {
    const { cr, isPruneHeld } = entry;
    const known = resources.get(cr) ?? { ...entry, count: 0, missing: 0, held: 0 };
    known.count += 1;
    if (!objects.has(key)) known.missing += 1;
    if (isPruneHeld === true) known.held += 1;
    resources.set(cr, known);
  }
  const sorted = [...resources].sort(([one], [other]) => (one < other ? -1 : 1));
  return sorted.map(([resource, { manager, generation, deletionPolicy, createdAt, ...counts }]) => ({
    ...{ resource, manager, generation, deletion_policy: deletionPolicy, created_at: createdAt },
    ...{ objects: counts.count, missing: counts.missing, deletion_held: counts.held },
  }));
}

function ownedObject(
  key: string,
  { revokedAt, isPruneHeld }: OwnershipEntry,
  objects: ReturnType<typeof objectsOf>,
) {
  return {
    key,
    exists: objects.has(key),
    is_deletion_held: isPruneHeld === true,
    ...(typeof revokedAt === 'string' && { revoked_at: revokedAt }),
  };
}

/** Returns the resources that the engine does not serve as they are written, as the operator has stored them (operator/objects/unserved.ts). Messages may
 *  repeat what a resource contains, so they are for administrators. */
function unservedIn(state: unknown, isConsole: boolean): readonly object[] {
  return Object.entries(memberOf(state, 'unserved'))
    .slice(0, MOST_LISTED)
    .flatMap(([resource, found]) => {
      if (!isRecord(found)) return [];
      const { reason, message, since } = found;
      return [{ resource, reason, since, ...(isConsole ? {} : { message }) }];
    });
}

/** Returns the resource as its author wrote it, as the operator has stored it without secrets (operator/objects/manifests.ts): a `manifest`, or that it
 *  is too long. An older operator has stored neither. */
function manifestIn(state: unknown, resource: string): object {
  const found = own(memberOf(state, 'manifests'), resource);
  if (!isRecord(found) || typeof found['manifest'] !== 'string') return {};
  if (found['manifest'] === '') return { is_manifest_stored: false };
  try {
    return { manifest: parseJson(found['manifest']) };
  } catch {
    return {};
  }
}

/** Returns the keys that lost their owner and are reserved for its namespace. */
function releasedIn(state: unknown): readonly object[] {
  return Object.entries(memberOf(state, 'reservations'))
    .slice(0, MOST_LISTED)
    .flatMap(([key, found]) =>
      isRecord(found) && typeof found['cr'] === 'string'
        ? [{ key, resource: found['cr'], released_at: found['releasedAt'] }]
        : [],
    );
}
