/** Tests the site of the documents: no dead link, a search that finds the words that people use, llms.txt, each page as Markdown; and in a browser,
 *  that it can be used on a phone, in light and dark. Not here: the links of the repository (../links.test.ts). */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import MiniSearch from 'minisearch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import project from '../../package.json' with { type: 'json' };
import { type Browser, HAS_BROWSER, type Page, REASON, startBrowser } from '../../testing/browser.ts';
import { ROOT, siteDocuments } from './documents.ts';
import { INDEX } from './page/words.js';
import { addVersion } from './publish.ts';
import { serveFolder } from './serve.ts';

const versions = mkdtempSync('/var/tmp/pergola-site-');
const site = join(versions, project.version);
const OLDER = '0.0.1';
const NEWER = '99.0.0';
const FORGE = 'https://forge.example.com/pergola/blob/v1';
beforeAll(() => {
  // In the order in which they are published.
  for (const version of [OLDER, project.version, NEWER])
    addVersion(versions, { version, repository: version === OLDER ? FORGE : undefined });
  // A page that the older version does not have.
  rmSync(join(versions, OLDER, 'guides/limits.html'));
});
afterAll(() => rmSync(versions, { recursive: true, force: true }));

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

/** Words that people use, and the questions of those who read the documents for the first time. */
test.each([
  ['RLS', 'guides/permissions.html#row-level-security-rls'],
  ['row level security', 'guides/permissions.html#row-level-security-rls'],
  ['row-level security', 'guides/permissions.html#row-level-security-rls'],
  ['view as', 'guides/permissions.html#view-as-another-role'],
  ['impersonate', 'guides/permissions.html#view-as-another-role'],
  ['soft delete', 'guides/permissions-cookbook.html#soft-delete'],
  ['multi-tenant', 'guides/permissions-cookbook.html#one-tenant-does-not-see-anothers-rows'],
  ['multitenancy', 'guides/permissions-cookbook.html#one-tenant-does-not-see-anothers-rows'],
  ['N+1', 'guides/concepts.html#is-there-an-n1-problem'],
  ['pagination', 'questions.html#shape-the-api'],
  // Sign in with Auth0 or Keycloak: issuer, audience, claims, a token that works.
  ['Keycloak', 'guides/signing-in.html#keycloak'],
  ['Auth0', 'guides/signing-in.html#auth0'],
  ['issuer audience claims', 'guides/signing-in.html#what-the-engine-needs-to-know'],
  ['computed fields', 'guides/computed-fields.html'],
  // A subscription from a browser.
  ['subscripton browser', 'guides/subscriptions.html#from-a-browser'],
  ['subscription React', 'guides/subscriptions.html#from-a-browser'],
  ['graphql-ws', 'guides/subscriptions.html'],
  ['slow query', 'guides/operating.html#when-a-query-is-slow'],
  // Backup and restore, with the key of the named values.
  ['backup', 'guides/installing.html#backup-and-when-something-is-lost'],
  ['restore', 'guides/installing.html#backup-and-when-something-is-lost'],
  ['named values key', 'guides/secrets.html#the-key'],
  // In which order engine, operator and definitions are upgraded.
  ['upgrade order', 'guides/upgrading.html#the-order'],
  ['several databases', 'guides/connecting.html#several-databases'],
  ['multiple databases', 'guides/connecting.html#several-databases'],
  ['existing database', 'guides/existing-database.html'],
  ['install kubernetes', 'guides/installing.html'],
  ['test permissions', 'guides/testing-permissions.html'],
  ['Argo CD', 'guides/gitops.html'],
  ['rate limit', 'guides/limits.html#limits'],
  ['event trigger', 'guides/events.html#event-triggers'],
  ['not ready', 'guides/troubleshooting.html'],
])('a search for "%s" finds %s among the first three', (query, url) => {
  const index = MiniSearch.loadJSON(textOf('search.json'), INDEX);
  const found = index.search(query).slice(0, 3);
  expect(found.map((one) => one['url'])).toContain(url);
});

