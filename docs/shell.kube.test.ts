/** Runs the shell blocks of the documents that need an API server, in the order of each document. Without helm, those that call it are left out.
 *  Not here: blocks that need none (shell.test.ts), and blocks that need pods, which run on a cluster (deploy/e2e). */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll } from 'vitest';
import { findProgram } from '../testing/helm.ts';
import { kubeBinaries } from '../testing/kube/binaries.ts';
import { describeKube } from '../testing/kube.ts';
import { CLUSTER_WORLDS, IN_CLUSTER } from './testing/cluster-worlds.ts';
import { CLONE } from './testing/shell-blocks.ts';
import { followDocuments } from './testing/shell-steps.ts';

await describeKube('the shell blocks of documents', (kube) => {
  // With helm, the first document installs them.
  if (findProgram('helm') === undefined) {
    beforeAll(async () => {
      await kube().kubectl(['apply', '--server-side', '-f', join(CLONE, 'crds/generated')]);
    });
  }
  followDocuments(CLUSTER_WORLDS, async (document) => {
    const binaries = await kubeBinaries();
    if ('missing' in binaries) throw new Error(binaries.missing);
    const namespace = document.toLowerCase().replaceAll(/[^a-z]+/g, '-');
    await kube().kubectl(['create', 'namespace', namespace]);
    return {
      values: { namespace },
      texts: IN_CLUSTER,
      env: { KUBECONFIG: inNamespace(kube().kubeconfig, namespace) },
      path: [binaries.folder],
    };
  });
});

/** Writes a kubeconfig whose commands without a namespace use this one. Returns its path. */
function inNamespace(kubeconfig: string, namespace: string): string {
  const config = JSON.parse(readFileSync(kubeconfig, 'utf8'));
  config.contexts[0].context.namespace = namespace;
  const file = `${kubeconfig}-${namespace}`;
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}
