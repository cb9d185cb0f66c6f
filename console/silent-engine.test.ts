/** Tests every page that is open while the engine stops: what the user asks for is answered with the same sentence, without the words and the stack of
 *  the browser, and works again once there is an answer. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import {
  type ConsoleWorld,
  HAS_BROWSER,
  press,
  REASON,
  startConsole,
  TIMEOUT_MS,
  trackTable,
} from './testing/console.ts';

const SENTENCE = 'The engine does not answer. It may be restarting: try again.';

/** Like `shows`, of a text that the editor wraps. */
const shows = (text: string) =>
  `document.body.innerText.replace(/\\s+/g, ' ').includes(${JSON.stringify(text)})`;

/** The sentence has the colour of problems. Explore shows it in the answer of the operation. */
const IS_MARKED = `[...document.querySelectorAll('main .problem')].some((each) => each.innerText.includes('does not answer'))`;

/** The pages, each with its address, the sign that it is complete, and a step of the user. */
const PAGES: readonly (readonly [path: string, isShown: string, act: (page: Page) => Promise<unknown>])[] = [
  [
    '',
    `document.querySelector('.graphiql-query-editor .view-lines')?.innerText.includes('query')`,
    (page) => page.evaluate(`document.querySelector('.graphiql-execute-button').click()`),
  ],
  [
    'access?role=reader',
    `document.querySelector('tbody button')`,
    async (page) => {
      await page.evaluate(`document.querySelector('tbody button[aria-expanded=false]')?.click()`);
      await page.until(`document.querySelector('.why')`);
      await press(page, 'Explain');
    },
  ],
  [
    'model',
    `document.querySelectorAll('.rows a').length > 1`,
    (page) => page.evaluate(`[...document.querySelectorAll('.rows a:not([aria-current])')].at(-1).click()`),
  ],
  ['data?table=book', `document.querySelector('main tbody')`, (page) => press(page, 'Run again')],
  ['activity', `document.querySelector('.chart')`, (page) => press(page, 'Refresh')],
];

describe.skipIf(!HAS_BROWSER)(`an engine that stops${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;

  beforeAll(async () => {
    world = await startConsole(`
      create table book (id int primary key);
      insert into book values (1);
      create function fails() returns int language plpgsql as $$ begin raise exception 'for this reason'; end $$;
      create view failing as select fails() as id from book`);
    await trackTable(world.engine, 'book', { reader: ['id'] }, {});
    await trackTable(world.engine, 'failing');
  }, TIMEOUT_MS);

  afterAll(() => world?.close());

  test.each(PAGES)('%s', async (path, isShown, act) => {
    const page = await world.browser.newPage();
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    await page.until(isShown);
    await page.evaluate(
      `window.answering = fetch; window.fetch = () => Promise.reject(new TypeError('Failed to fetch'));`,
    );
    await act(page);
    await page.until(shows(SENTENCE));
    expect(await page.evaluate(shows('Failed to fetch'))).toBe(false);
    expect(await page.evaluate(shows('/assets/'))).toBe(false);
    if (path !== '') await page.until(IS_MARKED);
    // A proxy answers in place of the engine.
    await page.evaluate(`window.fetch = async () => new Response('<html>', { status: 502 })`);
    await act(page);
    await page.until(shows(`${SENTENCE} (HTTP 502)`));
    await page.evaluate(`window.fetch = window.answering`);
    await act(page);
    await page.until(`!${shows(SENTENCE)}`);
    await page.close();
  });

  test('an administrator sees why the database does not answer', async () => {
    const page = await world.browser.newPage();
    const secret = `#admin-secret=${world.engine.adminSecret}`;
    await page.go(`${world.engine.url}/console/data?table=failing${secret}`);
    await page.until(shows('database query error: for this reason'));
    await page.close();
  });
});
