/** Who uses the queries of a collection. In: the document. Not here: objects that use others as wholes (dependencies.ts). */
import type { RestEndpoint } from './schema/collection.ts';
import type { Metadata } from './schema/metadata.ts';

/** REST endpoints that answer with the query. */
export function endpointsOf(metadata: Metadata, collection: string, query: string): readonly RestEndpoint[] {
  return (metadata.rest_endpoints ?? []).filter(({ definition }) => {
    return definition.query.collection_name === collection && definition.query.query_name === query;
  });
}