test('llms.txt lists every document, and each is there as Markdown', () => {
  const listed = [...textOf('llms.txt').matchAll(/\]\(([^)]+)\)/g)].map(([, path]) => path!);
  expect(listed.filter((path) => !existsSync(join(site, path)))).toEqual([]);
  expect(new Set(listed).size).toBe(siteDocuments().length);
  for (const { path } of siteDocuments()) {
    const page = path.replace(/html$/, 'md');
    const links = [
      ...textOf(page)
        .replaceAll(/^```[\s\S]*?^```$/gm, '')
        .matchAll(/\]\(([^)\s#:]+\.(?:md|png|svg))[)#]/g),
    ];
    const dead = links.filter(([, link]) => !existsSync(join(site, dirname(page), link!)));
    expect([page, dead.map(([, link]) => link)]).toEqual([page, []]);
  }
});

test('a page is small enough for a phone, as a host compresses it', () => {
  const sizeOf = (file: string) => gzipSync(readFileSync(join(site, file))).length;
  const sum = (files: readonly string[]) => files.reduce((all, file) => all + sizeOf(file), 0);
  const scripts = ['page/search.js', 'page/words.js', 'page/versions.js'];
  expect(sum(['page/style.css', 'page/icon.svg', ...scripts])).toBeLessThan(5_000);
  const withoutHistory = pages().filter((page) => page !== 'changelog.html');
  expect(withoutHistory.filter((page) => sizeOf(page) > 20_000)).toEqual([]);
  const withPictures = pages().filter((page) => {
    const pictures = [...textOf(page).matchAll(/<img src="([^"]*)"/g)];
    return sum([page, ...pictures.map(([, path]) => join(dirname(page), path!))]) > 150_000;
  });
  expect(withPictures).toEqual([]);
  // Loaded when the search is used.
  expect(sum(['search.json', 'page/minisearch.js'])).toBeLessThan(260_000);
});

describe('with the address of the repository', () => {
  const older = (file: string) => readFileSync(join(versions, OLDER, file), 'utf8');

  test('each page links its source, and files without a page lead to the forge', () => {
    expect(older('index.html')).toContain(`href="${FORGE}/README.md">Source of this page</a>`);
    expect(older('guides/tenants.html')).toContain(`href="${FORGE}/docs/guides/tenants.md"`);
    expect(older('index.html')).toContain(`href="${FORGE}/deploy/examples/library"`);
  });

  test('without it, no page has a source', () => {
    expect(pages().filter((page) => textOf(page).includes('Source of this page'))).toEqual([]);
    expect(textOf('index.html')).toContain('<a title="deploy/examples/library">');
  });
});

test('a site for a look has no list of versions to read', () => {
  const folder = join(versions, 'look');
  execFileSync(process.execPath, [join(import.meta.dirname, 'build.ts'), '--out', folder]);
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  rmSync(folder, { recursive: true });
  expect(page).toContain(`>${project.version}</span>`);
  expect(page).not.toContain('versions.js');
});

describe.skipIf(!HAS_BROWSER)(`in a browser${REASON}`, () => {
  const server = serveFolder(versions);
  let browser: Browser;
  let page: Page;
  let address: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/${project.version}`;
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

  test.each([
    [project.version, 'guides/tenants.html', OLDER, 'guides/tenants.html'],
    [project.version, 'guides/limits.html', OLDER, 'index.html'],
    [OLDER, 'guides/tenants.html', NEWER, 'guides/tenants.html'],
  ])('the menu of versions leads from %s of %s to %s of %s', async (version, from, other, to) => {
    const root = new URL('..', `${address}/`).href;
    await page.resize(400, 800);
    await page.go(`${root}${version}/${from}`);
    const link = `[...document.querySelectorAll('.version a')].find((one) => one.textContent === ${JSON.stringify(other)})`;
    await page.until(`${link} && !document.querySelector(".navigation").open`);
    const sent = `performance.getEntriesByType('resource').some(({ name }) => name.endsWith(${JSON.stringify(`${other}/${from}`)}))`;
    await page.evaluate('document.querySelector(".version summary").click()');
    await page.until(sent);
    const href = `${root}${other}/${to}`;
    await page.until(`${link}.href === ${JSON.stringify(href)}`);
    await page.evaluate(`${link}.click()`);
    await page.until(`location.href === ${JSON.stringify(href)} && document.querySelector('h1')`);
  });

  test('the first page of all versions leads to the newest', async () => {
    await page.go(new URL('..', `${address}/`).href);
    await page.until(`location.pathname === '/${NEWER}/index.html' && document.querySelector('h1')`);
  });
});
