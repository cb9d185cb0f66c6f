/** The version of a release. It is in package.json; the workspaces, both charts and the documents have the same one.
 *  `node deploy/release/version.ts` prints it, `node deploy/release/version.ts 0.4.0` writes it everywhere, and makes what is unreleased in
 *  CHANGELOG.md the section of that version, with the date of today.
 *  Not here: what a release consists of (artifacts.ts). */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

/** The files with the version, and what precedes it in each, as an ordered table. */
export const VERSIONED: readonly { readonly file: string; readonly before: RegExp }[] = [
  ...['.', 'engine', 'operator', 'crds'].map((workspace) => ({
    file: join(workspace, 'package.json'),
    before: /^ {2}"version": "|"@pergola\/(?:engine|operator)": "/gm,
  })),
  ...['pergola', 'pergola-crds'].map((chart) => ({
    file: `charts/${chart}/Chart.yaml`,
    before: /^(?:version|appVersion): /gm,
  })),
  { file: 'deploy/Dockerfile', before: /\bimage\.version="/g },
  { file: 'deploy/kustomize/pergola.yaml', before: /\b(?:image: pergola:|kubernetes\.io\/version: )/g },
  { file: 'README.md', before: /\bpergola-(?=\d)/g },
  {
    file: 'docs/guides/installing.md',
    before: /\$IMAGE:|\bpergola" --version |\bpergola-(?:npm|manifests)-(?=\d)/g,
  },
  { file: 'docs/guides/gitops.md', before: /\/pergola:|\bpergola-(?:manifests|schemas)-(?=\d)/g },
  { file: 'docs/guides/first-api.md', before: /\bpergola-manifests-(?=\d)/g },
  {
    file: 'docs/guides/releasing.md',
    before: /\bversion\.ts |section of `|, at `|\bv(?=\d+\.)|\bpergola-(?:[a-z]+-)*(?=\d)/g,
  },
  { file: 'deploy/examples/review/workflow.yaml', before: /\/pergola:/g },
  { file: 'deploy/argocd/api/3-client.yaml', before: /image: pergola:/g },
];

/** Semantic versioning, without build metadata, which the tag of an image cannot have. */
const VERSION = /\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?/;

/** Returns the version of package.json. */
export function version(): string {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).version;
}

/** Returns the versions that a text has after `before`. */
export function versionsIn(text: string, before: RegExp): readonly string[] {
  return [...text.matchAll(following(before))].map(([, , found = '']) => found);
}

/** Writes the version everywhere. Throws for what is no version. */
export function setVersion(next: string): void {
  if (!new RegExp(`^${VERSION.source}$`).test(next)) {
    throw new Error(`"${next}" is no version such as 1.2.3 or 1.2.3-rc.1`);
  }
  for (const { file, before } of VERSIONED) {
    const path = join(ROOT, file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(
      path,
      text.replaceAll(following(before), (_, kept: string) => kept + next),
    );
  }
  const changelog = join(ROOT, 'CHANGELOG.md');
  writeFileSync(changelog, released(readFileSync(changelog, 'utf8'), next, new Date()));
  execFileSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--offline'], { cwd: ROOT });
}

/** Returns the changelog with the content of its section "Unreleased" as that of the version. A version that has a section already, because its
 *  release was prepared before, gets the new date. Throws when nothing is unreleased, and when lines are in both sections. */
export function released(changelog: string, name: string, date: Date): string {
  const [head = '', rest] = changelog.split(/^## Unreleased\n/m);
  const heading = `## ${name} (${date.toISOString().slice(0, 10)})\n`;
  const prepared = new RegExp(`^## ${name.replaceAll('.', '\\.')} \\(.*\\)\\n`, 'm');
  const hasLines = rest !== undefined && !/^\s*(?:## |$)/.test(rest);
  if (prepared.test(changelog)) {
    if (hasLines) throw new Error(`CHANGELOG.md has unreleased lines: move them into the section of ${name}`);
    return changelog.replace(prepared, heading);
  }
  if (!hasLines) throw new Error('CHANGELOG.md has nothing unreleased');
  return `${head}## Unreleased\n\n${heading}${rest}`;
}

function following(before: RegExp): RegExp {
  return new RegExp(`(${before.source})(${VERSION.source})`, before.flags);
}

if (import.meta.main) {
  const [, , next] = process.argv;
  if (next === undefined) console.log(version());
  else setVersion(next);
}
