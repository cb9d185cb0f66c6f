/** An identity provider for documents: its keys over HTTP and in PEM, and a token of a user in the forms that the documents configure.
 *  Not here: the providers of signing-in.md with their other tokens (../signing-in.test.ts). */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT } from 'jose';

export type TokenIssuer = {
  /** The address of the keys. */
  readonly keys: string;
  /** The public key in PEM, as a text of JSON. */
  readonly publicKey: string;
  /** A token with the role `user`, whose user has the id 1. */
  readonly token: string;
  readonly close: () => void;
};

const CLAIMS = {
  iss: 'https://id.example.com/realms/shop',
  aud: ['shop-api'],
  sub: '1',
  realm_access: { roles: ['user'] },
  'https://hasura.io/jwt/claims': { 'x-engine-allowed-roles': ['user'], 'x-engine-default-role': 'user' },
};

export async function startTokenIssuer(): Promise<TokenIssuer> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256' };
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [key] })));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const signed = new SignJWT(CLAIMS).setProtectedHeader({ alg: 'RS256', kid: 'one' }).setExpirationTime('1h');
  return {
    keys: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    publicKey: JSON.stringify(await exportSPKI(publicKey)).slice(1, -1),
    token: await signed.sign(privateKey),
    close: () => server.close(),
  };
}
