/** Asks Postgres to cancel whatever a connection is running, over another one, encrypted as that is. Postgres does not say whether
 *  there was something to cancel. Best effort: it raises nothing, and ends in time.
 *  Not here: when (pool.ts). PostgreSQL manual, "Canceling Requests in Progress". */
import type { EventEmitter } from 'node:events';
import pg from 'pg';

/** What the driver keeps to itself. */
type DriverInternals = {
  readonly host: string;
  readonly port: number;
  readonly ssl: pg.ClientConfig['ssl'];
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: EventEmitter & {
    readonly stream: { readonly destroy: () => void };
    readonly connect: (port: number | string, host?: string) => void;
    readonly requestSsl: () => void;
    readonly cancel: (processID: number, secretKey: number) => void;
  };
};

/** True when the server has taken the request, which it says by hanging up; false when it did not in time, or could not be
 *  reached. Then the request may still arrive, and the connection must not be used for anything else. */
export function cancel(client: pg.Client, withinMs: number): Promise<boolean> {
  const { host, port, ssl, processID, secretKey } = client as unknown as DriverInternals;
  const { connection } = new pg.Client({ host, port, ssl }) as unknown as DriverInternals;
  return new Promise((resolve) => {
    const end = (isTaken: boolean) => {
      clearTimeout(timer);
      connection.stream.destroy();
      resolve(isTaken);
    };
    const timer = setTimeout(() => end(false), withinMs);
    const ask = () => connection.cancel(processID, secretKey);
    connection.on('connect', () => (ssl ? connection.requestSsl() : ask()));
    connection.on('sslconnect', ask);
    connection.on('error', () => end(false));
    connection.on('end', () => end(true));
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}
