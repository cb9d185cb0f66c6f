/** The words of this room: changes of a document in order of priority, what is found about a draft, and why a change is left out.
 *  Not here: choosing the changes (admit.ts). */

import type { Objects } from '../metadata/access/inherited-access.ts';
import { referencesOf } from '../metadata/dependencies.ts';
import type { Edit } from '../metadata/edit.ts';
import {
  containerKeyOf,
  type MetadataObject,
  objectKey,
  parentKeyOf,
  parseKey,
} from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';

export type { Objects };

/** A change of one object. */
export type Change = Edit & {
  /** The keys of objects without which the change is left out, besides the object that its own is nested in. */
  readonly needs?: readonly string[] | undefined;
};

/** An object of a draft that does not fit; `report` is what the caller knows of it. */
export type Misfit<R> = {
  readonly key: string;
  readonly report: R;
  /** True for a source or remote schema that does not answer: it, and what is in it, only waits. */
  readonly isAway: boolean;
  /** True for an object that is served without a part of it. */
  readonly isServed: boolean;
  /** True when no other object can be the cause, except by its absence. */
  readonly isOwnFault: boolean;
  /** The keys of the objects that have names which it wants; none where another reason is possible. */
  readonly rivals: readonly string[];
};

/** Returns what does not fit in a document. */
export type Judge<R> = (document: Metadata) => Promise<readonly Misfit<R>[]>;

/** Why a change is left out. `fault`: its object does not fit. `breaks`: another object would not fit any more. `missing`: it needs an object
 *  that does not exist. `cycle`: inherited roles would inherit from themselves, along these roles. `unknown`: there was no time to find the
 *  cause among these changes. */
export type Cause<R> =
  | { readonly because: 'fault' | 'breaks'; readonly misfit: Misfit<R> }
  | { readonly because: 'missing'; readonly missing: string }
  | { readonly because: 'cycle'; readonly roles: readonly string[] }
  | { readonly because: 'unknown' };

export type Causes<R> = ReadonlyMap<string, Cause<R>>;

/** The changes that fit. */
export type Admission<R> = {
  readonly document: Metadata;
  readonly admitted: readonly Change[];
  /** The causes of the others, by key, in the order in which they were found. */
  readonly left: Causes<R>;
  /** The objects that do not fit in the document with the admitted changes. */
  readonly misfits: readonly Misfit<R>[];
};

export function isRemoval({ definition }: Change): boolean {
  return definition === undefined;
}

/** Returns the object that a change puts. */
export function objectOf({ key, definition }: Change): MetadataObject {
  return { key, kind: parseKey(key)!.kind, parent: parentKeyOf(key), definition };
}

/** True when the source or the remote schema of the object that a change puts, or of one that it refers to, is `away`: it does not answer. */
export function isWaiting<R>(put: Change, away: readonly Misfit<R>[]): boolean {
  if (away.length === 0) return false;
  const homes = new Set([put.key, ...referencesOf(objectOf(put))].map(containerKeyOf));
  return away.some((other) => homes.has(other.key) && (!other.isServed || other.key === put.key));
}

/** Returns the key of an inherited role. */
export function roleKey(role: string): string {
  return objectKey('inherited_role', role);
}
