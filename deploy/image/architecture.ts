/** Checks that every program and library in a folder is for one architecture. An image for another platform than the machine's must not contain
 *  what was built for the machine. `node deploy/image/architecture.ts FOLDER arm64` lists the wrong ones, and exits with 1 if there are any.
 *  In: the files of an image, as `docker buildx build --output type=local` writes them. */
import { closeSync, openSync, readdirSync, readSync } from 'node:fs';
import { join } from 'node:path';

/** `e_machine` of the ELF header. */
const MACHINES: Readonly<Record<string, number>> = { amd64: 62, arm64: 183 };
const MAGIC = Buffer.from('\x7fELF');

/** Returns the programs and libraries of the folder that are not for the architecture, and the number of all of them. */
export function foreignBinaries(
  folder: string,
  architecture: string,
): { readonly count: number; readonly foreign: readonly string[] } {
  const machine = MACHINES[architecture];
  if (machine === undefined) throw new Error(`the architecture is amd64 or arm64, not ${architecture}`);
  const found = filesIn(folder).flatMap((file) => {
    const header = headerOf(file);
    return header.subarray(0, 4).equals(MAGIC) ? [{ file, machine: header.readUInt16LE(18) }] : [];
  });
  const foreign = found.filter((one) => one.machine !== machine).map(({ file }) => file);
  return { count: found.length, foreign };
}

/** Returns the files below the folder. Links are left out: those of an image lead into this machine. */
function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesIn(path);
    return entry.isFile() ? [path] : [];
  });
}

/** Returns the first 20 bytes of a file, with zeros where it is shorter. */
function headerOf(file: string): Buffer {
  const header = Buffer.alloc(20);
  const opened = openSync(file, 'r');
  try {
    readSync(opened, header);
  } finally {
    closeSync(opened);
  }
  return header;
}

if (import.meta.main) {
  const [, , folder = '', architecture = ''] = process.argv;
  const { count, foreign } = foreignBinaries(folder, architecture);
  for (const file of foreign) console.error(`${file} is not for ${architecture}`);
  console.log(`${count} programs and libraries, ${foreign.length} of them not for ${architecture}`);
  if (count === 0 || foreign.length > 0) process.exitCode = 1;
}
