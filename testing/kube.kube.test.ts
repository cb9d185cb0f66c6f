/** Tests the test cluster itself: it responds, several run at once, and none leaves files behind. */
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { describeKube, startKube } from './kube.ts';

await describeKube('a test cluster', (kube) => {
  test('accepts kubectl as its administrator', async () => {
    expect(await kube().kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.groups[0]}'])).toBe(
      'system:masters',
    );
  });

  test('rejects an unknown token', async () => {
    const kubeconfig = await kube().kubeconfigFor('guessed');
    await expect(kube().kubectl(['get', 'namespaces', '--kubeconfig', kubeconfig])).rejects.toThrow(
      /Unauthorized|logged in/,
    );
  });

  test('runs beside another cluster and leaves no folder behind', async () => {
    const other = await startKube();
    const folder = dirname(other.kubeconfig);
    await other.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'only-there' } });
    await expect(kube().kubectl(['get', 'namespace', 'only-there'])).rejects.toThrow(/not found/);
    await other.stop();
    expect(existsSync(folder)).toBe(false);
  });
});
