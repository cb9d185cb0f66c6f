/** Tests the page Access in a real browser: it shows what `get_role_access` and `explain_access` answer, as text, in any width and scheme,
 *  by keyboard, and runs no statement in the source until a row is explained. axe-core finds no violation. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import type { TestEngine } from '../testing/engine.ts';
import {
  CONSOLE_SECRET,
  type ConsoleWorld,
  HAS_BROWSER,
  MARKUP,
  press,
  REASON,
  screenshot,
  startConsole,
  TIMEOUT_MS,
  trackTable,
  violations,
  WINDOWS,
} from './testing/console.ts';

describe.skipIf(!HAS_BROWSER)(`the page Access in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  let engine: TestEngine;
  let page: Page;

  beforeAll(async () => {
    world = await startConsole(
      `create table book (id int primary key, title text, owner text);
      create table "${MARKUP}" (id int primary key, title text);
      insert into book values (1, '${MARKUP}', 'ann'), (2, 'Two', 'bob')`,
      { unauthorizedRole: 'reader', consoleSecret: CONSOLE_SECRET },
    );
    ({ engine } = world);
    await trackTable(engine, 'book', { reader: ['id', 'title'], other: ['owner'] });
    await trackTable(engine, MARKUP);
    await engine.admin('add_inherited_role', { role_name: 'both', role_set: ['reader', 'other'] });
  }, TIMEOUT_MS);

  afterAll(() => world?.close());

  beforeEach(async () => {
    page = await world.browser.newPage();
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
    expect(await text()).toContain('the row has "ann", x-engine-user-id is bob');
    await explain('ann');
    await page.until(`document.querySelector('.verdict.visible')`);
  });

  test('with the console secret, why says which clauses hold without the values of the row', async () => {
    await press(page, 'Sign out');
    await page.until(`document.querySelector('.sign-in')`);
    await page.go(`${engine.url}/console/access?role=reader#console-secret=${CONSOLE_SECRET}`);
    await page.until(`document.querySelector('tbody th')`);
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.why')`);
    await page.evaluate(`document.querySelector('.why [name=variables]').focus()`);
    await page.type('{"x-engine-user-id": "bob"}');
    await page.pressEnter();
    await page.until(`document.querySelector('.verdict.hidden')`);
    expect(await text()).toContain('owner = X-Engine-User-Id: does not hold');
    expect(await text()).not.toContain('ann');
  });

  test('names with markup are text', async () => {
    await open(`role=admin&table=${encodeURIComponent('<img')}`);
    expect((await rowOf(MARKUP))[1]).toBe('everything');
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
  });

  test('the page says why it shows nothing to requests without credentials', async () => {
    await press(page, 'Sign out');
    await page.until(`document.querySelector('.sign-in')`);
    await press(page, 'Go on without signing in');
    await page.until(`document.body.innerText.includes('for administrators and the console secret')`);
    expect(await page.evaluate('document.querySelectorAll("select").length')).toBe(0);
  });

  test.each(WINDOWS)(
    '%i px, %s: axe-core finds nothing, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 900);
      await page.prefer(scheme);
      await open('role=both&compare=admin');
      await page.evaluate(`document.querySelector('tbody button').click()`);
      await page.until(`document.querySelector('.why')`);
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      if (width === 1440)
        expect(
          await page.evaluate(
            `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.scrolls'))`,
          ),
        ).toBe(0);
      await screenshot(page, `access-${width}-${scheme}`);
    },
  );
});
