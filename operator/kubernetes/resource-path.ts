/** The path of a custom resource at the API server. */
import { type CustomResource, kindOf } from '../kinds.ts';

export function pathOf({ apiVersion, kind, metadata: { namespace, name } }: CustomResource): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/${kindOf(kind)!.plural}/${name}`;
}
