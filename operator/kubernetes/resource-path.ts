/** The paths of custom resources, their definitions and leases at the API server. */
import { API_GROUP, type CustomResource, kindOf } from '../kinds.ts';

export function pathOf({ apiVersion, kind, metadata: { namespace, name } }: CustomResource): string {
  return `/apis/${apiVersion}/namespaces/${namespace}/${kindOf(kind)!.plural}/${name}`;
}

/** Returns the path of the leases of a namespace. */
export function leasesPath(namespace: string): string {
  return `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
}

/** Returns the path of the definition of a kind. */
export function definitionPath(plural: string): string {
  return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.${API_GROUP}`;
}
