/** Inconsistencies as clients see them and as requests are refused with them. Not here: finding them (resolve/).
 *  Spec: "replace_metadata", "get_inconsistent_metadata"; docs/reference/behaviour/metadata-api.md. */
import { type EngineError, fail, type PathStep } from '../errors/engine-error.ts';
import { nearestNames } from '../errors/nearest.ts';
import { isRecord } from '../json/value.ts';
import type { DamagedObject } from '../metadata/damaged.ts';
import { putObject, removeObject } from '../metadata/edit.ts';
import { containerKeyOf, findObject } from '../metadata/objects.ts';
import type { QueryCollection } from '../metadata/schema/collection.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { HTTP_EXCEPTION } from '../remote/http.ts';
import type { Inconsistency } from '../resolve/model/inconsistency.ts';

export type PrintedInconsistency = Pick<Inconsistency, 'type' | 'name' | 'reason' | 'entity'> & {
  readonly definition?: unknown;
  /** The failure of a request to another service. */
  readonly message?: unknown;
  readonly key?: string;
  readonly code?: string | undefined;
  /** The code of the error behind it, where the admin API has another code for it. */
  readonly behind?: string;
  readonly path?: readonly PathStep[];
  readonly served?: true;
  readonly away?: true;
  readonly nearest?: readonly string[];
  readonly more?: readonly FurtherError[];
};

/** A further error of an inconsistent object. */
type FurtherError = {
  readonly reason: string;
  readonly path?: readonly PathStep[];
  readonly nearest?: readonly string[];
};

/** The most inconsistencies for which the nearest names and further errors are printed. More follow from a cause other than a typing error. */
const MOST_MISNAMED = 100;

/** Prints inconsistencies. `includeKeys` adds each object's key, the error codes, the path of the error within the definition, whether the
 *  object is served all the same, whether it only does not answer, the nearest names to one that does not exist, and the further errors of the object, for clients that keep track of objects (the operator). */
export function printInconsistencies(
  inconsistencies: readonly Inconsistency[],
  includeKeys: boolean,
): readonly PrintedInconsistency[] {
  const isFew = inconsistencies.length <= MOST_MISNAMED;
  return inconsistencies.map((found) => {
    const { definition, entity, reason, name, type, key, cause, isServed } = found;
    return {
      ...(entity ? { entity } : { definition }),
      reason,
      ...messageOf(cause),
      name,
      type,
      ...(includeKeys
        ? {
            key,
            code: cause?.codeIn('specification'),
            ...behindOf(cause),
            ...pathOf(cause),
            ...(isServed ? { served: true as const } : {}),
            ...(isUnanswered(found) ? { away: true as const } : {}),
            ...(isFew ? { ...nearestTo(cause), ...furtherErrors(cause) } : {}),
          }
        : {}),
    };
  });
}

/** True for a source or remote schema that does not answer. One whose configuration is wrong is no such thing: waiting does not help. */
export function isUnanswered({ key, cause }: Inconsistency): boolean {
  if (containerKeyOf(key) !== key) return false;
  return key.startsWith('source/')
    ? cause?.codeIn('specification') !== 'invalid-configuration'
    : 'message' in messageOf(cause);
}

function messageOf(cause: EngineError | undefined): { readonly message?: unknown } {
  const internal = cause?.internal;
  return isRecord(internal) && internal['type'] === HTTP_EXCEPTION ? { message: internal } : {};
}

function behindOf(cause: EngineError | undefined): { readonly behind?: string } {
  const behind = cause?.hints.behind;
  return behind === undefined || behind === cause?.codeIn('specification') ? {} : { behind };
}

function pathOf(cause: EngineError | undefined): { readonly path?: readonly PathStep[] } {
  return cause && cause.path.length > 0 ? { path: cause.path } : {};
}

function nearestTo(cause: EngineError | undefined): { readonly nearest?: readonly string[] } {
  const misnamed = cause?.hints.misnamed;
  if (!misnamed) return {};
  const nearest = nearestNames(misnamed.name, misnamed.known());
  return nearest.length > 0 ? { nearest } : {};
}

function furtherErrors(cause: EngineError | undefined): { readonly more?: readonly FurtherError[] } {
  const more = (cause?.hints.more ?? []).map((error) => ({
    reason: error.messageIn('newer'),
    ...pathOf(error),
    ...nearestTo(error),
  }));
  return more.length > 0 ? { more } : {};
}

/** Returns an inconsistency for each object of the stored document that cannot be parsed. */
export function damagedInconsistencies(damaged: readonly DamagedObject[]): readonly Inconsistency[] {
  return damaged.map(({ kind, key, value, cause }) => ({
    type: kind ?? key,
    name: `${(kind ?? 'value').replaceAll('_', ' ')} ${key}`,
    reason: `Inconsistent object: the stored definition cannot be read: ${cause.messageIn('newer')}`,
    definition: value,
    key,
    cause,
  }));
}

/** Returns the inconsistencies of a snapshot with those of its damaged objects, as `get_inconsistent_metadata` lists them. */
export function allInconsistencies({
  damaged,
  inconsistencies,
}: {
  readonly damaged: readonly DamagedObject[];
  readonly inconsistencies: readonly Inconsistency[];
}): readonly Inconsistency[] {
  return damaged.length === 0 ? inconsistencies : [...damagedInconsistencies(damaged), ...inconsistencies];
}

/** Returns the inconsistencies in `after` that were not in `before` and concern the document. An object that is inconsistent for another
 *  reason counts as new. */
export function newInconsistencies(
  before: readonly Inconsistency[],
  after: readonly Inconsistency[],
): readonly Inconsistency[] {
  const known = new Set(before.map(identify));
  return after.filter((inconsistency) => !inconsistency.entity && !known.has(identify(inconsistency)));
}

/** Returns the document without the objects. Of a collection only the query that does not fit is removed. */
export function removeInconsistent(metadata: Metadata, inconsistencies: readonly Inconsistency[]): Metadata {
  return inconsistencies.reduce(
    (left, { key, query }) => (query === undefined ? removeObject(left, key) : removeQuery(left, key, query)),
    metadata,
  );
}

/** Raises the cause of `root`, or else `newInconsistencies`; both list the objects in `internal`. Unless `root` is
 *  given, a single inconsistency is its own root. */
export function refuseInconsistencies(
  inconsistencies: readonly Inconsistency[],
  about: { readonly path?: readonly PathStep[]; readonly root?: Inconsistency | null } = {},
): never {
  const { path = [], root = inconsistencies.length === 1 ? inconsistencies[0] : undefined } = about;
  const internal = printInconsistencies(inconsistencies, false);
  if (root?.cause) fail(root.cause.kind, root.cause.params as never, { path, internal });
  fail('newInconsistencies', {}, { path, internal });
}

function removeQuery(metadata: Metadata, key: string, query: string): Metadata {
  const object = findObject(metadata, key);
  if (!object) return metadata;
  const collection = object.definition as QueryCollection;
  const queries = collection.definition.queries.filter(({ name }) => name !== query);
  return putObject(metadata, { ...object, definition: { ...collection, definition: { queries } } });
}

function identify(inconsistency: Inconsistency): string {
  return `${inconsistency.key}\n${inconsistency.reason}`;
}
