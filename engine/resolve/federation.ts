/** The names of the fields and types that a subgraph of Apollo Federation adds to its schema. They are reserved while the feature
 *  `apollo_federation` is on. Not here: the fields (schema/federation.ts). Reference: docs/reference/behaviour/remote-schemas.md;
 *  Apollo Federation, "Subgraph specification". */
export const FEDERATION_FEATURE = 'apollo_federation';

export const SERVICE_FIELD = '_service';
export const ENTITIES_FIELD = '_entities';

export const SERVICE_TYPE = '_Service';
export const ENTITY_TYPE = '_Entity';
export const ANY_TYPE = '_Any';

export const FEDERATION_TYPES: readonly string[] = [SERVICE_TYPE, ENTITY_TYPE, ANY_TYPE];
