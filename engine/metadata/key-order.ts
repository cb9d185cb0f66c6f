/** KEY_ORDERS: the order of the keys in the documents that the reference exports. It orders the keys of the objects listed here, and sorts
 *  those of all others. A client that sends sorted keys has no order of its own (its command line does, and so do many JSON libraries),
 *  so its objects get the order of the reference; all others keep the order in which they were written.
 *  In: the keys of an object. Out: the keys in order. Pure. Not here: lists, which OBJECTS orders (objects.ts). */
import { Action, ActionDefinition, CustomTypes } from './schema/action.ts';
import { QueryCollection } from './schema/collection.ts';
import { CronTrigger, DeclaredEvent, EventTrigger } from './schema/event.ts';
import { ComputedField, TrackedFunction } from './schema/function.ts';
import { Metadata } from './schema/metadata.ts';
import {
  DeletePermission,
  DeleteRule,
  InsertPermission,
  InsertRule,
  SelectPermission,
  SelectRule,
  UpdatePermission,
  UpdateRule,
} from './schema/permission.ts';
import { InheritedRole, OpenTelemetry } from './schema/policy.ts';
import { ArrayRelationship, ObjectRelationship } from './schema/relationship.ts';
import { RemoteSchema, RemoteSchemaDefinition, RemoteSchemaPermission } from './schema/remote-schema.ts';
import { Source } from './schema/source.ts';
import { Table } from './schema/table.ts';

const { scalars, enums, input_objects: inputs, objects } = CustomTypes.properties;

/** Keys that are not listed follow, sorted. */
const KEY_ORDERS: ReadonlyMap<unknown, readonly string[]> = new Map(
  [
    [
      Metadata,
      `version sources remote_schemas query_collections allowlist actions custom_types cron_triggers rest_endpoints api_limits
       metrics_config inherited_roles graphql_schema_introspection network backend_configs opentelemetry`,
    ],
    [
      Source,
      `name kind tables functions native_queries stored_procedures logical_models configuration query_tags customization health_check`,
    ],
    [
      Table,
      `table is_enum configuration object_relationships array_relationships computed_fields remote_relationships insert_permissions
       select_permissions update_permissions delete_permissions event_triggers apollo_federation_config`,
    ],
    [ObjectRelationship, 'name using comment'],
    [ArrayRelationship, 'name using comment'],
    [ComputedField, 'name definition comment'],
    [InsertPermission, 'role permission comment'],
    [SelectPermission, 'role permission comment'],
    [UpdatePermission, 'role permission comment'],
    [DeletePermission, 'role permission comment'],
    [InsertRule, 'check set columns backend_only validate_input'],
    [
      SelectRule,
      'columns computed_fields filter limit allow_aggregations query_root_fields subscription_root_fields',
    ],
    [UpdateRule, 'columns filter check set backend_only validate_input'],
    [DeleteRule, 'filter backend_only validate_input'],
    [
      EventTrigger,
      `name definition retry_conf webhook webhook_from_env headers request_transform response_transform cleanup_config
       trigger_on_replication`,
    ],
    [TrackedFunction, 'function configuration permissions comment'],
    [RemoteSchema, 'name definition comment permissions remote_relationships'],
    [RemoteSchemaDefinition, 'url url_from_env timeout_seconds customization headers forward_client_headers'],
    [RemoteSchemaPermission, 'role definition comment'],
    [InheritedRole, 'role_name role_set'],
    [QueryCollection, 'name definition comment'],
    [
      CronTrigger,
      'name webhook schedule include_in_metadata payload retry_conf headers comment request_transform response_transform',
    ],
    [DeclaredEvent, 'name webhook schedule_at payload retry_conf headers comment'],
    [CustomTypes, 'input_objects objects scalars enums'],
    [inputs.items, 'name fields description'],
    [inputs.items.properties.fields.items, 'name type arguments description'],
    [objects.items, 'name fields description relationships'],
    [scalars.items, 'name description'],
    [enums.items, 'name values description'],
    [Action, 'name definition comment permissions'],
    [
      ActionDefinition,
      `handler output_type forward_client_headers headers arguments request_transform response_transform type kind timeout`,
    ],
    [ActionDefinition.properties.arguments.items, 'name type description'],
    [Action.properties.permissions.items, 'role comment'],
    [OpenTelemetry, 'status data_types exporter_otlp batch_span_processor'],
  ].map(([schema, keys]) => [(schema as { properties: unknown }).properties, (keys as string).split(/\s+/)]),
);

/** Returns the keys in the order in which they were written; in that of the reference when they were sorted. */
export function keysAsGiven(properties: unknown, keys: readonly string[]): readonly string[] {
  const isSorted = keys.every((key, i) => i === 0 || keys[i - 1]! < key);
  return isSorted ? keysInOrder(properties, keys) : keys;
}

/** Returns the keys in the order of the reference. */
export function keysInOrder(properties: unknown, keys: readonly string[]): readonly string[] {
  return keys.toSorted(comparingKeys(properties));
}

function comparingKeys(properties: unknown): (a: string, b: string) => number {
  const order = KEY_ORDERS.get(properties) ?? [];
  const rank = (key: string) => (order.includes(key) ? order.indexOf(key) : order.length);
  return (a, b) => rank(a) - rank(b) || (a < b ? -1 : 1);
}

/** Returns the object with the keys that `before` does not have in their position, and the others as they are. */
export function withNewKeys<T extends object>(properties: unknown, before: object, after: T): T {
  const keys = Object.keys(after);
  const known = keys.filter((key) => Object.hasOwn(before, key));
  const added = keys.filter((key) => !Object.hasOwn(before, key));
  if (added.length === 0) return after;
  const compare = comparingKeys(properties);
  for (const key of added.toSorted(compare)) {
    const next = known.findIndex((other) => compare(key, other) < 0);
    known.splice(next < 0 ? known.length : next, 0, key);
  }
  return Object.fromEntries(known.map((key) => [key, after[key as keyof T]])) as T;
}
