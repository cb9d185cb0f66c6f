/** The type of lazy-schema.js for the tests. */
import type { GraphQLSchema } from 'graphql';
import type { PackedSchema } from './packed-schema.js';

export class LazySchema extends GraphQLSchema {
  readonly packed: PackedSchema;
  constructor(packed: PackedSchema);
}
