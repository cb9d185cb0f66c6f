/** Tests docs/guides/signing-in.md: with each configuration of the page, an engine accepts the token beside it, as the role and the user that the page says, and
 *  refuses the tokens of the page's table with the messages there. The provider is a server of this test that has the keys. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jwtSecret } from '../engine/config/jwt-secret.ts';
import { blocksOf } from '../operator/testing/guide.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { testDatabase } from '../testing/world.ts';

type Claims = { readonly iss: string; readonly aud: readonly string[]; readonly sub: string };

const page = readFileSync(new URL('./guides/signing-in.md', import.meta.url), 'utf8');
const providers = ['Keycloak', 'Auth0'].map((name) => {
  const section = page.split(`### ${name}\n`)[1]!.split(/^##/m)[0]!;
  const blocks = blocksOf(section).filter(({ language }) => language === 'json');
  const [configuration, claims] = blocks.map(({ text }) => JSON.parse(text));
  return { name, configuration, claims: claims as Claims };
});
const MESSAGES = [...page.split('## When it is refused')[1]!.matchAll(/^\| (`.*`) \|/gm)].flatMap(
  ([, cell]) => [...cell!.matchAll(/`([^`]+)`/g)].map(([, message]) => message!),
);

const database = testDatabase();
let keys: Server;
let privateKey: CryptoKey;
beforeAll(async () => {
  const pair = await generateKeyPair('RS256');
  privateKey = pair.privateKey;
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'one', alg: 'RS256' }] });
  keys = createServer((_, response) => response.end(jwks)).listen(0, '127.0.0.1');
  await new Promise((resolve) => keys.once('listening', resolve));
  await database.sql('create table note (id serial primary key, owner text, body text)');
});
afterAll(() => keys.close());

describe.each(providers)('$name', ({ configuration, claims }) => {
  let engine: TestEngine;
  beforeAll(async () => {
    await database.sql(
      `delete from note; insert into note (owner, body) values ('${claims.sub}', 'mine'), ('other', 'not mine')`,
    );
    const jwk_url = `http://127.0.0.1:${(keys.address() as AddressInfo).port}/`;
    engine = await startTestEngine({
      databaseUrl: database.url,
      adminSecret: 'secret',
      jwtSecret: jwtSecret.parse(JSON.stringify({ ...configuration, jwk_url })),
    });
    await engine.admin('pg_track_table', { table: 'note' });
    const permission = { columns: ['id', 'body'], filter: { owner: { _eq: 'X-Engine-User-Id' } } };
    await engine.admin('pg_create_select_permission', { table: 'note', role: 'user', permission });
  });
  afterAll(() => engine.close());

  const answerTo = async (payload: object, { expiresIn = 60, role = '' } = {}) => {
    const expires = Math.floor(Date.now() / 1000) + expiresIn;
    const signed = new SignJWT({ ...payload, exp: expires }).setProtectedHeader({ alg: 'RS256', kid: 'one' });
    const headers = {
      authorization: `Bearer ${await signed.sign(privateKey)}`,
      ...(role === '' ? {} : { 'x-engine-role': role }),
    };
    const { data, errors } = await engine.graphql('{ note { body } }', { role: null, headers });
    return data ?? errors?.[0]?.message ?? '';
  };

  test('the token of the page reads the rows of its user', async () => {
    expect(await answerTo(claims)).toEqual({ note: [{ body: 'mine' }] });
    expect(await answerTo({ ...claims, sub: 'nobody' })).toEqual({ note: [] });
  });

  test('the command of the page prints the claims of a token, whose text has no padding', async () => {
    const command = blocksOf(page).find(({ text }) => text.includes('base64url'))!.text;
    // With signs that base64 and base64url write differently.
    const given = { ...claims, aud: [...claims.aud], name: 'Zoë ÿ>>>???' };
    const token = await new SignJWT(given).setProtectedHeader({ alg: 'RS256' }).sign(privateKey);
    const printed = execFileSync('bash', ['-c', command], { env: { ...process.env, TOKEN: token } });
    expect(JSON.parse(printed.toString())).toEqual(given);
  });

  test('other tokens are refused with the messages of the page', async () => {
    const roles = Object.keys(claims).find((name) => name === 'realm_access' || name.endsWith('/roles'))!;
    const { [roles]: _, ...without } = claims as Claims & Record<string, unknown>;
    const refusals = await Promise.all([
      answerTo(claims, { expiresIn: -60 }),
      answerTo({ ...claims, iss: 'https://other.example.com' }),
      answerTo({ ...claims, aud: ['another-api'] }),
      answerTo(without),
      answerTo(claims, { role: 'editor' }),
    ]);
    expect(
      refusals.map((text) => MESSAGES.filter((message) => String(text).includes(message)).length),
    ).toEqual(refusals.map(() => 1));
  });
});
