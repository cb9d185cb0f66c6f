/** The parts of the schema that may be missing because a source, a remote schema or an action of the document is not in the model: the
 *  database or the service does not answer, or the object is inconsistent itself. In: the document and its model. Out: whether a field
 *  that the schema does not have may be one of them. What a service or a database would add is unknown, so each unknown root field may be,
 *  unless its fields are in a namespace. Pure. Not here: validation (validation.ts), its use (stored-query.ts). */

import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { RemoteRelationship } from '../metadata/schema/relationship.ts';
import type { Model } from '../resolve/model/model.ts';
import { typeNameOf } from '../resolve/remote-names.ts';

const ROOT_TYPES: ReadonlySet<string> = new Set(['query_root', 'mutation_root', 'subscription_root']);

export type MissingParts = {
  /** True when the field, which the type does not have, may belong to a missing part. */
  readonly mayHave: (type: string, field: string) => boolean;
  /** True when a root type without fields may have some. */
  readonly mayHaveRoots: boolean;
};

export function missingParts(metadata: Metadata, model: Model): MissingParts {
  const { sources, remote_schemas: remotes = [], actions = [] } = metadata;
  const namespaces = [
    ...sources
      .filter(({ name }) => !model.sources.has(name))
      .map(({ customization }) => customization?.root_fields?.namespace ?? null),
    ...remotes
      .filter(({ name }) => !model.remoteSchemas.has(name))
      .map(({ definition }) => definition.customization?.root_fields_namespace ?? null),
  ];
  const absentActions = actions.filter(({ name }) => !model.actions.has(name)).map(({ name }) => name);
  const roots = new Set<string | null>([...namespaces, ...absentActions]);
  const relationships = new Set(missingRelationships(metadata, model));
  return {
    mayHave: (type, field) =>
      !field.startsWith('__') &&
      (ROOT_TYPES.has(type) ? roots.has(null) || roots.has(field) : relationships.has(member(type, field))),
    mayHaveRoots: roots.size > 0,
  };
}

/** Returns the fields of types of the model that lead to missing parts. */
function missingRelationships(metadata: Metadata, model: Model): readonly string[] {
  const isMissing = ({ definition: { to_source, to_remote_schema } }: RemoteRelationship) =>
    to_source
      ? !model.sources.has(to_source.source)
      : !model.remoteSchemas.has(to_remote_schema!.remote_schema);
  const namesIn = (type: string, relationships: readonly RemoteRelationship[] = []) =>
    relationships.filter(isMissing).map(({ name }) => member(type, name));
  const ofTables = metadata.sources.flatMap(({ name, tables }) =>
    tables.flatMap(({ table, remote_relationships }) => {
      const type = model.sources.get(name)?.tables.get(qualifiedKey(table))?.typeName;
      return type === undefined ? [] : namesIn(type, remote_relationships);
    }),
  );
  const ofRemotes = (metadata.remote_schemas ?? []).flatMap(({ name, remote_relationships = [] }) => {
    const names = model.remoteSchemas.get(name)?.names;
    return names
      ? remote_relationships.flatMap((type) => namesIn(typeNameOf(names, type.type_name), type.relationships))
      : [];
  });
  const ofTypes = (metadata.custom_types?.objects ?? []).flatMap(({ name, relationships = [] }) =>
    relationships
      .filter(({ source = 'default' }) => !model.sources.has(source))
      .map((relationship) => member(name, relationship.name)),
  );
  return [...ofTables, ...ofRemotes, ...ofTypes];
}

function member(type: string, field: string): string {
  return `${type}.${field}`;
}
