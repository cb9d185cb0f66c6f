/** Pinned Go modules, for tests that compare with what other projects publish or run their tools. Go downloads and builds them, once.
 *  Out: the folder of a module or a program of it, or undefined where Go or the network is missing. */
import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type GoModule = {
  /** The path and the version. */
  readonly module: string;
  /** The checksum that Go's own files of sums have. */
  readonly sum: string;
};

const run = promisify(execFile);

/** Returns the folder of the module. Throws when its content is another than the pinned one, which is no reason to skip a test. */
export async function moduleFolder({ module, sum }: GoModule): Promise<string | undefined> {
  // Outside of any module.
  const options = { cwd: tmpdir(), timeout: 120_000 };
  const answer = await run('go', ['mod', 'download', '-json', module], options).catch(() => undefined);
  if (answer === undefined) return undefined;
  const { Dir: folder, Sum: found } = JSON.parse(answer.stdout) as {
    readonly Dir: string;
    readonly Sum: string;
  };
  if (found !== sum) throw new Error(`${module} has the sum ${found}, and ${sum} is expected`);
  return folder;
}

/** Returns the file of a program in the folder `path` of the module, built with the modules that it names itself. */
export async function programOf(module: GoModule, path: string): Promise<string | undefined> {
  const folder = await moduleFolder(module);
  if (folder === undefined) return undefined;
  // Not from the folder `vendor` that some repositories have, and modules have in part.
  const file = join(await mkdtemp(join(tmpdir(), 'pergola-go-')), 'program');
  const built = await run('go', ['build', '-mod=readonly', '-o', file, path], {
    cwd: folder,
    timeout: 300_000,
  }).catch(() => undefined);
  return built && file;
}
