/** A snapshot of what the engine knows: the document, the catalogs of the databases, and the model resolved from both. Immutable. A
 *  request takes one snapshot and keeps it until its end; `EngineState` (state.ts) publishes the next.
 *  Not here: creating snapshots (read-snapshot.ts, unit-of-work.ts), storing the document (store/). */
import type { Catalog } from '../catalog/types.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Inconsistency, Unreached } from '../resolve/model/inconsistency.ts';
import type { Model } from '../resolve/model/model.ts';
import type { Upstreams } from '../resolve/remote-schema.ts';
import type { StoredDocument } from '../store/document.ts';

/** A source's catalog, or the reason why there is none. Everything in such a source is inconsistent. */
export type SourceCatalog = Catalog | Unreached;

/** The catalogs by name of the source. */
export type Catalogs = ReadonlyMap<string, SourceCatalog>;

/** The stored document, whose `document` admin operations edit and exports print, and what it means. */
export type Snapshot = StoredDocument & {
  /** The first of `versions`. */
  readonly resourceVersion: number;
  /** The document in normal form. */
  readonly metadata: Metadata;
  readonly catalogs: Catalogs;
  readonly upstreams: Upstreams;
  readonly model: Model;
  readonly inconsistencies: readonly Inconsistency[];
};
