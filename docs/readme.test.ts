/** Tests that the first screen of README.md is enough to begin: its resource is one of the example, and its picture shows what the console
 *  answers. With PERGOLA_SCREENSHOTS=1 it writes the picture again. Not here: other documents (guides.test.ts, links.test.ts). */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { HAS_BROWSER, type Page, REASON } from '../testing/browser.ts';
import { BUTTON, EDITOR, IS_IDLE, shows, signInLinkIn, withExample } from '../testing/example-in-browser.ts';

const ROOT = join(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const FIRST_SCREEN = README.split('\n').slice(0, 30).join('\n');
const PICTURE = join(import.meta.dirname, 'images/console.png');
const QUERY = 'query Books { book(order_by: {title: asc}, limit: 3) { title author { name } } }';
const EXAMPLE = `localStorage.getItem('pergola-example')`;

test('the first screen has a resource of the example, one command, and a picture that exists', () => {
  const [, resource = 'none'] = /```yaml\n([\s\S]*?)```/.exec(FIRST_SCREEN) ?? [];
  const example = 'deploy/examples/library/permissions/reader.yaml';
  expect(readFileSync(join(ROOT, example), 'utf8')).toContain(resource);
  expect(README).toContain(example);
  expect([...FIRST_SCREEN.matchAll(/```sh\n/g)].length).toBe(1);
  expect(FIRST_SCREEN).toContain('make start');
  expect(FIRST_SCREEN).toContain('](docs/images/console.png)');
  expect(FIRST_SCREEN).toContain('no other databases');
  expect(FIRST_SCREEN).toContain('before 1.0');
  expect(existsSync(PICTURE)).toBe(true);
});

describe.skipIf(!HAS_BROWSER)(`the picture${REASON}`, () => {
  test('a reader runs a query in the console', { timeout: 120_000 }, async () => {
    await withExample(async (page, printed) => {
      await showQuery(page, signInLinkIn(printed));
      if (process.env['PERGOLA_SCREENSHOTS']) await page.screenshot(PICTURE);
    });
  });
});

/** Signs in, becomes a reader, and runs the query. */
async function showQuery(page: Page, link: string): Promise<void> {
  await page.resize(1200, 560);
  await page.prefer('light');
  await page.go(link);
  await page.until(shows('graphiql-query-editor', '{'));
  const example = JSON.stringify(await page.evaluate(EXAMPLE));
  await page.evaluate(`document.querySelector('.bar input').focus()`);
  await page.type('reader');
  await page.pressEnter();
  await page.until(`${EXAMPLE} !== ${example}`);
  await page.evaluate(`${EDITOR}.focus()`);
  await page.selectAll();
  await page.type(QUERY);
  await page.evaluate(`document.querySelector('[aria-label^="Prettify"]').click()`);
  await page.until(`${shows('result-window', 'Ficciones')} || (${IS_IDLE} && (${BUTTON}.click(), false))`);
}
