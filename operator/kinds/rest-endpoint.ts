/** RestEndpoint: a path under /api/rest that runs a stored query. */
import { RestMethod, Type } from '@pergola/engine/metadata';
import { Comment, closed, MetadataName, plainList } from './annotate.ts';
import { kindRow, specOf } from './kind.ts';
import { optional, required } from './mapping.ts';

export const RestEndpointSpec = specOf({
  name: required('The name of the endpoint.', MetadataName),
  url: required(
    'The path below /api/rest. A segment with a colon is a variable: articles/:id.',
    Type.String({ minLength: 1, maxLength: 2048 }),
  ),
  methods: required('Some of GET, POST, PUT, PATCH and DELETE.', {
    ...plainList(RestMethod, 5),
    minItems: 1,
  }),
  query: required(
    'The query and its collection.',
    closed({
      collection: required('The name of the query collection.', MetadataName, 'collection_name'),
      name: required('The name of the query in the collection.', MetadataName, 'query_name'),
    }),
    'definition.query',
  ),
  comment: optional('The description of the endpoint in the OpenAPI document.', Comment),
});

export const restEndpoint = kindRow({
  kind: 'RestEndpoint',
  shortNames: ['gqlre'],
  concerns: 'object',
  description: 'A path under /api/rest that runs a stored query.',
  spec: RestEndpointSpec,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  target: (spec) => `${spec.methods.join(', ')} /api/rest/${spec.url}`,
  objects: [{ kind: 'rest_endpoint', key: ['name'] }],
});
