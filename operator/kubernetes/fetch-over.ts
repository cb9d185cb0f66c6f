/** Returns a `fetch` that uses the given agent and counts requests. Not here: the agents (engine-connections.ts, replicas.ts). */
import { type Agent, fetch as undiciFetch } from 'undici';

/** The library's fetch and the built-in one are one design in two versions; only their types know. */
export function fetchOver(agent: Agent, onRequest: () => void): typeof fetch {
  return ((url: string, init: RequestInit) => {
    onRequest();
    return undiciFetch(url, { ...init, dispatcher: agent } as never);
  }) as unknown as typeof fetch;
}
