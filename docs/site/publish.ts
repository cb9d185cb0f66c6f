/** Publishes the site with all versions: a branch of the repository has a folder for each version, the list of them, and a first page that leads to the newest.
 *  `node docs/site/publish.ts --branch site` makes the commit that adds the version of this commit, and keeps the others as they are; with --push it
 *  becomes the branch of `origin`, from which a host serves the folder. The list is one file above the folders, so that pages of an old version know newer ones.
 *  In: --repository URL, as in build.ts. Out: the commit, on standard output. Not here: the pages (build.ts). */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SCHEMAS_FOLDER, writeSchemas } from '../../crds/json-schemas.ts';
import project from '../../package.json' with { type: 'json' };
import { buildSite, type SiteOptions } from './build.ts';
import { ROOT } from './documents.ts';

const LIST = 'versions.json';

/** Adds a version to the folder of all versions, or replaces it, and writes the list and the first page. */
export function addVersion(
  folder: string,
  { version = project.version, repository }: Omit<SiteOptions, 'isVersioned'> = {},
): void {
  mkdirSync(folder, { recursive: true });
  buildSite(join(folder, version), { version, repository, isVersioned: true });
  // The files that init, import and convert write name them.
  writeSchemas(join(folder, version, SCHEMAS_FOLDER));
  const versions = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && /^\d/.test(entry.name))
    .map(({ name }) => name)
    .toSorted((a, b) => compareVersions(b, a));
  writeFileSync(join(folder, LIST), `${JSON.stringify(versions)}\n`);
  const newest = versions.find((one) => !one.includes('-')) ?? versions[0]!;
  writeFileSync(join(folder, 'index.html'), redirectTo(`${newest}/index.html`));
}

/** Orders versions: 0.10.0 after 0.9.0, and a candidate such as 1.0.0-rc.1 before 1.0.0. */
export function compareVersions(a: string, b: string): number {
  const release = (version: string) => version.replace(/-.*/, '');
  const isNumeric = { numeric: true };
  return (
    release(a).localeCompare(release(b), 'en', isNumeric) ||
    Number(!a.includes('-')) - Number(!b.includes('-')) ||
    a.localeCompare(b, 'en', isNumeric)
  );
}

function redirectTo(path: string): string {
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Pergola</title><meta http-equiv="refresh" content="0; url=${path}"></head>
<body><a href="${path}">Pergola</a></body></html>
`;
}

type Publication = {
  readonly branch: string;
  readonly push: boolean;
  readonly version?: string;
  readonly repository?: string | undefined;
  /** A clone whose `origin` has the branch, or will have it. */
  readonly clone?: string;
};

/** Adds the version to the branch of `origin`, which is created when it is missing. Returns the commit, which is pushed only with `push`. */
export function publishSite({ branch, push, version, repository, clone = ROOT }: Publication): string {
  const work = mkdtempSync(join(tmpdir(), 'pergola-site-'));
  const folder = join(work, 'site');
  mkdirSync(folder);
  const GIT_DIR = execFileSync('git', ['rev-parse', '--absolute-git-dir'], {
    cwd: clone,
    encoding: 'utf8',
  }).trim();
  // An index of its own, so that the files and the index of the clone stay as they are.
  const env = { ...process.env, GIT_DIR, GIT_WORK_TREE: folder, GIT_INDEX_FILE: join(work, 'index') };
  const git = (...args: readonly string[]) =>
    execFileSync('git', args, { cwd: folder, encoding: 'utf8', env, maxBuffer: 2 ** 26 }).trim();
  try {
    const hasOrigin = git('remote').split('\n').includes('origin');
    const isThere = hasOrigin && git('ls-remote', '--heads', 'origin', `refs/heads/${branch}`) !== '';
    if (isThere) {
      git('fetch', '--quiet', 'origin', `refs/heads/${branch}`);
      git('read-tree', 'FETCH_HEAD');
      git('checkout-index', '--all');
    }
    const parents = isThere ? ['-p', git('rev-parse', 'FETCH_HEAD')] : [];
    addVersion(folder, { ...(version === undefined ? {} : { version }), repository });
    // Files that the user's Git ignores belong to the site, too.
    git('add', '--all', '--force');
    const tree = git('write-tree');
    const author = ['-c', `user.name=${project.name}`, '-c', `user.email=${project.name}@localhost`];
    const message = `The documents of ${version ?? project.version}`;
    const commit = git(...author, 'commit-tree', tree, ...parents, '-m', message);
    if (push) git('push', '--quiet', 'origin', `${commit}:refs/heads/${branch}`);
    return commit;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      branch: { type: 'string', default: 'site' },
      repository: { type: 'string' },
      push: { type: 'boolean', default: false },
    },
  });
  console.log(publishSite(values));
}
