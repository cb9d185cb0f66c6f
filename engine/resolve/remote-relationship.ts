/** Relationships that lead out of their source or start in a remote schema: to rows of a source, or to a field of a remote schema,
 *  joined by values of the row or object they start at. In: the metadata × tables and remote schemas that resolved. Out:
 *  ResolvedRemoteRelationship. Raises `columnNotExists`, `fieldConflict`, `sourceNotFound`, `tableNotTracked`,
 *  `remoteSchemaNotExists`, `remoteTypeNotFound`, `remoteTypeNotObject` or `remoteRelationshipInvalid`.
 *  Not here: the fields (schema/), the requests (plan/). Reference: docs/reference/behaviour/remote-schemas.md. */

import { EngineError, fail } from '../errors/engine-error.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { RemoteRelationship, RemoteRelationshipDefinition } from '../metadata/schema/relationship.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import { aggregateFieldName, refuseAggregateName } from './aggregate-fields.ts';
import {
  type Inconsistencies,
  remoteRelationshipSubject,
  remoteTypeRelationshipSubject,
} from './inconsistency.ts';
import { noColumn, noTable } from './misnamed.ts';
import type { TypeRelationships } from './model/model.ts';
import type { ResolvedRemoteSchema } from './model/remote-schema.ts';
import type { ResolvedSource } from './model/source.ts';
import type { JoinKey, ResolvedRemoteRelationship, ResolvedTable } from './model/table.ts';
import type { Naming } from './naming.ts';
import { joinedPair } from './predicate.ts';
import { isUniqueOn } from './relationship.ts';
import { fieldNameOf } from './remote-names.ts';
import { readSteps, stepsProblem } from './remote-step.ts';
import { elementType, isRequired, namedType, type UpstreamField, type UpstreamSchema } from './upstream.ts';

/** The tables and remote schemas that a remote relationship may lead to. */
type RemoteRelationshipScope = {
  readonly sources: ReadonlyMap<string, Pick<ResolvedSource, 'tables'>>;
  readonly remoteSchemas: ReadonlyMap<string, ResolvedRemoteSchema>;
};

type RemoteRelationships = ReadonlyMap<string, ResolvedRemoteRelationship>;

/** Resolves a relationship that starts at rows of the table, which has the others already. */
function resolveRemoteRelationship(
  { name, definition }: RemoteRelationship,
  table: ResolvedTable,
  others: RemoteRelationships,
  scope: RemoteRelationshipScope,
): ResolvedRemoteRelationship {
  refuseTaken(name, table, others, scope);
  const resolved = resolveTarget(name, definition, (key) => keyOfRow(key, table), scope);
  const naming = namingOfRows(resolved, scope);
  if (naming) refuseTaken(aggregateFieldName(naming, name), table, others, scope);
  return resolved;
}

/** Returns the naming of the rows that a relationship leads to, if it has an aggregate. */
function namingOfRows(
  { target }: ResolvedRemoteRelationship,
  { sources }: RemoteRelationshipScope,
): Naming | undefined {
  if (target.kind !== 'source' || target.relationship.kind !== 'array') return undefined;
  return sources.get(target.source)?.tables.get(qualifiedKey(target.relationship.join.table))?.naming;
}

/** Resolves a relationship that starts at objects of a type. `type` and the keys are names of the remote schema. */
function resolveTypeRelationship(
  { name, definition }: RemoteRelationship,
  remote: ResolvedRemoteSchema,
  type: string,
  scope: RemoteRelationshipScope,
): ResolvedRemoteRelationship {
  const fields = fieldsOfObject(remote, type);
  if (fields.some((field) => fieldNameOf(remote.names, type, field.name) === name)) {
    fail('remoteRelationshipInvalid', { text: `the type "${type}" has a field "${name}"` });
  }
  const keyOf = (key: string) => keyOfObject(key, { type, fields }, remote.schema);
  return resolveTarget(name, definition, keyOf, scope);
}

/** Returns the fields of an object type. Root types are refused: no response contains their objects. */
function fieldsOfObject({ name, schema }: ResolvedRemoteSchema, type: string): readonly UpstreamField[] {
  const found =
    schema.types.get(type) ??
    fail(
      'remoteTypeNotFound',
      { schema: name, type },
      { misnamed: { name: type, known: () => schema.types.keys() } },
    );
  if (found.kind !== 'object' || Object.values(schema.roots).includes(type)) fail('remoteTypeNotObject', {});
  return found.fields;
}

