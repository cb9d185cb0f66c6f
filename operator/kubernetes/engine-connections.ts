/** Connections to engines: one client for each Engine resource, kept while its address and credentials are the same, with its certificate
 *  authority and its cache.
 *  Not here: the requests (engine/client.ts), the source of the authority (references.ts). */
import { cachedEngine } from '../engine/cached-engine.ts';
import { engineClient } from '../engine/client.ts';
import type { CustomResource } from '../kinds.ts';
import { agentFor, fetchOver, type HttpAgent } from '../outgoing/http-request.ts';
import type { EnginePort } from '../ports.ts';
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
};

export class EngineConnections {
  readonly #references: References;
  readonly #nowMs: EngineConnectionsOptions['nowMs'];
  readonly #onRequest: EngineConnectionsOptions['onRequest'];
  readonly #resolve: Resolver;
  readonly #connections = new Map<string, Connection>();

  constructor({ references, nowMs, onRequest, resolve }: EngineConnectionsOptions) {
    this.#references = references;
    this.#nowMs = nowMs;
    this.#onRequest = onRequest;
    this.#resolve = resolve;
  }

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
    const agent = agentFor(url, { maxSockets: 4, ...(authority === undefined ? {} : { ca: authority }) });
    const onRequest = () => this.#onRequest(key);
    const client = engineClient({ url, adminSecret, headerPrefix, fetch: fetchOver(agent, onRequest) });
    const replicaOptions = { url, adminSecret, headerPrefix, authority, onRequest, resolve: this.#resolve };
    const combined = replicas ? withReplicas(client, replicasAt(replicas, replicaOptions)) : client;
    const port: EnginePort = {
      ...cachedEngine(combined, { nowMs: this.#nowMs, maxAgeMs: () => fullMs }),
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

  #authorityOf(engine: CustomResource): string | undefined {
    return authorityOf(engine)
      .map((reference) => this.#references.valueOf(reference, reference.key))
      .find((value) => value !== undefined);
  }
}
