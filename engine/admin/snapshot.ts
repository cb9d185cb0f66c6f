/** What the engine knows at one moment: the document, what the databases said, and the model made of both.
 *  Immutable. A request takes one snapshot and keeps it to the end; `EngineState` (state.ts) swaps in the next.
 *  Not here: how a snapshot comes about (state.ts), what is kept between starts (store/). */
import type { Catalog } from '../catalog/types.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Upstreams } from '../resolve/remote-schema.ts';
import type { Inconsistency, Model, Unreached } from '../resolve/types.ts';
import type { CatalogStates } from '../store/catalog-states.ts';
import type { Versions } from '../store/document.ts';

/** A source's catalog, or why there is none: then everything in the source is inconsistent. */
export type SourceCatalog = Catalog | Unreached;

/** By source name. */
export type Catalogs = ReadonlyMap<string, SourceCatalog>;

export type Snapshot = {
  /** Identity of this installation: the same for every replica and over restarts. */
  readonly id: string;
  readonly resourceVersion: number;
  /** All counters of the stored row; `resourceVersion` is the first of them. */
  readonly versions: Versions;
  readonly metadata: Metadata;
  readonly catalogStates: CatalogStates;
  readonly catalogs: Catalogs;
  readonly upstreams: Upstreams;
  readonly model: Model;
  readonly inconsistencies: readonly Inconsistency[];
};