/** Returns the field as a key. It must be a scalar or an enum without required arguments. */
function keyOfObject(
  name: string,
  { type, fields }: { readonly type: string; readonly fields: readonly UpstreamField[] },
  { types }: UpstreamSchema,
): JoinKey {
  const field = fields.find((each) => each.name === name);
  if (!field) {
    const misnamed = { name, known: () => fields.map((each) => each.name) };
    return fail(
      'remoteRelationshipInvalid',
      { text: `the type "${type}" has no field "${name}"` },
      { misnamed },
    );
  }
  const { kind } = types.get(namedType(field.type)) ?? { kind: 'scalar' };
  if ((kind !== 'scalar' && kind !== 'enum') || field.arguments.some(isRequired)) {
    const text = `the field "${name}" of the type "${type}" is no plain value, and cannot be joined by`;
    fail('remoteRelationshipInvalid', { text });
  }
  return { kind: 'upstream', field, isEnum: kind === 'enum' };
}

/** Resolves the target. `keyOf` returns the value with a name where the relationship starts, or raises. */
function resolveTarget(
  name: string,
  { to_source: toSource, to_remote_schema: toRemote }: RemoteRelationshipDefinition,
  keyOf: (key: string) => JoinKey,
  scope: RemoteRelationshipScope,
): ResolvedRemoteRelationship {
  if (toRemote) return toRemoteSchema(name, toRemote, keyOf, scope);
  return toRows(name, toSource!, keyOf, scope);
}

/** Returns the column, or the scalar computed field without arguments, as a key. */
function keyOfRow(name: string, table: ResolvedTable): JoinKey {
  const column = table.columnByName.get(name);
  if (column) return { kind: 'column', column };
  const field = table.computedFields.get(name);
  const { returns } = field ?? {};
  if (!field || returns?.kind !== 'scalar') return noColumn(name, table);
  if (field.arguments.some((argument) => argument.kind === 'user')) {
    const text = `the computed field "${name}" takes arguments, and cannot be joined by`;
    fail('remoteRelationshipInvalid', { text });
  }
  return { kind: 'computed', table, field, returns };
}

function toRows(
  name: string,
  to: NonNullable<RemoteRelationshipDefinition['to_source']>,
  keyOf: (key: string) => JoinKey,
  { sources }: RemoteRelationshipScope,
): ResolvedRemoteRelationship {
  const source =
    sources.get(to.source) ??
    fail(
      'sourceNotFound',
      { source: to.source },
      { misnamed: { name: to.source, known: () => sources.keys() } },
    );
  const target = source.tables.get(qualifiedKey(to.table));
  if (!target) return noTable(to.table, source.tables);
  const mapping = Object.entries(to.field_mapping);
  if (mapping.length === 0) fail('unexpectedPayload', { text: 'field_mapping should not be empty' });
  const keys = mapping.map(([own]) => keyOf(own));
  const list = keys.find((key) => key.kind === 'upstream' && elementType(key.field.type) !== null);
  if (list?.kind === 'upstream') {
    fail('remoteRelationshipInvalid', {
      text: `the field "${list.field.name}" is a list, and no row has it`,
    });
  }
  const columns = mapping.map(([, column]) => target.columnByName.get(column) ?? noColumn(column, target));
  const names = columns.map((column) => column.name);
  return {
    name,
    keys,
    target: {
      kind: 'source',
      source: to.source,
      keyTypes: columns.map(({ type }) => type),
      relationship: {
        kind: to.relationship_type,
        name,
        join: {
          table: target.table,
          mapping: columns.map((column, i) => joinedPair({ name: keyColumn(i), type: column.type }, column)),
          isUnique: isUniqueOn(target, names),
        },
        isNullable: true,
        insertion: 'before',
        comment: null,
      },
    },
  };
}

/** Returns the name of the column of a key in the statement that joins by keys. */
export const keyColumn = (index: number): string => `key${index + 1}`;

