/** Tests the site of the documents: no dead link, a search that finds the words that people use, llms.txt, each page as Markdown; and in a browser,
 *  that it can be used on a phone, in light and dark. Not here: the links of the repository (../links.test.ts). */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import MiniSearch from 'minisearch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Browser, HAS_BROWSER, type Page, REASON, startBrowser } from '../../testing/browser.ts';
import { buildSite } from './build.ts';
import { ROOT, siteDocuments } from './documents.ts';
import { INDEX } from './page/words.js';
import { serveFolder } from './serve.ts';

const site = mkdtempSync('/var/tmp/pergola-site-');
beforeAll(() => buildSite(site));
afterAll(() => rmSync(site, { recursive: true, force: true }));

const pages = () =>
  readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.html'));

function textOf(file: string): string {
  return readFileSync(join(site, file), 'utf8');
}

test('no link of a page is dead', () => {
  const anchorsOf = new Map(
    pages().map((page) => [page, new Set([...textOf(page).matchAll(/ id="([^"]*)"/g)].map(([, id]) => id))]),
  );
  const dead = pages().flatMap((page) =>
    [...textOf(page).matchAll(/ (?:href|src)="([^"]*)"/g)].flatMap(([, address = '']) => {
      if (/^[a-z]+:/.test(address)) return [];
      const [path = '', anchor] = decodeURI(address).split('#');
      const target = path === '' ? page : join(dirname(page), path);
      const isThere = existsSync(join(site, target));
      return isThere && (anchor === undefined || anchorsOf.get(target)?.has(anchor))
        ? []
        : [`${page}: ${address}`];
    }),
  );
  expect(pages().length).toBeGreaterThan(100);
  expect(dead).toEqual([]);
});

test.each([
  ['RLS', 'guides/permissions.html'],
  ['row level security', 'guides/permissions.html'],
  ['row-level security', 'guides/permissions.html'],
  ['view as', 'guides/permissions.html#view-as-another-role'],
  ['soft delete', 'guides/permissions-cookbook.html#soft-delete'],
  ['multi-tenant', 'guides/permissions-cookbook.html#one-tenant-does-not-see-anothers-rows'],
  ['multitenancy', 'guides/permissions-cookbook.html#one-tenant-does-not-see-anothers-rows'],
  ['N+1', 'guides/concepts.html#is-there-an-n1-problem'],
  ['backup', 'guides/installing.html#backup-and-when-something-is-lost'],
  ['Keycloak', 'guides/signing-in.html#keycloak'],
  ['subscripton browser', 'guides/subscriptions.html#from-a-browser'],
])('a search for "%s" finds %s', (query, url) => {
  const index = MiniSearch.loadJSON(textOf('search.json'), INDEX);
  const found = index.search(query).slice(0, 6);
  expect(found.map((one) => one['url'])).toContain(url);
});

test('llms.txt lists every document, and each is there as Markdown', () => {
  const listed = [...textOf('llms.txt').matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path!);
  expect(listed.filter((path) => !existsSync(join(site, path)))).toEqual([]);
  expect(new Set(listed).size).toBe(siteDocuments().length);
  expect(textOf('guides/limits.md')).toBe(readFileSync(join(ROOT, 'docs/guides/limits.md'), 'utf8'));
});

test('a page is small enough for a phone', () => {
  const sizeOf = (file: string) => textOf(file).length;
  const shell = ['page/style.css', 'page/search.js', 'page/words.js'].map(sizeOf);
  expect(shell.reduce((sum, size) => sum + size)).toBeLessThan(16_000);
  // Loaded when the search is used. Hosts compress it to a quarter.
  expect(sizeOf('search.json')).toBeLessThan(1_200_000);
});

describe.skipIf(!HAS_BROWSER)(`in a browser${REASON}`, () => {
  const server = serveFolder(site);
  let browser: Browser;
  let page: Page;
  let address: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    browser = await startBrowser();
    page = await browser.newPage();
  });
  afterAll(async () => {
    await browser.close();
    server.close();
  });

  test.each(['light', 'dark'])(
    'a phone shows pages in %s, without a violation that axe-core finds',
    async (scheme) => {
      await page.resize(400, 800);
      await page.prefer(scheme);
      for (const file of ['index.html', 'questions.html', 'guides/limits.html', 'reference/options.html']) {
        await page.go(`${address}/${file}`);
        await page.until('!document.querySelector(".navigation").open');
        const [excess, violations] = await page.evaluate<[number, string[]]>(
          `(async () => { ${readFileSync(join(ROOT, 'node_modules/axe-core/axe.min.js'), 'utf8')};
          const { violations } = await axe.run();
          return [document.documentElement.scrollWidth - document.documentElement.clientWidth,
            violations.map(({ id, nodes }) => id + ' ' + nodes[0].html)]; })()`,
        );
        expect([file, excess, violations]).toEqual([file, 0, []]);
      }
    },
  );

  test('a user searches, and opens what was found', async () => {
    await page.resize(1200, 800);
    await page.go(`${address}/guides/limits.html`);
    await page.until('document.querySelector(".navigation").open');
    await page.evaluate('document.querySelector("input[type=search]").focus()');
    await page.type('soft delete');
    await page.until('document.querySelector(".results a small") !== null');
    await page.pressEnter();
    await page.until('location.hash === "#soft-delete" && document.querySelector("h1") !== null');
  });
});
