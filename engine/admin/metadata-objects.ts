/** `list_objects` and `describe_object`: the objects of the document without secrets, with what the engine knows about them: the columns of tables,
 *  where relationships lead, and why an object is inconsistent or has no effect. They read the document, the model and the catalogs in memory, and run no
 *  statement.
 *  Not here: which members are secrets (metadata/schema/marks.ts), permissions (role-access.ts). Reference: docs/reference/behaviour/metadata-api.md. */
import { fail } from '../errors/engine-error.ts';
import { foreignSources } from '../metadata/foreign-sources.ts';
import { type MetadataObject, nameOf, objectKey, objectsOf, parseKey } from '../metadata/objects.ts';
import { type QualifiedName, qualifiedKey } from '../metadata/schema/common.ts';
import type { RemoteRelationshipDefinition } from '../metadata/schema/relationship.ts';
import { concealerOf, withoutSecrets } from '../metadata/without-secrets.ts';
import type { Unenforced } from '../resolve/model/inconsistency.ts';
import type { Model } from '../resolve/model/model.ts';
import type { ResolvedTable } from '../resolve/model/table.ts';
import {
  allInconsistencies,
  type PrintedInconsistency,
  printInconsistencies,
} from '../state/inconsistencies.ts';
import type { UnitOfWork } from '../state/unit-of-work.ts';
import { entryOf } from './ledger.ts';
import type { Performer } from './request.ts';
import { printTable } from './source-reads.ts';

type Objects = ReadonlyMap<string, MetadataObject>;

export const listObjects: Performer<'list_objects'> = async (work) => {
  await work.addedInconsistencies();
  const objects = objectsIn(work);
  const shown = [...objects.values()]
    .filter(({ kind }) => !kind.endsWith('_permission'))
    .map((object) => listed(object, work));
  const body = {
    objects: shown,
    inconsistent_objects: inconsistenciesIn(work, objects),
    not_enforced: withoutEffectIn(work, objects),
  };
  return (published) => ({ resource_version: published.resourceVersion, ...body });
};

/** Raises `objectNotExists`, unless the client only asks whether the object exists. */
export const describeObject: Performer<'describe_object'> = async (
  work,
  { key, include_nested: isWhole, if_exists: mayBeMissing },
) => {
  await work.addedInconsistencies();
  const objects = objectsIn(work);
  const object = objects.get(key);
  const inconsistencies = inconsistenciesIn(work, objects).filter((found) => found.key === key);
  if (!object && inconsistencies.length === 0 && !mayBeMissing) {
    return fail('objectNotExists', { key }, { path: ['key'] });
  }
  const nested = [...objects.values()].filter(({ parent }) => parent === key);
  const owner = entryOf(work.catalogStates.operator, key)?.cr;
  const body = {
    key,
    ...(owner !== undefined && { owner }),
    ...(object && { ...listed(object, work), definition: withoutSecrets(object) }),
    ...(object?.kind === 'table' && tableDetails(object, work)),
    objects: nested.map((each) => ({
      ...listed(each, work),
      ...(isWhole && { definition: withoutSecrets(each) }),
    })),
    inconsistent_objects: inconsistencies,
    not_enforced: withoutEffectIn(work, objects).filter((found) => found.key === key),
  };
  return () => body;
};

/** Returns the objects of the document by key, with the sources that the engine cannot serve. */
function objectsIn(work: UnitOfWork): Objects {
  const foreign = foreignSources(work.document).map((definition): [string, MetadataObject] => {
    const key = objectKey('source', definition.name);
    return [key, { key, kind: 'source', parent: null, definition }];
  });
  return new Map([...objectsOf(work.metadata), ...foreign]);
}

/** Returns the inconsistent objects without their definitions, and with reasons that contain no secret. */
function inconsistenciesIn(work: UnitOfWork, objects: Objects): readonly PrintedInconsistency[] {
  const all = allInconsistencies({
    damaged: work.damaged,
    inconsistencies: work.resolved.inconsistencies,
  });
  if (all.length === 0) return [];
  const conceal = concealerOf(objects.values());
  return printInconsistencies(all, true).map(({ definition: _, message: __, entity: ___, ...found }) => ({
    ...found,
    // The value of a damaged object has no schema that says what is secret in it.
    reason: objects.has(found.key!) ? conceal(found.reason) : DAMAGED,
    ...(found.more && { more: found.more.map((one) => ({ ...one, reason: conceal(one.reason) })) }),
  }));
}