function toRemoteSchema(
  name: string,
  to: NonNullable<RemoteRelationshipDefinition['to_remote_schema']>,
  keyOf: (key: string) => JoinKey,
  { remoteSchemas }: RemoteRelationshipScope,
): ResolvedRemoteRelationship {
  const known = new Map(to.lhs_fields.map((field) => [field, keyOf(field)]));
  const remote = remoteSchemas.get(to.remote_schema);
  if (!remote) {
    const misnamed = { name: to.remote_schema, known: () => remoteSchemas.keys() };
    return fail('remoteSchemaNotExists', { name: to.remote_schema }, { misnamed });
  }
  const { steps, used } = readSteps(to.remote_field, new Set(known.keys()));
  const keys = used.map((key) => known.get(key)!);
  const problem = stepsProblem(steps, remote.schema, keys);
  if (problem !== null) throw new EngineError('remoteRelationshipInvalid', { text: problem });
  return { name, keys, target: { kind: 'remote', remote, steps } };
}

/** Raises `fieldConflict` when another field of the table has the name. */
function refuseTaken(
  name: string,
  table: ResolvedTable,
  others: RemoteRelationships,
  scope: RemoteRelationshipScope,
): void {
  const conflict = (text: string): never =>
    fail('fieldConflict', { table: printQualified(table.table), with: text });
  const column = table.columns.find(({ graphqlName }) => graphqlName === name);
  if (column) conflict(`postgres column "${column.name}"`);
  if (table.relationships.has(name)) conflict(`relationship "${name}"`);
  if (table.computedFields.has(name)) conflict(`computed field "${name}"`);
  refuseAggregateName(name, table);
  for (const other of others.values()) {
    const naming = namingOfRows(other, scope);
    const isAggregate = naming && aggregateFieldName(naming, other.name) === name;
    if (other.name === name || isAggregate) conflict(`remote relationship "${other.name}"`);
  }
}

type Sources = ReadonlyMap<string, ResolvedSource>;

/** Returns the sources with the remote relationships of their tables. */
export function joinSources(
  sources: Sources,
  remoteSchemas: ReadonlyMap<string, ResolvedRemoteSchema>,
  definitions: readonly Source[],
  found: Inconsistencies,
): Sources {
  const scope = { sources, remoteSchemas };
  const joined = new Map(sources);
  for (const { name, tables: listed } of definitions) {
    const source = joined.get(name);
    const related = listed.filter(({ remote_relationships: all = [] }) => all.length > 0);
    if (!source || related.length === 0) continue;
    const tables = new Map(source.tables);
    for (const definition of related) {
      const key = qualifiedKey(definition.table);
      const table = tables.get(key);
      if (!table) continue;
      tables.set(key, { ...table, remoteRelationships: relationshipsOf(definition, table, scope, found) });
    }
    joined.set(name, { ...source, tables });
  }
  return joined;
}

function relationshipsOf(
  { remote_relationships: definitions = [] }: Table,
  table: ResolvedTable,
  scope: RemoteRelationshipScope,
  found: Inconsistencies,
): ReadonlyMap<string, ResolvedRemoteRelationship> {
  const relationships = new Map<string, ResolvedRemoteRelationship>();
  for (const definition of definitions) {
    const { name } = definition;
    const resolved = found.attempt(remoteRelationshipSubject(table, definition), () => {
      return resolveRemoteRelationship(definition, table, relationships, scope);
    });
    if (resolved) relationships.set(name, resolved);
  }
  return relationships;
}

/** Returns the relationships that start in remote schemas. */
export function joinTypes(
  definitions: readonly RemoteSchema[],
  scope: RemoteRelationshipScope,
  found: Inconsistencies,
): TypeRelationships {
  const joined = new Map<string, Map<string, Map<string, ResolvedRemoteRelationship>>>();
  for (const { name: schema, remote_relationships: types = [] } of definitions) {
    const remote = scope.remoteSchemas.get(schema);
    if (!remote || types.length === 0) continue;
    const byType = new Map<string, Map<string, ResolvedRemoteRelationship>>();
    joined.set(schema, byType);
    for (const { type_name: type, relationships } of types) {
      const own = byType.get(type) ?? new Map<string, ResolvedRemoteRelationship>();
      byType.set(type, own);
      for (const definition of relationships) {
        const { name } = definition;
        const resolved = found.attempt(remoteTypeRelationshipSubject(schema, type, definition), () => {
          if (own.has(name)) fail('remoteTypeRelationshipExists', { type, name });
          return resolveTypeRelationship(definition, remote, type, scope);
        });
        if (resolved) own.set(name, resolved);
      }
    }
  }
  return joined;
}
