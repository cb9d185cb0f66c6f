/** Collects inconsistencies during a resolution. `attempt` resolves one object; a failure becomes an Inconsistency in the wording of
 *  get_inconsistent_metadata, and the object is left out of the model. Also the subject of each kind of object.
 *  Not here: which objects there are (resolve.ts), what can be wrong with one (its own file).
 *  Spec: "Inconsistent metadata"; docs/reference/behaviour/metadata-api.md. */
import { EngineError, fail } from '../errors/engine-error.ts';
import type { ErrorName } from '../errors/errors.ts';
import { objectKey } from '../metadata/objects.ts';
import type { Action, CustomTypes } from '../metadata/schema/action.ts';
import { printQualified, type QualifiedName } from '../metadata/schema/common.ts';
import type { CronTrigger, EventTrigger } from '../metadata/schema/event.ts';
import type { ComputedField, TrackedFunction } from '../metadata/schema/function.ts';
import type { LogicalModel, LogicalModelPermission } from '../metadata/schema/logical-model.ts';
import type { NativeQuery } from '../metadata/schema/native-query.ts';
import type { InheritedRole } from '../metadata/schema/policy.ts';
import type {
  ArrayRelationship,
  ObjectRelationship,
  RemoteRelationship,
} from '../metadata/schema/relationship.ts';
import type { RemoteSchema, RemoteSchemaPermission } from '../metadata/schema/remote-schema.ts';
import type { Inconsistency, InheritedEntity } from './types.ts';

/** A metadata object as an inconsistency names it. */
export type Subject = Pick<Inconsistency, 'type' | 'name' | 'definition' | 'key'> & {
  /** The text before the failure in `reason`, for example `in table "author": `. */
  readonly context: string;
  /** True when the failure is worded the same in the specification's wording and in the newer one. */
  readonly hasOneWording?: boolean;
};

/** Failures whose text names the object. */
const WITHOUT_CONTEXT: ReadonlySet<ErrorName> = new Set([
  'alreadyTracked',
  'tableNotInDatabase',
  'tableNotTracked',
  'fieldConflict',
]);

export class Inconsistencies {
  readonly all: Inconsistency[] = [];

  /** Returns the result of `body`. When it fails with an ERRORS row, adds an inconsistency and returns undefined. A caller with
   *  thousands of objects passes a function, which is called only then. */
  attempt<T>(subject: Subject | (() => Subject), body: () => T): T | undefined {
    try {
      return body();
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      this.add(typeof subject === 'function' ? subject() : subject, error);
      return undefined;
    }
  }

  add(subject: Subject, error: EngineError): void {
    const { type, name, definition, key } = subject;
    const cause = causeOf(subject, error);
    const reason = `Inconsistent object: ${trimPrefix(cause.messageIn('newer'))}`;
    this.all.push({ type, name, reason, definition, key, cause });
  }

  /** Adds an object that conflicts with others. A request that causes this fails with inconsistent metadata, not with an error of
   *  one object. */
  addShared({ type, name, definition, key }: Subject, text: string): void {
    this.all.push({ type, name, reason: `${PREFIX}${text}`, definition, key });
  }
}

const PREFIX = 'Inconsistent object: ';

/** Returns the inconsistency of a role whose parents disagree about a permission, so that it inherits none. */
export function inheritedConflict(role: string, entity: InheritedEntity): Inconsistency {
  const text =
    'remote_schema' in entity
      ? `remote schema: '${entity.remote_schema}'`
      : `${entity.permission_type} permission, table: ${entity.table}, source: '${entity.source}'`;
  const error = new EngineError('inheritedPermissionConflict', { role, entity: text });
  return {
    type: 'inherited role permission inconsistency',
    name: role,
    reason: error.message,
    definition: null,
    entity,
    key: objectKey('inherited_role', role),
    cause: error,
  };
}

function trimPrefix(message: string): string {
  return message.startsWith(PREFIX) ? message.slice(PREFIX.length) : message;
}

/** Returns the error of an operation that causes the inconsistency. A failure of the whole schema is reported as it is, any other
 *  as a failure of the object. */
function causeOf(subject: Subject, error: EngineError): EngineError {
  if (error.kind === 'conflictingRootFields') return error;
  const context = WITHOUT_CONTEXT.has(error.kind) ? '' : subject.context;
  const reason = `${PREFIX}${context}${error.messageIn('newer')}`;
  const params = subject.hasOneWording
    ? { code: 'invalid-configuration', text: reason, reason }
    : { code: error.codeIn('specification'), text: error.messageIn('specification'), reason };
  return new EngineError('inconsistentObject', params, error.path, error.internal);
}

