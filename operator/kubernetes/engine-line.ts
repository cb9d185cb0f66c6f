/** Lines to engines: one client for each Engine resource, kept while what it says stays the same, with the authority it names.
 *  Not here: what is said (../engine-client.ts), where the authority comes from (references.ts). */
import { Agent, fetch as undiciFetch } from 'undici';
import { type EngineAddress, engineClient } from '../engine-client.ts';
import type { CustomResource } from '../kinds.ts';
import type { EnginePort } from '../ports.ts';
import { authorityOf, urlOf } from './engine-binding.ts';
import type { References } from './references.ts';

type Line = { readonly authority: string; readonly agent: Agent; readonly fetch: typeof fetch };

export class EngineLine {
  readonly #references: References;
  readonly #lines = new Map<string, Line>();

  constructor(references: References) {
    this.#references = references;
  }

  portOf(key: string, engine: CustomResource, adminSecret: string | undefined): EnginePort {
    const address: EngineAddress = { url: urlOf(engine), adminSecret, fetch: this.#fetchOf(key, engine) };
    return engineClient(address);
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

  #fetchOf(key: string, engine: CustomResource): typeof fetch {
    const authority = this.#authorityOf(engine) ?? '';
    const known = this.#lines.get(key);
    if (known?.authority === authority) return known.fetch;
    this.close(key);
    const agent = new Agent({ connections: 4, ...(authority === '' ? {} : { connect: { ca: authority } }) });
    // The library's fetch and the built-in one are one design in two versions; only their types know.
    const made = ((url: string, init: RequestInit) =>
      undiciFetch(url, { ...init, dispatcher: agent } as never)) as unknown as typeof fetch;
    this.#lines.set(key, { authority, agent, fetch: made });
    return made;
  }

  #authorityOf(engine: CustomResource): string | undefined {
    return authorityOf(engine)
      .map((reference) => this.#references.valueOf(reference, reference.key))
      .find((value) => value !== undefined);
  }
}
