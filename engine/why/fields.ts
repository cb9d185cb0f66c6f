/** Whether the schema of a role has a field of a table, and why it lacks one: fields of rows, and root fields, those of functions that
 *  return its rows included.
 *  In: a name, the role, the model. Out: AccessField. The schema itself says whether it has the field; the reasons follow the rules of
 *  schema/. Raises `parseFailed` for a name that is no field of the table for any role. Pure.
 *  Not here: rows (question.ts). Reference: docs/reference/behaviour/permissions.md. */
import type { GraphQLObjectType } from 'graphql';
import { fail, withPath } from '../errors/engine-error.ts';
import { printQualified, type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { RootFieldKind } from '../metadata/schema/table.ts';
import { accessOf, mayReadAtRoot, type RootRead, remoteSchemaFor, targetOf } from '../resolve/access.ts';
import { aggregateFieldName } from '../resolve/aggregate-fields.ts';
import type { ResolvedFunction } from '../resolve/model/function.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedRemoteRelationship, ResolvedTable } from '../resolve/model/table.ts';
import { stepsProblem } from '../resolve/remote-step.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { type RoleSchema, roleSchema } from '../schema/role-schemas.ts';
import { type AccessContext, type AccessSubject, refusalsOf, withoutPermission } from './grants.ts';
import type { RowOperation } from './write.ts';

export type AccessField = {
  readonly field: string;
  /** The type that has the field: that of the rows, or a root type. */
  readonly type: string;
  readonly is_present: boolean;
  /** Why the schema of the role lacks the field. */
  readonly reason?: string;
};

/** A field that some role may have, and why this role has it not; null when no rule keeps it away. */
type Candidate = { readonly type: string; readonly reason: string | null };

type FieldScope = {
  readonly subject: AccessSubject;
  readonly model: Model;
  readonly metadataSources: readonly Source[];
};

export function explainedFields(
  { metadata, model }: AccessContext,
  subject: AccessSubject,
  names: readonly string[],
): readonly AccessField[] {
  const { table, args, session } = subject;
  const scope = { subject, model, metadataSources: metadata.sources };
  const schema = roleSchema(model, args.role, session.mayUseBackendOnly);
  return names.flatMap((field, i) => {
    const candidates = candidatesOf(field, scope);
    if (candidates.length === 0) {
      const text = `"${field}" is no field of ${printQualified(table.table)} in the schema of any role`;
      withPath('fields', () => withPath(i, () => fail('parseFailed', { text })));
    }
    return candidates.map(({ type, reason }): AccessField => {
      if (hasField(schema, table, type, field)) return { field, type, is_present: true };
      const unnamed = table.isUnnameable ? 'GraphQL cannot spell the name of the table' : null;
      const why = unnamed ?? reason ?? `the schema of role "${args.role}" does not have it`;
      return { field, type, is_present: false, reason: why };
    });
  });
}

const ROOTS = { query: 'query_root', mutation: 'mutation_root', subscription: 'subscription_root' } as const;

function hasField({ roots, builder }: RoleSchema, table: ResolvedTable, type: string, name: string): boolean {
  if (type === table.typeName) {
    return builder.select(table) !== null && Object.hasOwn(builder.objectType(table).getFields(), name);
  }
  const kind = (['query', 'mutation', 'subscription'] as const).find((one) => ROOTS[one] === type)!;
  const root = roots[kind];
  const { namespace } = table.naming;
  const inner =
    namespace === null ? root : (root?.getFields()[namespace]?.type as GraphQLObjectType | undefined);
  return inner ? Object.hasOwn(inner.getFields(), name) : false;
}

function candidatesOf(name: string, scope: FieldScope): readonly Candidate[] {
  const { table } = scope.subject;
  const ofRows = rowReasons(name, scope).map((reason) => ({
    type: table.typeName,
    reason: unreadable(table, scope) ?? reason,
  }));
  const kinds = Object.keys(table.rootFields) as RootFieldKind[];
  const ofRoots = kinds
    .filter((kind) => table.rootFields[kind].name === name && ROOT_RULES[kind])
    .map((kind) => {
      const { root, reason } = ROOT_RULES[kind]!;
      return { type: ROOTS[root], reason: reason(scope) };
    });
  return [...ofRows, ...ofRoots, ...functionCandidates(name, scope)];
}

/** Returns the root fields with this name of functions that return rows of the table. */
function functionCandidates(name: string, scope: FieldScope): readonly Candidate[] {
  const { table } = scope.subject;
  const key = qualifiedKey(table.table);
  const functions = scope.model.sources.get(table.source)?.functions.values() ?? [];
  return [...functions]
    .filter(({ returns }) => qualifiedKey(returns) === key)
    .flatMap((fn) => {
      const type = ROOTS[fn.exposedAs];
      const call = { type, reason: unreadable(table, scope) ?? uncallable(fn, scope) };
      const aggregate = { type, reason: notAggregated(table, scope) ?? uncallable(fn, scope) };
      return [
        ...(fn.rootField === name ? [call] : []),
        ...(fn.aggregateRootField === name && fn.exposedAs === 'query' ? [aggregate] : []),
      ];
    });
}

/** Returns why the role may not call a function whose rows it may read. The rule is that of `mayCall` (schema/function.ts). */
function uncallable(fn: ResolvedFunction, { subject }: FieldScope): string | null {
  const { role } = subject.args;
  if (role === ADMIN_ROLE || fn.isForReaders || fn.roles.has(role)) return null;
  const missing = `role "${role}" has no permission on function ${printQualified(fn.function)}`;
  if (fn.roles.size > 0) return missing;
  const needed = fn.isVolatile
    ? 'a VOLATILE function needs one'
    : 'needed because --infer-function-permissions is off';
  return `${missing}; ${needed}`;
}

/** Returns, for each thing of the table with this name in GraphQL, why the role that reads rows has no field for it. */
function rowReasons(name: string, scope: FieldScope): readonly (string | null)[] {
  const { subject, model } = scope;
  const { table, args, granted } = subject;
  const { role } = args;
  const access = accessOf(table, role).select;
  const own = `role "${role}" may not select`;
  const columns = table.columns.filter((column) => column.graphqlName === name);
  const relationships = [...table.relationships.values()];
  const related = (target: QualifiedName) => targetOf(model, table.source, target);
  const computed = table.computedFields.get(name);
  const remote = table.remoteRelationships?.get(name);
  const declared = [
    ...(granted.definition.object_relationships ?? []),
    ...(granted.definition.array_relationships ?? []),
    ...(granted.definition.remote_relationships ?? []),
    ...(granted.definition.computed_fields ?? []),
  ].some((each) => each.name === name);
  const found = [
    ...columns.map((column) => (access?.columns.has(column.name) ? null : `${own} column "${column.name}"`)),
    ...relationships
      .filter((each) => each.name === name)
      .map(({ join }) => unreadable(related(join.table), scope)),
    ...relationships
      .filter(({ kind, name: of }) => kind === 'array' && aggregateFieldName(table.naming, of) === name)
      .map(({ join }) => notAggregated(related(join.table), scope)),
    ...(computed?.returns.kind === 'rows' ? [unreadable(related(computed.returns.table), scope)] : []),
    ...(computed?.returns.kind === 'scalar'
      ? [
          access && (access.computedFields === null || access.computedFields.has(name))
            ? null
            : `${own} computed field "${name}": computed_fields of its permission lacks it`,
        ]
      : []),
    ...(remote ? [outOfReach(remote, scope)] : []),
  ];
  if (found.length > 0 || !declared) return found;
  return [`"${name}" is inconsistent: get_inconsistent_metadata, or Model in the console, has the reason`];
}

/** Returns why the role reads no rows of a table; null when it may. */
function unreadable(table: ResolvedTable, { subject, metadataSources }: FieldScope): string | null {
  if (accessOf(table, subject.args.role).select) return null;
  const key = qualifiedKey(table.table);
  const source = metadataSources.find(({ name }) => name === table.source);
  const definition = source?.tables.find((each) => qualifiedKey(each.table) === key);
  if (!definition) return `role "${subject.args.role}" may not read ${printQualified(table.table)}`;
  return withoutPermission(
    { ...subject, table, granted: { ...subject.granted, table, definition } },
    'select',
  );
}

function notAggregated(table: ResolvedTable, scope: FieldScope): string | null {
  const { role } = scope.subject.args;
  if (accessOf(table, role).select?.allowsAggregation === false) {
    return `allow_aggregations of the select permission of role "${role}" on ${printQualified(table.table)} is off`;
  }
  return unreadable(table, scope);
}

/** Returns why a relationship leads the role nowhere: it may not read the table, or not the part of the remote schema. */
function outOfReach({ keys, target }: ResolvedRemoteRelationship, scope: FieldScope): string | null {
  const { role } = scope.subject.args;
  if (target.kind === 'source') {
    return unreadable(targetOf(scope.model, target.source, target.relationship.join.table), scope);
  }
  const { remote, steps } = target;
  const part = remoteSchemaFor(remote, role);
  if (!part) return `role "${role}" has no permission on remote schema "${remote.name}"`;
  if (stepsProblem(steps, part, keys) === null) return null;
  return `the permission of role "${role}" on remote schema "${remote.name}" lacks the field that the relationship leads to`;
}

type RootRule = {
  readonly root: keyof typeof ROOTS;
  readonly reason: (scope: FieldScope) => string | null;
};

const reading = (way: RootRead): RootRule => ({
  root: way === 'select_stream' ? 'subscription' : 'query',
  reason: (scope) => unreadAtRoot(way, scope),
});
const writing = (operation: RowOperation, returns: 'count' | 'row' | 'row by key'): RootRule => ({
  root: 'mutation',
  reason: (scope) => unwritable(operation, scope) ?? unreturned(returns, scope),
});

/** The rules of the root fields of a table. */
const ROOT_RULES: Readonly<Partial<Record<RootFieldKind, RootRule>>> = {
  select: reading('select'),
  select_by_pk: reading('select_by_pk'),
  select_aggregate: reading('select_aggregate'),
  select_stream: reading('select_stream'),
  insert: writing('insert', 'count'),
  insert_one: writing('insert', 'row'),
  update: writing('update', 'count'),
  update_by_pk: writing('update', 'row by key'),
  update_many: writing('update', 'count'),
  delete: writing('delete', 'count'),
  delete_by_pk: writing('delete', 'row by key'),
};

function unreadAtRoot(way: RootRead, scope: FieldScope): string | null {
  const { table, args } = scope.subject;
  const access = accessOf(table, args.role).select;
  if (!access) return unreadable(table, scope);
  const operation = way === 'select_stream' ? 'subscription' : 'query';
  const roots = operation === 'query' ? access.queryRootFields : access.subscriptionRootFields;
  if (roots !== null && !roots.has(way)) {
    return `${operation}_root_fields of the select permission of role "${args.role}" is [${[...roots].join(', ')}]`;
  }
  if (!mayReadAtRoot(access, way, operation)) return notAggregated(table, scope);
  if (way === 'select_stream' && scope.model.features.has('hide_stream_fields'))
    return hidden('hide_stream_fields');
  return way === 'select_by_pk' ? unreadKey(scope) : null;
}

function hidden(feature: string): string {
  return `the experimental feature ${feature} hides it`;
}

function unreadKey({ subject: { table, args } }: FieldScope): string | null {
  if (table.primaryKey === null) return `${printQualified(table.table)} has no primary key`;
  const access = accessOf(table, args.role).select;
  const missing = table.primaryKey.find(({ name }) => !access?.columns.has(name));
  return missing
    ? `role "${args.role}" may not select column "${missing.name}", which is part of the primary key`
    : null;
}

function unwritable(operation: RowOperation, { subject }: FieldScope): string | null {
  return refusalsOf(subject, operation, [])[0]?.message ?? null;
}

/** Returns why the role cannot get the row that a mutation returns. */
function unreturned(returns: 'count' | 'row' | 'row by key', scope: FieldScope): string | null {
  if (returns === 'count') return null;
  const reason = unreadable(scope.subject.table, scope);
  if (reason) return `it returns the row: ${reason}`;
  return returns === 'row' ? null : unreadKey(scope);
}