export function inheritedRoleSubject(definition: InheritedRole): Subject {
  const { role_name: role } = definition;
  return {
    type: 'inherited_role',
    name: `inherited role ${role}`,
    definition,
    key: objectKey('inherited_role', role),
    context: '',
  };
}

export function sourceSubject(source: string): Subject {
  return {
    type: 'source',
    name: `source ${source}`,
    definition: source,
    key: objectKey('source', source),
    context: '',
  };
}

export function tableSubject(source: string, table: QualifiedName): Subject {
  return {
    type: 'table',
    name: `table ${printQualified(table)} in source ${source}`,
    definition: { schema: table.schema, name: table.name },
    key: objectKey('table', source, table.schema, table.name),
    context: '',
  };
}

export function relationshipSubject(
  kind: 'object' | 'array',
  source: string,
  table: QualifiedName,
  relationship: ObjectRelationship | ArrayRelationship,
): Subject {
  const type = `${kind}_relation`;
  return {
    type,
    name: `${type} ${relationship.name} in table ${printQualified(table)} in source ${source}`,
    definition: {
      using: wireUsing(relationship.using),
      name: relationship.name,
      source,
      comment: relationship.comment ?? null,
      table: { schema: table.schema, name: table.name },
    },
    key: objectKey(`${kind}_relationship`, source, table.schema, table.name, relationship.name),
    context: `in table "${printQualified(table)}": in relationship "${relationship.name}": `,
  };
}

export function computedFieldSubject(source: string, table: QualifiedName, field: ComputedField): Subject {
  return {
    type: 'computed_field',
    name: `computed_field ${field.name} in table ${printQualified(table)} in source ${source}`,
    definition: {
      definition: field.definition,
      name: field.name,
      source,
      comment: field.comment ?? null,
      table: { schema: table.schema, name: table.name },
    },
    key: objectKey('computed_field', source, table.schema, table.name, field.name),
    context: `in table "${printQualified(table)}": in computed field "${field.name}": `,
  };
}

export function eventTriggerSubject(source: string, table: QualifiedName, trigger: EventTrigger): Subject {
  const { name } = trigger;
  return {
    type: 'event_trigger',
    name: `event_trigger ${name} in table ${printQualified(table)} in source ${source}`,
    definition: { ...trigger, source, table: { schema: table.schema, name: table.name } },
    key: objectKey('event_trigger', source, table.schema, table.name, name),
    context: `in table "${printQualified(table)}": in event trigger "${name}": `,
    hasOneWording: true,
  };
}

export function cronTriggerSubject(definition: CronTrigger): Subject {
  const { name } = definition;
  return {
    type: 'cron_trigger',
    name: `cron_trigger ${name}`,
    definition,
    key: objectKey('cron_trigger', name),
    context: `in cron trigger "${name}": `,
    hasOneWording: true,
  };
}

export function functionSubject(source: string, definition: TrackedFunction): Subject {
  const { schema, name } = definition.function;
  const printed = printQualified(definition.function);
  return {
    type: 'function',
    name: `function ${printed} in source ${source}`,
    definition: { schema, name },
    key: objectKey('function', source, schema, name),
    context: `in function "${printed}": `,
  };
}

export function logicalModelSubject(source: string, definition: LogicalModel): Subject {
  const { name } = definition;
  return {
    type: 'logical_model',
    name: `logical_model ${name} in source ${source}`,
    definition,
    key: objectKey('logical_model', source, name),
    context: `in logical model "${name}": `,
  };
}

export function logicalModelPermissionSubject(
  source: string,
  model: string,
  permission: LogicalModelPermission,
): Subject {
  return {
    type: 'logical_model_permission',
    name: `logical_model_permission ${permission.role} in logical_model ${model} in source ${source}`,
    definition: { ...permission, comment: permission.comment ?? null, source, name: model },
    key: objectKey('logical_model_permission', source, model, permission.role),
    context: `in logical model "${model}": in permission for role "${permission.role}": `,
  };
}

export function nativeQuerySubject(source: string, definition: NativeQuery): Subject {
  const { root_field_name: name } = definition;
  return {
    type: 'native_query',
    name: `native_query ${name} in source ${source}`,
    definition,
    key: objectKey('native_query', source, name),
    context: `in native query "${name}": `,
  };
}

