/** The definitions of Kubernetes resources that other projects publish, for tests with a real API server. They are part of pinned Go modules
 *  (10 MB). Out: definitions as they are published, or undefined where Go or the network is missing.
 *  Not here: the download (go-module.ts), the API server (../kube.ts). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type GoModule, moduleFolder } from './go-module.ts';

type Published = GoModule & { readonly files: readonly string[] };

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
  const lists = await Promise.all(MODULES.map(filesOf));
  return lists.includes(undefined) ? undefined : lists.flatMap((list) => list ?? []);
}

async function filesOf({ files, ...module }: Published): Promise<readonly string[] | undefined> {
  const folder = await moduleFolder(module);
  return folder === undefined
    ? undefined
    : Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
}
