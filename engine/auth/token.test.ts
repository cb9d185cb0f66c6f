/** Tests tokens signed with real keys: the sessions of valid ones, and why others are refused. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, test } from 'vitest';
import { jwtSecret, jwtSecrets } from '../config/jwt-secret.ts';
import { EngineError } from '../errors/engine-error.ts';
import type { Session } from '../resolve/session.ts';
import { type AuthOptions, openAuthenticator } from './authenticate.ts';
import { OPEN } from './testing/options.ts';

const NAMESPACE = 'https://hasura.io/jwt/claims';
const CLAIMS = {
  'X-Engine-User-Id': '1',
  'x-engine-allowed-roles': ['user', 'editor'],
  'x-engine-default-role': 'user',
};
const HMAC = 'a secret of at least thirty-two bytes';
const HS256 = { type: 'HS256', key: HMAC };
const BASE: AuthOptions = { ...OPEN, adminSecret: 'hush' };

type Asked = { secret?: object; secrets?: object[]; headers: Record<string, string>; more?: object };

async function sessionOf({ secret, secrets, headers, more }: Asked): Promise<Session> {
  const options = {
    ...BASE,
    jwtSecret: secret && jwtSecret.parse(JSON.stringify(secret)),
    jwtSecrets: secrets && jwtSecrets.parse(JSON.stringify(secrets)),
    ...more,
  };
  const authenticate = await openAuthenticator(options, (observation) => {
    if (observation.kind === 'keys refreshed') expect(observation.failure).toBeNull();
  });
  return authenticate(headers);
}

async function refusalOf(asked: Asked): Promise<[number, string, string]> {
  const error = await sessionOf(asked).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof EngineError)) throw new Error('was not refused', { cause: error });
  return [error.status, error.codeIn('newer'), error.message];
}

const inAnHour = () => Math.floor(Date.now() / 1000) + 3600;

function signed(payload: JWTPayload, key: CryptoKey | Uint8Array = bytes(HMAC), alg = 'HS256') {
  return new SignJWT(payload).setProtectedHeader({ alg, kid: 'one' }).sign(key);
}
const bytes = (text: string) => new TextEncoder().encode(text);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const own = async (claims: unknown, rest: JWTPayload = {}) =>
  bearer(await signed({ [NAMESPACE]: claims, exp: inAnHour(), ...rest }));

describe('a token', () => {
  test('has its default role, with its claims as session variables', async () => {
    const exp = inAnHour();
    const headers = { ...(await own(CLAIMS, { exp })), 'x-engine-user-id': '2', 'x-engine-org': '3' };
    expect(await sessionOf({ secret: HS256, headers })).toEqual({
      role: 'user',
      variables: { 'x-engine-role': 'user', 'x-engine-user-id': '1' },
      mayUseBackendOnly: false,
      expiresAt: exp * 1000,
    });
  });

  test('lets the request choose one of its roles, and no other', async () => {
    const headers = await own(CLAIMS);
    const editor = await sessionOf({ secret: HS256, headers: { ...headers, 'x-engine-role': 'editor' } });
    expect(editor.role).toBe('editor');
    expect(await refusalOf({ secret: HS256, headers: { ...headers, 'x-engine-role': 'admin' } })).toEqual([
      400,
      'access-denied',
      'Your requested role is not in allowed roles',
    ]);
  });

  test.for([
    [
      { 'x-engine-default-role': 'user' },
      'jwt-missing-role-claims',
      'JWT claim does not contain x-engine-allowed-roles',
    ],
    [
      { 'x-engine-allowed-roles': ['user'] },
      'jwt-missing-role-claims',
      'JWT claim does not contain x-engine-default-role',
    ],
    [
      { ...CLAIMS, 'x-engine-allowed-roles': 'user' },
      'jwt-invalid-claims',
      'invalid x-engine-allowed-roles; should be a list of roles: parsing [] failed, ' +
        'expected Array, but encountered String',
    ],
    ['[]', 'jwt-invalid-claims', 'expecting a json object when claims_format is json'],
    [undefined, 'jwt-invalid-claims', `claims key: '${NAMESPACE}' not found`],
  ] as const)('without proper claims is refused: %j', async ([claims, code, message]) => {
    expect(await refusalOf({ secret: HS256, headers: await own(claims) })).toEqual([400, code, message]);
  });

  test('that has expired is refused, except within the allowed skew', async () => {
    const headers = await own(CLAIMS, { exp: Math.floor(Date.now() / 1000) - 30 });
    expect(await refusalOf({ secret: HS256, headers })).toEqual([
      400,
      'invalid-jwt',
      'Could not verify JWT: JWTExpired',
    ]);
    expect((await sessionOf({ secret: { ...HS256, allowed_skew: 60 }, headers })).role).toBe('user');
  });

  test('that is forged, has another algorithm, is unsigned or malformed is refused', async () => {
    const forged = bearer(
      await signed({ [NAMESPACE]: CLAIMS }, bytes('another secret of thirty-two bytes !')),
    );
    expect((await refusalOf({ secret: HS256, headers: forged }))[2]).toBe(
      'Could not verify JWT: JWSError JWSInvalidSignature',
    );
    const stronger = await signed({ [NAMESPACE]: CLAIMS }, bytes(HMAC.repeat(2)), 'HS512');
    expect((await refusalOf({ secret: HS256, headers: bearer(stronger) }))[1]).toBe('invalid-jwt');
    const none = `${btoa('{"alg":"none"}')}.${btoa(JSON.stringify({ [NAMESPACE]: CLAIMS }))}.`;
    for (const token of [none, 'nonsense', 'a.b.c']) {
      expect((await refusalOf({ secret: HS256, headers: bearer(token) }))[1], token).toBe('invalid-jwt');
    }
  });

  test('for another audience or issuer is refused; absent claims are accepted', async () => {
    const secret = { ...HS256, audience: ['app', 'web'], issuer: 'https://id.example' };
    const verdict = async (rest: JWTPayload) =>
      sessionOf({ secret, headers: await own(CLAIMS, rest) }).then(
        () => 'taken',
        (error: EngineError) => error.message,
      );
    expect(await verdict({ aud: ['web'], iss: 'https://id.example' })).toBe('taken');
    expect(await verdict({})).toBe('taken');
    expect(await verdict({ aud: 'other' })).toBe('Could not verify JWT: JWTNotInAudience');
    expect(await verdict({ iss: 'https://evil.example' })).toBe('Could not verify JWT: JWTNotInIssuer');
  });

  test('is read from a cookie or another header if the secret says so', async () => {
    const token = await signed({ [NAMESPACE]: CLAIMS });
    const cookie = { ...HS256, header: { type: 'Cookie', name: 'auth' } };
    expect((await sessionOf({ secret: cookie, headers: { cookie: `a=b; auth=${token}` } })).role).toBe(
      'user',
    );
    expect((await refusalOf({ secret: cookie, headers: bearer(token) }))[1]).toBe('invalid-headers');
    const custom = { ...HS256, header: { type: 'CustomHeader', name: 'X-Token' } };
    expect((await sessionOf({ secret: custom, headers: { 'x-token': token } })).role).toBe('user');
  });

  test('may hold its claims as text, at a path, or where a map says', async () => {
    const found = async (secret: object, payload: JWTPayload) =>
      (await sessionOf({ secret: { ...HS256, ...secret }, headers: bearer(await signed(payload)) }))
        .variables;
    const expected = { 'x-engine-role': 'user', 'x-engine-user-id': '1' };
    expect(
      await found({ claims_format: 'stringified_json' }, { [NAMESPACE]: JSON.stringify(CLAIMS) }),
    ).toEqual(expected);
    expect(await found({ claims_namespace_path: '$' }, { ...CLAIMS, sub: 'x' })).toEqual(expected);
    expect(await found({ claims_namespace_path: "$.a['b%']" }, { a: { 'b%': CLAIMS } })).toEqual(expected);
    const claims_map = {
      'x-engine-user-id': { path: '$.user.id' },
      'X-Engine-Allowed-Roles': ['user'],
      'x-engine-default-role': { path: '$.role', default: 'user' },
    };
    expect(await found({ claims_map }, { user: { id: 1 } })).toEqual(expected);
  });
});

test('a request without a token has the unauthorized role, if there is one; an invalid token never does', async () => {
  const more = { unauthorizedRole: 'anonymous' };
  expect((await sessionOf({ secret: HS256, headers: {}, more })).role).toBe('anonymous');
  expect((await refusalOf({ secret: HS256, headers: bearer('x'), more }))[1]).toBe('invalid-jwt');
  expect(await refusalOf({ secret: HS256, headers: {} })).toEqual([
    400,
    'invalid-headers',
    "Missing 'Authorization' or 'Cookie' header in JWT authentication mode",
  ]);
});

test('the admin secret is checked before the token', async () => {
  const headers = { 'x-engine-admin-secret': 'hush', ...bearer('nonsense') };
  expect((await sessionOf({ secret: HS256, headers })).role).toBe('admin');
});

test.for(['RS256', 'ES384', 'Ed25519'])('a public key of %s verifies', async (type) => {
  const { publicKey, privateKey } = await generateKeyPair(type, { extractable: true });
  const secret = { type, key: await exportSPKI(publicKey) };
  const token = await signed({ [NAMESPACE]: CLAIMS }, privateKey, type === 'Ed25519' ? 'EdDSA' : type);
  expect((await sessionOf({ secret, headers: bearer(token) })).role).toBe('user');
  const confused = await signed({ [NAMESPACE]: CLAIMS }, bytes(secret.key), 'HS256');
  expect((await refusalOf({ secret, headers: bearer(confused) }))[1]).toBe('invalid-jwt');
});

test('a public key for another algorithm is refused', async () => {
  const key = await exportSPKI((await generateKeyPair('ES256', { extractable: true })).publicKey);
  const text = JSON.stringify({ type: 'RS256', key });
  expect(() => jwtSecret.parse(text)).toThrow('needs a "key" that is a public key or certificate for RS256');
});

test('the issuer selects one of several secrets', async () => {
  const other = 'another secret of thirty-two bytes!!';
  const secrets = [
    { ...HS256, issuer: 'one' },
    { type: 'HS256', key: other, issuer: 'two' },
  ];
  const token = (iss: string, key: string) => signed({ [NAMESPACE]: CLAIMS, iss }, bytes(key));
  expect((await sessionOf({ secrets, headers: bearer(await token('two', other)) })).role).toBe('user');
  for (const [iss, key] of [
    ['one', other],
    ['three', HMAC],
  ] as const) {
    expect((await refusalOf({ secrets, headers: bearer(await token(iss, key)) }))[1], iss).toBe(
      'invalid-jwt',
    );
  }
});

describe('keys from a URL', () => {
  let privateKey: CryptoKey;
  let url: string;
  let fetched = 0;
  let keys: object[] = [];

  beforeAll(async () => {
    const pair = await generateKeyPair('RS256', { extractable: true });
    privateKey = pair.privateKey;
    keys = [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }];
    const server = createServer((request, response) => {
      fetched += 1;
      response.writeHead(request.url === '/jwks' ? 200 : 404, { 'cache-control': 'max-age=3600' });
      response.end(JSON.stringify({ keys }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return () => server.close();
  });

  test('are fetched once, before the engine is ready', async () => {
    const secret = jwtSecret.parse(JSON.stringify({ jwk_url: `${url}/jwks` }));
    const before = fetched;
    const authenticate = await openAuthenticator({ ...BASE, jwtSecret: secret }, () => {});
    const headers = bearer(await signed({ [NAMESPACE]: CLAIMS }, privateKey, 'RS256'));
    for (let i = 0; i < 3; i++) expect((await authenticate(headers)).role).toBe('user');
    expect(fetched - before).toBe(1);
  });

  test('unknown keys are refused, and an unreachable provider prevents the start', async () => {
    const { privateKey: stranger } = await generateKeyPair('RS256');
    const headers = bearer(
      await new SignJWT({ [NAMESPACE]: CLAIMS })
        .setProtectedHeader({ alg: 'RS256', kid: 'two' })
        .sign(stranger),
    );
    expect((await refusalOf({ secret: { jwk_url: `${url}/jwks` }, headers }))[1]).toBe('invalid-jwt');
    await expect(sessionOf({ secret: { jwk_url: `${url}/nothing` }, headers })).rejects.toThrow(/404/);
  });
});

describe('key ids', () => {
  let server: Server;
  let keys: readonly object[] = [];
  let pairs: { readonly privateKey: CryptoKey; readonly jwk: object }[];

  beforeAll(async () => {
    server = createServer((_, response) => response.end(JSON.stringify({ keys })));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const three = await Promise.all([0, 1, 2].map(() => generateKeyPair('ES256', { extractable: true })));
    pairs = await Promise.all(
      three.map(async ({ privateKey, publicKey }) => ({ privateKey, jwk: await exportJWK(publicKey) })),
    );
    return () => server.close();
  });

  const named = (jwk: object, kid: string | undefined) => (kid === undefined ? jwk : { ...jwk, kid });

  /** Returns the reason of the refusal of a token of the first pair, or null. */
  async function refusal(kid: string | undefined, privateKey = pairs[0]!.privateKey): Promise<string | null> {
    const token = await new SignJWT({ [NAMESPACE]: CLAIMS })
      .setProtectedHeader({ alg: 'ES256', ...(kid === undefined ? {} : { kid }) })
      .sign(privateKey);
    const { port } = server.address() as AddressInfo;
    const secret = { jwk_url: `http://127.0.0.1:${port}/` };
    return sessionOf({ secret, headers: bearer(token) }).then(
      () => null,
      (thrown: unknown) => (thrown as Error).message.replace(/^Could not verify JWT: /, ''),
    );
  }

  const IDS = [undefined, 'a', 'b'];
  const SETS = IDS.flatMap((first) => IDS.flatMap((second) => [0, 1].map((at) => ({ first, second, at }))));

  test.each(SETS)(
    'keys %j: every key that the id of a token allows is tried',
    async ({ first, second, at }) => {
      const [own, other] = [named(pairs[0]!.jwk, first), named(pairs[1]!.jwk, second)];
      keys = at === 0 ? [own, other] : [other, own];
      for (const kid of [...IDS, 'c']) {
        const isCandidate = (id: string | undefined) => kid === undefined || id === undefined || id === kid;
        const refused = [first, second].some(isCandidate)
          ? 'JWSError JWSInvalidSignature'
          : 'JWSError (no key of the provider matches)';
        expect(await refusal(kid), `kid ${kid}`).toBe(isCandidate(first) ? null : refused);
        expect(await refusal(kid, pairs[2]!.privateKey), `kid ${kid} of a stranger`).toBe(refused);
      }
    },
  );

  test('a key that cannot be read and one for another use do not keep the others from being tried', async () => {
    const [{ jwk }, other] = [pairs[0]!, pairs[1]!];
    keys = [{ ...other.jwk, x: 'nonsense' }, { ...other.jwk, use: 'enc' }, { kty: 'oct', k: 'x' }, jwk];
    for (const kid of [undefined, 'a']) expect(await refusal(kid)).toBeNull();
    keys = [{ ...other.jwk, x: 'nonsense', kid: 'a' }, jwk];
    expect(await refusal('a')).toBeNull();
  });

  test('a token is tried with 32 keys at most', async () => {
    const others = (count: number) => Array.from({ length: count }, () => pairs[1]!.jwk);
    keys = [...others(31), pairs[0]!.jwk];
    expect(await refusal(undefined)).toBeNull();
    keys = [...others(32), pairs[0]!.jwk];
    expect(await refusal(undefined)).toBe('JWSError JWSInvalidSignature');
  });
});

test.for([
  ['{"type":"RS256"}', 'needs a "key" or a "jwk_url"'],
  ['{"key":"x"}', 'needs a "type" with its "key"'],
  ['{"type":"HS256","key":"short"}', 'needs a "key" of at least 32 bytes for HS256'],
  ['{"type":"RS256","key":"x"}', 'needs a "key" that is a public key or certificate for RS256 in PEM'],
  ['{"type":"none","key":"x"}', 'expects "type" to be one of'],
  ['nonsense', 'expects JSON'],
] as const)('the option %s is refused, without repeating it', ([text, message]) => {
  expect(() => jwtSecret.parse(text)).toThrow(message);
});
