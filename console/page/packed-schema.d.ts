/** The types of packed-schema.js for the tests. */
import type { IntrospectionQuery } from 'graphql';

export type PackedSchema = {
  readonly head: { readonly types: readonly { readonly name: string }[] };
  readonly starts: Uint32Array;
  readonly bytes: Uint8Array;
};
export function packedSchema(introspection: IntrospectionQuery): PackedSchema;
