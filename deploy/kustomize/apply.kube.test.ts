/** Tests that a real API server accepts the manifests for kustomize, applied by the client and by the server. Not here: their content
 *  (generate.test.ts). */
import { expect, test } from 'vitest';
import { describeKube } from '../../testing/kube.ts';

await describeKube('kustomize with a real API server', (kube) => {
  test.each([[], ['--server-side', '--force-conflicts']])(
    'kubectl apply accepts everything, again as well: %j',
    async (...flags) => {
      await kube()
        .kubectl(['create', 'namespace', 'pergola'])
        .catch(() => {});
      for (const outcome of [
        /created|configured|serverside-applied/,
        /unchanged|configured|serverside-applied/,
      ]) {
        const said = (await kube().kubectl(['apply', '-k', import.meta.dirname, ...flags]))
          .trim()
          .split('\n');
        expect(said.length).toBeGreaterThan(35);
        expect(said.filter((line) => !outcome.test(line))).toEqual([]);
      }
      expect(await kube().kubectl(['-n', 'pergola', 'get', 'deployments', '-o', 'name'])).toContain(
        'pergola-operator',
      );
    },
  );
});
