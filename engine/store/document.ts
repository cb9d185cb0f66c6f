/** The stored document as values: its version counters, its content, and what one write changes.
 *  Not here: reading and writing it (store.ts), how its parts lie in tables (changes.ts). */
import type { DamagedObject } from '../metadata/damaged.ts';
import type { Edit } from '../metadata/edit.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { CatalogStates } from './catalog-states.ts';

/** The counters of the stored document, each for one reaction of a replica. `resource` counts changes of the document or the
 *  operator's ledger, and is what clients compare and swap on; `catalog` counts changes of a database, after which replicas
 *  introspect again; `state` counts changes of the states of the command line and the console. */
export type Versions = {
  readonly resource: number;
  readonly catalog: number;
  readonly state: number;
  /** Counts changes of named values, which are stored beside the document. A replica compares it with the values that it has loaded. */
  readonly values: number;
};

export type StoredDocument = {
  /** The identity of this installation, the same for every replica and after restarts. */
  readonly id: string;
  readonly versions: Versions;
  /** The document as it was given (metadata/normal-form.ts). */
  readonly document: Metadata;
  /** The objects that cannot be parsed, which every write keeps. They are stored with the document, and not part of it here. */
  readonly damaged: readonly DamagedObject[];
  readonly catalogStates: CatalogStates;
};

/** The author of a change, the client program, and the operations. */
export type Authorship = {
  /** The session's `x-engine-user-id`, or its role; `engine` for changes the engine makes by itself. */
  readonly author: string;
  /** The program, as its `User-Agent` names it. */
  readonly client: string | null;
  /** The names of the operations, each once, in the order of the request. */
  readonly operations: readonly string[];
};

/** The parts of the document that a write changes. Absent parts are kept. */
export type MetadataWrite = {
  readonly metadata?: Metadata;
  /** Edits that turn the stored document into `metadata`, if the difference can be expressed as edits. */
  readonly edits?: readonly Edit[];
  readonly catalogStates?: Partial<CatalogStates>;
  /** JSON Merge Patches that turn the stored operator state into the new one, in order. */
  readonly operatorPatches?: readonly unknown[];
  /** Increments `versions.resource` even if nothing else changes (reload_metadata). */
  readonly touchResource?: boolean;
  /** Increments `versions.catalog`, so that every replica introspects again. */
  readonly touchCatalog?: boolean;
  /** The author that the revision records if the document changes. */
  readonly by?: Authorship;
};

/** True when the write changes the document. */
export function changesDocument({ metadata, edits }: MetadataWrite): boolean {
  return metadata !== undefined || edits !== undefined;
}

/** True when the write sets the whole operator state. Does not read the state, which may be expensive to compute. */
export function setsOperator({ catalogStates }: MetadataWrite): boolean {
  return catalogStates !== undefined && Object.hasOwn(catalogStates, 'operator');
}

/** True when the write increments `versions.resource`. Writes of the command line's and the console's state do not, because they
 *  must not disturb clients that edit the document. The operator's ledger says who owns what in the document, so it does. */
export function movesResource(write: MetadataWrite): boolean {
  return (
    changesDocument(write) ||
    setsOperator(write) ||
    write.operatorPatches !== undefined ||
    write.touchResource === true
  );
}

/** Returns the shortest write with the same effect: edits instead of the document, patches instead of the operator state. */
export function minimalWrite(write: MetadataWrite): MetadataWrite {
  const { metadata, edits, catalogStates = {}, operatorPatches, by, ...touches } = write;
  const { cli, console } = catalogStates;
  const isWhole = setsOperator(write) && !operatorPatches;
  return {
    ...(edits ? { edits } : metadata ? { metadata } : {}),
    catalogStates: {
      ...(cli === undefined ? {} : { cli }),
      ...(console === undefined ? {} : { console }),
      ...(isWhole ? { operator: catalogStates.operator } : {}),
    },
    ...(operatorPatches ? { operatorPatches } : {}),
    ...(by ? { by } : {}),
    ...touches,
  };
}
