/** The field of a resource that something wrong with one of its objects is about, in the words of messages.
 *  In: a path in the object's definition. Out: ` at spec.select.filter.title`; where the spec has no field for it, the path as it
 *  is in the metadata; nothing where all of the object is meant and the resource says nothing besides.
 *  Not here: where kinds say their objects (kinds/). */
import { type MetadataObject, type PathStep, printPath } from '@pergola/engine/metadata';
import { type CustomResource, kindOf } from '../kinds.ts';
import { fieldPathOf } from './field-path.ts';

export function fieldIn(
  cr: CustomResource | undefined,
  object: Pick<MetadataObject, 'key' | 'kind'> | undefined,
  path: readonly PathStep[],
): string {
  const paths = cr && object && kindOf(cr.kind)?.fieldPaths?.(cr.spec, object);
  const field = paths && fieldPathOf(paths, path);
  if (field !== undefined) return ` at ${field}`;
  return path.length > 0 ? ` at ${printPath(path).slice(2)}` : '';
}
