/** Pinned Go modules, for tests that compare with what other projects publish or run their tools. Go downloads them once, and keeps what it has compiled.
 *  Out: the folder of a module or a program of it, or undefined where Go or the network is missing. */
import { execFile } from 'node:child_process';
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

/** Returns the file of a command of the module in `cmd`, built into a folder with the modules that it names itself. */
export async function programOf(
  module: GoModule,
  command: string,
  into: string,
): Promise<string | undefined> {
  const folder = await moduleFolder(module);
  if (folder === undefined) return undefined;
  const file = join(into, command);
  // Not from the folder `vendor` that some repositories have, and modules have in part.
  const flags = ['-mod=readonly', '-o', file, `./cmd/${command}`];
  const options = { cwd: folder, timeout: 300_000 };
  const built = await run('go', ['build', ...flags], options).catch(() => undefined);
  return built && file;
}
