/** Determines the name of the cluster in ledgers: the uid of the namespace kube-system, or, without the right to read it, a digest of the
 *  certificate authority of the API server. With another name, everything the operator owns would belong to another manager. Requests are
 *  therefore repeated until the API server answers; only 403 counts as a refusal.
 *  Not here: a configured name (options.ts). */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { type Timers, untilResolved } from './timers.ts';
import { hasStatus, type Transport } from './transport.ts';

export type NameSources = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly config: KubeConfig;
  readonly onProblem: (problem: Error) => void;
};

const PATH = '/api/v1/namespaces/kube-system';
const BACKOFF = { leastMs: 500, mostMs: 15_000 };

/** Returns the name of the cluster; empty when the signal is aborted first. */
export async function nameOfCluster(sources: NameSources, signal: AbortSignal): Promise<string> {
  const { transport, timers, config, onProblem } = sources;
  const read = async () => {
    try {
      type Namespace = { readonly metadata: { readonly uid: string } };
      return (await transport.send<Namespace>({ method: 'GET', path: PATH, signal })).metadata.uid;
    } catch (error) {
      if (hasStatus(error, 403)) return digestOfAuthority(config);
      throw error;
    }
  };
  return (await untilResolved(read, { timers, backoff: BACKOFF, onProblem }, signal)) ?? '';
}

async function digestOfAuthority(config: KubeConfig): Promise<string> {
  const { caData, caFile, server } = config.getCurrentCluster() ?? {};
  // In a pod the file has the same path in every cluster.
  const authority = caData ?? (caFile === undefined ? undefined : await readFile(caFile, 'base64'));
  return createHash('sha256')
    .update(authority ?? server ?? '')
    .digest('hex')
    .slice(0, 24);
}
