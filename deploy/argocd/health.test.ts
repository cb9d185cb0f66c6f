/** Tests health.lua with Argo CD's command line program, which runs the script from the ConfigMap patch on every situation. The tests look
 *  for the program on PATH and in KUBEBUILDER_ASSETS; without it they are skipped and say so.
 *  Not here: the controllers with real objects (../e2e/argocd.e2e.ts). */
import { execFile } from 'node:child_process';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { dump, load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SITUATIONS } from '../../operator/testing/situations.ts';

const PROGRAM = findArgocd();
const missing =
  PROGRAM === undefined ? ' (skipped: argocd is neither on PATH nor in KUBEBUILDER_ASSETS)' : '';

describe.skipIf(PROGRAM === undefined)(`the health in Argo CD of a resource that${missing}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-health-'));
  const config = join(folder, 'argocd-cm.yaml');

  beforeAll(() => {
    const patch = load(readFileSync(join(import.meta.dirname, 'argocd-cm.yaml'), 'utf8')) as object;
    const metadata = { name: 'argocd-cm', labels: { 'app.kubernetes.io/part-of': 'argocd' } };
    writeFileSync(config, dump({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...patch }));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.concurrent.each(SITUATIONS)('$name: $argo', async ({ name, cr, argo, says }) => {
    const file = join(folder, `${name.replaceAll(/\W+/g, '-')}.yaml`);
    writeFileSync(file, dump(cr));
    const asked = ['admin', 'settings', 'resource-overrides', 'health', file, '--argocd-cm-path', config];
    const { stdout } = await promisify(execFile)(PROGRAM!, asked);
    const [, status, message] = /^STATUS: (.*)\nMESSAGE: (.*)/m.exec(stdout) ?? [];
    expect(status).toBe(argo);
    expect(message).toContain(says);
  });
});

function findArgocd(): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), process.env['KUBEBUILDER_ASSETS'] ?? ''];
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, 'argocd'))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}
