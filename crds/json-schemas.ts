/** KINDS → JSON Schemas of the resources, for editors, catalogues of definitions and kubeconform. They are stricter than the definitions, which
 *  let an API server drop unknown fields: here those are errors, as in `pergola validate`.
 *  Out: a file for each kind, named as kubeconform names them. Pure. Not here: what writes them (deploy/release/artifacts.ts), the definitions
 *  (generate.ts). */
import { API_GROUP, API_VERSION, KINDS, type KindRow } from '@pergola/operator/kinds';

/** Returns the schemas by file, such as `pergola.dev/table_v1alpha1.json`. */
export function jsonSchemas(): ReadonlyMap<string, string> {
  return new Map(
    KINDS.map((row) => [
      `${API_GROUP}/${row.kind.toLowerCase()}_${API_VERSION}.json`,
      `${JSON.stringify(jsonSchema(row), null, 2)}\n`,
    ]),
  );
}

/** Returns the schema of a whole resource. */
export function jsonSchema({ kind, description, spec }: KindRow): object {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: kind,
    description,
    type: 'object',
    required: ['apiVersion', 'kind', 'metadata', 'spec'],
    properties: {
      apiVersion: { const: `${API_GROUP}/${API_VERSION}` },
      kind: { const: kind },
      metadata: { type: 'object' },
      spec,
      status: { type: 'object' },
    },
    additionalProperties: false,
  };
}
