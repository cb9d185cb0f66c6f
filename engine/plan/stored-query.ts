/** Validates the queries of collections against the administrator's schema: a query that does not fit is an inconsistency of
 *  its collection. In: the document and its model. Not here: REST endpoints over them (resolve/rest-endpoint.ts). Pure, but
 *  not in resolve/, which has no schema. Reference: docs/reference/behaviour/errors.md. */
import { Kind, type OperationTypeNode, parse } from 'graphql';
import { EngineError, type PathStep, printPath } from '../errors/engine-error.ts';
import { endpointsOf } from '../metadata/dependencies.ts';
import { objectKey } from '../metadata/objects.ts';
import type { CollectionQuery } from '../metadata/schema/collection.ts';
import { qualifiedKey } from '../metadata/schema/common.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { RemoteRelationship } from '../metadata/schema/relationship.ts';
import { finish, flatMapped, type Steps } from '../metadata/steps.ts';
import type { Inconsistency } from '../resolve/model/inconsistency.ts';
import type { Model } from '../resolve/model/model.ts';
import { typeNameOf } from '../resolve/remote-names.ts';
import { ADMIN_ROLE } from '../resolve/session.ts';
import { type RoleSchema, roleSchemaSteps } from '../schema/role-schemas.ts';
import { NO_CONDITIONS } from './conditions.ts';
import { prepareDocument } from './document.ts';

/** Returns the queries that do not fit. A field that may belong to a part that is missing, such as a remote schema that does not answer, is
 *  not judged: that part is inconsistent itself, and must not make others so. */
export function brokenQueries(metadata: Metadata, model: Model): readonly Inconsistency[] {
  return finish(findingBrokenQueries(metadata, model));
}

/** Finds them in steps: the schema of the administrator, then each query. */
export function* findingBrokenQueries(metadata: Metadata, model: Model): Steps<readonly Inconsistency[]> {
  const { query_collections = [] } = metadata;
  if (query_collections.length === 0) return [];
  const missing = missingParts(metadata, model);
  const role = yield* roleSchemaSteps(model, ADMIN_ROLE, false);
  const queries = query_collections.flatMap(({ name: collection, definition }) =>
    definition.queries.map((query, i) => ({ collection, query, path: ['definition', 'queries', i] })),
  );
  return yield* flatMapped(queries, ({ collection, query, path }) => {
    const problem = problemOf(query.query, role, missing);
    return problem === null ? [] : [inconsistent(metadata, collection, query, problem, path)];
  });
}

function problemOf(text: string, role: RoleSchema, missing: MissingParts): EngineError | null {
  try {
    for (const { name, operation } of operationsIn(text)) {
      if (operation !== null && !role.roots[operation] && missing.mayHaveRoots) continue;
      prepareDocument(role, text, name, NO_CONDITIONS, missing.mayHave);
    }
    return null;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return error;
  }
}

type Operation = {
  /** Null when the text has no other operation. */
  readonly name: string | null;
  /** Null for a text without operations, or that is not GraphQL. */
  readonly operation: OperationTypeNode | null;
};

function operationsIn(text: string): readonly Operation[] {
  const nothing = [{ name: null, operation: null }];
  try {
    const { definitions } = parse(text, { noLocation: true, maxTokens: 100_000 });
    const operations = definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
    if (operations.length === 0) return nothing;
    const isOnly = operations.length === 1;
    return operations.map(({ name, operation }) => ({
      name: isOnly ? null : (name?.value ?? null),
      operation,
    }));
  } catch {
    return nothing;
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

const ROOT_TYPES: ReadonlySet<string> = new Set(['query_root', 'mutation_root', 'subscription_root']);

/** The parts of the schema that may be missing because a source, a remote schema or an action of the document is not in the model: the
 *  database or the service does not answer, or the object is inconsistent itself. The fields that it would add are unknown, so each unknown
 *  root field may be one of them, unless its fields are in a namespace. */
type MissingParts = {
  /** True when the field, which the type does not have, may belong to a missing part. */
  readonly mayHave: (type: string, field: string) => boolean;
  /** True when a root type without fields may have some. */
  readonly mayHaveRoots: boolean;
};

function missingParts(metadata: Metadata, model: Model): MissingParts {
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
