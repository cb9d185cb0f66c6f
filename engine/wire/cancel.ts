/** Asks Postgres to cancel whatever a connection is running, over a second connection with the same encryption.
 *  Postgres does not report whether there was something to cancel. Best effort: it raises nothing and ends within a
 *  time limit.
 *  Not here: when to cancel (pool.ts). PostgreSQL manual, "Canceling Requests in Progress". */
import type pg from 'pg';
import { openBeside } from './dial.ts';

/** The private fields of the driver's client. */
type DriverInternals = { readonly processID: number; readonly secretKey: number };

const CANCEL_REQUEST = 80_877_102;

/** Returns true when the server has accepted the request, which it confirms by closing the connection; false when it
 *  did not in time or could not be reached. In that case the request may still arrive, and the connection to cancel
 *  must not be used for anything else. */
export async function cancel(client: pg.Client, withinMs: number): Promise<boolean> {
  const { processID, secretKey } = client as unknown as DriverInternals;
  const since = performance.now();
  try {
    const socket = await openBeside(client, withinMs);
    return await new Promise((resolve) => {
      const end = (isAccepted: boolean) => {
        clearTimeout(timer);
        socket.destroy();
        resolve(isAccepted);
      };
      const timer = setTimeout(() => end(false), Math.max(0, withinMs - (performance.now() - since)));
      const request = Buffer.alloc(16);
      for (const [i, word] of [16, CANCEL_REQUEST, processID, secretKey].entries())
        request.writeInt32BE(word, 4 * i);
      socket.on('error', () => end(false));
      socket.on('close', () => end(true));
      socket.resume();
      socket.write(request);
    });
  } catch {
    return false;
  }
}
