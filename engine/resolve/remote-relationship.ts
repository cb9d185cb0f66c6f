/** Relationships that leave a source or start in a remote schema: to rows of a source, or into a remote schema, by values of
 *  the row or the object they start from. In: the metadata × tables and remote schemas that resolved. Out:
 *  ResolvedRemoteRelationship. Raises `columnNotExists`, `fieldConflict`, `sourceNotFound`, `tableNotTracked`,
 *  `remoteSchemaNotExists`, `remoteTypeNotFound`, `remoteTypeNotObject` or `remoteRelationshipInvalid`.
 *  Not here: the fields (schema/), what is asked (plan/). Reference: docs/reference/behaviour/remote-schemas.md. */

import { EngineError, fail } from '../errors/engine-error.ts';
import { printQualified, qualifiedKey } from '../metadata/schema/common.ts';
import type { RemoteRelationship, RemoteRelationshipDefinition } from '../metadata/schema/relationship.ts';
import type { RemoteSchema } from '../metadata/schema/remote-schema.ts';
import type { Source } from '../metadata/schema/source.ts';
import type { Table } from '../metadata/schema/table.ts';
import {
  type Inconsistencies,
  remoteRelationshipSubject,
  remoteTypeRelationshipSubject,
} from './inconsistency.ts';
import { isUniqueOn } from './relationship.ts';
import { fieldNameOf } from './remote-names.ts';
import { readSteps, stepsProblem } from './remote-step.ts';
import type {
  JoinKey,
  ResolvedRemoteRelationship,
  ResolvedRemoteSchema,
  ResolvedSource,
  ResolvedTable,
  TypeRelationships,
} from './types.ts';
import { elementType, isRequired, namedType, type UpstreamField, type UpstreamSchema } from './upstream.ts';

/** What such a relationship may lead to. */
export type RemoteSurroundings = {
  readonly sources: ReadonlyMap<string, Pick<ResolvedSource, 'tables'>>;
  readonly remoteSchemas: ReadonlyMap<string, ResolvedRemoteSchema>;
};

export function resolveRemoteRelationship(
  { name, definition }: RemoteRelationship,
  table: ResolvedTable,
  around: RemoteSurroundings,
): ResolvedRemoteRelationship {
  refuseTaken(name, table);
  return resolveTarget(name, definition, (key) => keyOfRow(key, table), around);
}

/** One that starts at objects of a type; `type` and the keys are the remote's own names. */
export function resolveTypeRelationship(
  { name, definition }: RemoteRelationship,
  remote: ResolvedRemoteSchema,
  type: string,
  around: RemoteSurroundings,
): ResolvedRemoteRelationship {
  const fields = fieldsOfObject(remote, type);
  if (fields.some((field) => fieldNameOf(remote.names, type, field.name) === name)) {
    fail('remoteRelationshipInvalid', { text: `the type "${type}" has a field "${name}"` });
  }
  const keyOf = (key: string) => keyOfObject(key, { type, fields }, remote.schema);
  return resolveTarget(name, definition, keyOf, around);
}

/** Objects of root types are nowhere in an answer. */
function fieldsOfObject({ name, schema }: ResolvedRemoteSchema, type: string): readonly UpstreamField[] {
  const found = schema.types.get(type) ?? fail('remoteTypeNotFound', { schema: name, type });
  if (found.kind !== 'object' || Object.values(schema.roots).includes(type)) fail('remoteTypeNotObject', {});
  return found.fields;
}

/** A field that can be asked for by its name alone. */
function keyOfObject(
  name: string,
  { type, fields }: { readonly type: string; readonly fields: readonly UpstreamField[] },
  { types }: UpstreamSchema,
): JoinKey {
  const field = fields.find((each) => each.name === name);
  if (!field) return fail('remoteRelationshipInvalid', { text: `the type "${type}" has no field "${name}"` });
  const { kind } = types.get(namedType(field.type)) ?? { kind: 'scalar' };
  if ((kind !== 'scalar' && kind !== 'enum') || field.arguments.some(isRequired)) {
    const text = `the field "${name}" of the type "${type}" is no plain value, and cannot be joined by`;
    fail('remoteRelationshipInvalid', { text });
  }
  return { kind: 'upstream', field, isEnum: kind === 'enum' };
}

/** `keyOf`: the value of that name where the relationship starts. Raises where there is none. */
export function resolveTarget(
  name: string,
  { to_source: toSource, to_remote_schema: toRemote }: RemoteRelationshipDefinition,
  keyOf: (key: string) => JoinKey,
  around: RemoteSurroundings,
): ResolvedRemoteRelationship {
  if (toRemote) return toRemoteSchema(name, toRemote, keyOf, around);
  return toRows(name, toSource!, keyOf, around);
}

