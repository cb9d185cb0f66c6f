/** The offer of `pergola up` to write resources for a database that has none yet: `--init`, or a question on a terminal.
 *  In: the folder and the URL of the database. Out: the folder to serve.
 *  Not here: writing the resources (../init/init-folder.ts). */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { readFolder } from '../../operator/folder/read-folder.ts';
import { schemaBaseOf } from '../../operator/folder/schemas.ts';
import { RECORD_FILE } from '../init/folder.ts';
import { writeNewResources } from '../init/init-folder.ts';

export type Offer = {
  readonly folder: string;
  /** True when the command line names the folder. */
  readonly isFolderNamed: boolean;
  /** True when resources are written first, by --init. */
  readonly isInit: boolean;
  readonly url: string;
  /** True when the database is not one that `up` has created. */
  readonly isOwnDatabase: boolean;
};

/** The terminal that is asked. */
export type Terminal = {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** True when somebody can answer. */
  readonly isInteractive: boolean;
  readonly signal: AbortSignal;
};

/** The folder below the current one that init writes to when none is named. */
const NEW_FOLDER = 'resources';

/** Returns the folder to serve. Writes resources into it with `--init`, or when the user agrees. */
export async function folderToServe(offer: Offer, terminal: Terminal): Promise<string> {
  const { folder, isFolderNamed, isInit, isOwnDatabase } = offer;
  const target = isFolderNamed ? folder : join(folder, NEW_FOLDER);
  if (isInit) return writeInto(target, offer, terminal);
  if (isFolderNamed || !isOwnDatabase) return folder;
  if (existsSync(join(target, RECORD_FILE))) return target;
  if (await hasResources(folder)) return folder;
  const shown = relative(process.cwd(), target) || target;
  if (!terminal.isInteractive) {
    terminal.output.write(
      `There are no resources in ${folder}. With --init, resources for this database are written to ${shown}.\n`,
    );
    return folder;
  }
  const isWanted = await confirmed(
    `There are no resources in ${folder}. Write resources for this database to ${shown}? [Y/n] `,
    terminal,
  );
  return isWanted ? writeInto(target, offer, terminal) : folder;
}

async function writeInto(target: string, { url }: Offer, { output }: Terminal): Promise<string> {
  const around = { source: 'default', engineRef: undefined, namespace: undefined };
  const schemaBase = schemaBaseOf(undefined);
  const options = { ...around, url, schemas: [], role: undefined, schemaBase };
  const summary = await writeNewResources(target, options);
  // The next step of the summary is what runs now.
  output.write(summary.replace(/^Next: .*\n/m, ''));
  return target;
}

async function hasResources(folder: string): Promise<boolean> {
  const { manifests, spoilt, problems } = await readFolder(folder);
  return manifests.length + spoilt.length + problems.length > 0;
}

/** Returns the answer to a question with yes as its default. An interrupt and the end of input are a no. */
async function confirmed(question: string, { input, output, signal }: Terminal): Promise<boolean> {
  const lines = createInterface({ input, output, terminal: false });
  const ended = new Promise<string>((resolve) => lines.once('close', () => resolve('no')));
  lines.once('SIGINT', () => lines.close());
  if (signal.aborted) lines.close();
  signal.addEventListener('abort', () => lines.close(), { once: true });
  const answer = await Promise.race([ended, signal.aborted ? ended : lines.question(question)]);
  lines.close();
  return /^(y|yes)?$/i.test(answer.trim());
}
