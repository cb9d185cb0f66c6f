/** The configuration of this process for the Kubernetes API: KUBECONFIG, a file in the home folder, or the account of a pod.
 *  The client library reads it. Its classes for each type of the API, which the operator does not use, are left out: they are 700
 *  modules and 50 MB of memory. Its configuration imports two names from them, for a function that creates clients of those types.
 *  Not here: connections (transport.ts). */
import { registerHooks } from 'node:module';
import type { KubeConfig } from '@kubernetes/client-node';

const CLASSES = './gen/index.js';
const WITHOUT_CLASSES =
  'data:text/javascript,export class ServerConfiguration {}; export const createConfiguration = undefined;';

export async function defaultKubeConfig(): Promise<KubeConfig> {
  const hooks = registerHooks({
    resolve: (specifier, context, next) =>
      specifier === CLASSES && context.parentURL?.endsWith('/client-node/dist/config.js')
        ? { url: WITHOUT_CLASSES, shortCircuit: true }
        : next(specifier, context),
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
