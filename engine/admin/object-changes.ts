/** Compares two documents object by object, without secrets, and names the custom resource that owns each object.
 *  In: two documents in normal form, the operator's ledger. Out: changes for an answer.
 *  Not here: which documents are compared (ownership.ts, document-operations.ts). Reference: docs/reference/behaviour/metadata-api.md. */
import { isSameJson } from '../json/value.ts';
import { inSlices } from '../limits/slices.ts';
import { changedKeys } from '../metadata/diff.ts';
import { type MetadataObject, objectsOf } from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { withoutSecrets } from '../metadata/without-secrets.ts';
import { entryOf } from './ledger.ts';

/** The most changes that an answer lists. */
const MOST_LISTED = 1000;

type ComparisonOptions = {
  readonly ledger: unknown;
  /** Keys of objects that are listed even if they do not differ. */
  readonly named?: readonly string[];
};

/** Resolves to the objects that differ, by key: their number, and the first of them. */
export async function objectChanges(
  before: Metadata,
  after: Metadata,
  { ledger, named = [] }: ComparisonOptions,
): Promise<object> {
  const changed = await inSlices(changedKeys(before, after));
  const keys = [...new Set([...changed, ...named])].toSorted();
  const [earlier, later] = [objectsOf(before), objectsOf(after)];
  const changes = keys.slice(0, MOST_LISTED).map((key) => {
    const owner = entryOf(ledger, key)?.cr;
    return { key, ...changeOf(earlier.get(key), later.get(key)), ...(owner !== undefined && { owner }) };
  });
  return { count: changed.length, changes };
}

/** Returns what changed of an object. `is_hidden`: only secrets changed, which are not shown. */
function changeOf(before: MetadataObject | undefined, after: MetadataObject | undefined): object {
  if (isSameJson(before?.definition, after?.definition)) return { change: 'unchanged' };
  const [was, is] = [before && withoutSecrets(before), after && withoutSecrets(after)];
  const change = !before ? 'added' : !after ? 'removed' : 'changed';
  return {
    change,
    ...(before && { before: was }),
    ...(after && { after: is }),
    ...(change === 'changed' && isSameJson(was, is) && { is_hidden: true }),
  };
}
