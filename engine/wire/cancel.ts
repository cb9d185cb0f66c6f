/** Asks Postgres to cancel whatever a connection is running, over a second connection with the same encryption.
 *  Postgres does not report whether there was something to cancel. Best effort: it raises nothing and ends within a
 *  time limit.
 *  Not here: when to cancel (pool.ts). PostgreSQL manual, "Canceling Requests in Progress". */
import type { EventEmitter } from 'node:events';
import pg from 'pg';

/** The private fields of the driver's client. */
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

/** Returns true when the server has accepted the request, which it confirms by closing the connection; false when it
 *  did not in time or could not be reached. In that case the request may still arrive, and the connection to cancel
 *  must not be used for anything else. */
export function cancel(client: pg.Client, withinMs: number): Promise<boolean> {
  const { host, port, ssl, processID, secretKey } = client as unknown as DriverInternals;
  const { connection } = new pg.Client({ host, port, ssl }) as unknown as DriverInternals;
  return new Promise((resolve) => {
    const end = (isAccepted: boolean) => {
      clearTimeout(timer);
      connection.stream.destroy();
      resolve(isAccepted);
    };
    const timer = setTimeout(() => end(false), withinMs);
    const request = () => connection.cancel(processID, secretKey);
    connection.on('connect', () => (ssl ? connection.requestSsl() : request()));
    connection.on('sslconnect', request);
    connection.on('error', () => end(false));
    connection.on('end', () => end(true));
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}
