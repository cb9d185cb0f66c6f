/** Tests how the site with all versions is published: to a branch of a repository of this machine. Versions are kept and replaced, the list and the first page
 *  follow, and nothing is pushed without --push. Not here: what the menu makes of the list (site.test.ts). */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { jsonSchemas } from '../../crds/json-schemas.ts';
import { compareVersions, publishSite } from './publish.ts';

const folder = mkdtempSync('/var/tmp/pergola-publish-');
const [origin, clone] = [join(folder, 'origin.git'), join(folder, 'clone')];
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

/** Publishes a version. Returns the commit of the branch. */
function publish(version: string): string {
  const commit = publishSite({ branch: 'site', push: true, version, clone });
  expect(git(origin, 'rev-parse', 'site').trim()).toBe(commit);
  return commit;
}

const inSite = (file: string, revision = 'site') => git(origin, 'show', `${revision}:${file}`);

test('versions are added to the branch, which keeps the others, and replaced when they are published again', () => {
  git(folder, 'init', '-q', '--bare', origin);
  git(folder, 'init', '-q', clone);
  git(clone, 'remote', 'add', 'origin', origin);

  const dry = publishSite({ branch: 'site', push: false, version: '0.9.0', clone });
  expect(git(origin, 'branch', '--list')).toBe('');
  expect(git(clone, 'show', `${dry}:versions.json`)).toBe('["0.9.0"]\n');

  const first = publish('0.9.0');
  publish('0.10.0');
  publish('0.11.0-rc.1');
  expect(JSON.parse(inSite('versions.json'))).toEqual(['0.11.0-rc.1', '0.10.0', '0.9.0']);
  // A candidate is not where readers begin.
  expect(inSite('index.html')).toContain('url=0.10.0/index.html');
  expect(git(origin, 'rev-parse', 'site:0.9.0')).toBe(git(origin, 'rev-parse', `${first}:0.9.0`));
  expect(inSite('0.9.0/llms.txt')).toContain('guides/limits.md');
  for (const [file, text] of jsonSchemas()) expect(inSite(`0.9.0/schemas/${file}`)).toBe(text);

  const before = git(origin, 'rev-parse', 'site^{tree}');
  publish('0.9.0');
  expect(git(origin, 'rev-parse', 'site^{tree}')).toBe(before);
  expect(git(origin, 'rev-list', '--count', 'site').trim()).toBe('4');
  expect(git(clone, 'status', '--porcelain')).toBe('');
});

test('versions are ordered by their numbers, a candidate before its release', () => {
  const versions = ['1.0.0', '0.10.0', '1.0.0-rc.10', '0.9.0', '1.0.0-rc.2'];
  expect(versions.toSorted(compareVersions)).toEqual([
    '0.9.0',
    '0.10.0',
    '1.0.0-rc.2',
    '1.0.0-rc.10',
    '1.0.0',
  ]);
});
