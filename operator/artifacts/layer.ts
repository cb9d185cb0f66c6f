/** Reads the files of layers: archives, or single files. Nothing is written to a disk; a path is only a key.
 *  In: the verified bytes of the layers, the lowest first. Out: the content of each file by its path. Raises ArtifactProblem for paths that
 *  leave the folder, for links and devices, and beyond LIMITS.
 *  Not here: which files are migrations (download.ts). */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { ArtifactProblem } from './artifact-problem.ts';
import { LIMITS } from './limits.ts';
import type { Layer } from './manifest.ts';

/** The content of files by path, such as `migrations/1_book.sql`. */
export type FileContents = ReadonlyMap<string, Buffer>;

const decompress = promisify(gunzip);

/** A layer file with this prefix deletes a file of a lower layer. */
const WHITEOUT = '.wh.';

/** Returns the files of all layers. A file of a later layer replaces one of an earlier layer. */
export async function filesInLayers(
  layers: readonly { readonly layer: Layer; readonly bytes: Buffer }[],
): Promise<FileContents> {
  const budget = { bytes: LIMITS.unpackedBytes, entries: LIMITS.entries };
  const files = new Map<string, Buffer>();
  for (const { layer, bytes } of layers) {
    if (layer.form === 'file') {
      spend(budget, bytes.length, 1);
      files.set(checkedPath(layer.title), bytes);
      continue;
    }
    const archive = layer.form === 'tar' ? bytes : await decompressed(bytes, budget.bytes);
    spend(budget, archive.length, 0);
    await readArchive(archive, budget, files);
  }
  return files;
}

type Budget = { bytes: number; entries: number };

function spend(budget: Budget, bytes: number, entries: number): void {
  budget.bytes -= bytes;
  budget.entries -= entries;
  if (budget.bytes < 0) throw tooLarge();
  if (budget.entries < 0)
    throw new ArtifactProblem(`the artifact has more than ${LIMITS.entries} files and folders`);
}

function tooLarge(): ArtifactProblem {
  return new ArtifactProblem(`the artifact is larger than ${LIMITS.unpackedBytes} bytes when it is unpacked`);
}

async function decompressed(bytes: Buffer, most: number): Promise<Buffer> {
  try {
    return await decompress(bytes, { maxOutputLength: Math.max(1, most) });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge() : new ArtifactProblem('a layer is not valid gzip');
  }
}

async function readArchive(archive: Buffer, budget: Budget, files: Map<string, Buffer>): Promise<void> {
  const reader = extract();
  reader.end(archive);
  try {
    for await (const entry of reader) {
      spend(budget, 0, 1);
      const { name, type } = entry.header;
      const path = checkedPath(name);
      if (type !== 'file' && type !== 'contiguous-file' && type !== 'directory') {
        throw new ArtifactProblem(
          `${printed(name)} is a ${type ?? 'file of an unknown type'}; only files and folders are accepted`,
        );
      }
      const chunks: Uint8Array[] = [];
      for await (const chunk of entry) chunks.push(chunk);
      if (type !== 'directory') files.set(path, Buffer.concat(chunks));
    }
  } catch (error) {
    if (error instanceof ArtifactProblem) throw error;
    throw new ArtifactProblem('a layer is not a valid tar archive');
  }
}

/** Returns the path without `./`. */
function checkedPath(name: string): string {
  const steps = name
    .split('/')
    .filter((step, i, all) => step !== '.' && (step !== '' || (i === 0 && all.length > 1)));
  if (steps[0] === '' || steps.includes('..') || /[\\\0]/.test(name)) {
    throw new ArtifactProblem(`${printed(name)} is a path outside of the artifact`);
  }
  if (steps.some((step) => step.startsWith(WHITEOUT))) {
    throw new ArtifactProblem(
      `${printed(name)} deletes a file of another layer; build the artifact from one folder`,
    );
  }
  return steps.join('/');
}

/** Returns a name for a message. Its author may have chosen any text. */
function printed(name: string): string {
  const text = name.length > 100 ? `${name.slice(0, 100)}…` : name;
  return JSON.stringify(text);
}
