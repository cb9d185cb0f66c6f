/** KINDS: every kind of custom resource, one row each, in the order documents list them. From a row come the definition
 *  (crds/), validation, the watches, and what the reconcile core needs: the metadata objects a resource stands for.
 *  The public surface of the package for crds/.
 *  Not here: the shape of each kind (kinds/), what happens to the objects (reconcile.ts). */
import { engine } from './kinds/engine.ts';
import type { KindRow } from './kinds/kind.ts';
import { tablePermission } from './kinds/permission.ts';
import { queryCollection } from './kinds/query-collection.ts';
import { source } from './kinds/source.ts';
import { table } from './kinds/table.ts';

export type { Rule } from './kinds/annotate.ts';
export type { DeletionPolicy, KindRow, PrinterColumn } from './kinds/kind.ts';
export {
  API_GROUP,
  API_VERSION,
  type Condition,
  type ConditionType,
  type CrStatus,
  type CustomResource,
  crName,
  GROUP_VERSION,
  REASONS,
  type Reason,
  STATUS,
} from './kinds/resource.ts';

export const KINDS = [
  engine,
  source,
  table,
  tablePermission,
  queryCollection,
] as const satisfies readonly KindRow[];

const BY_NAME: ReadonlyMap<string, KindRow> = new Map(KINDS.map((row) => [row.kind, row]));

export function kindOf(name: string): KindRow | undefined {
  return BY_NAME.get(name);
}
