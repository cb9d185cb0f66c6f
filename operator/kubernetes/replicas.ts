/** Each replica of an engine, asked by its own address which version it serves. In: a name that stands for all of them (a headless
 *  Service), resolved anew each time. Out: who is behind.
 *  Not here: what follows from it (engine/replica-sync.ts). */
import { lookup } from 'node:dns/promises';
import { Agent, buildConnector } from 'undici';
import { engineClient } from '../engine/client.ts';
import { type EnginePort, EngineProblem, type LaggingReplica } from '../ports.ts';
import { fetchOver } from './fetch-over.ts';
import type { Replica } from './replica-health.ts';

/** Rejects where there is none. */
export type Resolver = (host: string) => Promise<readonly string[]>;

export const resolveByDns: Resolver = async (host) => {
  const found = await lookup(host, { all: true });
  return found.map(({ address }) => address);
};

export type ReplicaOptions = {
  /** Of the endpoint: its scheme, and the name certificates are for. */
  readonly url: string;
  readonly adminSecret: string | undefined;
  readonly authority: string | undefined;
  readonly resolve: Resolver;
  readonly onRequest: () => void;
  /** Who has not answered by then is behind. */
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

/** A client for each address; none where the name has none. */
export function replicasAt({ host, port }: Replicas, options: ReplicaOptions) {
  return async (): Promise<readonly Replica[]> => {
    const addresses = await options.resolve(host).catch(() => []);
    return addresses.toSorted().map((address) => ({ address, ...clientAt(address, port, options) }));
  };
}

function clientAt(
  address: string,
  port: number,
  { url, adminSecret, authority, onRequest, timeoutMs = TIMEOUT_MS }: ReplicaOptions,
): Omit<Replica, 'address'> & { readonly engine: EnginePort } {
  const agent = agentTo(address, port, authority, timeoutMs);
  const engine = engineClient({ url, adminSecret, fetch: fetchOver(agent, onRequest), timeoutMs });
  return { engine, close: () => agent.destroy() };
}

/** Undefined: it serves the version, or a later one. */
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
    await close();
  }
}

/** Whatever the URL says of where; its name remains in the request, and is what a certificate is checked against. */
function agentTo(address: string, port: number, authority: string | undefined, timeout: number): Agent {
  const connector = buildConnector({
    timeout,
    ...(authority === undefined ? {} : { ca: authority }),
  });
  return new Agent({
    connect: (options, done) => connector({ ...options, hostname: address, port: String(port) }, done),
  });
}
