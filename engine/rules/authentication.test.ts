/** Which tokens, secrets and headers are accepted, and the answer to the others at every endpoint.
 *  Rules: docs/reference/behaviour/authentication.md. */
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';
import { jwtSecret, jwtSecrets } from '../config/jwt-secret.ts';

const KEY = 'a secret of at least thirty-two bytes';
const NAMESPACE = 'https://hasura.io/jwt/claims';

const database = testDatabase();
let running: TestEngine | undefined;

beforeAll(async () => {
  await database.sql('create table item (id int primary key)');
});
afterAll(() => running?.close());

/** Starts an engine in place of the last one. */
async function engineWith(options: Partial<Parameters<typeof startTestEngine>[0]>): Promise<TestEngine> {
  await running?.close();
  running = undefined;
  running = await startTestEngine({ ...options, databaseUrl: database.url });
  return running;
}

const withSecret = (secret: object) =>
  engineWith({ jwtSecret: jwtSecret.parse(JSON.stringify({ type: 'HS256', key: KEY, ...secret })) });

async function tokenOf(payload: object, key = KEY): Promise<string> {
  const signer = new SignJWT({ ...payload }).setProtectedHeader({ alg: 'HS256' });
  return signer.sign(new TextEncoder().encode(key));
}

type Outcome =
  | { readonly role: string }
  | { readonly code: string; readonly path: string; readonly message: string };

