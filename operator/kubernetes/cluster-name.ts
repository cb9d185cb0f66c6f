/** What the cluster is called in ledgers: the uid of its namespace kube-system, which is there once and for ever; for who may not
 *  read that, a digest of the authority the API server is signed by. A name that changed would make everything we own somebody
 *  else's, so an API server that does not answer is asked until it does: only its No is an answer.
 *  Not here: a name somebody gave (options.ts). */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { KubeConfig } from '@kubernetes/client-node';
import { backoffMs, sleep, type Timers } from './timers.ts';
import { ApiProblem, type Transport } from './transport.ts';

export type NameSources = {
  readonly transport: Transport;
  readonly timers: Timers;
  readonly config: KubeConfig;
  readonly onProblem: (problem: Error) => void;
};

const PATH = '/api/v1/namespaces/kube-system';
const BACKOFF = { leastMs: 500, mostMs: 15_000 };

/** Empty when the signal comes first. */
export async function nameOfCluster(sources: NameSources, signal: AbortSignal): Promise<string> {
  const { transport, timers, config, onProblem } = sources;
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      type Namespace = { readonly metadata: { readonly uid: string } };
      return (await transport.send<Namespace>({ method: 'GET', path: PATH, signal })).metadata.uid;
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 403) return digestOfAuthority(config);
      if (!signal.aborted) onProblem(error as Error);
    }
    await sleep(timers, backoffMs(timers, failures, BACKOFF), signal);
  }
  return '';
}

async function digestOfAuthority(config: KubeConfig): Promise<string> {
  const { caData, caFile, server } = config.getCurrentCluster() ?? {};
  // In a pod the file has the same name in every cluster.
  const authority = caData ?? (caFile === undefined ? undefined : await readFile(caFile, 'base64'));
  return createHash('sha256')
    .update(authority ?? server ?? '')
    .digest('hex')
    .slice(0, 24);
}
