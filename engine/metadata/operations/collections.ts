/** Operations on query collections, the allow list and REST endpoints. In: their arguments. Out: rows of OPERATIONS.
 *  Not here: performing them (admin/). */

import { isRecord } from '../../json/value.ts';
import { checkScope, GivenScope, QueryCollection, RestEndpoint } from '../schema/collection.ts';
import { ObjectName } from '../schema/common.ts';
import { Type } from '../schema/type.ts';
import { flag } from './arguments.ts';
import { type OperationDeclaration, row, shaped } from './row.ts';

export const COLLECTION_OPERATIONS = {
  create_query_collection: shaped('edit', 'Creates a named list of GraphQL documents.', QueryCollection),
  rename_query_collection: row('edit', 'Renames a collection, wherever it is used.', {
    name: ObjectName,
    new_name: ObjectName,
  }),
  drop_query_collection: row(
    'edit',
    'Drops a collection; with `cascade` also where it is used.',
    { collection: ObjectName, cascade: flag },
    { lenient: nameCollection },
  ),
  add_query_to_collection: row('edit', 'Adds a document to a collection.', {
    collection_name: ObjectName,
    query_name: ObjectName,
    query: Type.String({ minLength: 1 }),
  }),
  drop_query_from_collection: row('edit', 'Drops a document from a collection.', {
    collection_name: ObjectName,
    query_name: ObjectName,
  }),
  add_collection_to_allowlist: row(
    'edit',
    'Allows the documents of a collection to every role or to those listed.',
    { collection: ObjectName, scope: Type.Optional(GivenScope) },
    { check: checkScope },
  ),
  update_scope_of_collection_in_allowlist: row(
    'edit',
    'Changes the roles that a collection is allowed to.',
    { collection: ObjectName, scope: GivenScope },
    { check: checkScope },
  ),
  drop_collection_from_allowlist: row('edit', 'Removes a collection from the allow list.', {
    collection: ObjectName,
  }),
} as const satisfies Record<string, OperationDeclaration>;

function nameCollection(args: unknown): unknown {
  if (!isRecord(args) || 'collection' in args || !('name' in args)) return args;
  return { ...args, collection: args['name'] };
}

export const REST_ENDPOINT_OPERATIONS = {
  create_rest_endpoint: shaped('edit', 'Answers a URL with the result of a stored document.', RestEndpoint),
  drop_rest_endpoint: row('edit', 'Drops a REST endpoint.', { name: ObjectName }),
} as const satisfies Record<string, OperationDeclaration>;