/** Returns the role that a request with the headers has, or its refusal. */
async function outcomeOf(headers: Record<string, string>): Promise<Outcome> {
  const answer = await running!.graphql<{ role: string }>('{ role: __typename }', { role: null, headers });
  const [error] = answer.errors ?? [];
  return error ? { ...error.extensions, message: error.message } : { role: String(answer.data!.role) };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const refusal = (code: string, message: string) => ({ code, path: '$', message });
const ACCEPTED = { role: 'query_root' };

const GRAPHQL = ['/v1/graphql', '/v1beta1/relay'];
const ADMIN = ['/v1/metadata', '/v1/query', '/v2/query', '/v1/graphql/explain', '/v1alpha1/pg_dump'];

describe('a refused request has the same error at every endpoint', () => {
  const cases: readonly (readonly [
    name: string,
    options: () => Promise<unknown>,
    headers: () => Promise<Record<string, string>>,
    status: number,
    code: string,
    message: string,
  ])[] = [
    [
      'no credentials',
      () => engineWith({}),
      async () => ({}),
      401,
      'access-denied',
      'x-engine-admin-secret/x-engine-access-key required, but not found',
    ],
    [
      'a wrong secret',
      () => engineWith({}),
      async () => ({ 'x-engine-admin-secret': 'no' }),
      401,
      'access-denied',
      'invalid x-engine-admin-secret/x-engine-access-key',
    ],
    [
      'no token',
      () => withSecret({}),
      async () => ({}),
      400,
      'invalid-headers',
      "Missing 'Authorization' or 'Cookie' header in JWT authentication mode",
    ],
    [
      'a malformed header',
      () => withSecret({}),
      async () => ({ authorization: 'Basic x' }),
      400,
      'invalid-headers',
      'Malformed Authorization header',
    ],
    [
      'a forged token',
      () => withSecret({}),
      async () => bearer(await tokenOf({}, 'another secret of thirty-two bytes !')),
      400,
      'invalid-jwt',
      'Could not verify JWT: JWSError JWSInvalidSignature',
    ],
    [
      'an expired token',
      () => withSecret({}),
      async () => bearer(await tokenOf({ exp: 1 })),
      400,
      'invalid-jwt',
      'Could not verify JWT: JWTExpired',
    ],
    [
      'a token from the future',
      () => withSecret({}),
      async () => bearer(await tokenOf({ iat: Date.now() / 1000 + 600 })),
      400,
      'invalid-jwt',
      'Could not verify JWT: JWTIssuedAtFuture',
    ],
    [
      'a mapped claim that is missing',
      () => withSecret({ claims_map: { ...ROLES, 'x-engine-user-id': { path: '$.user.id' } } }),
      async () => bearer(await tokenOf({ user: {} })),
      400,
      'jwt-invalid-claims',
      'JWT claim from claims_map, x-engine-user-id not found',
    ],
  ];
  const ROLES = { 'x-engine-allowed-roles': ['user'], 'x-engine-default-role': 'user' };

  test.for(cases)('%s', async ([, start, headersOf, status, code, message]) => {
    await start();
    const headers = await headersOf();
    const request = async (path: string, method = 'POST') => {
      const body = method === 'POST' ? JSON.stringify({ query: '{ __typename }' }) : null;
      const json = { 'content-type': 'application/json' };
      const response = await fetch(running!.url + path, { method, headers: { ...json, ...headers }, body });
      return [response.status, await response.json()];
    };
    const inGraphql = { errors: [{ message, extensions: { path: '$', code } }] };
    const plain = { path: '$', error: message, code };
    for (const path of GRAPHQL) expect(await request(path), path).toEqual([200, inGraphql]);
    expect(await request('/v1alpha1/graphql')).toEqual([status, inGraphql]);
    for (const path of ADMIN) expect(await request(path), path).toEqual([status, plain]);
    for (const path of ['/v1alpha1/config', '/api/rest/none']) {
      expect(await request(path, 'GET'), path).toEqual([status, plain]);
    }
    const socket = await openSocket(running!.url, 'graphql-ws');
    socket.send({ type: 'connection_init', payload: { headers } });
    expect(await socket.next()).toEqual({ type: 'connection_error', payload: message });
    socket.close();
  });
});

test('the Authorization header is the word Bearer and one token', async () => {
  await withSecret({});
  const claims = { 'x-engine-allowed-roles': ['user'], 'x-engine-default-role': 'user' };
  const token = await tokenOf({ [NAMESPACE]: claims });
  for (const good of [`Bearer ${token}`, `bearer ${token}`, `  Bearer   ${token} `]) {
    expect(await outcomeOf({ authorization: good }), good).toEqual(ACCEPTED);
  }
  for (const bad of [token, `Basic ${token}`, 'Bearer', `Bearer ${token} ${token}`, `Bearer${token}`, 'x']) {
    const malformed = refusal('invalid-headers', 'Malformed Authorization header');
    expect(await outcomeOf({ authorization: bad }), bad).toEqual(malformed);
  }
});

describe('claims_map: the value at the path, else the default, else a refusal', () => {
  const VALUES = { absent: undefined, null: null, text: 'user', list: ['user'], number: 5, object: { a: 1 } };
  type Kind = keyof typeof VALUES;
  const KINDS = Object.keys(VALUES) as Kind[];
  const kindName = (kind: Kind) =>
    ({ absent: '', null: 'Null', text: 'String', list: 'Array', number: 'Number', object: 'Object' })[kind];

  /** The rule for each claim: which kinds it accepts, and the refusal of the others. */
  const CLAIMS = {
    'x-engine-allowed-roles': {
      standard: ['user'],
      accepts: ['list'],
      missing: refusal('jwt-missing-role-claims', 'JWT claim does not contain x-engine-allowed-roles'),
      wrong: (kind: Kind) =>
        'invalid x-engine-allowed-roles; should be a list of roles: parsing [] failed, expected Array, ' +
        `but encountered ${kindName(kind)}`,
    },
    'x-engine-default-role': {
      standard: 'user',
      accepts: ['text'],
      missing: refusal('jwt-missing-role-claims', 'JWT claim does not contain x-engine-default-role'),
      wrong: (kind: Kind) =>
        'invalid x-engine-default-role; should be a role: parsing RoleName failed, expected String, ' +
        `but encountered ${kindName(kind)}`,
    },
    'x-engine-org-id': {
      standard: '7',
      accepts: ['text', 'list', 'number', 'object'],
      missing: refusal('jwt-invalid-claims', 'JWT claim from claims_map, x-engine-org-id not found'),
      wrong: (kind: Kind) =>
        `x-engine-* claims: parsing Text failed, expected String, but encountered ${kindName(kind)}`,
    },
  };
  const LITERALS = {
    'x-engine-allowed-roles': ['user'],
    'x-engine-default-role': 'user',
    'x-engine-org-id': '7',
  };

  const cases = Object.keys(CLAIMS).flatMap((claim) =>
    [false, true].map((hasDefault) => [claim as keyof typeof CLAIMS, hasDefault] as const),
  );

  test.for(cases)('%s, default: %s', async ([claim, hasDefault]) => {
    const { standard, accepts, missing, wrong } = CLAIMS[claim];
    const source = { path: '$.a.b', ...(hasDefault ? { default: standard } : {}) };
    await withSecret({ claims_map: { ...LITERALS, [claim]: source } });
    for (const kind of KINDS) {
      const expected = accepts.includes(kind)
        ? ACCEPTED
        : kind === 'absent'
          ? hasDefault
            ? ACCEPTED
            : missing
          : refusal('jwt-invalid-claims', wrong(kind));
      expect(await outcomeOf(bearer(await tokenOf({ a: { b: VALUES[kind] } }))), kind).toEqual(expected);
    }
  });
});

describe('the claims namespace holds an object, or with stringified_json its text', () => {
  const claims = { 'x-engine-allowed-roles': ['user'], 'x-engine-default-role': 'user' };
  const VALUES = {
    absent: undefined,
    object: claims,
    text: JSON.stringify(claims),
    other: 'x',
    list: [1],
    null: null,
  };
  type Kind = keyof typeof VALUES;
  const cases = (['json', 'stringified_json'] as const).flatMap((format) =>
    (['claims_namespace', 'claims_namespace_path'] as const).map((key) => [format, key] as const),
  );

  test.for(cases)('%s at %s', async ([format, key]) => {
    const isPath = key === 'claims_namespace_path';
    const place = isPath ? '$.a.b' : 'engine';
    await withSecret({ [key]: place, claims_format: format });
    const expected = (kind: Kind): Outcome => {
      const refused = (text: string) => refusal('jwt-invalid-claims', text);
      if (kind === 'absent') {
        return refused(
          isPath
            ? `claims not found at claims_namespace_path: '${place}'`
            : `claims key: '${place}' not found`,
        );
      }
      if (format === 'json') {
        return kind === 'object' ? ACCEPTED : refused('expecting a json object when claims_format is json');
      }
      if (kind === 'text') return ACCEPTED;
      return kind === 'other'
        ? refused(`expecting stringified json at: '${key} ${place}', but found: x`)
        : refused('expecting a string when claims_format is stringified_json');
    };
    for (const kind of Object.keys(VALUES) as Kind[]) {
      const value = VALUES[kind];
      const token = await tokenOf(isPath ? { a: { b: value } } : { engine: value });
      expect(await outcomeOf(bearer(token)), kind).toEqual(expected(kind));
    }
  });
});

describe('claims of the reference engine count when the token has none with the configured prefix', () => {
  const named = (prefix: string, role: string) => ({
    [`${prefix}allowed-roles`]: [role],
    [`${prefix}default-role`]: role,
  });
  const OWN = named('x-engine-', 'own');
  const FOREIGN = named('X-Hasura-', 'foreign');
  /** Returns whether the role is allowed, which says whose claims were read. */
  const allows = async (claims: object, role: string) => {
    const token = await tokenOf({ [NAMESPACE]: claims });
    return outcomeOf({ ...bearer(token), 'x-engine-role': role });
  };
  const denied = refusal('access-denied', 'Your requested role is not in allowed roles');

  test('in a namespace', async () => {
    await withSecret({});
    expect(await allows(OWN, 'own')).toEqual(ACCEPTED);
    expect(await allows(FOREIGN, 'foreign')).toEqual(ACCEPTED);
    expect(await allows({ ...FOREIGN, ...OWN }, 'own')).toEqual(ACCEPTED);
    expect(await allows({ ...FOREIGN, ...OWN }, 'foreign')).toEqual(denied);
    // One own claim is enough: names of the two are never mixed.
    expect(await allows({ ...FOREIGN, 'x-engine-org': '1' }, 'foreign')).toEqual(
      refusal('jwt-missing-role-claims', 'JWT claim does not contain x-engine-allowed-roles'),
    );
  });

  test('in a claims map', async () => {
    await withSecret({ claims_map: FOREIGN });
    expect(await allows({}, 'foreign')).toEqual(ACCEPTED);
    expect(await allows({}, 'own')).toEqual(denied);
  });
});

describe('of several secrets, the one of the issuer verifies the token', () => {
  const claims = { [NAMESPACE]: { 'x-engine-allowed-roles': ['user'], 'x-engine-default-role': 'user' } };
  const secretOf = (issuer?: string) => ({
    type: 'HS256',
    key: `${KEY} of ${issuer}`,
    ...(issuer && { issuer }),
  });
  const start = (...issuers: (string | undefined)[]) =>
    engineWith({ jwtSecrets: jwtSecrets.parse(JSON.stringify(issuers.map(secretOf))) });
  const outcome = async (key: string | undefined, iss?: string) =>
    outcomeOf(bearer(await tokenOf({ ...claims, iss }, `${KEY} of ${key}`)));
  const foreign = refusal('invalid-jwt', 'Could not verify JWT: JWTNotInIssuer');

  test.for([['a'], ['a', 'b'], ['a', undefined], ['a', 'b', undefined]])('%j', async (issuers) => {
    await start(...issuers);
    for (const iss of ['a', 'b', 'c', undefined]) {
      const exact = issuers.filter((issuer) => issuer !== undefined && issuer === iss);
      const loose = issuers.filter((issuer) => issuer === undefined || iss === undefined);
      const [chosen, ...more] = exact.length > 0 ? exact : loose;
      const candidates = exact.length > 0 ? exact : loose;
      const expected =
        candidates.length === 0
          ? foreign
          : more.length > 0
            ? refusal('invalid-headers', 'Could not verify JWT: Multiple JWTs found')
            : ACCEPTED;
      expect(await outcome(chosen, iss), String(iss)).toEqual(expected);
    }
  });
});

test('audience, issuer and times are compared when the token has them; the skew widens times', async () => {
  const secret = { audience: ['app', 'web'], issuer: 'id', allowed_skew: 600 };
  await withSecret(secret);
  const claims = { 'x-engine-allowed-roles': ['user'], 'x-engine-default-role': 'user' };
  const now = Math.floor(Date.now() / 1000);
  const invalid = (reason: string) => refusal('invalid-jwt', `Could not verify JWT: ${reason}`);
  const cases: readonly (readonly [payload: object, expected: Outcome])[] = [
    [{}, ACCEPTED],
    [{ aud: 'app' }, ACCEPTED],
    [{ aud: ['x', 'web'] }, ACCEPTED],
    [{ aud: 'x' }, invalid('JWTNotInAudience')],
    [{ aud: [] }, invalid('JWTNotInAudience')],
    [{ iss: 'id' }, ACCEPTED],
    [{ iss: 'x' }, invalid('JWTNotInIssuer')],
    // The margins are longer than a busy machine takes.
    ...([-700, -500, 500, 700] as const).flatMap((seconds): [object, Outcome][] => [
      [{ exp: now + seconds }, seconds < -600 ? invalid('JWTExpired') : ACCEPTED],
      [{ nbf: now + seconds }, seconds > 600 ? invalid('JWTNotYetValid') : ACCEPTED],
      [{ iat: now + seconds }, seconds > 600 ? invalid('JWTIssuedAtFuture') : ACCEPTED],
    ]),
  ];
  for (const [payload, expected] of cases) {
    const token = await tokenOf({ [NAMESPACE]: claims, ...payload });
    expect(await outcomeOf(bearer(token)), JSON.stringify(payload)).toEqual(expected);
  }
});

test('the token is where the secret says, and a request without it has the unauthorized role', async () => {
  const claims = { [NAMESPACE]: { 'x-engine-allowed-roles': ['user'], 'x-engine-default-role': 'user' } };
  const token = await tokenOf(claims);
  const places = [
    [{ type: 'Authorization' }, { authorization: `Bearer ${token}` }],
    [{ type: 'Cookie', name: 'auth' }, { cookie: `a=b; auth=${token}` }],
    [{ type: 'CustomHeader', name: 'X-Token' }, { 'x-token': token }],
  ] as const;
  for (const [header] of places) {
    const secret = jwtSecret.parse(JSON.stringify({ type: 'HS256', key: KEY, header }));
    await engineWith({ jwtSecret: secret, unauthorizedRole: 'anonymous' });
    for (const [other, headers] of places) {
      const asAdmin = await outcomeOf({ ...headers, 'x-engine-role': 'admin' });
      const denied = refusal('access-denied', 'Your requested role is not in allowed roles');
      // Without a token the requested role is ignored, and so the request is not refused.
      expect(asAdmin, `${header.type}, ${other.type}`).toEqual(other === header ? denied : ACCEPTED);
    }
  }
});
