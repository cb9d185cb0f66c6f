/** Dependencies between metadata objects in a document: nesting, and references by name.
 *  In: the document, a key, and `Links` for what only a database knows. Out: the keys of objects to remove together with the key.
 *  Not here: columns, which are no objects (resolve/ finds permissions and relationships whose columns are missing).
 *  Reference: docs/reference/behaviour/metadata.md. */

import { isRecord, type JsonRecord } from '../json/value.ts';
import { editObjects } from './edit.ts';
import { normalMetadata } from './normal-form.ts';
import { type MetadataObject, objectKey, objectsOf, parentKeyOf, parseKey } from './objects.ts';
import type { RestEndpoint } from './schema/collection.ts';
import type { QualifiedName } from './schema/common.ts';
import type { Metadata } from './schema/metadata.ts';

/** The tables that objects lead to, where only a database knows them; undefined when it does not. */
export type Links = {
  /** Returns the table of a relationship that names only a column with a foreign key, or of the rows of a computed field. */
  readonly field: (source: string, table: QualifiedName, name: string) => QualifiedName | undefined;
  /** Returns the table whose rows a tracked function returns. */
  readonly function: (source: string, name: QualifiedName) => QualifiedName | undefined;
};

export const noLinks: Links = { field: () => undefined, function: () => undefined };

/** Returns the keys of every object that is nested in the object, or refers to it or to one of those, directly or not. The keys are in
 *  document order, without the object itself. */
export function dependentsOf(metadata: Metadata, key: string, links: Links = noLinks): readonly string[] {
  const objects = objectsOf(normalMetadata(metadata));
  const users = usersOf(objects, links);
  const found = new Set([key]);
  for (const next of found) {
    for (const user of users.get(next) ?? []) found.add(user);
  }
  return [...objects.keys()].filter((other) => other !== key && found.has(other));
}

/** Returns the keys of every object that the object is nested in, or that it or one of those refers to, directly or not. They need not exist.
 *  The cost is that of the objects on the way, whatever the size of the document. */
export function requirementsOf(
  objects: ReadonlyMap<string, MetadataObject>,
  key: string,
): ReadonlySet<string> {
  const found = new Set([key]);
  for (const next of found) {
    const object = objects.get(next);
    if (!object) continue;
    if (object.parent !== null) found.add(object.parent);
    for (const used of referencesOf(object, objects)) found.add(used);
  }
  found.delete(key);
  return found;
}

/** Returns the dependents that would remain if the object and everything nested in it were removed. */
export function foreignDependentsOf(
  metadata: Metadata,
  key: string,
  links: Links = noLinks,
): readonly string[] {
  const dependents = dependentsOf(metadata, key, links);
  const nested = new Set([key]);
  return dependents.filter((dependent) => {
    const isNested = nested.has(parentKeyOf(dependent) ?? '');
    if (isNested) nested.add(dependent);
    return !isNested;
  });
}

/** Returns the document without the objects and everything nested in them. */
export function removeObjects(metadata: Metadata, keys: readonly string[]): Metadata {
  return editObjects(
    metadata,
    keys.map((key) => ({ key, definition: undefined })),
  );
}

const NO_OBJECTS: ReadonlyMap<string, MetadataObject> = new Map();

