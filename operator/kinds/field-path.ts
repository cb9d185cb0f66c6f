/** Where in a resource's spec something of a metadata object stands, so that messages name the field a person has written.
 *  In: the path in the object's definition, as the engine gives it. Out: `spec.permissions[0].select.filter.title`.
 *  Kinds say where their objects stand (`places`); what they do not say stands nowhere.
 *  Pure. Not here: what is wrong there (settle/settle.ts). */
import { type PathStep, printPath, type TSchema } from '@pergola/engine/metadata';
import { projectPath } from './project.ts';

export type FieldPath = {
  /** `spec.permissions[0].select` */
  readonly at: string;
  /** What of the object's definition stands there; absent: all of it. */
  readonly of?: readonly PathStep[];
  /** Its schema, where the spec spells the fields of it anew. */
  readonly as?: TSchema;
};

/** Undefined: the spec has no field for it. `places`, the most particular first. */
export function fieldPathOf(paths: readonly FieldPath[], path: readonly PathStep[]): string | undefined {
  const found = paths.find(({ of = [] }) => of.every((step, i) => step === path[i]));
  if (!found) return undefined;
  const rest = path.slice(found.of?.length ?? 0);
  return found.at + printPath(found.as ? projectPath(found.as, rest) : rest).slice(1);
}

/** All of the object stands there, if it stands anywhere. */
export function wholeAt(at: string | undefined): readonly FieldPath[] {
  return at === undefined ? [] : [{ at }];
}

/** Of an item of a list of the spec. */
export function itemAt<T>(
  list: string,
  items: readonly T[] | undefined,
  isIt: (item: T) => boolean,
): string | undefined {
  const index = items?.findIndex(isIt) ?? -1;
  return index < 0 ? undefined : `spec.${list}[${index}]`;
}
