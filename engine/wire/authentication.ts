/** Refuses ways to authenticate that a connection does not allow, before the password or a proof of it is sent. In: a client of
 *  the driver that is about to connect.
 *  Not here: the ways themselves, which the driver implements. PostgreSQL manual, `require_auth` and `channel_binding`. */
import type { EventEmitter } from 'node:events';
import type pg from 'pg';

export type Authentication = {
  readonly channelBinding: 'disable' | 'prefer' | 'require';
  /** The methods that are allowed; absent: all. */
  readonly methods?: ReadonlySet<AuthenticationMethod>;
};

/** The methods that the driver implements, and `none`. */
export const METHODS = ['password', 'md5', 'scram-sha-256', 'none'] as const;
export type AuthenticationMethod = (typeof METHODS)[number];

type Connection = EventEmitter & { readonly stream: { readonly destroy: () => void } };

const BOUND = 'SCRAM-SHA-256-PLUS';

export function requireAuthentication(
  client: pg.Client,
  { channelBinding, methods }: Authentication,
  isEncrypted: boolean,
): void {
  const { connection } = client as unknown as { readonly connection: Connection };
  let isAnswered = false;
  const check = (method: AuthenticationMethod, isBound: boolean) => {
    const problem =
      methods && !methods.has(method)
        ? `the server requests authentication with ${method}, which require_auth does not allow`
        : channelBinding === 'require' && !isBound
          ? 'channel binding is required, and the server does not offer it'
          : undefined;
    isAnswered = true;
    if (problem === undefined) return;
    connection.emit('error', new Error(problem));
    // Nothing is sent on a destroyed socket.
    connection.stream.destroy();
  };
  connection.on('authenticationCleartextPassword', () => check('password', false));
  connection.on('authenticationMD5Password', () => check('md5', false));
  connection.on('authenticationSASL', ({ mechanisms }: { readonly mechanisms: readonly string[] }) =>
    check('scram-sha-256', isEncrypted && mechanisms.includes(BOUND)),
  );
  connection.on('authenticationOk', () => {
    if (!isAnswered) check('none', false);
  });
}