/** Returns the objects that do not do what they declare, with reasons that contain no secret. */
function withoutEffectIn(work: UnitOfWork, objects: Objects): readonly Unenforced[] {
  const found = work.gateway.unenforced(work.metadata);
  if (found.length === 0) return [];
  const conceal = concealerOf(objects.values());
  return found.map((each) => ({ ...each, reason: conceal(each.reason) }));
}

const DAMAGED = 'Inconsistent object: the stored definition cannot be read';

/** Returns what a list shows of an object. */
function listed(object: MetadataObject, work: UnitOfWork): object {
  const { key, parent } = object;
  return { key, ...(parent !== null && { parent }), ...factsOf(object, work) };
}

/** Returns what a list shows of an object besides its position. */
function factsOf(object: MetadataObject, work: UnitOfWork): object {
  const { model } = work.resolved;
  const { kind, definition } = object;
  if (kind === 'table') return tableFacts(object, work);
  if (kind === 'object_relationship' || kind === 'array_relationship') {
    const to = relatedTo(object, model);
    return { type: kind === 'array_relationship' ? 'array' : 'object', ...(to !== undefined && { to }) };
  }
  if (kind === 'remote_relationship' || kind === 'remote_schema_relationship') {
    return remoteTarget((definition as { definition: RemoteRelationshipDefinition }).definition);
  }
  if (kind === 'function') {
    const [source = '', schema = '', name = ''] = nameOf(object.key).segments;
    const found = model.sources.get(source)?.functions.get(qualifiedKey({ schema, name }));
    return found ? { type: found.exposedAs, to: tableKey(source, found.returns) } : {};
  }
  if (kind === 'custom_type') return { type: (definition as { category: string }).category };
  if (kind === 'action') {
    return { type: (definition as { definition: { type?: string } }).definition.type ?? 'mutation' };
  }
  return {};
}

function tableFacts(object: MetadataObject, work: UnitOfWork): object {
  const { catalog, table } = tableOf(object.key, work);
  return {
    ...(catalog && { type: catalog.kind, columns: catalog.columns.length }),
    ...(table?.enum && { is_enum: true }),
    ...(table && !table.isUnnameable && { root_field: table.rootFields.select.name }),
  };
}

/** Returns the columns and keys of a table as the database declares them, their names in GraphQL, and the values of an enum table, which the
 *  GraphQL schema contains too. */
function tableDetails({ key }: MetadataObject, work: UnitOfWork): object {
  const { catalog, table } = tableOf(key, work);
  const named = Object.entries(table?.rootFields ?? {}).map(([field, { name }]) => [field, name]);
  return {
    ...(catalog && { table: printTable(catalog) }),
    ...(table && {
      graphql: { type: table.typeName, root_fields: Object.fromEntries(named), ...fieldsOf(table) },
    }),
    ...(table?.enum && {
      enum_values: table.enum.values.map(({ name, description }) => ({ name, description })),
    }),
  };
}

/** Returns the fields of columns, and the descriptions that the API serves: those of the metadata, or the comments of the database. */
function fieldsOf({ columns, description }: ResolvedTable): object {
  const described = columns.filter((column) => column.description !== null);
  return {
    fields: Object.fromEntries(columns.map(({ name, graphqlName }) => [name, graphqlName])),
    description,
    descriptions: Object.fromEntries(described.map((column) => [column.name, column.description])),
  };
}

function tableOf(key: string, work: UnitOfWork) {
  const [source = '', schema = '', name = ''] = nameOf(key).segments;
  const found = work.catalogs.get(source);
  const qualified = qualifiedKey({ schema, name });
  return {
    catalog: found && 'tables' in found ? found.tables.get(qualified) : undefined,
    table: work.resolved.model.sources.get(source)?.tables.get(qualified),
  };
}

/** Returns the key of the table or native query that a relationship leads to; undefined for one that does not resolve. */
function relatedTo({ key }: MetadataObject, model: Model): string | undefined {
  const [source = '', schema = '', name = '', relationship = ''] = parseKey(key)!.segments;
  const table = model.sources.get(source)?.tables.get(qualifiedKey({ schema, name }));
  const join = table?.relationships.get(relationship)?.join;
  return (
    join && (join.from ? objectKey('native_query', source, join.table.name) : tableKey(source, join.table))
  );
}

function remoteTarget({ to_source: source, to_remote_schema: remote }: RemoteRelationshipDefinition): object {
  if (source) return { type: source.relationship_type, to: tableKey(source.source, source.table) };
  return remote ? { type: 'remote schema', to: objectKey('remote_schema', remote.remote_schema) } : {};
}

function tableKey(source: string, { schema, name }: QualifiedName): string {
  return objectKey('table', source, schema, name);
}
