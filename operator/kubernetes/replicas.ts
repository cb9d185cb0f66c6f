/** Requests the version of each replica of an engine at its own address. In: the host name of all replicas (a headless Service), resolved
 *  for each check. Out: the lagging replicas.
 *  Not here: the effect on resources (engine/replica-sync.ts). */
import { lookup } from 'node:dns/promises';
import type { Network } from '@pergola/engine/addresses';
import { engineClient } from '../engine/client.ts';
import { fetchOver, guardedAgentFor, type HttpAgent } from '../outgoing/http-request.ts';
import type { EnginePort, LaggingReplica } from '../ports/engine.ts';
import { EngineProblem } from '../ports/engine-problem.ts';
import type { Replica } from './replica-health.ts';

/** Returns the addresses of a host. Rejects when it has none. */
export type Resolver = (host: string) => Promise<readonly string[]>;

export const resolveByDns: Resolver = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

export type ReplicaOptions = {
  /** The URL of the endpoint: its scheme, and the host name for certificates. */
  readonly url: string;
  readonly adminSecret: string | undefined;
  readonly headerPrefix?: string | undefined;
  readonly authority: string | undefined;
  readonly resolve: Resolver;
  readonly onRequest: () => void;
  /** True when replicas may be on this machine. Absent: they may. */
  readonly allowsLoopback?: boolean;
  readonly network?: Network | undefined;
  /** The timeout after which a replica counts as lagging. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 2000;

type Replicas = { readonly host: string; readonly port: number };

export function laggingReplicasOf({ host, port }: Replicas, options: ReplicaOptions) {
  return async (version: number): Promise<readonly LaggingReplica[]> => {
    let addresses: readonly string[];
    try {
      addresses = await options.resolve(host);
    } catch (error) {
      return [{ replica: host, problem: `has no address (${(error as Error).message})` }];
    }
    const laggards = addresses.toSorted().map(async (replica) => {
      const problem = await problemOf(replica, port, version, options);
      return problem === undefined ? [] : [{ replica, problem }];
    });
    return (await Promise.all(laggards)).flat();
  };
}

/** Returns a client for each address; none when the name has no addresses. */
export function replicasAt({ host, port }: Replicas, options: ReplicaOptions) {
  return async (): Promise<readonly Replica[]> => {
    const addresses = await options.resolve(host).catch(() => []);
    return addresses.toSorted().map((address) => ({ address, ...clientAt(address, port, options) }));
  };
}

function clientAt(
  address: string,
  port: number,
  options: ReplicaOptions,
): Omit<Replica, 'address'> & { readonly engine: EnginePort } {
  const { url, adminSecret, headerPrefix, onRequest, timeoutMs = TIMEOUT_MS } = options;
  const agent = agentTo(address, port, options);
  const engine = engineClient({
    url,
    adminSecret,
    headerPrefix,
    fetch: fetchOver(agent, onRequest),
    timeoutMs,
  });
  return { engine, close: () => agent.destroy() };
}

/** Returns the problem of a replica; undefined when it serves the version or a later one. */
async function problemOf(
  address: string,
  port: number,
  version: number,
  options: ReplicaOptions,
): Promise<string | undefined> {
  const { engine, close } = clientAt(address, port, options);
  try {
    return (await engine.version()) >= version ? undefined : 'serves an older version';
  } catch (error) {
    if (!(error instanceof EngineProblem)) throw error;
    const isThere = error.kind !== 'unreachable';
    return isThere ? `does not say (${error.message})` : 'does not answer';
  } finally {
    close();
  }
}

/** Returns an agent that connects to the address. Requests keep the host name of the URL, and certificates are verified against it. */
function agentTo(host: string, port: number, options: ReplicaOptions): HttpAgent {
  const { url, authority, allowsLoopback = true, network } = options;
  const ca = authority === undefined ? {} : { ca: authority };
  return guardedAgentFor(url, () => allowsLoopback, { host, port, network, ...ca });
}
