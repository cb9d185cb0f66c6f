/** The configuration of this process for the Kubernetes API: KUBECONFIG, a file in the home folder, or the account of a pod.
 *  The client library reads it. Two parts of the library are left out, which the operator does not use and which functions that nobody
 *  calls import: the classes for each type of the API, 700 modules and 50 MB of memory, and undici, 100 modules and 20 MB.
 *  Not here: connections (transport.ts). */
import { registerHooks } from 'node:module';
import type { KubeConfig } from '@kubernetes/client-node';

/** The modules that are left out, with the names that the configuration imports from them. */
const LEFT_OUT = new Map([
  ['./gen/index.js', 'export class ServerConfiguration {}; export const createConfiguration = undefined;'],
  ['undici', 'export const Agent = undefined; export const ProxyAgent = undefined;'],
]);

export async function defaultKubeConfig(): Promise<KubeConfig> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) => {
      const substitute = LEFT_OUT.get(specifier);
      return substitute !== undefined && context.parentURL?.endsWith('/client-node/dist/config.js')
        ? { url: `data:text/javascript,${substitute}`, shortCircuit: true }
        : next(specifier, context);
    },
  });
  try {
    const library = await import('@kubernetes/client-node/dist/config.js');
    const config = new library.KubeConfig();
    config.loadFromDefault();
    return config;
  } finally {
    hooks.deregister();
  }
}
