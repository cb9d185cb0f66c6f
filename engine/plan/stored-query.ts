/** Validates the queries of collections against the administrator's schema: a query that does not fit is an inconsistency of
 *  its collection. In: the document and its model. Not here: REST endpoints over them (resolve/rest-endpoint.ts). Pure, but
 *  not in resolve/, which has no schema. Reference: docs/reference/behaviour/errors.md. */
import { Kind, parse } from 'graphql';
import { EngineError, type PathStep, printPath } from '../errors/engine-error.ts';
import { endpointsOf } from '../metadata/dependencies.ts';

import { objectKey } from '../metadata/objects.ts';
import type { CollectionQuery } from '../metadata/schema/collection.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import type { Inconsistency, Model } from '../resolve/types.ts';
import { type RoleSchema, roleSchema } from '../schema/role-schemas.ts';
import { prepareDocument } from './document.ts';

export function brokenQueries(metadata: Metadata, model: Model): readonly Inconsistency[] {
  const { query_collections = [], remote_schemas = [], actions = [] } = metadata;
  const isWhole =
    remote_schemas.every(({ name }) => model.remoteSchemas.has(name)) &&
    actions.every(({ name }) => model.actions.has(name));
  // A missing field may belong to a source or remote schema that is unavailable, which must not make other objects
  // inconsistent.
  if (query_collections.length === 0 || !isWhole) return [];
  const role = roleSchema(model, ADMIN_ROLE, false);
  return query_collections.flatMap(({ name: collection, definition }) =>
    definition.queries.flatMap((query, i) => {
      const problem = problemOf(query.query, role);
      const path = ['definition', 'queries', i];
      return problem === null ? [] : [inconsistent(metadata, collection, query, problem, path)];
    }),
  );
}

function problemOf(text: string, role: RoleSchema): EngineError | null {
  try {
    for (const name of operationNames(text)) prepareDocument(role, text, name);
    return null;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error;
  }
}

/** Returns the names of operations in a text; null is an operation without a name. */
function operationNames(text: string): readonly (string | null)[] {
  try {
    const { definitions } = parse(text, { noLocation: true, maxTokens: 100_000 });
    const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    return operations.length > 1 ? operations.map(({ name }) => name?.value ?? null) : [null];
  } catch {
    return [null];
  }
}

function inconsistent(
  metadata: Metadata,
  collection: string,
  { name, query }: CollectionQuery,
  problem: EngineError,
  path: readonly PathStep[],
): Inconsistency {
  const users = endpointsOf(metadata, collection, name).map((endpoint) => `"${endpoint.name}"`);
  const usage =
    users.length === 0
      ? ''
      : `. This query is being used in the following REST endpoint(s): ${users.join(', ')}`;
  return {
    type: 'query_collections',
    name: `query_collections ${name} in ${collection}`,
    reason:
      `Inconsistent object: In query collection "${collection}" the query "${name}" is invalid ` +
      `with the following error(s): "${printProblem(problem)}"${usage}`,
    definition: { name, query },
    key: objectKey('query_collection', collection),
    query: name,
    cause: new EngineError('newlyInconsistent', {}, path),
  };
}

/** Returns `$.author: field 'author' not found in object 'query_root'`, with the path of the response. */
function printProblem(problem: EngineError): string {
  const path = printPath(problem.path.filter((step) => step !== 'selectionSet'));
  const { field, type } = problem.params as { readonly field?: string; readonly type?: string };
  const text =
    problem.kind === 'notFoundInType' ? `field '${field}' not found in object '${type}'` : problem.message;
  return `${path}: ${text}`;
}
