/** Asks Postgres to cancel whatever a connection is running, over another one, encrypted as that is. Postgres does not say whether
 *  there was something to cancel. Best effort: it raises nothing, and ends in time.
 *  Not here: when (pool.ts). PostgreSQL manual, "Canceling Requests in Progress". */
import type { EventEmitter } from 'node:events';
import pg from 'pg';

/** What the driver keeps to itself. */
type Told = {
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

/** Resolves when the server has taken the request, which it says by hanging up. */
export function cancel(client: pg.Client, withinMs: number): Promise<void> {
  const { host, port, ssl, processID, secretKey } = client as unknown as Told;
  const { connection } = new pg.Client({ host, port, ssl }) as unknown as Told;
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      connection.stream.destroy();
      resolve();
    };
    const timer = setTimeout(end, withinMs);
    const ask = () => connection.cancel(processID, secretKey);
    connection.on('connect', () => (ssl ? connection.requestSsl() : ask()));
    connection.on('sslconnect', ask);
    connection.on('error', end);
    connection.on('end', end);
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}
