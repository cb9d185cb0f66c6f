/** Follows the part of docs/guides/first-api.md for a laptop: the file, `pergola up`, the request, and the answer of the page. Also compares the Application
 *  of the page with the one that runs in a cluster. Not here: the parts for a cluster (operator/kubernetes/first-api.kube.test.ts, deploy/e2e/first-api.e2e.ts). */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { blocksOf } from '../operator/testing/guide.ts';

const ROOT = join(import.meta.dirname, '..');
const PAGE = readFileSync(join(ROOT, 'docs/guides/first-api.md'), 'utf8');
const blocks = blocksOf(PAGE).map(({ text }) => text);
const beginningWith = (text: string) => blocks.find((block) => block.startsWith(text))!;

test('a laptop has the answer of the page', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync('/var/tmp/pergola-first-');
  mkdirSync(join(folder, 'notes'));
  writeFileSync(join(folder, 'notes/note.yaml'), beginningWith('# notes/note.yaml'));
  const words = beginningWith('pergola up').split(' ').slice(1);
  const command = [join(ROOT, 'bin/pergola.mjs'), ...words, '--port', '0'];
  const up = spawn(process.execPath, command, { cwd: folder, env: { ...process.env, NO_COLOR: '1' } });
  try {
    let printed = '';
    for (const stream of [up.stdout, up.stderr])
      stream.setEncoding('utf8').on('data', (text) => (printed += text));
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('2 of 2 resources are Ready');
    await expect.poll(() => printed, { timeout: 60_000 }).toContain('Ctrl-C stops everything');
    const [, address = ''] = /GraphQL +(http:\/\/[^/]+)/.exec(printed) ?? [];
    const request = beginningWith('curl -s').replace('http://localhost:8080', address);
    expect(execFileSync('bash', ['-c', request], { cwd: folder, encoding: 'utf8' })).toBe(
      beginningWith('{"data"'),
    );
  } finally {
    up.kill('SIGINT');
    await once(up, 'exit');
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the Application of the page is the one that runs in a cluster, for another folder', () => {
  const ours = load(beginningWith('# application.yaml')) as Application;
  const run = load(readFileSync(join(ROOT, 'deploy/argocd/application.yaml'), 'utf8')) as Application;
  const { name } = ours.metadata;
  const { repoURL, path } = ours.spec.source;
  expect(ours).toEqual({
    ...run,
    metadata: { ...run.metadata, name },
    spec: { ...run.spec, source: { ...run.spec.source, repoURL, path } },
  });
});

type Application = {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly source: { readonly repoURL: string; readonly path: string } };
};
