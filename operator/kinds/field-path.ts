/** Maps paths in a metadata object to fields of the resource, so that messages name the field that the user wrote.
 *  In: the path in the object's definition, as the engine reports it. Out: `spec.permissions[0].select.filter.title`. Each kind declares
 *  the fields of its objects (`fieldPaths`).
 *  Pure. Not here: the problem itself (settle/settle.ts). */
import { type PathStep, printPath, type TSchema } from '@pergola/engine/metadata';
import { projectPath } from './project.ts';

export type FieldPath = {
  /** The path in the spec: `spec.permissions[0].select`. */
  readonly at: string;
  /** The path in the object's definition that the field holds. Absent when it holds the whole definition. */
  readonly of?: readonly PathStep[];
  /** The schema of the definition, when the spec has the same fields in camelCase (project.ts). */
  readonly as?: TSchema;
};

/** Returns the path in the spec for a path in the definition, from the first of `paths` that matches; undefined when none does. */
export function fieldPathOf(paths: readonly FieldPath[], path: readonly PathStep[]): string | undefined {
  const found = paths.find(({ of = [] }) => of.every((step, i) => step === path[i]));
  if (!found) return undefined;
  const rest = path.slice(found.of?.length ?? 0);
  return found.at + printPath(found.as ? projectPath(found.as, rest) : rest).slice(1);
}

/** Returns the field path of an object that one field holds completely; none when `at` is undefined. */
export function wholeAt(at: string | undefined): readonly FieldPath[] {
  return at === undefined ? [] : [{ at }];
}

/** Returns the path of the first item that matches; undefined when none does. */
export function itemAt<T>(
  list: string,
  items: readonly T[] | undefined,
  isIt: (item: T) => boolean,
): string | undefined {
  const index = items?.findIndex(isIt) ?? -1;
  return index < 0 ? undefined : `spec.${list}[${index}]`;
}
