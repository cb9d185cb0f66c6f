/** KINDS: one row for every kind of custom resource, in the order of the documentation. The definitions (crds/), validation, the watches,
 *  and the translation to metadata objects derive from the rows. The public surface of the package for crds/.
 *  Not here: the schema of each kind (kinds/), the processing of objects (pass/). */
import { action } from './kinds/action.ts';
import { allowListEntry } from './kinds/allow-list-entry.ts';
import { apiLimits } from './kinds/api-limits.ts';
import { cronTrigger } from './kinds/cron-trigger.ts';
import { customTypes } from './kinds/custom-types.ts';
import { engine } from './kinds/engine.ts';
import { engineSettings } from './kinds/engine-settings.ts';
import { eventTrigger } from './kinds/event-trigger.ts';
import { trackedFunction } from './kinds/function.ts';
import { inheritedRole } from './kinds/inherited-role.ts';
import type { KindRow } from './kinds/kind.ts';
import { logicalModel } from './kinds/logical-model.ts';
import { metadataBundle } from './kinds/metadata-bundle.ts';
import { migration } from './kinds/migration.ts';
import { nativeQuery } from './kinds/native-query.ts';
import { tablePermission } from './kinds/permission.ts';
import { permissionTest } from './kinds/permission-test.ts';
import { queryCollection } from './kinds/query-collection.ts';
import { remoteRelationship } from './kinds/remote-relationship.ts';
import { remoteSchema } from './kinds/remote-schema.ts';
import { API_GROUP, API_VERSION, type CustomResource } from './kinds/resource.ts';
import { restEndpoint } from './kinds/rest-endpoint.ts';
import { scheduledEvent } from './kinds/scheduled-event.ts';
import { source } from './kinds/source.ts';
import { table } from './kinds/table.ts';

export type { Rule } from './kinds/annotate.ts';
export type { DeclaredCall, DeletionPolicy, KindRow, PrinterColumn } from './kinds/kind.ts';
export { CONDITION_TYPES, type ConditionType, REASONS, type Reason } from './kinds/reasons.ts';
export {
  API_GROUP,
  API_VERSION,
  type AppliedMigration,
  type Condition,
  type CrStatus,
  type CustomResource,
  crName,
  GROUP_VERSION,
  kindAndNamespaceOf,
  MOST_REPLICAS,
  type NamespaceStatus,
  type ObservedVersion,
  type OperatorEntry,
  type ReplicaVersion,
  STATUS,
} from './kinds/resource.ts';

export const KINDS = [
  engine,
  source,
  table,
  tablePermission,
  permissionTest,
  migration,
  trackedFunction,
  logicalModel,
  nativeQuery,
  remoteSchema,
  remoteRelationship,
  customTypes,
  action,
  eventTrigger,
  cronTrigger,
  scheduledEvent,
  queryCollection,
  allowListEntry,
  restEndpoint,
  inheritedRole,
  apiLimits,
  engineSettings,
  metadataBundle,
] as const satisfies readonly KindRow[];

const BY_NAME: ReadonlyMap<string, KindRow> = new Map(KINDS.map((row) => [row.kind, row]));

export function kindOf(name: string): KindRow | undefined {
  return BY_NAME.get(name);
}

/** Returns the path of the JSON Schema of a kind among those of a release, as kubeconform names it: `pergola.dev/table_v1alpha1.json`. */
export function schemaFileOf(kind: string): string {
  return `${API_GROUP}/${kind.toLowerCase()}_${API_VERSION}.json`;
}

const RANKS: ReadonlyMap<string, number> = new Map(KINDS.map(({ kind }, rank) => [kind, rank]));

/** Returns the place of a resource's kind in KINDS: kinds that others need come first, and unknown ones last. */
export function kindRankOf({ kind }: Pick<CustomResource, 'kind'>): number {
  return RANKS.get(kind) ?? KINDS.length;
}

export function purposeOf({ kind }: Pick<CustomResource, 'kind'>): KindRow['purpose'] {
  return kindOf(kind)?.purpose;
}

/** Returns where a resource has its content, if that is not in its spec or a value that it names. */
export function contentOf({ kind, spec }: Pick<CustomResource, 'kind' | 'spec'>) {
  return kindOf(kind)?.contentOf?.(spec);
}
