/** Connections to engines: one client for each Engine resource, kept while its address and credentials are the same, with its certificate
 *  authority and its cache. Anyone who may write an Engine resource names the host, so it and its addresses are checked.
 *  Not here: the requests (engine/client.ts), the source of the authority (references.ts). */
import type { Network } from '@pergola/engine/addresses';
import type { EngineFetch } from '../engine/address.ts';
import { cachedEngine } from '../engine/cached-engine.ts';
import { engineClient } from '../engine/client.ts';
import { isMatch } from '../grants/grants.ts';
import type { CustomResource } from '../kinds.ts';
import { fetchOver, guardedAgentFor, type HttpAgent } from '../outgoing/http-request.ts';
import type { EnginePort } from '../ports/engine.ts';
import { authorityOf, engineSpecOf, intervalsOf, replicasOf, urlOf } from './engine-binding.ts';
import type { References } from './references.ts';
import { withReplicas } from './replica-health.ts';
import { laggingReplicasOf, type Resolver, replicasAt } from './replicas.ts';

type Connection = {
  /** The values that the connection depends on. */
  readonly fingerprint: string;
  readonly agent: HttpAgent;
  readonly port: EnginePort;
};

export type EngineConnectionsOptions = {
  readonly references: References;
  readonly nowMs: () => number;
  readonly onRequest: (engine: string) => void;
  /** Returns the addresses of a host name. */
  readonly resolve: Resolver;
  /** Patterns of the hosts that may be requested (--engine-hosts). Absent: every host, also on this machine. */
  readonly hosts?: readonly string[];
  /** How names are resolved and addresses are connected to. Absent: by the system. */
  readonly network?: Network | undefined;
};

export class EngineConnections {
  readonly #options: EngineConnectionsOptions;
  readonly #connections = new Map<string, Connection>();

  constructor(options: EngineConnectionsOptions) {
    this.#options = options;
  }

  /** True for a host that may be on the machine of the operator: one that its options name without a pattern. */
  readonly #mayBeHere = (host: string): boolean => this.#options.hosts?.includes(host) ?? true;

  portOf(key: string, engine: CustomResource, adminSecret: string | undefined): EnginePort {
    const url = urlOf(engine);
    const authority = this.#authorityOf(engine);
    const replicas = replicasOf(engine);
    const { fullMs } = intervalsOf(engine);
    const { headerPrefix } = engineSpecOf(engine);
    const fingerprint = JSON.stringify([url, adminSecret, headerPrefix, authority, replicas, fullMs]);
    const existing = this.#connections.get(key);
    if (existing?.fingerprint === fingerprint) return existing.port;
    this.close(key);
    const { network, nowMs } = this.#options;
    const ca = authority === undefined ? {} : { ca: authority };
    const agent = guardedAgentFor(url, this.#mayBeHere, { maxSockets: 4, network, ...ca });
    const onRequest = () => this.#options.onRequest(key);
    const client = engineClient({ url, adminSecret, headerPrefix, fetch: this.#fetchOver(agent, onRequest) });
    const replicaOptions = {
      ...{ url, adminSecret, headerPrefix, authority, onRequest, network },
      allowsLoopback: replicas === undefined || this.#mayBeHere(replicas.host),
      resolve: async (host: string) => {
        this.#check(host);
        return this.#options.resolve(host);
      },
    };
    const combined = replicas ? withReplicas(client, replicasAt(replicas, replicaOptions)) : client;
    const port: EnginePort = {
      ...cachedEngine(combined, { nowMs, maxAgeMs: () => fullMs }),
      ...(replicas ? { laggingReplicas: laggingReplicasOf(replicas, replicaOptions) } : {}),
    };
    this.#connections.set(key, { fingerprint, agent, port });
    return port;
  }

  /** Returns the connection that was used last, with its credentials; undefined when there is none. */
  lastPortOf(key: string): EnginePort | undefined {
    return this.#connections.get(key)?.port;
  }

  /** Closes the connection to an engine whose Engine resource is deleted. */
  close(key: string): void {
    this.#connections.get(key)?.agent.destroy();
    this.#connections.delete(key);
  }

  stop(): void {
    for (const key of [...this.#connections.keys()]) this.close(key);
  }

  /** Returns what sends requests over the agent, if the options allow the host. */
  #fetchOver(agent: HttpAgent, onRequest: () => void): EngineFetch {
    const send = fetchOver(agent, onRequest);
    return async (url, request) => {
      this.#check(new URL(url).hostname);
      return send(url, request);
    };
  }

  /** Raises an error for a host that the options do not allow. */
  #check(host: string): void {
    if (this.#options.hosts?.every((pattern) => !isMatch(pattern, host))) {
      throw new Error(`the operator does not request ${host}; its option --engine-hosts lists the hosts`);
    }
  }

  #authorityOf(engine: CustomResource): string | undefined {
    return authorityOf(engine)
      .map((reference) => this.#options.references.valueOf(reference, reference.key))
      .find((value) => value !== undefined);
  }
}
