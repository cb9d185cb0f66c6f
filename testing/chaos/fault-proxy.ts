/** A proxy before an HTTP server, which does to chosen requests what networks and servers do: it answers with a status, delays the request,
 *  cuts the connection before or after the request was performed, or stays silent. It passes streams on, such as watches.
 *  In: the address of the server, rules. Out: the proxy. Not here: the rules of a run (fault-run.ts), databases (engine/wire/testing/proxy.ts). */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, request as tlsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export type Fault =
  | { readonly kind: 'status'; readonly status: number }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'cut'; readonly isAfter: boolean }
  | { readonly kind: 'silence' };

/** A fault of the requests from the n-th on, counted from the moment when the rules were set. */
export type FaultRule = { readonly from: number; readonly count: number; readonly fault: Fault };

export type FaultProxy = {
  readonly url: string;
  /** Sets the rules. The count of requests begins anew; requests that are kept silent are cut. */
  readonly setRules: (rules: readonly FaultRule[]) => void;
  /** Cuts all streams, such as watches, or lets them be silent until the rules are set again. */
  readonly breakStreams: (how: 'cut' | 'silence') => void;
  /** The number of faults so far. */
  readonly faults: () => number;
  readonly close: () => Promise<void>;
};

type Tls = { readonly cert: string; readonly key: string };

/** Opens a proxy; with a certificate it speaks TLS on both sides and checks none. */
export async function openFaultProxy(target: string, tls?: Tls): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>();
  const streams = new Set<{ readonly from: IncomingMessage; readonly to: ServerResponse }>();
  let [rules, seen, faults]: [readonly FaultRule[], number, number] = [[], 0, 0];

  const forward = (from: IncomingMessage, to: ServerResponse, isCutAfter: boolean) => {
    const options = { method: from.method, headers: from.headers, rejectUnauthorized: false };
    const url = new URL(from.url!, target);
    const upstream = (tls ? tlsRequest : request)(url, options, (answer) => {
      if (isCutAfter) return to.destroy();
      to.writeHead(answer.statusCode!, answer.headers);
      to.flushHeaders();
      const stream = { from: answer, to };
      streams.add(stream);
      answer.pipe(to);
      answer.on('error', () => to.destroy());
      to.on('close', () => {
        streams.delete(stream);
        answer.destroy();
      });
    });
    upstream.on('error', () => to.destroy());
    to.on('close', () => upstream.destroy());
    from.pipe(upstream);
  };
  const listener: RequestListener = (from, to) => {
    const turn = seen++;
    const fault = rules.find((rule) => turn >= rule.from && turn < rule.from + rule.count)?.fault;
    if (!fault) return forward(from, to, false);
    faults++;
    switch (fault.kind) {
      case 'status':
        to.writeHead(fault.status, { 'content-type': 'application/json' });
        return to.end(JSON.stringify({ kind: 'Status', code: fault.status, message: 'a fault of the test' }));
      case 'delay':
        return void setTimeout(() => forward(from, to, false), fault.ms);
      case 'cut':
        return fault.isAfter ? forward(from, to, true) : void from.socket.destroy();
      case 'silence':
        silent.add(from.socket);
    }
  };
  const server = tls ? createTlsServer({ cert: tls.cert, key: tls.key }, listener) : createServer(listener);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cutSilent = () => {
    for (const socket of silent) socket.destroy();
    silent.clear();
  };
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setRules: (next) => {
      [rules, seen] = [next, 0];
      cutSilent();
    },
    breakStreams: (how) => {
      for (const { from, to } of streams) {
        faults++;
        if (how === 'cut') to.destroy();
        else {
          from.unpipe(to);
          silent.add(to.socket!);
        }
      }
    },
    faults: () => faults,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
