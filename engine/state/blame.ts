/** Which object and which operation of a request are to blame for inconsistencies, so that its error names them.
 *  In: the inconsistencies that the request adds, the documents before and after. Out: one inconsistency, a path.
 *  Not here: which inconsistencies a request adds (unit-of-work.ts), the error (inconsistencies.ts). */
import { firstFailure } from '../admit/search.ts';
import { EngineError, type PathStep } from '../errors/engine-error.ts';
import { isSameJson } from '../json/value.ts';
import { findObject } from '../metadata/objects.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Inconsistency } from '../resolve/model/inconsistency.ts';

/** A document that an operation created, and the path of that operation in the request. */
export type RequestEdit = {
  readonly path: readonly PathStep[];
  readonly document: Metadata;
  /** Returns the path, below that of the operation, of the part that puts or removes an object. */
  readonly pathOf?: PathOfObject | undefined;
};

export type PathOfObject = (key: string) => readonly PathStep[] | undefined;

/** Returns an error of the commit at the path of the last edit of the object that it names. */
export function atEdit(error: unknown, edits: readonly RequestEdit[]): unknown {
  const key = error instanceof EngineError ? error.hints.object : undefined;
  if (key === undefined) return error;
  const edit = edits.findLast(({ pathOf }) => pathOf?.(key));
  if (!edit) return error;
  const path = [...edit.path, ...edit.pathOf!(key)!];
  return path.reduceRight((placed, step) => placed.at(step), error as EngineError);
}

/** Returns the inconsistency to report, if there is one: the first of an object that the request changed, rather than of others that depend on
 *  it or conflict with it. Causes come before what follows from them. Fields of one name, and stored queries that no longer fit, are
 *  reported whatever the request changed. */
export function rootOf(
  added: readonly Inconsistency[],
  before: Metadata,
  after: Metadata,
): Inconsistency | null {
  const isReported = ({ cause }: Inconsistency) =>
    cause?.kind === 'conflictingRootFields' || cause?.kind === 'newlyInconsistent';
  const isChanged = ({ key }: Inconsistency) =>
    !isSameJson(findObject(before, key)?.definition, findObject(after, key)?.definition);
  return added.find((each) => isReported(each) || isChanged(each)) ?? null;
}

/** Returns the path of the first operation after which the object is inconsistent. Bisects the edits: log2(edits) resolves, only when the
 *  request is refused. */
export async function causingPath(
  { key, reason }: Inconsistency,
  edits: readonly RequestEdit[],
  inconsistenciesIn: (document: Metadata) => Promise<readonly Inconsistency[]>,
): Promise<readonly PathStep[]> {
  const fails = async (at: number) => {
    const found = await inconsistenciesIn(edits[at]!.document);
    return found.some((one) => one.key === key && one.reason === reason);
  };
  return edits[await firstFailure(0, edits.length - 1, fails)]?.path ?? ['args'];
}
