/** Serves /livez, /readyz and /metrics over plain HTTP. A failing probe returns 503 with one reason per line.
 *  Not here: the reasons (operator.ts). */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Health = {
  /** Returns why the process should be restarted; empty when it is healthy. */
  readonly livenessProblems: () => readonly string[];
  /** Returns why the operator is not ready. */
  readonly readinessProblems: () => readonly string[];
  readonly metrics: () => Promise<string>;
};

type Page = { readonly status: number; readonly text: string };

export type HealthServer = { readonly port: number; readonly close: () => Promise<void> };

export async function serveHealth(health: Health, host: string, port: number): Promise<HealthServer> {
  const pages: Readonly<Record<string, () => Page | Promise<Page>>> = {
    '/livez': () => verdict(health.livenessProblems()),
    '/readyz': () => verdict(health.readinessProblems()),
    '/metrics': async () => ({ status: 200, text: await health.metrics() }),
  };
  const server = createServer(async (request, response) => {
    const page = pages[(request.url ?? '').split('?')[0]!];
    const { status, text } = (await page?.()) ?? {
      status: 404,
      text: `there are ${Object.keys(pages).join(', ')}\n`,
    };
    response.writeHead(status, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
  });
  await listening(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function verdict(reasons: readonly string[]): Page {
  if (reasons.length === 0) return { status: 200, text: 'ok\n' };
  return { status: 503, text: reasons.map((reason) => `${reason}\n`).join('') };
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === '*' ? {} : { host }) }, resolve);
  });
}
