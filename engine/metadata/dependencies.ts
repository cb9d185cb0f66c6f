/** Dependencies between metadata objects in a document: nesting, and references by name.
 *  In: the document, a key, and `Links` for what only a database knows. Out: the keys of objects to remove together with the key.
 *  Not here: columns, which are no objects (resolve/ finds permissions and relationships whose columns are missing).
 *  Reference: docs/reference/behaviour/metadata.md. */

import type { NameWalk, SourceTable } from './bool-exp-names.ts';
import { editObjects } from './edit.ts';
import { keyOfName, namesIn } from './names.ts';
import { normalMetadata } from './normal-form.ts';
import { type MetadataObject, nameOf, objectKey, objectsOf, parentKeyOf } from './objects.ts';
import type { RestEndpoint } from './schema/collection.ts';
import type { QualifiedName } from './schema/common.ts';
import { FIELD_KINDS } from './schema/marks.ts';
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
  // What names a table names its source, too, but depends on the table only.
  const names = namesIn(object, fieldsIn(objects, links)).filter(
    ({ kind, isOwn }) => !isOwn && kind !== 'source',
  );
  const keys = names.flatMap((name) => keyOfName(name) ?? []);
  const linked = names.some(({ kind }) => kind === 'table') ? undefined : linkedTable(object, links);
  return linked ? [...keys, objectKey('table', linked.source, linked.table.schema, linked.table.name)] : keys;
}

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

/** Returns the relationships and computed fields that expressions follow. */
export function fieldsIn(
  objects: ReadonlyMap<string, MetadataObject>,
  links: Links = noLinks,
): NameWalk['fieldOf'] {
  return (source, table, name) => {
    for (const kind of FIELD_KINDS) {
      const object = objects.get(objectKey(kind, source, table.schema, table.name, name));
      if (object) return { kind, target: namedTable(object) ?? linkedTable(object, links) };
    }
    return undefined;
  };
}

/** Returns the relationships and computed fields of a document, whose objects are listed when an expression is first followed. */
export function fieldsOf(metadata: Metadata, links: Links = noLinks): NameWalk['fieldOf'] {
  let fields: NameWalk['fieldOf'] | undefined;
  return (...field) => {
    fields ??= fieldsIn(objectsOf(metadata), links);
    return fields(...field);
  };
}

/** Returns the table that a relationship names. */
export function namedTable(object: MetadataObject): SourceTable | undefined {
  const cached = namedTables.get(object);
  if (cached !== undefined) return cached ?? undefined;
  const name = namesIn(object, () => undefined).find(({ kind }) => kind === 'table');
  const table = name?.kind === 'table' ? { source: name.source, table: name.name } : undefined;
  namedTables.set(object, table ?? null);
  return table;
}

const namedTables = new WeakMap<MetadataObject, SourceTable | null>();

/** Returns the table that an object leads to without naming it. */
function linkedTable({ key, kind }: MetadataObject, links: Links): SourceTable | undefined {
  const [source = '', schema = '', name = '', own = ''] = nameOf(key).segments;
  const isField =
    kind === 'computed_field' || kind === 'object_relationship' || kind === 'array_relationship';
  const table = isField
    ? links.field(source, { schema, name }, own)
    : kind === 'function'
      ? links.function(source, { schema, name })
      : undefined;
  return table && { source, table };
}

/** Returns the REST endpoints that run a query of a collection. */
export function endpointsOf(metadata: Metadata, collection: string, query: string): readonly RestEndpoint[] {
  return (metadata.rest_endpoints ?? []).filter(({ definition }) => {
    return definition.query.collection_name === collection && definition.query.query_name === query;
  });
}
