/** Reads the definitions of the previous release from its chart. Not here: which chart that is (deploy/e2e/previous). */
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import type { KubeObject } from '../../../testing/kube.ts';

export const ROOT = join(import.meta.dirname, '../../..');

/** Returns the definitions of the chart of the previous release. */
export function previousDefinitions(): readonly KubeObject[] {
  const folder = join(ROOT, 'deploy/e2e/previous');
  const [chart] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const text = execFileSync('tar', [
    '-xzOf',
    join(folder, chart!),
    '--wildcards',
    'pergola/files/crds/*.yaml',
  ]);
  const separated = String(text).replaceAll(/^apiVersion: apiextensions/gm, '---\napiVersion: apiextensions');
  return loadAll(separated).filter(Boolean) as KubeObject[];
}
