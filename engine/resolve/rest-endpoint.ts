/** REST endpoints of the metadata → the routes of the model. An endpoint needs a valid URL that no earlier endpoint has, and a stored
 *  document with one query or mutation.
 *  Not here: checking the document against the schema (plan/stored-query.ts), responses (http/rest.ts).
 *  Reference: docs/reference/behaviour/metadata.md, docs/reference/behaviour/endpoints.md; docs/reference/behaviour/errors.md. */

import { type DocumentNode, Kind, type OperationDefinitionNode, parse } from 'graphql';
import { EngineError, fail } from '../errors/engine-error.ts';
import { objectKey } from '../metadata/objects.ts';
import type { RestEndpoint } from '../metadata/schema/collection.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import type { Inconsistency } from './model/inconsistency.ts';
import { parseTemplate, type ResolvedEndpoint, Routes } from './routes.ts';

/** Returns the routes of the endpoints that fit, and reports the others. */
export function resolveEndpoints(metadata: Metadata, report: (found: Inconsistency) => void): Routes {
  const routes = new Routes();
  for (const definition of metadata.rest_endpoints ?? []) {
    try {
      routes.add(resolveEndpoint(definition, metadata, routes));
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      report(inconsistent(definition, error));
    }
  }
  return routes;
}

/** Resolves one endpoint. Raises `invalidConfiguration`. */
function resolveEndpoint(definition: RestEndpoint, metadata: Metadata, routes: Routes): ResolvedEndpoint {
  const { name, url, methods, comment = null } = definition;
  const segments = parseTemplate(url);
  const rivals = routes.rivals(segments, methods);
  if (rivals.length > 0) {
    const urls = [url, ...rivals.map((rival) => rival.url)].sort();
    fail('invalidConfiguration', { text: `Ambiguous URL paths: ${urls.join(', ')}` });
  }
  const query = storedQuery(definition, metadata);
  const operation = onlyOperation(definition, query);
  const maxAgeSeconds = methods.includes('GET') ? cachedSeconds(operation) : null;
  return { name, url, methods, comment, segments, query, maxAgeSeconds };
}

function storedQuery(definition: RestEndpoint, { query_collections = [] }: Metadata): string {
  const { collection_name, query_name } = definition.definition.query;
  const collection =
    query_collections.find(({ name }) => name === collection_name) ??
    refuse(definition, `collection with name "${collection_name}" does not exist`, { behind: 'not-exists' });
  const stored =
    collection.definition.queries.find(({ name }) => name === query_name) ??
    refuse(definition, `query with name "${query_name}" does not exist in collection "${collection_name}"`, {
      behind: 'not-exists',
    });
  return stored.query;
}

function onlyOperation(definition: RestEndpoint, text: string): OperationDefinitionNode {
  const name = definition.definition.query.query_name;
  const [operation, ...others] = parsed(definition, text).definitions.filter(
    (node) => node.kind === Kind.OPERATION_DEFINITION,
  );
  if (!operation) return refuse(definition, `query with name ${name} has no definitions.`);
  if (others.length > 0) refuse(definition, `query with name ${name} has multiple definitions.`);
  if (operation.operation === 'subscription') {
    refuse(definition, `query with name ${name} is a subscription`);
  }
  return operation;
}

function parsed(definition: RestEndpoint, text: string): DocumentNode {
  try {
    return parse(text, { noLocation: true, maxTokens: 100_000 });
  } catch {
    return refuse(
      definition,
      `query with name ${definition.definition.query.query_name} is not valid GraphQL`,
    );
  }
}

function refuse({ name }: RestEndpoint, reason: string, options: { readonly behind?: string } = {}): never {
  const text = `Inconsistent object: in endpoint ${name}: ${reason}`;
  return fail('invalidConfiguration', { text }, options);
}

/** The largest age that every cache supports. RFC 9111, 1.2.2. */
const MOST_SECONDS = 2 ** 31;

/** Returns how long clients may cache the response, `@cached(ttl: 5)`; 60 s without `ttl`, null without the directive. */
function cachedSeconds({ directives = [] }: OperationDefinitionNode): number | null {
  const cached = directives.find((directive) => directive.name.value === 'cached');
  if (!cached) return null;
  const ttl = cached.arguments?.find((argument) => argument.name.value === 'ttl')?.value;
  return ttl?.kind === Kind.INT ? Math.min(Math.max(Number(ttl.value), 0), MOST_SECONDS) : 60;
}

function inconsistent(definition: RestEndpoint, cause: EngineError): Inconsistency {
  const { name, url, methods, comment = null } = definition;
  return {
    type: 'rest_endpoint',
    name: `rest_endpoint ${name}`,
    reason: cause.message,
    definition: { definition: definition.definition, url, methods, name, comment },
    key: objectKey('rest_endpoint', name),
    cause,
  };
}
