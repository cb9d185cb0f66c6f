/** The changes of each role's schema between two models, as clients see them: breaking, dangerous or safe as GraphQL's own comparison has
 *  it, except that what only inputs gain is safe: no client gets it without asking for it. In: two models. Out: one entry per role whose schema changes. Pure.
 *  Not here: changes of rows and columns that no schema shows (metadata/access). Reference: docs/reference/behaviour/metadata-api.md. */
import {
  BreakingChangeType,
  DangerousChangeType,
  findSchemaChanges,
  type GraphQLSchema,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import type { TableAccess } from '../resolve/model/access.ts';
import type { Model } from '../resolve/model/model.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { affectedCoordinates } from './affected-coordinates.ts';
import { PLACEHOLDER_FIELD } from './build.ts';
import { roleSchema } from './role-schemas.ts';

export type Severity = 'breaking' | 'dangerous' | 'safe';

export type SchemaChange = {
  readonly severity: Severity;
  /** The kind of the change, as GraphQL names it: `FIELD_REMOVED`. */
  readonly type: string;
  readonly description: string;
  /** The coordinates of a breaking change: an operation that uses none of them stays valid. Null when any operation may be affected. */
  readonly affects: readonly string[] | null;
};

export type RoleSchemaChanges = {
  readonly role: string;
  /** The number of changes of each severity. */
  readonly breaking: number;
  readonly dangerous: number;
  readonly safe: number;
  /** The changes that are not safe, the breaking ones first, and of those the fields of responses. */
  readonly changes: readonly SchemaChange[];
};

const SEVERITIES: ReadonlyMap<string, Severity> = new Map<string, Severity>([
  ...Object.values(BreakingChangeType).map((type) => [type, 'breaking'] as const),
  ...Object.values(DangerousChangeType).map((type) => [type, 'dangerous'] as const),
  [DangerousChangeType.OPTIONAL_INPUT_FIELD_ADDED, 'safe'],
  [DangerousChangeType.OPTIONAL_ARG_ADDED, 'safe'],
]);

/** Yields the roles whose schema changes, in alphabetical order, without the administrator. A role that is new has no clients yet, so it is
 *  not listed; a role that is gone has one change. Roles that are not `affected` are skipped. Each role takes the time of building its schema twice, so the caller may pause
 *  between them. */
export function* schemaChanges(
  before: Model,
  after: Model,
  affected: ReadonlySet<string> = before.roles,
): Generator<RoleSchemaChanges | null> {
  for (const role of [...before.roles].toSorted()) {
    if (role === ADMIN_ROLE || !affected.has(role)) continue;
    yield after.roles.has(role) ? changesOf(role, before, after) : goneRole(role);
  }
}

function goneRole(role: string): RoleSchemaChanges {
  const description = `the role ${role} has no permission any more`;
  const gone: SchemaChange = { severity: 'breaking', type: 'ROLE_REMOVED', description, affects: null };
  return { role, breaking: 1, dangerous: 0, safe: 0, changes: [gone] };
}

function changesOf(role: string, before: Model, after: Model): RoleSchemaChanges | null {
  const usesBackend = hasBackendOnly(before, role) || hasBackendOnly(after, role);
  const found = [false, ...(usesBackend ? [true] : [])].flatMap((mayUseBackendOnly) => {
    const [old, next] = [before, after].map((model) => roleSchema(model, role, mayUseBackendOnly).schema());
    return changesBetween(old!, next!);
  });
  const changes = [...new Map(found.map((change) => [change.description, change])).values()]
    // The only field of a schema without queries.
    .filter(({ description }) => !description.includes(PLACEHOLDER_FIELD));
  if (changes.length === 0) return null;
  const groups = Map.groupBy(changes, ({ severity }) => severity);
  const [breaking, dangerous] = [groups.get('breaking') ?? [], groups.get('dangerous') ?? []];
  return {
    role,
    breaking: breaking.length,
    dangerous: dangerous.length,
    safe: groups.get('safe')?.length ?? 0,
    changes: [...breaking, ...dangerous],
  };
}

/** Returns the changes of one schema, as far as GraphQL's own comparison finds them. */
export function changesBetween(before: GraphQLSchema, after: GraphQLSchema): readonly SchemaChange[] {
  const enums = outputEnums(before);
  const isInput = (name: string) => isInputObjectType(before.getType(name));
  const changes = findSchemaChanges(before, after).map(({ type, description }): SchemaChange => {
    const [, extended] = ENUM_VALUE_ADDED.exec(description) ?? [];
    const isInputOnly = extended !== undefined && !enums.has(extended);
    const severity = isInputOnly ? 'safe' : (SEVERITIES.get(type) ?? 'safe');
    const affects = severity === 'breaking' ? affectedCoordinates({ type, description }, isInput) : [];
    return { severity, type, description, affects };
  });
  // The fields of responses first: removed types and fields of inputs follow from them.
  const isOfResponses = ({ description }: SchemaChange) => {
    const [, name = ''] = FIELD.exec(description) ?? [];
    return isObjectType(before.getType(name));
  };
  return [...changes.filter(isOfResponses), ...changes.filter((change) => !isOfResponses(change))];
}

/** The description of a change of a field: `Field author.name was removed.` */
const FIELD = /^Field (\w+)\.\w+ /;

/** The description of a value that an enum has gained: `Enum value status.open was added.` */
const ENUM_VALUE_ADDED = /^Enum value (\w+)\.\w+ was added/;

/** Returns the names of the enums that fields return. */
function outputEnums(schema: GraphQLSchema): ReadonlySet<string> {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => isObjectType(type) || isInterfaceType(type),
  );
  const returned = types
    .filter(({ name }) => !name.startsWith('__'))
    .flatMap((type) => Object.values(type.getFields()).map((field) => getNamedType(field.type)));
  return new Set(returned.filter(isEnumType).map(({ name }) => name));
}

/** True when requests of a trusted backend see another schema than those of other clients. */
function hasBackendOnly(model: Model, role: string): boolean {
  const tables = [...model.sources.values()].flatMap((source) => [...source.tables.values()]);
  return tables.some(({ permissions }) => isBackendOnly(permissions.get(role)));
}

function isBackendOnly(access: TableAccess | undefined): boolean {
  return [access?.insert, access?.update, access?.delete].some((one) => one?.backendOnly === true);
}
