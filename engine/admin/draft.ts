/** What a unit of work has to write: as little as says how the stored document and states become those it has made.
 *  Pure. Not here: making them (work.ts), writing (store/). */
import { isSameJsonText } from '../json/value.ts';
import { editsBetween } from '../metadata/diff.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { CatalogStates } from '../store/catalog-states.ts';
import type { Draft } from '../store/store.ts';
import type { Snapshot } from './snapshot.ts';

/** What a unit of work has made. */
export type Made = {
  readonly metadata: Metadata;
  readonly states: CatalogStates;
  /** What has made the operator's state of the base's; undefined once it was set. */
  readonly patches: readonly unknown[] | undefined;
  readonly touches: { readonly touchesResource: boolean; readonly touchesCatalog: boolean };
};

/** What differs from the base; undefined when nothing does. */
export function draftOf(base: Snapshot, { metadata, states, patches, touches }: Made): Draft | undefined {
  const edits = editsBetween(base.metadata, metadata);
  const catalogStates = changedStates(base.catalogStates, states, patches);
  const draft: Draft = {
    ...(edits?.length === 0 ? {} : { metadata, ...(edits ? { edits } : {}) }),
    ...(Object.keys(catalogStates).length > 0 ? { catalogStates } : {}),
    ...(patches?.length ? { operatorPatches: patches } : {}),
    ...(touches.touchesResource ? { touchResource: true } : {}),
    ...(touches.touchesCatalog ? { touchCatalog: true } : {}),
  };
  return Object.keys(draft).length > 0 ? draft : undefined;
}

/** The operator's is not read where patches say what is other. */
function changedStates(
  before: CatalogStates,
  after: CatalogStates,
  patches: readonly unknown[] | undefined,
): Partial<CatalogStates> {
  const differs = (kind: keyof CatalogStates) => !isSameJsonText(after[kind], before[kind]);
  if (before === after) return {};
  const beside = {
    ...(differs('cli') ? { cli: after.cli } : {}),
    ...(differs('console') ? { console: after.console } : {}),
  };
  if (patches ? patches.length === 0 : !differs('operator')) return beside;
  return {
    ...beside,
    get operator() {
      return after.operator;
    },
  };
}