/** Actions, and the objects below, are newer than the specification, so their failures have one wording. */
export function actionSubject({ name, definition, comment }: Action): Subject {
  return {
    type: 'action',
    name: `action ${name}`,
    definition: { name, definition, comment: comment ?? null },
    key: objectKey('action', name),
    context: `in action "${name}"; `,
    hasOneWording: true,
  };
}

/** Clients see all custom types as one object, but only `type` does not fit. */
export function customTypesSubject(definition: CustomTypes, type: string): Subject {
  return {
    type: 'custom_types',
    name: 'custom_types custom_types',
    definition,
    key: objectKey('custom_type', type),
    context: '',
    hasOneWording: true,
  };
}

export function remoteSchemaSubject({ name, definition, comment }: RemoteSchema): Subject {
  return {
    type: 'remote_schema',
    name: `remote_schema ${name}`,
    definition: { name, definition, comment: comment ?? null },
    key: objectKey('remote_schema', name),
    context: '',
    hasOneWording: true,
  };
}

export function remoteRelationshipSubject(
  source: string,
  table: QualifiedName,
  { name, definition }: RemoteRelationship,
): Subject {
  const printed = printQualified(table);
  return {
    type: 'remote_relationship',
    name: `remote_relationship ${name} in table ${printed} in source ${source}`,
    definition: { name, definition, source, table: { schema: table.schema, name: table.name } },
    key: objectKey('remote_relationship', source, table.schema, table.name, name),
    context: `in table "${printed}": in remote relationship "${name}": `,
    hasOneWording: true,
  };
}

/** Returns the subject of a relationship that starts in a remote schema. */
export function remoteTypeRelationshipSubject(
  remote_schema: string,
  type_name: string,
  { name, definition }: RemoteRelationship,
): Subject {
  const type = 'remote_schema_remote_relationship';
  return {
    type,
    name: `${type} remote_relationship ${name} on type ${type_name} in remote schema ${remote_schema}`,
    definition: { remote_schema, type_name, name, definition },
    key: objectKey('remote_schema_relationship', remote_schema, type_name, name),
    context: `in remote relationship "${name}": `,
    hasOneWording: true,
  };
}

export function remoteSchemaPermissionSubject(schema: string, permission: RemoteSchemaPermission): Subject {
  return {
    type: 'remote_schema_permission',
    name: `remote_schema_permission ${permission.role} in remote schema ${schema}`,
    definition: { ...permission, comment: permission.comment ?? null, remote_schema: schema },
    key: objectKey('remote_schema_permission', schema, permission.role),
    context: `in remote schema "${schema}": in permission for role "${permission.role}": `,
    hasOneWording: true,
  };
}

export function openTelemetrySubject(definition: object): Subject {
  return {
    type: 'open_telemetry',
    name: 'open_telemetry',
    definition,
    key: objectKey('opentelemetry'),
    context: 'in the configuration of OpenTelemetry: ',
    hasOneWording: true,
  };
}

export type PermissionKind = 'select' | 'insert' | 'update' | 'delete';

export function permissionSubject(
  kind: PermissionKind,
  source: string,
  table: QualifiedName,
  permission: { readonly role: string; readonly permission: object; readonly comment?: string | null },
): Subject {
  const type = `${kind}_permission` as const;
  return {
    type,
    name: `${type} ${permission.role} in table ${printQualified(table)} in source ${source}`,
    definition: {
      role: permission.role,
      permission: permission.permission,
      source,
      comment: permission.comment ?? null,
      table: { schema: table.schema, name: table.name },
    },
    key: objectKey(type, source, table.schema, table.name, permission.role),
    context: `in table "${printQualified(table)}": in permission for role "${permission.role}": `,
  };
}

/** Returns the definition in the form clients usually write: a single column without a list. */
function wireUsing(using: ObjectRelationship['using'] | ArrayRelationship['using']): unknown {
  const on = using.foreign_key_constraint_on;
  if (!on) return using;
  if ('table' in on) {
    const { table, columns } = on;
    return {
      foreign_key_constraint_on: columns.length === 1 ? { column: columns[0], table } : { columns, table },
    };
  }
  return { foreign_key_constraint_on: on.length === 1 ? on[0] : on };
}

/** Raises `invalidConfiguration` if there are reasons. */
export function refuseBecause(subject: string, reasons: readonly string[]): void {
  if (reasons.length === 0) return;
  const text =
    reasons.length === 1
      ? `${subject} because ${reasons[0]}`
      : `${subject} for the following reasons:\n${reasons.map((reason) => `  • ${reason}\n`).join('')}`;
  fail('invalidConfiguration', { text });
}
