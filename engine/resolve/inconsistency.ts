/** Collects inconsistencies during a resolution. `attempt` resolves one object; a failure becomes an Inconsistency in the wording of
 *  get_inconsistent_metadata, and the object is left out of the model. Also the subject of each kind of object.
 *  Not here: which objects there are (resolve.ts), what can be wrong with one (its own file).
 *  Spec: "Inconsistent metadata"; docs/reference/behaviour/metadata-api.md. */
import { EngineError, fail } from '../errors/engine-error.ts';
import type { ErrorName } from '../errors/errors.ts';
import { type ObjectKind, objectKey, parseKey } from '../metadata/objects.ts';
import type { Action, CustomTypes } from '../metadata/schema/action.ts';
import { printQualified, type QualifiedName } from '../metadata/schema/common.ts';
import type { CronTrigger, DeclaredEvent, EventTrigger } from '../metadata/schema/event.ts';
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
import type { Inconsistency, InheritedEntity } from './model/inconsistency.ts';

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
  'customNameConflict',
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
    const { rivals } = error.hints;
    this.all.push({ type, name, reason, definition, key, cause, ...(rivals ? { rivals } : {}) });
  }

  /** Adds an object whose names others have. A request that adds the object fails with the reason; one that causes this by another object,
   *  or a conflict among equals, with inconsistent metadata. */
  addConflict({ type, name, definition, key }: Subject, reason: string, rivals: readonly string[]): void {
    const cause = new EngineError('conflictingObject', { reason });
    const isAmongEquals = rivals.some((rival) => parseKey(rival)?.kind === parseKey(key)?.kind);
    this.all.push({ type, name, reason, definition, key, rivals, ...(isAmongEquals ? {} : { cause }) });
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
  const reason = `${PREFIX}${context}${trimPrefix(error.messageIn('newer'))}`;
  const isOfComputedField = error.path[0] === 'permission' && error.path[1] === 'computed_fields';
  const params =
    subject.hasOneWording || isOfComputedField
      ? { code: 'invalid-configuration', text: reason, reason }
      : { code: error.codeIn('specification'), text: error.messageIn('specification'), reason };
  const hints = { ...error.hints, behind: error.hints.behind ?? error.codeIn('specification') };
  return new EngineError('inconsistentObject', params, error.path, error.internal, hints);
}

type Naming = {
  /** The type that clients see, where it is not the kind. */
  readonly type?: string;
  /** The text after the name: ` in source default`. */
  readonly where?: string;
  /** The context of the object it is nested in. */
  readonly within?: string;
  /** The kind in the words of a context: `permission for role`. */
  readonly label?: string;
} & Partial<Pick<Subject, 'name' | 'context' | 'hasOneWording'>>;

/** Returns the subject of the object with a key, which is called by the last segment: `native_query authors in source default`. */
function subject(
  kind: ObjectKind,
  segments: readonly string[],
  definition: unknown,
  { type = kind, where = '', within = '', label = kind.replaceAll('_', ' '), ...more }: Naming = {},
): Subject {
  const name = segments.at(-1) ?? '';
  return {
    type,
    name: `${type} ${name}${where}`,
    definition,
    key: objectKey(kind, ...segments),
    context: `${within}in ${label} "${name}": `,
    ...more,
  };
}

type TableAt = { readonly source: string; readonly table: QualifiedName };

function inTable(kind: ObjectKind, at: TableAt, name: string, definition: object, naming?: Naming): Subject {
  const { schema, name: table } = at.table;
  const printed = printQualified(at.table);
  const own = { ...definition, source: at.source, table: { schema, name: table } };
  const where = ` in table ${printed} in source ${at.source}`;
  const within = `in table "${printed}": `;
  return subject(kind, [at.source, schema, table, name], own, { where, within, ...naming });
}

/** The naming of objects that are newer than the specification, so that their failures have one wording. */
const NEWER = { hasOneWording: true } as const;

export function inheritedRoleSubject(definition: InheritedRole): Subject {
  const { role_name: role } = definition;
  return subject('inherited_role', [role], definition, { name: `inherited role ${role}`, context: '' });
}

export function sourceSubject(source: string): Subject {
  return subject('source', [source], source, { context: '' });
}

export function tableSubject({ source, table: { schema, name } }: TableAt): Subject {
  const naming = { name: `table ${printQualified({ schema, name })} in source ${source}`, context: '' };
  return subject('table', [source, schema, name], { schema, name }, naming);
}

