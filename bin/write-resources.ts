/** Metadata → a folder of custom resources, and a word about what came of it: what `import -o` and `export --as crs` share.
 *  Not here: the resources (operator/folder/describe.ts), the files (operator/folder/write-folder.ts). */
import { foreignSources, type Metadata, normalMetadata, unservedText } from '../engine/metadata/index.ts';
import { describeMetadata } from '../operator/folder/describe.ts';
import { schemaBaseOf } from '../operator/folder/schemas.ts';
import { SECRETS_FOLDER, writeFolder } from '../operator/folder/write-folder.ts';
import type { CommandLine } from './engine-flags.ts';

export async function writeResources(
  metadata: Metadata,
  folder: string,
  { flag }: CommandLine,
): Promise<void> {
  const text = (name: string) => (typeof flag(name) === 'string' ? String(flag(name)) : undefined);
  const description = describeMetadata(normalMetadata(metadata), { name: text('engine-ref') ?? 'main' });
  const schemas = schemaBaseOf(text('schemas'));
  const files = await writeFolder(folder, description, { namespace: text('namespace'), schemas });
  process.stdout.write(`${files.length} files in ${folder}\n`);
  for (const { name, kind } of foreignSources(metadata))
    process.stderr.write(`source ${name} is left out: ${unservedText(kind)}\n`);
  const bundles = description.resources.filter(({ kind }) => kind === 'MetadataBundle').length;
  if (bundles > 0) process.stdout.write('Objects without a kind of their own are in metadatabundles/.\n');
  if (description.secrets.length > 0) {
    process.stderr.write(
      `${folder}/${SECRETS_FOLDER} contains values that the metadata has as text: keep it out of version control. ` +
        `The engine stores the values of Secrets encrypted, beside the metadata.\n`,
    );
  }
}
