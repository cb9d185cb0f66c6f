/** A token of a role sees nothing of another role: on two engines that differ only in what is hidden from the role, every page sends the same requests
 *  and gets the same answers, and every request that the pages of an administrator send gets the same answers with the token. */
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { jwtSecret } from '../engine/config/jwt-secret.ts';
import { createDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import {
  type ConsoleWorld,
  HAS_BROWSER,
  REASON,
  startConsole,
  TIMEOUT_MS,
  trackTable,
} from './testing/console.ts';
import { pagesOf } from './testing/pages.ts';
import { startRecorder } from './testing/recorded.ts';
import { WORLDS } from './testing/worlds.ts';

const KEY = '0123456789abcdef0123456789abcdef';
const JWT = jwtSecret.parse(JSON.stringify({ type: 'HS256', key: KEY }));
const SHARED = `create table book (id int primary key, title text, owner text, secret text);
  insert into book values (1, 'One', 'ann', null)`;
/** The data that the role must not see: rows, values of a column, and another table. */
const HIDDEN = `insert into book values (2, 'hidden-title', 'bob', 'hidden-secret'); update book set secret = 'hidden-secret';
  create table hidden_ledger (id int primary key, owner text, amount int)`;

describe.skipIf(!HAS_BROWSER)(`two databases${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let full: ConsoleWorld;
  let bare: TestEngine;
  let token: string;
  let dropBare: () => Promise<void>;

  beforeAll(async () => {
    full = await startConsole([SHARED, HIDDEN].join(';'), { jwtSecret: JWT });
    const database = await createDatabase();
    dropBare = () => database.drop();
    await database.sql(SHARED);
    bare = await startTestEngine({ databaseUrl: database.url, enableConsole: true, jwtSecret: JWT });
    for (const engine of [full.engine, bare]) await trackTable(engine, 'book', { reader: ['id', 'title'] });
    const table = { schema: 'public', name: 'book' };
    const permission = { columns: '*', filter: {} };
    const about = { source: 'default', table, role: 'hidden_role', permission };
    await full.engine.admin('pg_create_select_permission', about);
    await trackTable(full.engine, 'hidden_ledger', { hidden_role: ['id', 'amount'] });
    token = await new SignJWT({
      'https://hasura.io/jwt/claims': {
        'x-hasura-default-role': 'reader',
        'x-hasura-allowed-roles': ['reader'],
        'x-hasura-user-id': 'ann',
      },
    })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime('1h')
      .sign(new TextEncoder().encode(KEY));
  }, TIMEOUT_MS);
  afterAll(async () => {
    await full?.close();
    await bare?.close();
    await dropBare?.();
  });

  const pages = pagesOf({
    ...WORLDS[0]!,
    roles: ['reader', 'hidden_role'],
    table: { schema: 'public', name: 'book' },
  });

  /** Opens a page and returns what it sent and what it shows. */
  const opened = async (engineUrl: string, path: string, signIn: string, isShown: string) => {
    const recorder = await startRecorder(engineUrl);
    const page = await full.browser.newPage();
    try {
      await page.go(`${recorder.url}/console/`);
      await page.until(`document.querySelector('.sign-in')`);
      await page.evaluate(`sessionStorage.setItem('pergola-credentials', ${JSON.stringify(signIn)})`);
      await page.go(`${recorder.url}/console/${path}`);
      await page.until(isShown);
      await recorder.quiet();
      const text = await page.evaluate<string>('document.body.innerText');
      return { requests: recorder.requests, text: text.replaceAll(/[\d.]+ ms/g, '0 ms') };
    } finally {
      await page.close();
      await recorder.close();
    }
  };

  const IS_SHOWN = `document.querySelector('.bar') && document.querySelector('main')`;
  const asReader = () => JSON.stringify({ kind: 'token', secret: token });
  const distinct = (
    requests: readonly { readonly path: string; readonly body: string; readonly answer: string }[],
  ) => [...new Set(requests.map(({ path, body, answer }) => JSON.stringify([path, body, answer])))].sort();

  test.each(pages)(
    '/$path shows a token of a role the same with and without what is hidden',
    async ({ path, isShown }) => {
      const isOfRole = ['', 'data'].includes(path.split('?')[0]!);
      const shown = isOfRole
        ? isShown
        : `${IS_SHOWN} && /is for administrators/.test(document.body.innerText)`;
      const [withHidden, without] = [
        await opened(full.engine.url, path, asReader(), shown),
        await opened(bare.url, path, asReader(), shown),
      ];
      expect(distinct(withHidden.requests)).toEqual(distinct(without.requests));
      expect(withHidden.requests.length).toBeGreaterThan(0);
      // It does not try what only others may do.
      expect(withHidden.requests.filter(({ path: to }) => to.startsWith('/v1/metadata'))).toEqual([]);
      // The editor of Explore writes its example a little later.
      if (path !== '') expect(withHidden.text).toBe(without.text);
      expect(JSON.stringify(withHidden)).not.toContain('hidden');
    },
  );

  test('every request of the pages of an administrator has the same answer for the token on both', async () => {
    const secret = JSON.stringify({ kind: 'admin', secret: full.engine.adminSecret });
    const sent = new Map<string, { path: string; method: string; body: string }>();
    const readByAdministrator: string[] = [];
    for (const { path, isShown: isUsual } of pages) {
      const isShown = path.startsWith('model/') ? `document.querySelector('.object h1')` : isUsual;
      const { requests } = await opened(full.engine.url, path, secret, isShown);
      for (const { path: to, method, body, answer } of requests) {
        sent.set(`${to} ${body}`, { path: to, method, body });
        readByAdministrator.push(answer);
      }
    }
    // The administrator sees what is hidden, so that the comparison means something.
    expect(readByAdministrator.join()).toContain('hidden_ledger');
    expect(sent.size).toBeGreaterThan(10);
    for (const { path, method, body } of sent.values()) {
      const answers = [full.engine.url, bare.url].map(async (url) => {
        const response = await fetch(url + path, {
          method,
          headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
          ...(method === 'POST' ? { body } : {}),
        });
        return [response.status, await response.text()];
      });
      const [withHidden, without] = await Promise.all(answers);
      expect([path, body, withHidden]).toEqual([path, body, without]);
    }
  });
});
