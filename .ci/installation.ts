/** Measures what a user installs, of this release and of the one before: the size of the package, what npm makes of it, the time until `pergola up` in
 *  an empty folder gives its first answer, and with the images in a registry, what an image adds to its base.
 *  In: --image and --previous-image, such as 127.0.0.1:5000/pergola:ci, of a registry that needs no sign-in. Out: a table; --out FILE for docs/SPEED.md.
 *  Not here: limits (bin/package.test.ts, deploy/e2e/image.e2e.ts). */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Installed, installPackage, installPrevious, pack } from '../deploy/e2e/installed.ts';
import { previousRelease } from '../deploy/release/previous.ts';
import { version } from '../deploy/release/version.ts';
import { writeRecord } from './record.ts';

/** The figures of a release by what was measured; those of images only with images. */
export type InstallationFigures = Readonly<Record<string, Readonly<Record<string, number>>>>;

const ROUNDS = 3;
const MOST_MS = 120_000;

if (import.meta.main) await main();

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { image: { type: 'string' }, 'previous-image': { type: 'string' }, out: { type: 'string' } },
  });
  const folder = mkdtempSync('/var/tmp/pergola-installation-');
  chmodSync(folder, 0o755);
  try {
    const [before, now] = ['previous', 'this'].map((name) => join(folder, name)) as [string, string];
    for (const each of [before, now]) mkdirSync(each);
    const archive = await pack('.', folder);
    const figures: Record<string, Record<string, number>> = {
      [previousRelease().version]: await measure(await installPrevious(before), before),
      [version()]: await measure(await installPackage(archive, now), now),
    };
    const images = [values['previous-image'], values.image];
    if (images[0] && images[1]) {
      const added = await addedByImages(images as [string, string]);
      for (const [i, reading] of Object.values(figures).entries()) reading['image'] = added[i]!;
    }
    console.table(figures);
    if (values.out) writeRecord(values.out, figures);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(installed: Installed, folder: string): Promise<Record<string, number>> {
  const first: number[] = [];
  const again: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const home = join(folder, `home-${round}`);
    mkdirSync(home);
    first.push(await firstAnswerMs(installed.command, home));
    again.push(await firstAnswerMs(installed.command, home));
  }
  return {
    package: statSync(installed.archive ?? packedSources(folder)).size,
    installed: bytesOf(modulesOf(installed.command)),
    installMs: installed.installMs,
    firstMs: Math.min(...first),
    againMs: Math.min(...again),
  };
}

/** Packs the sources of a release that has no build. Returns the archive. */
function packedSources(folder: string): string {
  const words = ['pack', join(folder, 'sources'), '--ignore-scripts', '--pack-destination', folder];
  return join(folder, execFileSync('npm', words, { encoding: 'utf8' }).trim().split('\n').at(-1)!);
}

/** Returns the folder that npm has filled for a command. */
function modulesOf(command: string): string {
  const [before, inModules] = command.split('/node_modules/');
  return inModules === undefined ? join(command, '../../node_modules') : join(before!, 'node_modules');
}

function bytesOf(folder: string): number {
  return Number(execFileSync('du', ['-sb', folder], { encoding: 'utf8' }).split('\t')[0]);
}

/** Returns the time from the start of `up` to the answer to its first request. */
async function firstAnswerMs(command: string, home: string): Promise<number> {
  const began = performance.now();
  const up = spawn(process.execPath, [command, 'up', '--port', '0'], {
    cwd: home,
    env: { ...process.env, NO_COLOR: '1' },
  });
  let printed = '';
  for (const stream of [up.stdout, up.stderr])
    stream.setEncoding('utf8').on('data', (text) => (printed += text));
  try {
    while (!(await hasAnswered(up, printed, home))) {
      if (performance.now() - began > MOST_MS) throw new Error(`no answer: ${printed}`);
      await sleep(10);
      if (up.exitCode !== null) throw new Error(printed);
    }
    return performance.now() - began;
  } finally {
    const exited = up.exitCode === null ? once(up, 'exit') : undefined;
    up.kill('SIGINT');
    await exited;
  }
}

async function hasAnswered(up: ChildProcess, printed: string, home: string): Promise<boolean> {
  const [, address] = /GraphQL +(http:\/\/[^/]+)/.exec(printed) ?? [];
  if (address === undefined || up.exitCode !== null) return false;
  const response = await fetch(`${address}/v1/graphql`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-engine-admin-secret': readFileSync(join(home, '.pergola/admin-secret'), 'utf8').trim(),
    },
    body: '{"query": "{ __typename }"}',
  });
  return (await response.text()).includes('query_root');
}

type Layer = { readonly digest: string; readonly size: number };

/** Returns the compressed bytes that each of two images adds to the layers that both have, which are those of their base. */
async function addedByImages(images: readonly [string, string]): Promise<readonly number[]> {
  const layers = await Promise.all(images.map(layersOf));
  return layers.map((own, i) => {
    const others = layers[1 - i]!.map(({ digest }) => digest);
    return own.filter(({ digest }) => !others.includes(digest)).reduce((sum, { size }) => sum + size, 0);
  });
}

async function layersOf(image: string): Promise<readonly Layer[]> {
  const [, registry, name, tag] = /^([^/]+)\/(.+):([^:]+)$/.exec(image)!;
  const manifest = await fetch(`http://${registry}/v2/${name}/manifests/${tag}`, {
    headers: {
      accept:
        'application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json',
    },
  });
  return ((await manifest.json()) as { readonly layers: readonly Layer[] }).layers;
}