/** Returns the keys of the objects that the object refers to, which need not exist. Without `objects` and `links`, what it names itself. */
export function referencesOf(
  object: MetadataObject,
  objects: ReadonlyMap<string, MetadataObject> = NO_OBJECTS,
  links: Links = noLinks,
): readonly string[] {
  const [source = '', schema = '', name = '', own = ''] = parseKey(object.key)?.segments ?? [];
  const fragment = object.definition as JsonRecord;
  const scope: ReferenceScope = { objects, links, source };
  const table = { schema, name };
  switch (object.kind) {
    case 'object_relationship':
    case 'array_relationship':
      return [
        ...tableKeys(source, [targetOf(scope, table, own, fragment)]),
        ...nativeQueryKeys(source, at(fragment, 'using', 'manual_configuration', 'remote_native_query')),
      ];
    case 'insert_permission':
    case 'select_permission':
    case 'update_permission':
    case 'delete_permission':
      return referencesOfRule(scope, table, fragment['permission']);
    case 'remote_relationship':
      return [
        ...joinedFields(fragment['definition']).map((name) =>
          objectKey('computed_field', source, table.schema, table.name, name),
        ),
        ...referencesOfRemote(fragment['definition']),
      ];
    case 'remote_schema_relationship':
      return referencesOfRemote(fragment['definition']);
    case 'computed_field':
      return tableKeys(source, [targetOf(scope, table, own, fragment)]);
    case 'function':
      return tableKeys(source, [
        at(fragment, 'configuration', 'response', 'table') ?? links.function(source, table),
      ]);
    case 'native_query':
      return [
        objectKey('logical_model', source, String(fragment['returns'])),
        ...(['object_relationships', 'array_relationships'] as const)
          .flatMap((list) => listAt(fragment, list))
          .flatMap((relationship) => [
            ...tableKeys(source, [at(relationship, 'using', 'remote_table')]),
            ...nativeQueryKeys(source, at(relationship, 'using', 'remote_native_query')),
          ]),
      ];
    case 'logical_model':
      return listAt(fragment, 'fields').flatMap((field) => modelKeys(source, field['type']));
    case 'logical_model_permission':
      return referencesOfBoolExp(scope, NO_TABLE, at(fragment, 'permission', 'filter'));
    case 'allowlist':
      return [objectKey('query_collection', String(fragment['collection']))];
    case 'rest_endpoint':
      return [objectKey('query_collection', String(at(fragment, 'definition', 'query', 'collection_name')))];
    case 'action':
      return typeKeys([
        at(fragment, 'definition', 'output_type'),
        ...listAt(fragment, 'definition', 'arguments').map((argument) => argument['type']),
      ]);
    case 'custom_type':
      return referencesOfType(fragment['definition'] as JsonRecord);
    default:
      return [];
  }
}

/** One source of a document, and the links of its relationships. */
export type ReferenceScope = {
  readonly objects: ReadonlyMap<string, MetadataObject>;
  readonly links: Links;
  readonly source: string;
};

function usersOf(objects: ReadonlyMap<string, MetadataObject>, links: Links): Map<string, string[]> {
  const users = new Map<string, string[]>();
  const note = (used: string, user: string) => {
    const known = users.get(used);
    if (known) known.push(user);
    else users.set(used, [user]);
  };
  for (const object of objects.values()) {
    if (object.parent !== null) note(object.parent, object.key);
    for (const used of referencesOf(object, objects, links)) note(used, object.key);
  }
  return users;
}

/** Returns the table that a relationship or computed field leads to. */
function targetOf(scope: ReferenceScope, table: QualifiedName, name: string, field: JsonRecord): unknown {
  return (
    at(field, 'using', 'manual_configuration', 'remote_table') ??
    at(field, 'using', 'foreign_key_constraint_on', 'table') ??
    scope.links.field(scope.source, table, name)
  );
}

function referencesOfRule(scope: ReferenceScope, table: QualifiedName, rule: unknown): readonly string[] {
  if (!isRecord(rule)) return [];
  const { source } = scope;
  const computed = listOf(rule['computed_fields']).map((name) =>
    objectKey('computed_field', source, table.schema, table.name, String(name)),
  );
  return [
    ...computed,
    ...referencesOfBoolExp(scope, table, rule['filter']),
    ...referencesOfBoolExp(scope, table, rule['check']),
  ];
}

/** Returns the relationships that the expression follows, the tables they lead to, and tables under `_exists`. */
function referencesOfBoolExp(
  scope: ReferenceScope,
  table: QualifiedName,
  expression: unknown,
): readonly string[] {
  if (Array.isArray(expression)) return expression.flatMap((item) => referencesOfBoolExp(scope, table, item));
  if (!isRecord(expression)) return [];
  return Object.entries(expression).flatMap(([key, value]) => {
    if (/^[_$](and|or|not)$/.test(key)) return referencesOfBoolExp(scope, table, value);
    if (/^[_$]exists$/.test(key)) return referencesOfExists(scope, value);
    return referencesOfField(scope, table, key, value);
  });
}

function referencesOfExists(scope: ReferenceScope, exists: unknown): readonly string[] {
  if (!isRecord(exists)) return [];
  const table = qualifiedOf(exists['_table']);
  if (!table) return [];
  return [...tableKeys(scope.source, [table]), ...referencesOfBoolExp(scope, table, exists['_where'])];
}

