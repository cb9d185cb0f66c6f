/** RestEndpoint: a path under /api/rest that runs a stored query. */
import {
  type MetadataObject,
  objectKey,
  type RestEndpoint,
  RestMethod,
  type Static,
  Type,
} from '@pergola/engine/metadata';
import { Comment, closed, MetadataName, plainList, withDescription } from './annotate.ts';
import { kindRow, OBJECT_COLUMNS, type ResourceDraft, specOf } from './kind.ts';

export const RestEndpointSpec = specOf({
  name: withDescription('The name of the endpoint.', MetadataName),
  url: withDescription(
    'The path below /api/rest. A segment with a colon is a variable: articles/:id.',
    Type.String({ minLength: 1, maxLength: 2048 }),
  ),
  methods: withDescription('Some of GET, POST, PUT, PATCH and DELETE.', {
    ...plainList(RestMethod, 5),
    minItems: 1,
  }),
  query: withDescription(
    'The query and its collection.',
    closed({
      collection: withDescription('The name of the query collection.', MetadataName),
      name: withDescription('The name of the query in the collection.', MetadataName),
    }),
  ),
  comment: Type.Optional(
    withDescription('The description of the endpoint in the OpenAPI document.', Comment),
  ),
});
type RestEndpointSpec = Static<typeof RestEndpointSpec>;

export const restEndpoint = kindRow({
  kind: 'RestEndpoint',
  plural: 'restendpoints',
  singular: 'restendpoint',
  shortNames: ['gqlre'],
  concerns: 'object',
  description: 'A path under /api/rest that runs a stored query.',
  spec: RestEndpointSpec,
  columns: OBJECT_COLUMNS,
  selectableFields: ['.spec.engineRef.name', '.spec.name'],
  deletionPolicy: 'Delete',
  target: (spec) => `${spec.methods.join(', ')} /api/rest/${spec.url}`,
  translate: (spec) => [endpointObject(spec)],
  describe: (inventory) => inventory.all('rest_endpoint').map(describeEndpoint),
});

function endpointObject({ name, url, methods, query, comment }: RestEndpointSpec): MetadataObject {
  return {
    key: objectKey('rest_endpoint', name),
    kind: 'rest_endpoint',
    parent: null,
    definition: {
      name,
      url,
      methods,
      comment,
      definition: { query: { collection_name: query.collection, query_name: query.name } },
    },
  };
}

function describeEndpoint({ definition: given }: MetadataObject): ResourceDraft {
  const { name, url, methods, definition, comment } = given as RestEndpoint;
  const { collection_name: collection, query_name } = definition.query;
  return { name, spec: { name, url, methods, query: { collection, name: query_name }, comment } };
}
