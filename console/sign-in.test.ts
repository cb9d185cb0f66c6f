/** Tests the first screen in a real browser: each way to sign in, what is kept, signing out, and what leads back to it: a wrong secret, one
 *  that is replaced, a token that expires. A role sees what it may do, and nothing else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { jwtSecret } from '../engine/config/jwt-secret.ts';
import type { Page } from '../testing/browser.ts';
import { startTestEngine } from '../testing/engine.ts';
import {
  CONSOLE_SECRET,
  type ConsoleWorld,
  choose,
  fill,
  HAS_BROWSER,
  press,
  REASON,
  SOME_WINDOWS,
  screenshot,
  shows,
  startConsole,
  TIMEOUT_MS,
  trackTable,
  violations,
} from './testing/console.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const FIELD = 'document.querySelector(".sign-in input[type=password]")';
const IS_EDITOR = `document.querySelector('.graphiql-query-editor .view-lines')`;

describe.skipIf(!HAS_BROWSER)(`signing in${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  let page: Page;
  let folder: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'pergola-secrets-'));
    writeFileSync(join(folder, 'primary'), CONSOLE_SECRET);
    const table = (name: string) => `create table ${name} (id int primary key, title text, owner text)`;
    world = await startConsole([table('book'), table('ledger')].join(';'), {
      consoleSecretPath: folder,
      jwtSecret: jwtSecret.parse(JSON.stringify({ type: 'HS256', key: KEY })),
    });
    await trackTable(world.engine, 'book', { reader: ['id', 'title'] });
    await trackTable(world.engine, 'ledger', { keeper: ['id'] });
  }, TIMEOUT_MS);

  afterAll(async () => {
    await world?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    page = await world.browser.newPage();
    await page.resize(1440, 900);
  });

  const open = async (path = '') => {
    await page.go(`${world.engine.url}/console/${path}`);
    await page.until(FIELD);
  };
  const signInWith = async (label: string, secret: string) => {
    await page.until(FIELD);
    await page.evaluate(
      `[...document.querySelectorAll('.kinds label')].find((each) => each.innerText.trim() === '${label}').querySelector('input').click()`,
    );
    await fill(page, FIELD, secret);
    await page.pressEnter();
  };
  const tokenOf = (role: string, seconds: number) =>
    new SignJWT({
      'https://hasura.io/jwt/claims': {
        'x-hasura-default-role': role,
        'x-hasura-allowed-roles': [role],
        'x-hasura-user-id': 'ann',
      },
    })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(new TextEncoder().encode(KEY));
  /** Sends what the page could send with its token. */
  const send = (path: string, body: object) =>
    page.evaluate<string>(`fetch('${path}', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer ' + JSON.parse(sessionStorage['pergola-credentials']).secret,
      },
      body: ${JSON.stringify(JSON.stringify(body))},
    }).then((answer) => answer.text())`);
  const links = () =>
    page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('.bar nav a')].map((link) => link.innerText)`,
    );
  const stored = () => page.evaluate<string>('JSON.stringify(localStorage)');

  test.each([
    ['Admin secret', () => world.engine.adminSecret, 'Administrator'],
    ['Console secret', () => CONSOLE_SECRET, 'Console secret'],
    ['Token (JWT)', () => tokenOf('admin', 60), 'Administrator'],
  ])(
    '%s: both pages open, nothing secret is in the local storage, and signing out forgets it',
    async (label, secretOf, who) => {
      const secret = await secretOf();
      await open();
      expect(await page.evaluate(FIELD.replace('document', 'document.activeElement === document'))).toBe(
        true,
      );
      await signInWith(label, secret);
      await page.until(IS_EDITOR);
      expect(await page.evaluate(`document.querySelector('.who').innerText`)).toBe(who);
      await page.go(`${world.engine.url}/console/access?role=reader`);
      await page.until(`document.querySelector('tbody th')`);
      expect(await links()).toEqual([
        ...['Explore', 'Access', 'Model', 'Data', 'Ownership', 'Activity', 'Change'],
      ]);
      expect(await stored()).not.toContain(secret);
      await press(page, 'Sign out');
      await page.until(FIELD);
      expect(await page.evaluate('location.search')).toBe('');
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(secret);
      await page.reload();
      await page.until(FIELD);
    },
  );

  test('a token may be pasted with what a header has in front of it', async () => {
    await open();
    await signInWith('Token (JWT)', `Authorization: Bearer ${await tokenOf('admin', 60)}`);
    await page.until(IS_EDITOR);
    await press(page, 'Sign out');
    await page.until(FIELD);
  });

  test('the first screen sends no request that is refused', async () => {
    await open();
    const sent = await page.evaluate<readonly string[]>(
      `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`,
    );
    expect(sent.filter((path) => path.startsWith('/v1'))).toEqual([]);
  });

  test.each([
    ['Admin secret', 'wrong', 'The engine does not accept this admin secret.'],
    ['Admin secret', 'żółw', 'The engine does not accept this admin secret.'],
    ['Console secret', 'wrong', 'The engine does not accept this console secret.'],
    ['Token (JWT)', 'wrong', 'The engine does not accept this token: Could not verify JWT: JWSError'],
  ])('%s: a wrong one leads back with a sentence, and is not kept', async (label, secret, sentence) => {
    await open();
    await signInWith(label, secret);
    await page.until(shows(sentence));
    await page.reload();
    await page.until(FIELD);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(secret);
  });

  test('the admin secret is no console secret, and the console secret is no admin secret', async () => {
    await open();
    await signInWith('Console secret', world.engine.adminSecret);
    await page.until(shows('The engine does not accept this console secret.'));
    await signInWith('Admin secret', CONSOLE_SECRET);
    await page.until(shows('The engine does not accept this admin secret.'));
  });

  test('a console secret that is replaced leads back with a sentence', async () => {
    await page.go(`${world.engine.url}/console/access#console-secret=${CONSOLE_SECRET}`);
    await page.until(`document.querySelector('select option:nth-child(2)')`);
    expect(await page.evaluate('location.hash')).toBe('');
    writeFileSync(join(folder, 'primary'), 'another one');
    try {
      const headers = { 'x-engine-console-secret': CONSOLE_SECRET };
      const answer = () => fetch(`${world.engine.url}/v1alpha1/config`, { headers });
      await expect.poll(async () => (await answer()).status, { timeout: 5000 }).toBe(401);
      await choose(page, `document.querySelector('select')`, 'reader');
      await page.until(shows('The engine no longer accepts this console secret. Sign in again.'));
    } finally {
      writeFileSync(join(folder, 'primary'), CONSOLE_SECRET);
    }
  });

  test('a token that expires leads back with a sentence, without a request of the user', async () => {
    await open();
    await signInWith('Token (JWT)', await tokenOf('reader', 6));
    await page.until(IS_EDITOR);
    await page.until(shows('Your token has expired. Sign in again.'));
    expect(
      await page.evaluate(`document.querySelector('.kinds input:checked').parentElement.innerText.trim()`),
    ).toBe('Token (JWT)');
    await signInWith('Token (JWT)', await tokenOf('reader', 60));
    await page.until(IS_EDITOR);
  });

  test('a token of a role shows what the role may do, and nothing of another role', async () => {
    await open('access');
    await signInWith('Token (JWT)', await tokenOf('reader', 300));
    await page.until(shows('This page is for administrators and the console secret.'));
    expect(await page.evaluate(`document.querySelectorAll('select').length`)).toBe(0);
    expect(await links()).toEqual(['Explore', 'Data']);
    const sent = await send('../v1/metadata', { type: 'get_role_access', args: { role: 'keeper' } });
    expect(sent).toContain('restricted access : admin only');
    await page.go(`${world.engine.url}/console/`);
    await page.until(`${IS_EDITOR}?.innerText.includes('book')`);
    const role = `document.querySelector('.who').innerText + document.querySelector('.bar input').placeholder`;
    expect(await page.evaluate(role)).toBe('Token of readerreader');
    const types = await send('../v1/graphql', { query: '{ __schema { types { name } } }' });
    expect(types).toContain('"book"');
    expect(types).not.toContain('ledger');
  });

  test('an engine that serves no configuration is signed in to in the same way', async () => {
    const other = await startTestEngine({
      databaseUrl: world.database.url,
      enableConsole: true,
      consoleSecret: CONSOLE_SECRET,
      enabledApis: ['metadata', 'graphql'],
    });
    try {
      for (const [label, secret, who] of [
        ['Admin secret', other.adminSecret, 'Administrator'],
        ['Console secret', CONSOLE_SECRET, 'Console secret'],
      ] as const) {
        await page.go(`${other.url}/console/`);
        await signInWith(label, 'wrong');
        await page.until(shows(`The engine does not accept this ${label.toLowerCase()}.`));
        await signInWith(label, secret);
        await page.until(`document.querySelector('.who')?.innerText === '${who}'`);
        await press(page, 'Sign out');
      }
    } finally {
      await other.close();
    }
  });

  test.each(SOME_WINDOWS)(
    '%i px, %s: axe-core finds nothing, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 900);
      await page.prefer(scheme);
      await open();
      await signInWith('Token (JWT)', 'wrong');
      await page.until(shows('The engine does not accept this token'));
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await screenshot(page, `sign-in-${width}-${scheme}`);
    },
  );
});
