/** Tests the way back of the browser: over each choice on a page, and not over each letter of a search. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import {
  type ConsoleWorld,
  choose,
  fill,
  HAS_BROWSER,
  REASON,
  startConsole,
  TIMEOUT_MS,
  trackTable,
} from './testing/console.ts';

describe.skipIf(!HAS_BROWSER)(`the way back${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsole('create table book (id int primary key)');
    await trackTable(world.engine, 'book', { reader: ['id'], other: ['id'] }, {});
  }, TIMEOUT_MS);
  afterAll(() => world?.close());

  const open = async (path: string) => {
    const page = await world.browser.newPage();
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    return page;
  };
  const link = (name: string) =>
    `[...document.querySelectorAll('main a')].find((a) => a.innerText === '${name}')`;
  const goBack = (page: Page) => page.evaluate('history.back()');
  const title = (text: string) => `document.title === '${text} – Pergola'`;

  test('Access goes back over roles, and keeps what was typed', async () => {
    const page = await open('access');
    await page.until(link('reader'));
    await page.evaluate(`${link('reader')}.click()`);
    await page.until(`document.querySelector('tbody th')`);
    await fill(page, `document.querySelector('[type=search]')`, 'boo');
    await choose(page, `document.querySelectorAll('select')[0]`, 'other');
    await page.until(title('other – Access'));
    await goBack(page);
    await page.until(title('reader – Access'));
    expect(await page.evaluate('location.search')).toBe('?role=reader&table=boo');
    await goBack(page);
    await page.until(title('Access'));
    await page.close();
  });

  test('Access goes back over a table that was opened, and a link opens it', async () => {
    const page = await open('access?role=reader&opened=book');
    const isOpen = `document.querySelector('.details')`;
    await page.until(isOpen);
    const toggle = `document.querySelector('tbody button').click()`;
    await page.evaluate(toggle);
    await page.until(`!${isOpen}`);
    expect(await page.evaluate('location.search')).toBe('?role=reader');
    await page.evaluate(toggle);
    await page.until(isOpen);
    expect(await page.evaluate('location.search')).toBe('?role=reader&opened=book');
    await goBack(page);
    await page.until(`!${isOpen}`);
    await page.close();
  });

  test('views are steps, too', async () => {
    const page = await open('activity');
    await page.until(`document.querySelector('.chart')`);
    await page.evaluate(`${link('Events')}.click()`);
    await page.until(title('Events – Activity'));
    await page.evaluate(`${link('Clients')}.click()`);
    await page.until(title('Clients – Activity'));
    await goBack(page);
    await page.until(title('Events – Activity'));
    await goBack(page);
    await page.until(`${title('Last hour – Activity')} && document.querySelector('.chart')`);
    await page.close();
  });

  test('kinds of Change are steps', async () => {
    const page = await open('change?kind=Table');
    await page.until(title('Table – Change'));
    await choose(page, `document.querySelector('.change select')`, 'Function');
    await page.until(title('Function – Change'));
    await goBack(page);
    await page.until(title('Table – Change'));
    await page.close();
  });
});
