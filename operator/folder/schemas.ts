/** The JSON Schemas that written resources name for editors: `--schemas BASE`, or the base that the installed package knows. Below the base is a file for
 *  each kind, as in the archive of a release: `BASE/pergola.dev/table_v1alpha1.json`.
 *  In: the flag, and the file that names the schema. Out: addresses and lines. Raises FlagProblem. Not here: the lines in a text (../yaml/schema-line.ts), what
 *  writes the base into the package (bin/package.ts). */
import { readFileSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isRecord } from '@pergola/engine/metadata';
import { API_GROUP, GROUP_VERSION, kindOf, schemaFileOf } from '../kinds.ts';
import { type DocumentSchemas, schemaLine } from '../yaml/schema-line.ts';
import { FlagProblem } from './flag-problem.ts';
import type { Flag } from './flag-table.ts';

export type SchemaBase = {
  /** A URL or a folder, without a slash at its end. */
  readonly base: string;
  /** True when the command line names it. */
  readonly isGiven: boolean;
};

export const SCHEMAS_FLAG = {
  schemas: {
    value: 'BASE',
    doc: 'the URL or folder of the JSON Schemas that files name for editors, or none; default that of the package, if it has one',
  },
} as const satisfies Record<string, Flag>;

const URL_FORM = /^(https?|file):\/\/\S+$/;

/** Returns the base that the flag names, or else that of the package; undefined when files name no schema. */
export function schemaBaseOf(given: string | undefined): SchemaBase | undefined {
  if (given === 'none') return undefined;
  if (given === undefined) {
    const base = packagedBase();
    return base === undefined ? undefined : { base, isGiven: false };
  }
  const base = given.replace(/(?<=.)\/+$/, '');
  const isFolder = () => statSync(join(base, API_GROUP), { throwIfNoEntry: false })?.isDirectory() ?? false;
  if (URL_FORM.test(base) || (base !== '' && isFolder())) return { base, isGiven: true };
  throw new FlagProblem(
    `--schemas ${given || "''"} is neither a URL nor a folder with ${API_GROUP}/; unpack the pergola-schemas archive of the release there, or write --schemas none`,
  );
}

/** Returns what bin/package.ts has written into package.json. A clone has nothing there. */
function packagedBase(): string | undefined {
  const { schemas } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return typeof schemas === 'string' ? schemas : undefined;
}

/** Returns the schemas of the documents of a file. Lines that name our schema of another version are replaced, and with --schemas those of any base. */
export function schemasOfFile({ base, isGiven }: SchemaBase, file: string): DocumentSchemas {
  return {
    schemaOf: (document) =>
      isRecord(document) && document['apiVersion'] === GROUP_VERSION && kindOf(String(document['kind']))
        ? addressOf(base, String(document['kind']), file)
        : undefined,
    isReplaced: (address) => {
      const own = OWN.exec(address)?.[1];
      return own !== undefined && (isGiven || withoutVersion(own) === withoutVersion(base));
    },
  };
}

/** Returns the line for a resource of a kind in a file; an empty text without a base. */
export function schemaLineOf(schemas: SchemaBase | undefined, kind: string, file: string): string {
  return schemas === undefined ? '' : schemaLine(addressOf(schemas.base, kind, file));
}

/** An address of ours, with its base. */
const OWN = new RegExp(`^(.*)/${API_GROUP.replaceAll('.', '\\.')}/[a-z]+_v[a-z0-9]+\\.json$`);

function withoutVersion(base: string): string {
  return base.replace(/\/\d+\.\d+\.\d+[^/]*(?=\/)/, '');
}

/** Returns the address of a schema as an editor reads it in the file: a folder is named from the folder of the file, unless its path is absolute. */
function addressOf(base: string, kind: string, file: string): string {
  if (URL_FORM.test(base)) return `${base}/${schemaFileOf(kind)}`;
  const path = join(base, schemaFileOf(kind));
  const near = relative(dirname(resolve(file)), resolve(path));
  const named = isAbsolute(path) ? path : near.replace(/^(?!\.)/, './');
  // The language server ends a path at a space or a number sign.
  return /[\s#]/.test(named) ? pathToFileURL(path).href : named;
}
