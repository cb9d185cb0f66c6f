/** KINDS → JSON Schemas of the resources, for editors, catalogues of definitions and kubeconform. They are stricter than the definitions, which
 *  let an API server drop unknown fields: here those are errors, as in `pergola validate`.
 *  Out: a file for each kind, named as kubeconform names them. Not here: where they are published (deploy/release/artifacts.ts, docs/site/publish.ts), the
 *  definitions (generate.ts). */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { GROUP_VERSION, KINDS, type KindRow, schemaFileOf } from '@pergola/operator/kinds';

/** The folder with the schemas below that of a version on the site with the documents. */
export const SCHEMAS_FOLDER = 'schemas';

/** Returns the schemas by file, such as `pergola.dev/table_v1alpha1.json`. */
export function jsonSchemas(): ReadonlyMap<string, string> {
  return new Map(
    KINDS.map((row) => [schemaFileOf(row.kind), `${JSON.stringify(jsonSchema(row), null, 2)}\n`]),
  );
}

/** Writes the files of the schemas below a folder. */
export function writeSchemas(folder: string): void {
  for (const [file, text] of jsonSchemas()) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
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
      apiVersion: { const: GROUP_VERSION },
      kind: { const: kind },
      metadata: { type: 'object' },
      spec,
      status: { type: 'object' },
    },
    additionalProperties: false,
  };
}
