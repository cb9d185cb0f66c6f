/** Builds what a release publishes, but for the image: the package of npm, both charts, the definitions as one file, the files of `deploy` that guides apply, JSON Schemas, the bill
 *  of materials, the notes of the version from CHANGELOG.md, and the checksums of all of them.
 *  `node deploy/release/artifacts.ts v1.2.3 [FOLDER]`: the tag must be the version of package.json, and CHANGELOG.md must have its section.
 *  In: a checkout, helm, and SITE_URL (bin/package.ts). Out: files in the folder (default: dist/release). Not here: publishing and signing (.github/workflows/release.yaml),
 *  the image (deploy/Dockerfile). */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
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
import { join, resolve } from 'node:path';
import { BILL, packInto } from '../../bin/package.ts';
import { CHARTS } from '../../crds/generate.ts';
import { writeSchemas } from '../../crds/json-schemas.ts';
import { version } from './version.ts';

const ROOT = join(import.meta.dirname, '../..');
export const CHECKSUMS = 'SHA256SUMS';

type Sources = { readonly changelog?: string; readonly helm?: string };

/** Writes the files of the release into the folder, which is emptied first. Throws when the tag is not the version, or has no notes. */
export async function buildRelease(
  tag: string,
  folder: string,
  { changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), helm = 'helm' }: Sources = {},
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
  for (const chart of CHARTS) {
    execFileSync(helm, ['package', join(ROOT, 'charts', chart), '--destination', charts], { stdio: 'pipe' });
  }
  write(`pergola-crds-${name}.yaml`, definitions());
  packSchemas(join(folder, `pergola-schemas-${name}.tgz`));
  packManifests(join(folder, `pergola-manifests-${name}.tgz`));
  write(`pergola-${name}.spdx.json`, billIn(packed));
  write(CHECKSUMS, checksumsOf(folder));
}

/** Returns the section of the version in a changelog. Throws when there is none, or it has no date. */
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
  return `${rest.join('\n').trim()}\n`;
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

function packManifests(archive: string): void {
  const files = MANIFEST_FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => MANIFEST.test(file) && file !== 'package.json')
      .map((file) => join(folder, file)),
  );
  execFileSync('tar', ['-czf', archive, '-C', ROOT, ...files.toSorted()]);
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
