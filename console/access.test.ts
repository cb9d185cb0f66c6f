/** Tests the page Access in a real browser: it shows what `get_role_access` and `explain_access` answer, as text, in any width and scheme,
 *  by keyboard, and runs no statement in the source until a row is explained. axe-core finds no violation. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Browser, browserPath, type Page, startBrowser } from '../testing/browser.ts';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { buildConsole } from './build.ts';

const TIMEOUT_MS = 120_000;
const AXE = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const path = browserPath();
const reason = path === undefined ? ' (skipped: no chromium on PATH and no PERGOLA_TEST_BROWSER)' : '';
/** A name that would run if it were markup. */
const MARKUP = '<img src=x onerror=document.title=1>';

describe.skipIf(path === undefined)(`the page Access in a browser${reason}`, { timeout: TIMEOUT_MS }, () => {
  let database: TestDatabase;
  let engine: TestEngine;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    await buildConsole(fileURLToPath(new URL('../dist/console', import.meta.url)));
    database = await createDatabase();
    await database.sql(`
      create table book (id int primary key, title text, owner text);
      create table "${MARKUP}" (id int primary key, title text);
      insert into book values (1, '${MARKUP}', 'ann'), (2, 'Two', 'bob')`);
    engine = await startTestEngine({
      databaseUrl: database.url,
      enableConsole: true,
      unauthorizedRole: 'reader',
    });
    const permission = (columns: readonly string[]) => ({
      columns,
      filter: { owner: { _eq: 'X-Engine-User-Id' } },
    });
    const book = { schema: 'public', name: 'book' };
    await engine.admin('pg_track_table', { source: 'default', table: book });
    await engine.admin('pg_track_table', {
      source: 'default',
      table: { schema: 'public', name: MARKUP },
      configuration: { custom_name: 'odd' },
    });
    for (const [role, columns] of [
      ['reader', ['id', 'title']],
      ['other', ['owner']],
    ] as const) {
      await engine.admin('pg_create_select_permission', {
        ...{ source: 'default', table: book, role },
        permission: permission(columns),
      });
    }
    await engine.admin('add_inherited_role', { role_name: 'both', role_set: ['reader', 'other'] });
    browser = await startBrowser(path!);
  }, TIMEOUT_MS);

  afterAll(async () => {
    await browser?.close();
    await engine?.close();
    await database?.drop();
  });

  beforeEach(async () => {
    page = await browser.newPage();
    await page.resize(1440, 900);
    await page.go(`${engine.url}/console/access#admin-secret=${engine.adminSecret}`);
    await page.until(`document.querySelector('select option:nth-child(2)')`);
  });

  const open = async (query: string) => {
    await page.go(`${engine.url}/console/access?${query}`);
    await page.until(`document.querySelector('tbody th')`);
  };
  const text = () => page.evaluate<string>('document.querySelector("main").innerText');
  const rowOf = (table: string) =>
    page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.innerText)).find(([name]) => name === ${JSON.stringify(table)})`,
    );
  const violations = async (): Promise<readonly string[]> => {
    await page.evaluate(`${AXE}; 0`);
    return page.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html, any }) => html + ' ' + any.map(({ message }) => message)).join()))`,
    );
  };

  test('the address names the view, and the page leaves the secret out of it', async () => {
    await open('role=reader');
    expect(await page.evaluate('location.href')).toBe(`${engine.url}/console/access?role=reader`);
    expect(await rowOf('book')).toEqual(['book', '2 columns, some rows', 'no', 'no', 'no']);
    expect(await text()).toContain('Requests without credentials have this role.');
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(engine.adminSecret);
  });

  test('an inherited role shows where each right comes from, and two roles where they differ', async () => {
    await open('role=both&compare=reader');
    expect(await text()).toContain('both inherits from reader, other.');
    expect(await page.evaluate('document.querySelectorAll(".differs").length')).toBe(1);
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.details')`);
    for (const role of ['reader', 'other']) expect(await text()).toContain(`Rows (from ${role})`);
    expect(await text()).toContain('owner = X-Engine-User-Id');
  });

  test('why explains a row that is hidden, and the same row for its owner', async () => {
    await open('role=reader');
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.why')`);
    const explain = async (user: string) => {
      await page.evaluate(`document.querySelector('.why [name=variables]').focus()`);
      await page.selectAll();
      await page.type(JSON.stringify({ 'x-engine-user-id': user }));
      await page.pressEnter();
    };
    await explain('bob');
    await page.until(`document.querySelector('.verdict.hidden')`);
    expect(await text()).toContain('the row has "ann"');
    await explain('ann');
    await page.until(`document.querySelector('.verdict.visible')`);
  });

  test('names with markup are text', async () => {
    await open(`role=admin&table=${encodeURIComponent('<img')}`);
    expect((await rowOf(MARKUP))[1]).toBe('everything');
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
  });

  test('the page says why it shows nothing to a token of a role', async () => {
    await page.evaluate(`document.querySelector('.bar button').click()`);
    await page.until(`document.body.innerText.includes('restricted')`);
    expect(await page.evaluate('document.querySelectorAll("select option").length')).toBe(2);
  });

  test.each([400, 800, 1440].flatMap((width) => ['light', 'dark'].map((scheme) => [width, scheme] as const)))(
    '%i px, %s: axe-core finds nothing, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 900);
      await page.prefer(scheme);
      await open('role=both&compare=admin');
      await page.evaluate(`document.querySelector('tbody button').click()`);
      await page.until(`document.querySelector('.why')`);
      expect(await violations()).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      if (process.env['PERGOLA_SCREENSHOTS'])
        await page.screenshot(`${process.env['PERGOLA_SCREENSHOTS']}/access-${width}-${scheme}.png`);
    },
  );
});