function referencesOfField(
  scope: ReferenceScope,
  table: QualifiedName,
  name: string,
  value: unknown,
): readonly string[] {
  const field = fieldOf(scope, table, name);
  if (!field) return [];
  if (!field.target) return [field.key];
  const inner = referencesOfBoolExp(scope, field.target, value);
  return [field.key, ...tableKeys(scope.source, [field.target]), ...inner];
}

type Field = { readonly key: string; readonly target: QualifiedName | undefined };

/** Returns the relationship or computed field of a name in a boolean expression, and the table of the same source that it leads to. */
export function fieldOf(scope: ReferenceScope, table: QualifiedName, name: string): Field | undefined {
  const kinds = [
    'object_relationship',
    'array_relationship',
    'computed_field',
    'remote_relationship',
  ] as const;
  const keys = kinds.map((kind) => objectKey(kind, scope.source, table.schema, table.name, name));
  const object = keys.map((key) => scope.objects.get(key)).find((found) => found !== undefined);
  if (!object) return undefined;
  const target = qualifiedOf(targetOf(scope, table, name, object.definition as JsonRecord));
  return { key: object.key, target };
}

/** Returns the columns and computed fields that a remote relationship joins by. */
function joinedFields(definition: unknown): readonly string[] {
  const mapping = at(definition, 'to_source', 'field_mapping');
  const names = isRecord(mapping)
    ? Object.keys(mapping)
    : listOf(at(definition, 'to_remote_schema', 'lhs_fields'));
  return names.map(String);
}

function referencesOfRemote(definition: unknown): readonly string[] {
  const source = at(definition, 'to_source', 'source');
  const schema = at(definition, 'to_remote_schema', 'remote_schema');
  return [
    ...(typeof source === 'string' ? tableKeys(source, [at(definition, 'to_source', 'table')]) : []),
    ...(typeof schema === 'string' ? [objectKey('remote_schema', schema)] : []),
  ];
}

function referencesOfType(type: JsonRecord): readonly string[] {
  return [
    ...typeKeys(listAt(type, 'fields').map((field) => field['type'])),
    ...listAt(type, 'relationships').flatMap((relationship) =>
      tableKeys(String(relationship['source'] ?? 'default'), [relationship['remote_table']]),
    ),
  ];
}

/** Returns the key of the type that a reference names: `User` for `[User!]!`. For a type of GraphQL itself no such object exists. */
function typeKeys(types: readonly unknown[]): readonly string[] {
  return types.map((type) => objectKey('custom_type', String(type).replaceAll(/[[\]!\s]/g, '')));
}

function tableKeys(source: string, tables: readonly unknown[]): readonly string[] {
  return tables.flatMap((value) => {
    const table = qualifiedOf(value);
    return table ? [objectKey('table', source, table.schema, table.name)] : [];
  });
}

function nativeQueryKeys(source: string, name: unknown): readonly string[] {
  return typeof name === 'string' ? [objectKey('native_query', source, name)] : [];
}

/** Returns the logical model in the type of a field: `{array: {logical_model}}`. */
function modelKeys(source: string, type: unknown): readonly string[] {
  if (!isRecord(type)) return [];
  const name = type['logical_model'];
  return typeof name === 'string'
    ? [objectKey('logical_model', source, name)]
    : modelKeys(source, type['array']);
}

/** The table of rows of a logical model, which belong to none: only `_exists` leads out of a condition on them. */
export const NO_TABLE: QualifiedName = { schema: '', name: '' };

/** Returns the table of an `_exists`. Boolean expressions are kept as written, so it may be a bare name. */
export function qualifiedOf(value: unknown): QualifiedName | undefined {
  if (typeof value === 'string') return { schema: 'public', name: value };
  if (!isRecord(value) || typeof value['name'] !== 'string') return undefined;
  const { name, schema } = value;
  return { schema: typeof schema === 'string' ? schema : 'public', name };
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), value);
}

function listAt(value: unknown, ...path: readonly string[]): readonly JsonRecord[] {
  return listOf(at(value, ...path)).filter(isRecord);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Returns the REST endpoints that run a query of a collection. */
export function endpointsOf(metadata: Metadata, collection: string, query: string): readonly RestEndpoint[] {
  return (metadata.rest_endpoints ?? []).filter(({ definition }) => {
    return definition.query.collection_name === collection && definition.query.query_name === query;
  });
}
