/** Installs releases with npm, as their users do: the package of this one, and the release before it, from its sources.
 *  In: the history of the clone. Not here: which release that is (deploy/release/previous.ts), and starting what is installed. */
import { chmodSync, existsSync, globSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PREVIOUS } from '../release/previous.ts';
import { run } from './cluster.ts';

export type Installed = {
  /** The file of the command. */
  readonly command: string;
  /** The archive of its package; undefined when it has none that runs. */
  readonly archive?: string;
  /** The time that npm took, with a cache that is filled. */
  readonly installMs: number;
};

/** Installs a package into a folder, which is created. */
export async function installPackage(archive: string, folder: string): Promise<Installed> {
  mkdirSync(folder, { recursive: true });
  const began = performance.now();
  await npm(folder, 'install', archive);
  const installMs = performance.now() - began;
  return { command: join(folder, 'node_modules/pergola/bin/pergola.mjs'), archive, installMs };
}

/** Installs the release before this one below a folder. Releases before 0.4.0 have no package that runs: their sources run with their dependencies. */
export async function installPrevious(folder: string): Promise<Installed> {
  // Postgres of root runs as another user.
  chmodSync(folder, 0o755);
  const sources = join(folder, 'sources');
  await run(join(PREVIOUS, 'source'), [sources]);
  const began = performance.now();
  await npm(sources, 'ci');
  const installMs = performance.now() - began;
  if (existsSync(join(sources, 'bin/package.ts'))) {
    return installPackage(await pack(sources, folder), join(folder, 'installed'));
  }
  return { command: join(sources, 'bin/pergola.mjs'), installMs };
}

/** Packs the release of these sources into a folder, and returns its archive. It runs as a program of its own, because the build sets NODE_ENV, on which
 *  depends what npm installs. */
export async function pack(sources: string, folder: string): Promise<string> {
  await run(process.execPath, [join(sources, 'bin/package.ts'), folder]);
  return globSync(join(folder, 'pergola-*.tgz'))[0]!;
}

function npm(folder: string, ...args: readonly string[]): Promise<string> {
  return run('npm', ['--prefix', folder, ...args, '--prefer-offline', '--no-audit', '--no-fund']);
}