/** A column, or a computed field that is a value and takes nothing but the row. */
function keyOfRow(name: string, table: ResolvedTable): JoinKey {
  const column = table.columnByName.get(name);
  if (column) return { kind: 'column', column };
  const field = table.computedFields.get(name);
  const { returns } = field ?? {};
  if (!field || returns?.kind !== 'scalar') return fail('columnNotExists', { name });
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
  { sources }: RemoteSurroundings,
): ResolvedRemoteRelationship {
  const source = sources.get(to.source) ?? fail('sourceNotFound', { source: to.source });
  const target = source.tables.get(qualifiedKey(to.table));
  if (!target) return fail('tableNotTracked', { table: printQualified(to.table) });
  const mapping = Object.entries(to.field_mapping);
  if (mapping.length === 0) fail('unexpectedPayload', { text: 'field_mapping should not be empty' });
  const keys = mapping.map(([own]) => keyOf(own));
  const list = keys.find((key) => key.kind === 'upstream' && elementType(key.field.type) !== null);
  if (list?.kind === 'upstream') {
    fail('remoteRelationshipInvalid', {
      text: `the field "${list.field.name}" is a list, and no row has it`,
    });
  }
  const columns = mapping.map(
    ([, column]) => target.columnByName.get(column) ?? fail('columnNotExists', { name: column }),
  );
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
          mapping: names.map((column, i) => [keyColumn(i), column] as const),
          isUnique: isUniqueOn(target, names),
        },
        isNullable: true,
        insertion: 'before',
        comment: null,
      },
    },
  };
}

/** What the columns of keys are called in the statement that joins by them. */
export const keyColumn = (place: number): string => `key${place + 1}`;

function toRemoteSchema(
  name: string,
  to: NonNullable<RemoteRelationshipDefinition['to_remote_schema']>,
  keyOf: (key: string) => JoinKey,
  { remoteSchemas }: RemoteSurroundings,
): ResolvedRemoteRelationship {
  const known = new Map(to.lhs_fields.map((field) => [field, keyOf(field)]));
  const remote = remoteSchemas.get(to.remote_schema);
  if (!remote) return fail('remoteSchemaNotExists', { name: to.remote_schema });
  const { steps, used } = readSteps(to.remote_field, new Set(known.keys()));
  const keys = used.map((key) => known.get(key)!);
  const problem = stepsProblem(steps, remote.schema, keys);
  if (problem !== null) throw new EngineError('remoteRelationshipInvalid', { text: problem });
  return { name, keys, target: { kind: 'remote', remote, steps } };
}

/** Everything a row has shares one space of names. */
function refuseTaken(name: string, table: ResolvedTable): void {
  const conflict = (text: string): never =>
    fail('fieldConflict', { table: printQualified(table.table), with: text });
  const column = table.columns.find(({ graphqlName }) => graphqlName === name);
  if (column) conflict(`postgres column "${column.name}"`);
  if (table.relationships.has(name)) conflict(`relationship "${name}"`);
  if (table.computedFields.has(name)) conflict(`computed field "${name}"`);
}

type Sources = ReadonlyMap<string, ResolvedSource>;

/** The sources, whose tables have their remote relationships. */
export function joinSources(
  sources: Sources,
  remoteSchemas: ReadonlyMap<string, ResolvedRemoteSchema>,
  definitions: readonly Source[],
  found: Inconsistencies,
): Sources {
  const around = { sources, remoteSchemas };
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
      tables.set(key, { ...table, remoteRelationships: relationshipsOf(definition, table, around, found) });
    }
    joined.set(name, { ...source, tables });
  }
  return joined;
}

function relationshipsOf(
  { remote_relationships: definitions = [] }: Table,
  table: ResolvedTable,
  around: RemoteSurroundings,
  found: Inconsistencies,
): ReadonlyMap<string, ResolvedRemoteRelationship> {
  const relationships = new Map<string, ResolvedRemoteRelationship>();
  for (const definition of definitions) {
    const { name } = definition;
    const resolved = found.attempt(remoteRelationshipSubject(table.source, table.table, definition), () => {
      if (!relationships.has(name)) return resolveRemoteRelationship(definition, table, around);
      const other = `remote relationship "${name}"`;
      return fail('fieldConflict', { table: printQualified(table.table), with: other });
    });
    if (resolved) relationships.set(name, resolved);
  }
  return relationships;
}

/** Those that start in a remote schema. */
export function joinTypes(
  definitions: readonly RemoteSchema[],
  around: RemoteSurroundings,
  found: Inconsistencies,
): TypeRelationships {
  const joined = new Map<string, Map<string, Map<string, ResolvedRemoteRelationship>>>();
  for (const { name: schema, remote_relationships: types = [] } of definitions) {
    const remote = around.remoteSchemas.get(schema);
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
          return resolveTypeRelationship(definition, remote, type, around);
        });
        if (resolved) own.set(name, resolved);
      }
    }
  }
  return joined;
}
