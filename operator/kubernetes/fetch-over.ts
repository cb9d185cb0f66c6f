/** Returns a `fetch` that uses the given agent and counts requests, and the options that all agents share. Not here: the agents
 *  (transport.ts, engine-connections.ts, replicas.ts). */
import { type Agent, fetch as undiciFetch } from 'undici';

/** Agents use HTTP/1.1 only. When undici closes a session of HTTP/2 after an aborted stream, the error of that stream has no listener
 *  and ends the process. */
export const AGENT = { allowH2: false } as const;

/** The library's fetch and the built-in one are one design in two versions; only their types know. */
export function fetchOver(agent: Agent, onRequest: () => void): typeof fetch {
  return ((url: string, init: RequestInit) => {
    onRequest();
    return undiciFetch(url, { ...init, dispatcher: agent } as never);
  }) as unknown as typeof fetch;
}
