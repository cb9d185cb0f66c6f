/** Publishes what artifacts.ts wrote: charts, package, files on the forge. It can be run again after a failure: what is there stays. Needs `helm`,
 *  `npm` and `gh`, and nothing that is installed in the clone. In: the folder, where to. Not here: signatures, the image, the site
 *  (.github/workflows/release.yaml).
 *  `node deploy/release/publish.ts FOLDER --charts oci://HOST/PATH --npm URL [--tag TAG] [--provenance] [--plain-http] [--dry-run]` */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const CHECKSUMS = 'SHA256SUMS';
/** The files on the forge. Without a signature there is none of it. */
const ASSETS = [CHECKSUMS, `${CHECKSUMS}.sigstore.json`, '*.tgz', '*.yaml', '*.spdx.json'];

type Target = {
  /** `oci://HOST/PATH` of the charts. */
  readonly charts: string;
  /** The URL of the registry of packages. */
  readonly npm: string;
  /** The tag on the forge; absent: no files are published there. */
  readonly tag?: string | undefined;
  /** True to check everything and to publish nothing. */
  readonly isTrial?: boolean | undefined;
  /** True for a registry of charts without TLS. */
  readonly isPlain?: boolean | undefined;
  /** True to prove where the package was built, which works in a workflow of a forge only. */
  readonly hasProvenance?: boolean | undefined;
};

/** Publishes. Raises the error of the first program that fails. */
function publish(folder: string, target: Target): void {
  const { charts, tag, isTrial, isPlain } = target;
  const run = (program: string, ...args: readonly string[]) => {
    console.log(`${program} ${args.join(' ')}`);
    execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] });
  };
  const change = isTrial
    ? (...command: readonly string[]) => console.log(`not run: ${command.join(' ')}`)
    : run;
  const files = (...patterns: readonly string[]) => patterns.flatMap((one) => globSync(one, { cwd: folder }));
  run('sha256sum', '--check', '--strict', '--quiet', CHECKSUMS);
  for (const chart of files('charts/*.tgz')) {
    change('helm', 'push', chart, charts, ...(isPlain ? ['--plain-http'] : []));
  }
  publishPackage(folder, files('npm/*.tgz'), { ...target, run });
  if (tag === undefined) return;
  const isThere = !isTrial && spawnSync('gh', ['release', 'view', tag], { stdio: 'ignore' }).status === 0;
  const assets = files(...ASSETS);
  if (isThere) change('gh', 'release', 'upload', tag, '--clobber', ...assets);
  else change('gh', 'release', 'create', tag, '--verify-tag', '--notes-file', 'notes.md', ...assets);
}

type PackageTarget = Pick<Target, 'npm' | 'isTrial' | 'hasProvenance'> & {
  readonly run: (program: string, ...args: readonly string[]) => void;
};

/** A version of a package is published once. A trial does everything but that. */
function publishPackage(
  folder: string,
  packages: readonly string[],
  { npm, isTrial, hasProvenance, run }: PackageTarget,
): void {
  const [archive] = packages;
  const [, name, version] = /^npm\/(.+)-(\d.*)\.tgz$/.exec(archive ?? '') ?? [];
  if (archive === undefined || packages.length > 1) throw new Error(`${folder}/npm has not one package`);
  const known = ['view', `${name}@${version}`, 'dist.integrity', '--registry', npm];
  const there = spawnSync('npm', known, { cwd: folder, encoding: 'utf8' }).stdout.trim();
  const digest = createHash('sha512')
    .update(readFileSync(join(folder, archive)))
    .digest('base64');
  if (there === `sha512-${digest}`) {
    console.log(`${name}@${version} is published`);
    return;
  }
  // Without ./ npm takes a path with one slash for a repository on a forge.
  const options = ['--registry', npm, '--access', 'public', '--ignore-scripts'];
  if (hasProvenance) options.push('--provenance');
  if (isTrial) options.push('--dry-run');
  run('npm', 'publish', `./${archive}`, ...options);
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      charts: { type: 'string' },
      npm: { type: 'string' },
      tag: { type: 'string' },
      provenance: { type: 'boolean' },
      'plain-http': { type: 'boolean' },
      'dry-run': { type: 'boolean' },
    },
  });
  const { charts, npm, tag, provenance: hasProvenance, 'plain-http': isPlain, 'dry-run': isTrial } = values;
  const [folder] = positionals;
  if (folder === undefined || !charts || !npm) {
    throw new Error(
      'publish.ts FOLDER --charts oci://HOST/PATH --npm URL [--tag TAG] [--provenance] [--dry-run]',
    );
  }
  publish(resolve(folder), { charts, npm, tag, isTrial, isPlain, hasProvenance });
}

if (import.meta.main) main();
