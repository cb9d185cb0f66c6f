/** Operations on query collections, on the allow list and on REST endpoints over them.
 *  Not here: are documents and URLs valid (plan/, resolve/rest-endpoint.ts), who is held to the list (http/), answers (http/rest.ts).
 *  Reference: docs/reference/behaviour/metadata-api.md. */

import { fail, withPath } from '../../errors/engine-error.ts';
import { dependentsOf, endpointsOf, removeObjects } from '../../metadata/dependencies.ts';
import { putObject, removeObject } from '../../metadata/edit.ts';
import { renameObject } from '../../metadata/names.ts';
import { findObject, objectKey } from '../../metadata/objects.ts';
import { type AllowListEntry, type QueryCollection, scopeOf } from '../../metadata/schema/collection.ts';
import type { Metadata } from '../../metadata/schema/metadata.ts';
import type { Handler } from './handler.ts';
import { editObject } from './handler.ts';

/** Raises `collectionExists`, and `notSupported` for queries of the same name. */
export const createQueryCollection: Handler<'create_query_collection'> = (draft, collection) => {
  withPath('name', () => refuseTaken(draft, collection.name));
  refuseRepeated(collection);
  return put(draft, collection);
};

/** Renames a collection, also in the allow list and in REST endpoints. Raises `collectionNotExists`, `collectionExists`. */
export const renameQueryCollection: Handler<'rename_query_collection'> = (draft, { name, new_name }) => {
  requireCollection(draft, name);
  if (name === new_name) return draft;
  withPath('new_name', () => refuseTaken(draft, new_name));
  return renameObject(draft, objectKey('query_collection', name), new_name);
};

/** Raises `collectionNotExists`, `collectionAllowed`, `collectionInUse`. */
export const dropQueryCollection: Handler<'drop_query_collection'> = (draft, { collection, cascade }) => {
  const path = ['collection'];
  withPath('collection', () => requireCollection(draft, collection));
  const key = objectKey('query_collection', collection);
  const users = dependentsOf(draft, key);
  if (users.length > 0 && !cascade) {
    if (entryOf(draft, collection)) fail('collectionAllowed', { name: collection }, { path });
    fail('collectionInUse', { name: collection, users: users.map(printUser).join(', ') }, { path });
  }
  return removeObject(removeObjects(draft, users), key);
};

/** Raises `collectionNotExists`, `queryExists`. */
export const addQueryToCollection: Handler<'add_query_to_collection'> = (draft, args) => {
  const collection = requireCollection(draft, args.collection_name);
  const { queries } = collection.definition;
  if (queries.some((query) => query.name === args.query_name)) {
    fail('queryExists', { name: args.query_name, collection: collection.name });
  }
  const added = { name: args.query_name, query: args.query };
  return put(draft, { ...collection, definition: { queries: [...queries, added] } });
};

/** Raises `collectionNotExists`, `queryNotExists`, `queryInUse`. */
export const dropQueryFromCollection: Handler<'drop_query_from_collection'> = (draft, args) => {
  const collection = requireCollection(draft, args.collection_name);
  const place = { name: args.query_name, collection: collection.name };
  if (!collection.definition.queries.some(({ name }) => name === place.name)) fail('queryNotExists', place);
  const users = endpointsOf(draft, place.collection, place.name);
  if (users.length > 0) {
    const keys = users.map(({ name }) => objectKey('rest_endpoint', name));
    fail('queryInUse', { ...place, users: keys.map(printUser).join(', ') });
  }
  const queries = collection.definition.queries.filter(({ name }) => name !== place.name);
  return put(draft, { ...collection, definition: { queries } });
};

/** Allows a collection, to every role without a scope. A collection that is allowed already keeps its scope. Raises `collectionNotExists`. */
export const addCollectionToAllowlist: Handler<'add_collection_to_allowlist'> = (
  draft,
  { collection, scope = { global: true } },
) => {
  withPath('collection', () => requireCollection(draft, collection));
  return entryOf(draft, collection) ? draft : putEntry(draft, { collection, scope: scopeOf(scope) });
};

/** Raises `collectionNotExists`, `notAllowlisted`. */
export const updateScope: Handler<'update_scope_of_collection_in_allowlist'> = (draft, args) => {
  const { collection, scope } = args;
  withPath('collection', () => requireCollection(draft, collection));
  if (!entryOf(draft, collection)) fail('notAllowlisted', { name: collection });
  return editObject(draft, objectKey('allowlist', collection), { scope: scopeOf(scope) });
};

/** Raises `collectionNotExists`, `collectionNotAllowed`. */
export const dropCollectionFromAllowlist: Handler<'drop_collection_from_allowlist'> = (draft, args) => {
  withPath('collection', () => requireCollection(draft, args.collection));
  if (!entryOf(draft, args.collection)) fail('collectionNotAllowed', { name: args.collection });
  return removeObject(draft, objectKey('allowlist', args.collection));
};

function requireCollection(draft: Metadata, name: string): QueryCollection {
  const found = draft.query_collections?.find((collection) => collection.name === name);
  return found ?? fail('collectionNotExists', { name });
}

function refuseTaken(draft: Metadata, name: string): void {
  if (draft.query_collections?.some((collection) => collection.name === name)) {
    fail('collectionExists', { name });
  }
}

function refuseRepeated({ definition }: QueryCollection): void {
  const names = definition.queries.map((query) => query.name);
  const repeated = new Set(names.filter((query, i) => names.indexOf(query) !== i));
  if (repeated.size === 0) return;
  const text = `found duplicate query names ${[...repeated].map((query) => `"${query}"`).join(', ')}`;
  fail('notSupported', { text }, { path: ['definition', 'queries'] });
}

function put(draft: Metadata, definition: QueryCollection): Metadata {
  const key = objectKey('query_collection', definition.name);
  return putObject(draft, { key, kind: 'query_collection', parent: null, definition });
}

function putEntry(draft: Metadata, definition: AllowListEntry): Metadata {
  const key = objectKey('allowlist', definition.collection);
  return putObject(draft, { key, kind: 'allowlist', parent: null, definition });
}

function entryOf(draft: Metadata, collection: string): AllowListEntry | undefined {
  return draft.allowlist?.find((entry) => entry.collection === collection);
}

function printUser(key: string): string {
  const [kind = '', ...segments] = key.split('/');
  const name = segments.map(decodeURIComponent).join('.');
  return kind === 'allowlist' ? 'the allowlist' : `${kind.replaceAll('_', ' ')} "${name}"`;
}

/** Raises `endpointExists`. */
export const createRestEndpoint: Handler<'create_rest_endpoint'> = (draft, definition) => {
  const key = objectKey('rest_endpoint', definition.name);
  if (findObject(draft, key)) fail('endpointExists', { name: definition.name });
  return putObject(draft, { key, kind: 'rest_endpoint', parent: null, definition });
};

/** Raises `endpointNotExists`. */
export const dropRestEndpoint: Handler<'drop_rest_endpoint'> = (draft, { name }) => {
  const key = objectKey('rest_endpoint', name);
  if (!findObject(draft, key)) fail('endpointNotExists', { name });
  return removeObject(draft, key);
};
