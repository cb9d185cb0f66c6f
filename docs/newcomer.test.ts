/** The first two minutes with the example, as `make start` runs it: the link that signs in, a query, a subscription that follows a change, what a role does
 *  not see, and why a row is hidden. With PERGOLA_SCREENSHOTS=1 it writes the pictures of docs/images again (`npm run screenshots`). */
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { HAS_BROWSER, type Page, REASON } from '../testing/browser.ts';
import { BUTTON, EDITOR, IS_IDLE, shows, signInLinkIn, withExample } from '../testing/example-in-browser.ts';
import { slowness } from '../testing/machine-speed.ts';

const IMAGES = join(import.meta.dirname, 'images');
const MOST_MS = 120_000;
/** A book of the example that a reader does not see. */
const WITHDRAWN = 3;
describe.skipIf(!HAS_BROWSER)(`a newcomer${REASON}`, () => {
  test('signs in, queries, subscribes, views as a reader, and learns why a row is hidden, in two minutes', {
    timeout: 4 * MOST_MS,
  }, async () => {
    const startedAt = performance.now();
    await withExample(async (page, printed) => {
      const link = signInLinkIn(printed);
      await page.resize(1200, 640);
      await page.prefer('light');
      await page.go(link);
      await query(page);
      await subscribe(page, /Database +(\S+)/.exec(printed)![1]!);
      await viewAs(page);
      await why(page, link);
      expect(performance.now() - startedAt).toBeLessThan(MOST_MS * slowness());
    });
  });
});

/** Runs the example that the editor begins with. */
async function query(page: Page): Promise<void> {
  await page.until(shows('graphiql-query-editor', 'query Example'));
  await page.until(`${shows('result-window', '"data"')} || (${IS_IDLE} && (${BUTTON}.click(), false))`);
}

async function subscribe(page: Page, databaseUrl: string): Promise<void> {
  await write(page, 'subscription Shelf { book(where: {title: {_eq: "Ficciones"}}) { title shelf } }');
  await page.evaluate(`${BUTTON}.click()`);
  await page.until(shows('result-window', '"shelf"'));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query("update book set shelf = 'NEW SHELF' where title = 'Ficciones'");
  await client.end();
  await page.until(shows('result-window', 'NEW SHELF'));
  await picture(page, 'subscription');
  await page.evaluate(`${BUTTON}.click()`);
  await page.until(IS_IDLE);
}

/** The price is a field for the administrator, and no field for a reader. */
async function viewAs(page: Page): Promise<void> {
  await write(page, 'query Prices { book(limit: 3) { title price_paid } }');
  await page.evaluate(`${BUTTON}.click()`);
  await page.until(shows('result-window', 'price_paid'));
  await page.evaluate(`document.querySelector('.bar input').focus()`);
  await page.type('reader');
  await page.pressEnter();
  const refused = shows('result-window', "field 'price_paid' not found");
  await page.until(`${refused} || (${BUTTON} && ${IS_IDLE} && (${BUTTON}.click(), false))`);
}

async function why(page: Page, link: string): Promise<void> {
  await page.go(new URL('/console/access?role=reader&table=book', link).href);
  await page.until(`document.querySelector('tbody button')`);
  await page.evaluate(`document.querySelector('tbody button').click()`);
  await page.until(`document.querySelector('.why [name=key]')`);
  await page.evaluate(`document.querySelector('.why [name=key]').focus()`);
  await page.selectAll();
  await page.type(JSON.stringify({ id: WITHDRAWN }));
  await page.pressEnter();
  await page.until(`document.querySelector('.verdict.hidden')`);
  const text = await page.evaluate<string>('document.querySelector(".why").innerText');
  expect(text).toContain('is_withdrawn = false: does not hold, the row has "true"');
  await page.evaluate(`document.querySelector('.why').scrollIntoView({ block: 'end' })`);
  await picture(page, 'why');
}

async function write(page: Page, text: string): Promise<void> {
  await page.evaluate(`${EDITOR}.focus()`);
  await page.selectAll();
  await page.type(text);
  await page.evaluate(`document.querySelector('[aria-label^="Prettify"]').click()`);
  await page.until(shows('graphiql-query-editor', '\n'));
  // Typing scrolled to the end of the line.
  await page.evaluate(`${EDITOR}.focus()`);
  await page.pressKey('ArrowUp');
}

async function picture(page: Page, name: string): Promise<void> {
  if (process.env['PERGOLA_SCREENSHOTS']) await page.screenshot(join(IMAGES, `${name}.png`));
}