export function relationshipSubject(
  kind: 'object' | 'array',
  at: TableAt,
  { name, using, comment = null }: ObjectRelationship | ArrayRelationship,
): Subject {
  const definition = { using: wireUsing(using), name, comment };
  const naming = { type: `${kind}_relation`, label: 'relationship' };
  return inTable(`${kind}_relationship`, at, name, definition, naming);
}

export function computedFieldSubject(
  at: TableAt,
  { name, definition, comment = null }: ComputedField,
): Subject {
  return inTable('computed_field', at, name, { definition, name, comment }, NEWER);
}

export function eventTriggerSubject(at: TableAt, trigger: EventTrigger): Subject {
  return inTable('event_trigger', at, trigger.name, trigger, NEWER);
}

export function cronTriggerSubject(definition: CronTrigger): Subject {
  return subject('cron_trigger', [definition.name], definition, NEWER);
}

export function scheduledEventSubject(definition: DeclaredEvent): Subject {
  return subject('scheduled_event', [definition.name], definition, NEWER);
}

export function functionSubject(source: string, { function: { schema, name } }: TrackedFunction): Subject {
  const printed = printQualified({ schema, name });
  const naming = { name: `function ${printed} in source ${source}`, context: `in function "${printed}": ` };
  return subject('function', [source, schema, name], { schema, name }, naming);
}

export function logicalModelSubject(source: string, definition: LogicalModel): Subject {
  return subject('logical_model', [source, definition.name], definition, { where: ` in source ${source}` });
}

export function logicalModelPermissionSubject(
  source: string,
  model: string,
  permission: LogicalModelPermission,
): Subject {
  const definition = { ...permission, comment: permission.comment ?? null, source, name: model };
  return subject('logical_model_permission', [source, model, permission.role], definition, {
    where: ` in logical_model ${model} in source ${source}`,
    within: `in logical model "${model}": `,
    label: 'permission for role',
  });
}

export function nativeQuerySubject(source: string, definition: NativeQuery): Subject {
  const segments = [source, definition.root_field_name];
  return subject('native_query', segments, definition, { where: ` in source ${source}` });
}

export function actionSubject({ name, definition, comment = null }: Action): Subject {
  const context = `in action "${name}"; `;
  return subject('action', [name], { name, definition, comment }, { context, ...NEWER });
}

/** Clients see all custom types as one object, but only `type` does not fit. */
export function customTypesSubject(definition: CustomTypes, type: string): Subject {
  const naming = { type: 'custom_types', name: 'custom_types custom_types', context: '', ...NEWER };
  return subject('custom_type', [type], definition, naming);
}

export function remoteSchemaSubject({ name, definition, comment = null }: RemoteSchema): Subject {
  return subject('remote_schema', [name], { name, definition, comment }, { context: '', ...NEWER });
}

export function remoteRelationshipSubject(at: TableAt, { name, definition }: RemoteRelationship): Subject {
  return inTable('remote_relationship', at, name, { name, definition }, NEWER);
}

/** Returns the subject of a relationship that starts in a remote schema. */
export function remoteTypeRelationshipSubject(
  remote_schema: string,
  type_name: string,
  { name, definition }: RemoteRelationship,
): Subject {
  const type = 'remote_schema_remote_relationship';
  const own = { remote_schema, type_name, name, definition };
  return subject('remote_schema_relationship', [remote_schema, type_name, name], own, {
    type,
    name: `${type} remote_relationship ${name} on type ${type_name} in remote schema ${remote_schema}`,
    label: 'remote relationship',
    ...NEWER,
  });
}

export function remoteSchemaPermissionSubject(schema: string, permission: RemoteSchemaPermission): Subject {
  const definition = { ...permission, comment: permission.comment ?? null, remote_schema: schema };
  return subject('remote_schema_permission', [schema, permission.role], definition, {
    where: ` in remote schema ${schema}`,
    within: `in remote schema "${schema}": `,
    label: 'permission for role',
    ...NEWER,
  });
}

export function openTelemetrySubject(definition: object): Subject {
  const type = 'open_telemetry';
  const context = 'in the configuration of OpenTelemetry: ';
  return subject('opentelemetry', [], definition, { type, name: type, context, ...NEWER });
}

export type PermissionKind = 'select' | 'insert' | 'update' | 'delete';

export function permissionSubject(
  kind: PermissionKind,
  at: TableAt,
  {
    role,
    permission,
    comment = null,
  }: { readonly role: string; readonly permission: object; readonly comment?: string | null },
): Subject {
  const definition = { role, permission, comment };
  return inTable(`${kind}_permission`, at, role, definition, { label: 'permission for role' });
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
