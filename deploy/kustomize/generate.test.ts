/** Tests that the manifests for kustomize are what the chart renders, alone and with a kustomization as the guide shows it. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { loadAll } from 'js-yaml';
import { expect, test } from 'vitest';
import { describeHelm, findProgram, type Rendered } from '../../testing/helm.ts';
import { FILE, inNamespace, manifests, NAMESPACE, objectsOfChart } from './generate.ts';

/** Returns the objects by kind and name. */
function byName(objects: readonly Rendered[]): Readonly<Record<string, Rendered>> {
  return Object.fromEntries(objects.map((object) => [`${object.kind} ${object.metadata.name}`, object]));
}

function build(folder: string): readonly Rendered[] {
  const text = execFileSync(findProgram('kubectl')!, ['kustomize', folder], {
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
  });
  return loadAll(text);
}

describeHelm('kustomize', (helm) => {
  test('pergola.yaml is what the chart renders; `make generate` writes it', () => {
    expect(readFileSync(FILE, 'utf8')).toBe(manifests(helm.program));
  });

  test('it installs the objects of the chart', () => {
    const rendered = inNamespace(NAMESPACE, objectsOfChart(helm.program));
    expect(byName(build(import.meta.dirname))).toEqual(byName(rendered));
  });

  test('the kustomization of the guide gives what the values of the chart give', () => {
    const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/installing.md'), 'utf8');
    const [, example = ''] = /```yaml\n(apiVersion: kustomize[\s\S]*?)```/.exec(guide) ?? [];
    const folder = mkdtempSync(join(tmpdir(), 'pergola-kustomize-'));
    try {
      const base = relative(folder, import.meta.dirname);
      writeFileSync(
        join(folder, 'kustomization.yaml'),
        example.replace(/- \S+deploy\/kustomize\S*/, `- ${base}`),
      );
      const values = [
        'image.repository=registry.example.org/pergola',
        'engine.replicas=2',
        'engine.podDisruptionBudget.enabled=false',
      ];
      const rendered = objectsOfChart(helm.program, '--namespace', 'api', '--set', values.join());
      // Names of the whole cluster contain the namespace of the release, which kustomize does not know.
      const here = JSON.parse(JSON.stringify(rendered).replaceAll('"api-pergola', `"${NAMESPACE}-pergola`));
      expect(byName(build(folder))).toEqual(byName(inNamespace('api', here)));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
