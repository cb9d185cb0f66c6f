/** The first two minutes with the example, as `make start` runs it: the link that signs in, a query, a subscription that follows a change, what a role does
 *  not see, and why a row is hidden. With PERGOLA_SCREENSHOTS=1 it writes the pictures of docs/images again (`npm run screenshots`). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { browserPath, type Page, startBrowser } from '../testing/browser.ts';
import { slowness } from '../testing/machine-speed.ts';

const ROOT = join(import.meta.dirname, '..');
const IMAGES = join(import.meta.dirname, 'images');
const MOST_MS = 120_000;
/** A book of the example that a reader does not see. */
const WITHDRAWN = 3;
const BUTTON = 'document.querySelector(".graphiql-execute-button")';
const IS_IDLE = `${BUTTON}.ariaLabel.startsWith("Execute")`;
const EDITOR =
  'document.querySelector(".graphiql-query-editor .native-edit-context, .graphiql-query-editor textarea")';

const path = browserPath();
const reason = path === undefined ? ' (skipped: no chromium on PATH and no PERGOLA_TEST_BROWSER)' : '';

describe.skipIf(path === undefined)(`a newcomer${reason}`, () => {
  test('signs in, queries, subscribes, views as a reader, and learns why a row is hidden, in two minutes', {
    timeout: 4 * MOST_MS,
  }, async () => {
    const data = mkdtempSync('/var/tmp/pergola-newcomer-');
    const startedAt = performance.now();
    const args = ['bin/pergola.mjs', 'up', 'deploy/examples/library', '--port', '0'];
    const up = spawn(process.execPath, [...args, '--data', join(data, 'data')], {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: '1' },
    });
    const browser = await startBrowser(path!);
    try {
      let said = '';
      up.stdout.setEncoding('utf8').on('data', (text) => (said += text));
      await expect.poll(() => said, { timeout: 60_000 }).toContain('Ctrl-C stops everything');
      const link = /Sign in +(\S+)/.exec(said)![1]!;
      const page = await browser.newPage();
      await page.resize(1200, 640);
      await page.prefer('light');
      await page.go(link);
      await query(page);
      await subscribe(page, /Database +(\S+)/.exec(said)![1]!);
      await viewAs(page);
      await why(page, link);
      expect(performance.now() - startedAt).toBeLessThan(MOST_MS * slowness());
    } finally {
      await browser.close();
      up.kill('SIGINT');
      await once(up, 'exit');
      rmSync(data, { recursive: true, force: true });
    }
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

/** Returns an expression that is true when an editor shows the text. */
function shows(editor: string, text: string): string {
  const lines = `document.querySelector(".${editor} .view-lines")?.innerText ?? ""`;
  return `(${lines}).replaceAll("\\u00a0", " ").includes(${JSON.stringify(text)})`;
}
