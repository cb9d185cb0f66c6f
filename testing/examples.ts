/** Reads the examples of every kind, deploy/examples/every-kind, so that tests apply what the documents show.
 *  Not here: the database and services that the examples refer to (operator/testing/every-kind.ts). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';

export const EVERY_KIND = join(import.meta.dirname, '../deploy/examples/every-kind');

export type Example = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: Readonly<Record<string, unknown>>;
};

/** All documents, ConfigMaps included, in the order of the files. */
export function examples(): readonly Example[] {
  return readdirSync(EVERY_KIND)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => loadAll(readFileSync(join(EVERY_KIND, file), 'utf8')) as Example[]);
}

/** Returns the spec of the first example of a kind. */
export function exampleSpec(kind: string): Example['spec'] {
  const found = examples().find((example) => example.kind === kind);
  if (!found) throw new Error(`deploy/examples/every-kind has no ${kind}`);
  return found.spec;
}
