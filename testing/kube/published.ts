/** The definitions of Kubernetes resources that other projects publish, for tests with a real API server. They are part of pinned Go modules,
 *  which Go downloads (10 MB, once). Out: definitions as they are published, or undefined where Go or the network is missing.
 *  Not here: the API server (../kube.ts). */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

type Published = { readonly module: string; readonly sum: string; readonly files: readonly string[] };

const MODULES: readonly Published[] = [
  {
    module: 'sigs.k8s.io/gateway-api@v1.4.1',
    sum: 'h1:NPxFutNkKNa8UfLd2CMlEuhIPMQgDQ6DXNKG9sHbJU8=',
    files: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    files: [
      'example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml',
      'example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml',
    ],
  },
];

/** Returns the definitions of HTTPRoute, ServiceMonitor and PrometheusRule in YAML. */
export async function publishedDefinitions(): Promise<readonly string[] | undefined> {
  try {
    const lists = await Promise.all(MODULES.map(filesOf));
    return lists.flat();
  } catch (error) {
    // A module that is another than the pinned one is an error, and no reason to skip.
    if (error instanceof WrongModule) throw error;
    return undefined;
  }
}

class WrongModule extends Error {}

async function filesOf({ module, sum, files }: Published): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], {
    // Outside of any module.
    cwd: tmpdir(),
    timeout: 120_000,
  });
  const { Dir: folder, Sum: found } = JSON.parse(stdout) as { readonly Dir: string; readonly Sum: string };
  if (found !== sum) throw new WrongModule(`${module} has the sum ${found}, and ${sum} is expected`);
  return Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
}
