/** Lines to engines: one client for each Engine resource, kept while what it says stays the same, with the authority
 *  it names and what it remembers of the engine.
 *  Not here: what is said (engine/client.ts), where the authority comes from (references.ts). */
import { Agent } from 'undici';
import { remembering } from '../engine/cached-engine.ts';
import { engineClient } from '../engine/client.ts';
import type { CustomResource } from '../kinds.ts';
import type { EnginePort } from '../ports.ts';
import { authorityOf, intervalsOf, replicasOf, urlOf } from './engine-binding.ts';
import { fetchOver } from './fetch-over.ts';
import type { References } from './references.ts';
import { withReplicas } from './replica-health.ts';
import { behindOf, type Resolver, replicasAt } from './replicas.ts';

type Line = {
  /** What it was made for. */
  readonly said: string;
  readonly agent: Agent;
  readonly port: EnginePort;
};

export type EngineLineOptions = {
  readonly references: References;
  readonly nowMs: () => number;
  readonly onRequest: (engine: string) => void;
  /** Addresses of a name. */
  readonly resolve: Resolver;
};

export class EngineLine {
  readonly #references: References;
  readonly #nowMs: EngineLineOptions['nowMs'];
  readonly #onRequest: EngineLineOptions['onRequest'];
  readonly #resolve: Resolver;
  readonly #lines = new Map<string, Line>();

  constructor({ references, nowMs, onRequest, resolve }: EngineLineOptions) {
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
    const said = JSON.stringify([url, adminSecret, authority, replicas, fullMs]);
    const known = this.#lines.get(key);
    if (known?.said === said) return known.port;
    this.close(key);
    const agent = new Agent({
      connections: 4,
      ...(authority === undefined ? {} : { connect: { ca: authority } }),
    });
    const onRequest = () => this.#onRequest(key);
    const client = engineClient({ url, adminSecret, fetch: fetchOver(agent, onRequest) });
    const asked = { url, adminSecret, authority, onRequest, resolve: this.#resolve };
    const whole = replicas ? withReplicas(client, replicasAt(replicas, asked)) : client;
    const port = {
      ...remembering(whole, { nowMs: this.#nowMs, mostAgeMs: () => fullMs }),
      ...(replicas ? { behind: behindOf(replicas, asked) } : {}),
    };
    this.#lines.set(key, { said, agent, port });
    return port;
  }

  /** Of an engine that is gone. */
  close(key: string): void {
    void this.#lines.get(key)?.agent.destroy();
    this.#lines.delete(key);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#lines.values()].map(({ agent }) => agent.destroy()));
    this.#lines.clear();
  }

  #authorityOf(engine: CustomResource): string | undefined {
    return authorityOf(engine)
      .map((reference) => this.#references.valueOf(reference, reference.key))
      .find((value) => value !== undefined);
  }
}
