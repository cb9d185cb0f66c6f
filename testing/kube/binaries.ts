/** Finds the programs of a test cluster in KUBEBUILDER_ASSETS or in the cache, or builds them into the cache once from the pinned Go
 *  modules beside this file. Out: the folder with etcd, kube-apiserver and kubectl, or the reason why there is none.
 *  `node testing/kube/binaries.ts` builds ahead of the tests, which otherwise do it on first use. Not here: starting them (../kube.ts). */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const KUBE_VERSION = '1.35.4';

/** The programs, smallest first, so that a machine that cannot build them fails soon. */
const PROGRAMS = [
  { name: 'etcd', module: 'etcd', main: 'go.etcd.io/etcd/server/v3' },
  { name: 'kubectl', module: '.', main: 'k8s.io/kubernetes/cmd/kubectl' },
  { name: 'kube-apiserver', module: '.', main: 'k8s.io/kubernetes/cmd/kube-apiserver' },
] as const;

export type KubeBinaries = { readonly folder: string } | { readonly missing: string };

/** Finds the programs, or builds them, which takes minutes; other processes wait for the one that builds. Reports to stderr. */
export async function kubeBinaries(): Promise<KubeBinaries> {
  const given = process.env['KUBEBUILDER_ASSETS'];
  if (given) {
    const absent = absentIn(given);
    return absent.length === 0
      ? { folder: given }
      : { missing: `KUBEBUILDER_ASSETS=${given} lacks ${absent.join(', ')}` };
  }
  const folder =
    process.env['PERGOLA_KUBE_CACHE'] ?? join(homedir(), '.cache', 'pergola', `kube-${KUBE_VERSION}`);
  if (absentIn(folder).length === 0) return { folder };
  if (spawnSync('go', ['version']).status !== 0) {
    return { missing: 'neither KUBEBUILDER_ASSETS nor Go, to build the API server with, is there' };
  }
  return buildOnce(folder);
}

function absentIn(folder: string): readonly string[] {
  return PROGRAMS.map(({ name }) => name).filter((name) => !existsSync(join(folder, name)));
}

async function buildOnce(folder: string): Promise<KubeBinaries> {
  await mkdir(folder, { recursive: true });
  const lock = join(folder, 'building');
  while (!(await taken(lock))) {
    await sleep(500);
    if (absentIn(folder).length === 0) return { folder };
  }
  try {
    for (const program of PROGRAMS.filter(({ name }) => absentIn(folder).includes(name))) {
      const problem = await build(program, folder);
      if (problem !== undefined) return { missing: problem };
    }
    return { folder };
  } finally {
    await rm(lock, { force: true });
  }
}

/** Creates the lock file, which only one process can do. The file has the process id, so that the lock of a killed process is removed. */
async function taken(lock: string): Promise<boolean> {
  try {
    await writeFile(lock, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    const holder = Number(await readFile(lock, 'utf8').catch(() => ''));
    // The file is empty while another process writes it.
    if (holder > 0 && !isAlive(holder)) await rm(lock, { force: true });
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { readonly code?: string }).code === 'EPERM';
  }
}

/** Builds a program; returns the problem, or undefined. */
async function build(
  { name, module, main }: (typeof PROGRAMS)[number],
  folder: string,
): Promise<string | undefined> {
  say(`building ${name} from source, once; this takes minutes`);
  const began = Date.now();
  const unfinished = join(folder, `${name}.${process.pid}`);
  const [major, minor] = KUBE_VERSION.split('.');
  const version = { gitVersion: `v${KUBE_VERSION}`, gitMajor: major, gitMinor: minor };
  // Without a version stamp, an API server cannot determine its enabled features and does not start.
  const stamps = Object.entries(version).map(
    ([name, text]) => `-X k8s.io/component-base/version.${name}=${text}`,
  );
  const ldflags = ['-s', '-w', ...stamps].join(' ');
  const child = spawn('go', ['build', '-ldflags', ldflags, '-o', unfinished, main], {
    cwd: join(import.meta.dirname, module),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    complaint = (complaint + chunk).slice(-4000);
  });
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  if (code !== 0) return `${name} did not build: ${complaint.trim()}`;
  await rename(unfinished, join(folder, name));
  say(`${name} is built, in ${Math.round((Date.now() - began) / 1000)} s`);
  return undefined;
}

function say(text: string): void {
  process.stderr.write(`kube: ${text}\n`);
}

if (import.meta.main) {
  const found = await kubeBinaries();
  if ('missing' in found) {
    say(found.missing);
    process.exitCode = 1;
  } else {
    say(`etcd, kube-apiserver and kubectl are in ${found.folder}`);
  }
}
