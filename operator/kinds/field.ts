/** Prints the field of a resource that a problem with one of its objects is about.
 *  In: a path in the object's definition. Out: ` at spec.select.filter.title`; the path in the metadata when the spec has no such field;
 *  nothing when the problem is about the only object of a resource.
 *  Not here: the fields of each kind (kinds/). */
import { type MetadataObject, type PathStep, printPath } from '@pergola/engine/metadata';
import { type CustomResource, kindOf } from '../kinds.ts';

export function fieldIn(
  cr: CustomResource | undefined,
  object: Pick<MetadataObject, 'key' | 'kind'> | undefined,
  path: readonly PathStep[],
): string {
  const field = cr && object && kindOf(cr.kind)?.fieldAt(cr.spec, object, path);
  if (field !== undefined) return ` at ${field}`;
  return path.length > 0 ? ` at ${printPath(path).slice(2)}` : '';
}
