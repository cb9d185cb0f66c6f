/** Tests what a release publishes: each file is there and complete, and a tag without notes, or of another version, builds nothing. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { afterAll, expect, test } from 'vitest';
import { KINDS } from '../../operator/kinds.ts';
import { describeHelm } from '../../testing/helm.ts';
import { buildRelease, CHECKSUMS, notesOf } from './artifacts.ts';
import { version } from './version.ts';

const folder = mkdtempSync(join(tmpdir(), 'pergola-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const NAME = version();
const TIMEOUT_MS = 180_000;
const CHANGELOG = `# Changelog\n\n## Unreleased\n\n- Later.\n\n## ${NAME} (2026-01-31)\n\n- Now.\n\n## 0.0.1 (2025-01-01)\n\n- Before.\n`;

test('the notes are the section of the version, without its heading', () => {
  expect(notesOf(NAME, CHANGELOG)).toBe('- Now.\n');
  expect(() => notesOf('9.9.9', CHANGELOG)).toThrow('CHANGELOG.md has no section "## 9.9.9 (YYYY-MM-DD)"');
  expect(() => notesOf('1.0.0', '## 1.0.0 (soon)\n')).toThrow('has no date');
  // The dots of a version are no wildcards.
  expect(() => notesOf('0.0.1', '## 0x0x1 (2025-01-01)\n')).toThrow('has no section');
});

test('notes that are too long for a forge end after a whole part', () => {
  const part = (name: string) => `### ${name}\n\n${'- A line.\n'.repeat(7000)}\n`;
  const notes = notesOf('1.0.0', `## 1.0.0 (2026-01-31)\n\n${part('First')}${part('Second')}`);
  expect(notes).toMatch(/^### First\n/);
  expect(notes).not.toContain('Second');
  expect(notes.trimEnd()).toMatch(/- A line\.\n\nThe other parts are in CHANGELOG\.md\.$/);
  const own = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
  const newest = /^## (\d\S*) \(/m.exec(own)![1]!;
  expect(notesOf(newest, own).length).toBeLessThan(125_000);
});

test('another tag builds nothing', async () => {
  const target = join(folder, 'other');
  await expect(buildRelease(NAME, target, { changelog: CHANGELOG })).rejects.toThrow('is not v');
  await expect(buildRelease('v9.9.9', target, { changelog: CHANGELOG })).rejects.toThrow('is not v');
  await expect(buildRelease(`v${NAME}`, target, { changelog: '' })).rejects.toThrow('has no section');
  expect(existsSync(target)).toBe(false);
});

describeHelm('a release', (helm) => {
  test('has the package, the charts, the definitions, the bill of materials, the notes and their checksums', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const target = join(folder, 'release');
    const repository = 'registry.example/team/pergola';
    await buildRelease(`v${NAME}`, target, { changelog: CHANGELOG, helm: helm.program, repository });
    const checked = execFileSync('sha256sum', ['--check', '--strict', CHECKSUMS], {
      cwd: target,
      encoding: 'utf8',
    });
    expect(checked.trimEnd().split('\n')).toEqual([
      `charts/pergola-${NAME}.tgz: OK`,
      `charts/pergola-crds-${NAME}.tgz: OK`,
      'notes.md: OK',
      `npm/pergola-${NAME}.tgz: OK`,
      `pergola-${NAME}.spdx.json: OK`,
      `pergola-chart-${NAME}.tgz: OK`,
      `pergola-crds-${NAME}.yaml: OK`,
      `pergola-crds-chart-${NAME}.tgz: OK`,
      `pergola-manifests-${NAME}.tgz: OK`,
      `pergola-npm-${NAME}.tgz: OK`,
      `pergola-schemas-${NAME}.tgz: OK`,
    ]);
    const values = await helm.run(['show', 'values', join(target, `charts/pergola-${NAME}.tgz`)]);
    expect(values).toContain(`  repository: ${repository}\n`);
    const archive = join(target, `pergola-manifests-${NAME}.tgz`);
    const applied = execFileSync('tar', ['-xzOf', archive, 'deploy/kustomize/pergola.yaml'], {
      encoding: 'utf8',
    });
    expect(applied.match(/image: .*pergola:.*/g)).toEqual(Array(2).fill(`image: ${repository}:${NAME}`));
    for (const chart of ['pergola', 'pergola-crds']) {
      const shown = await helm.run(['show', 'chart', join(target, `charts/${chart}-${NAME}.tgz`)]);
      expect(shown).toContain(`name: ${chart}\n`);
      expect(shown).toContain('artifacthub.io/crds: ');
      expect(shown).toContain(`version: ${NAME}\n`);
    }
    const definitions = loadAll(readFileSync(join(target, `pergola-crds-${NAME}.yaml`), 'utf8')) as readonly {
      readonly spec: { readonly names: { readonly kind: string } };
    }[];
    expect(definitions.map(({ spec }) => spec.names.kind).toSorted()).toEqual(
      KINDS.map(({ kind }) => kind).toSorted(),
    );
    const manifests = execFileSync('tar', ['-tzf', join(target, `pergola-manifests-${NAME}.tgz`)], {
      encoding: 'utf8',
    }).split('\n');
    for (const file of [
      'crds/kustomization.yaml',
      'deploy/kustomize/pergola.yaml',
      'deploy/argocd/argocd-cm.yaml',
      'deploy/examples/library/tables/book.yaml',
    ]) {
      expect(manifests).toContain(file);
    }
    expect(manifests.filter((file) => /\.(test\.)?ts$|generated\/.*\.json$/.test(file))).toEqual([]);
    const bill = JSON.parse(readFileSync(join(target, `pergola-${NAME}.spdx.json`), 'utf8'));
    const names = bill.packages.map(({ name }: { readonly name: string }) => name);
    expect(names).toEqual(
      expect.arrayContaining(['pg', 'graphql', 'fastify', '@kubernetes/client-node', 'react', 'graphiql']),
    );
    expect(names).not.toContain('vitest');
  });
});
