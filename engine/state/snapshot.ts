/** A snapshot of what the engine knows: the document, the catalogs of the databases, and the model resolved from both. Immutable. A
 *  request takes one snapshot and keeps it until its end; `EngineState` (state.ts) publishes the next.
 *  Not here: creating snapshots (read-snapshot.ts, unit-of-work.ts), storing the document (store/). */
import type { Catalog } from '../catalog/types.ts';
import type { DamagedObject } from '../metadata/damaged.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Inconsistency, Unreached } from '../resolve/model/inconsistency.ts';
import type { Model } from '../resolve/model/model.ts';
import type { Upstreams } from '../resolve/remote-schema.ts';
import type { CatalogStates } from '../store/catalog-states.ts';
import type { Versions } from '../store/document.ts';

/** A source's catalog, or the reason why there is none. Everything in such a source is inconsistent. */
export type SourceCatalog = Catalog | Unreached;

/** The catalogs by name of the source. */
export type Catalogs = ReadonlyMap<string, SourceCatalog>;

export type Snapshot = {
  /** The identity of this installation, the same for every replica and after restarts. */
  readonly id: string;
  readonly resourceVersion: number;
  /** All counters of the stored document. `resourceVersion` is the first of them. */
  readonly versions: Versions;
  /** The document as it was given, which admin operations edit and exports print. */
  readonly document: Metadata;
  /** The objects of the stored document that cannot be parsed, which every write keeps. */
  readonly damaged: readonly DamagedObject[];
  /** The document in normal form. */
  readonly metadata: Metadata;
  readonly catalogStates: CatalogStates;
  readonly catalogs: Catalogs;
  readonly upstreams: Upstreams;
  readonly model: Model;
  readonly inconsistencies: readonly Inconsistency[];
};
