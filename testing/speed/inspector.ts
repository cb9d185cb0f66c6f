/** Reads the heap of a process over the inspector of Node, without code in that process. In: the inspector's address. Out: full
 *  collections, and the bytes in use. Chrome DevTools Protocol, domains HeapProfiler and Runtime. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export type Inspector = {
  /** Collects all garbage. */
  readonly collect: () => Promise<void>;
  readonly usedBytes: () => Promise<number>;
  /** Returns the number that an expression has in the process. */
  readonly evaluate: (expression: string) => Promise<number>;
  readonly close: () => void;
};

export async function openInspector(url: string): Promise<Inspector> {
  const socket = new WebSocket(url, { perMessageDeflate: false });
  await once(socket, 'open');
  let id = 0;
  const call = async (method: string, params: object = {}): Promise<Record<string, unknown>> => {
    const sent = ++id;
    const answer = new Promise<Record<string, unknown>>((resolve) => {
      const receive = (data: unknown) => {
        const message = JSON.parse(String(data)) as { id?: number; result?: Record<string, unknown> };
        if (message.id !== sent) return;
        socket.off('message', receive);
        resolve(message.result ?? {});
      };
      socket.on('message', receive);
    });
    socket.send(JSON.stringify({ id: sent, method, params }));
    return answer;
  };
  return {
    collect: async () => void (await call('HeapProfiler.collectGarbage')),
    usedBytes: async () => Number((await call('Runtime.getHeapUsage'))['usedSize']),
    evaluate: async (expression) => {
      const { result } = await call('Runtime.evaluate', { expression, returnByValue: true });
      return Number((result as { value: unknown }).value);
    },
    close: () => socket.close(),
  };
}
