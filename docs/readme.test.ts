/** Tests that the first screen of README.md is enough to begin: its resource is one of the example, and its picture shows what the console
 *  answers. With PERGOLA_SCREENSHOTS=1 it writes the picture again. Not here: other documents (guides.test.ts, links.test.ts). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { browserPath, type Page, startBrowser } from '../testing/browser.ts';

const ROOT = join(import.meta.dirname, '..');
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const FIRST_SCREEN = README.split('\n').slice(0, 30).join('\n');
const PICTURE = join(import.meta.dirname, 'images/console.png');
const QUERY = 'query Books { book(order_by: {title: asc}, limit: 3) { title author { name } } }';
const EXAMPLE = `sessionStorage.getItem('pergola-example')`;
const BUTTON = 'document.querySelector(".graphiql-execute-button")';
const IS_IDLE = `${BUTTON}.ariaLabel.startsWith("Execute")`;

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

const path = browserPath();
const reason = path === undefined ? ' (skipped: no chromium on PATH and no PERGOLA_TEST_BROWSER)' : '';

describe.skipIf(path === undefined)(`the picture${reason}`, () => {
  test('a reader runs a query in the console', { timeout: 120_000 }, async () => {
    const data = mkdtempSync('/var/tmp/pergola-readme-');
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
      const page = await browser.newPage();
      await showQuery(page, /Sign in +(\S+)/.exec(said)![1]!);
      if (process.env['PERGOLA_SCREENSHOTS']) await page.screenshot(PICTURE);
    } finally {
      await browser.close();
      up.kill('SIGINT');
      await once(up, 'exit');
      rmSync(data, { recursive: true, force: true });
    }
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
  await page.evaluate(
    `document.querySelector('.graphiql-query-editor .native-edit-context, .graphiql-query-editor textarea').focus()`,
  );
  await page.selectAll();
  await page.type(QUERY);
  await page.evaluate(`document.querySelector('[aria-label^="Prettify"]').click()`);
  await page.until(`${shows('result-window', 'Ficciones')} || (${IS_IDLE} && (${BUTTON}.click(), false))`);
}

/** Returns an expression that is true when an editor shows the text. */
function shows(editor: string, text: string): string {
  const lines = `document.querySelector(".${editor} .view-lines")?.innerText ?? ""`;
  return `(${lines}).replaceAll("\\u00a0", " ").includes(${JSON.stringify(text)})`;
}
