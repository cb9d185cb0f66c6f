/** What a unit of work has to write: as little as says how the stored document and states become those it has made.
 *  Pure. Not here: making them (work.ts), writing (store/). */
import { isSameJsonText } from '../json/value.ts';
import { editsBetween } from '../metadata/diff.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { CatalogStates, Draft } from '../store/store.ts';
import type { Snapshot } from './snapshot.ts';

/** What a unit of work has made. */
export type Made = {
  readonly metadata: Metadata;
  readonly states: Partial<CatalogStates>;
  /** What has made the operator's state of the base's; undefined once it was set. */
  readonly patches: readonly unknown[] | undefined;
  readonly touches: { readonly touchesResource: boolean; readonly touchesCatalog: boolean };
};

/** What differs from the base; undefined when nothing does. */
export function draftOf(base: Snapshot, { metadata, states, patches, touches }: Made): Draft | undefined {
  const edits = editsBetween(base.metadata, metadata);
  const changed = Object.entries(states).filter(
    ([kind, state]) => !isSameJsonText(state, base.catalogStates[kind as keyof CatalogStates]),
  );
  const isPatched = patches !== undefined && changed.some(([kind]) => kind === 'operator');
  const draft: Draft = {
    ...(edits?.length === 0 ? {} : { metadata, ...(edits ? { edits } : {}) }),
    ...(changed.length > 0 ? { catalogStates: Object.fromEntries(changed) } : {}),
    ...(isPatched ? { operatorPatches: patches } : {}),
    ...(touches.touchesResource ? { touchResource: true } : {}),
    ...(touches.touchesCatalog ? { touchCatalog: true } : {}),
  };
  return Object.keys(draft).length > 0 ? draft : undefined;
}
