/** The types of what a document has and its model lacks: objects that do not fit, sources that were not reached, and restrictions without effect.
 *  Not here: creating inconsistencies (resolve/inconsistency.ts). */
import type { EngineError } from '../../errors/engine-error.ts';

/** A metadata object that does not fit the database or another object. It stays in the document and is not part of the model. */
export type Inconsistency = {
  /** The type as get_inconsistent_metadata prints it: `table`, `object_relation`, `select_permission` and so on. */
  readonly type: string;
  /** A description such as `object_relation author in table article in source default`. */
  readonly name: string;
  /** The sentence `Inconsistent object: …`. */
  readonly reason: string;
  /** The definition of the object in the metadata. */
  readonly definition: unknown;
  /** Replaces `definition` for an inherited role whose parents disagree. Nothing of the document is wrong then, so only a
   *  replacement that allows no inconsistency is refused. */
  readonly entity?: InheritedEntity;
  /** True for an object that is served without a part of it, which dropping inconsistent objects keeps. */
  readonly isServed?: true;
  /** The key of the object (metadata/objects.ts), for drop_inconsistent_metadata and the operator. */
  readonly key: string;
  /** The keys of the objects that have names which this one wants; absent where its names are not the reason. */
  readonly rivals?: readonly string[];
  /** The name of the query that does not fit; absent when the whole object does not. */
  readonly query?: string;
  /** The error of an operation that causes this. In the specification's wording its code and text are those of the failure itself;
   *  in the newer wording they are `invalid-configuration` and `reason`. `conflictingRootFields` concerns the whole schema,
   *  whichever table is new. The path starts at the arguments of the object. */
  readonly cause?: EngineError;
};

export type InheritedWrite = {
  readonly permission_type: 'insert' | 'update' | 'delete';
  readonly source: string;
  readonly table: string;
};

export type InheritedEntity = InheritedWrite | { readonly remote_schema: string };

/** The reason why a source has no catalog. */
export type Unreached = {
  readonly error: string;
  /** Present when the configuration of the source is wrong, at the path of the error, so that no database could be reached. */
  readonly fault?: EngineError;
  /** The named value or file of the configuration that cannot be read, as a reference text. */
  readonly lacks?: string | undefined;
  /** Present when there is no answer yet: the reading that is in progress. */
  readonly awaits?: object;
};

/** An object that declares something without effect; `reason` is the cause, and what to do about it. */
export type Unenforced = Pick<Inconsistency, 'key' | 'type' | 'name' | 'reason'>;
