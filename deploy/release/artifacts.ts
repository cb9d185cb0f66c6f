/** Builds what a release publishes, but for the image: the package of npm, both charts, the definitions as one file, the files of `deploy` that guides apply, JSON Schemas, the bill
 *  of materials, the notes of the version from CHANGELOG.md, and the checksums of all of them.
 *  `node deploy/release/artifacts.ts v1.2.3 [FOLDER]`: the tag must be the version of package.json, and CHANGELOG.md must have its section.
 *  In: a checkout, helm, SITE_URL and SOURCE_URL (bin/package.ts), and IMAGE_REPOSITORY, which charts and manifests then name. Out: files in the folder (default: dist/release). Not here: publishing and signing (.github/workflows/release.yaml),
 *  the image (deploy/Dockerfile). */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { BILL, packInto } from '../../bin/package.ts';
import { CHARTS } from '../../crds/generate.ts';
import { writeSchemas } from '../../crds/json-schemas.ts';
import { withHub } from './hub.ts';
import { version } from './version.ts';

const ROOT = join(import.meta.dirname, '../..');
export const CHECKSUMS = 'SHA256SUMS';

type Sources = {
  readonly changelog?: string;
  readonly helm?: string;
  /** The repository of the image, in a registry. Absent: that of an image which was built on this machine. */
  readonly repository?: string | undefined;
};

/** Writes the files of the release into the folder, which is emptied first. Throws when the tag is not the version, or has no notes. */
export async function buildRelease(
  tag: string,
  folder: string,
  {
    changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'),
    helm = 'helm',
    repository = process.env['IMAGE_REPOSITORY'],
  }: Sources = {},
): Promise<void> {
  const name = version();
  if (tag !== `v${name}`) throw new Error(`the tag ${tag} is not v${name}, the version of package.json`);
  const notes = notesOf(name, changelog);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  write('notes.md', notes);
  // The package and the chart have the same file name.
  const [packages, charts] = [join(folder, 'npm'), join(folder, 'charts')];
  for (const each of [packages, charts]) mkdirSync(each);
  const packed = await packInto(packages);
  const sources = stage(repository);
  const release = {
    name,
    notes,
    repository,
    site: process.env['SITE_URL'],
    sources: process.env['SOURCE_URL'],
  };
  for (const chart of CHARTS) {
    const source = join(sources, 'charts', chart);
    const file = join(source, 'Chart.yaml');
    writeFileSync(file, withHub(readFileSync(file, 'utf8'), release));
    execFileSync(helm, ['package', source, '--destination', charts], { stdio: 'pipe' });
    copyFileSync(join(charts, `${chart}-${name}.tgz`), join(folder, `${chart}-chart-${name}.tgz`));
  }
  // Files of a release on a forge have no folders.
  copyFileSync(packed, join(folder, basename(packed).replace(/-(?=\d)/, '-npm-')));
  write(`pergola-crds-${name}.yaml`, definitions());
  packSchemas(join(folder, `pergola-schemas-${name}.tgz`));
  packManifests(join(folder, `pergola-manifests-${name}.tgz`), sources);
  rmSync(sources, { recursive: true });
  write(`pergola-${name}.spdx.json`, billIn(packed));
  write(CHECKSUMS, checksumsOf(folder));
}

/** The most characters of notes: a forge refuses longer ones. */
const MOST_NOTES = 100_000;

/** Returns the section of the version in a changelog, or its first parts when it is too long. Throws when there is none, or it has no date. */
export function notesOf(name: string, changelog: string): string {
  const head = `## ${name} (`;
  const sections = changelog.split(/^(?=## )/m);
  const section = sections.find((one) => one.startsWith(head));
  if (!section) {
    throw new Error(
      `CHANGELOG.md has no section "${head}YYYY-MM-DD)": rename "Unreleased", and commit it before the tag`,
    );
  }
  const [first = '', ...rest] = section.split('\n');
  if (!/\(\d{4}-\d{2}-\d{2}\)$/.test(first)) throw new Error(`"${first}" has no date such as (2026-01-31)`);
  return `${firstParts(rest.join('\n').trim())}\n`;
}

function firstParts(notes: string): string {
  if (notes.length <= MOST_NOTES) return notes;
  const parts = notes.split(/^(?=### )/m);
  let kept = '';
  for (const part of parts) {
    if (kept.length + part.length > MOST_NOTES) break;
    kept += part;
  }
  return `${kept.trim()}\n\nThe other parts are in CHANGELOG.md.`;
}

/** Returns all definitions, for `kubectl apply --server-side -f`. */
function definitions(): string {
  const generated = join(ROOT, 'crds/generated');
  const files = readdirSync(generated).filter((file) => file.endsWith('.yaml'));
  return files
    .toSorted()
    .map((file) => `---\n${readFileSync(join(generated, file), 'utf8').replace(/^---\n/, '')}`)
    .join('');
}

/** Writes the JSON Schemas into an archive. */
function packSchemas(archive: string): void {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-schemas-'));
  writeSchemas(folder);
  execFileSync('tar', ['-czf', archive, '-C', folder, '.']);
  rmSync(folder, { recursive: true });
}

/** The folders whose files guides apply without a clone. They keep their places, because kustomizations name each other. */
const MANIFEST_FOLDERS = ['crds', 'deploy/kustomize', 'deploy/argocd', 'deploy/examples'];
const MANIFEST = /\.(yaml|lua|sql|sh|md|json)$/;

/** Copies charts and manifests into a new folder, which name the image in its repository. */
function stage(repository: string | undefined): string {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-release-'));
  for (const source of ['charts', ...MANIFEST_FOLDERS])
    cpSync(join(ROOT, source), join(folder, source), { recursive: true });
  if (!repository) return folder;
  for (const file of globSync('**/*.yaml', { cwd: folder })) {
    const path = join(folder, file);
    const text = readFileSync(path, 'utf8');
    const named = text
      .replaceAll(/\bimage: pergola:/g, `image: ${repository}:`)
      .replace(/^( {2}repository: )pergola$/m, `$1${repository}`);
    if (named !== text) writeFileSync(path, named);
  }
  return folder;
}

function packManifests(archive: string, sources: string): void {
  const files = MANIFEST_FOLDERS.flatMap((folder) =>
    readdirSync(join(sources, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => MANIFEST.test(file) && file !== 'package.json')
      .map((file) => join(folder, file)),
  );
  execFileSync('tar', ['-czf', archive, '-C', sources, ...files.toSorted()]);
}

/** Returns the bill of materials that the package contains. */
function billIn(packed: string): string {
  return execFileSync('tar', ['-xzOf', packed, `package/${BILL}`], {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  });
}

/** Returns lines that `sha256sum --check` reads. */
function checksumsOf(folder: string): string {
  return globSync(['*', '*/*'], { cwd: folder })
    .filter((file) => statSync(join(folder, file)).isFile())
    .toSorted()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}  ${file}\n`,
    )
    .join('');
}

if (import.meta.main) {
  const [, , tag = '', folder = 'dist/release'] = process.argv;
  try {
    await buildRelease(tag, resolve(folder));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
