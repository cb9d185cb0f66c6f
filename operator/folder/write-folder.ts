/** Writes resources to a folder, one manifest per file: `tables/author.yaml`. Secrets go to a separate folder, since they should not be
 *  committed with the rest.
 *  Not here: the resources (describe.ts), reading a folder (read-folder.ts). */
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printYaml } from '@pergola/engine/metadata';
import { GROUP_VERSION, kindOf } from '../kinds.ts';
import type { Description } from './describe.ts';
import { type SchemaBase, schemaLineOf } from './schemas.ts';

export class FolderProblem extends Error {}

/** The folder of Secrets, which should not be committed. */
export const SECRETS_FOLDER = 'secrets';

/** Writes the files and returns their paths. Throws FolderProblem when the folder is not empty: existing files would be applied too. */
export async function writeFolder(
  folder: string,
  { resources, secrets }: Description,
  {
    namespace,
    schemas,
  }: { readonly namespace: string | undefined; readonly schemas: SchemaBase | undefined },
): Promise<readonly string[]> {
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).some((name) => !name.startsWith('.'))) {
    throw new FolderProblem(`${folder} is not empty; name a new folder`);
  }
  const where = namespace === undefined ? {} : { namespace };
  const files = [
    ...resources.map(({ kind, name, spec }) => ({
      file: `${kindOf(kind)!.plural}/${name}.yaml`,
      schemaKind: kind,
      document: { apiVersion: GROUP_VERSION, kind, metadata: { name, ...where }, spec },
    })),
    ...secrets.map(({ name, values }) => ({
      file: `${SECRETS_FOLDER}/${name}.yaml`,
      schemaKind: undefined,
      document: { apiVersion: 'v1', kind: 'Secret', metadata: { name, ...where }, stringData: values },
    })),
  ];
  for (const { file, schemaKind, document } of files) {
    const path = join(folder, file);
    const line = schemaKind === undefined ? '' : schemaLineOf(schemas, schemaKind, path);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, line + printYaml(document));
  }
  return files.map(({ file }) => file);
}
