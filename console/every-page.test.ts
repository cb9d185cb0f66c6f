/** Every page on every database of worlds.ts, in narrow and wide windows, light and dark: axe-core finds nothing on the whole page, GraphiQL
 *  included, and nothing is wider than the window. On large databases, which `npm run pages` adds, axe-core looks at the narrowest window in the
 *  dark and the widest in the light, because it takes seconds for a large page. */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import type { ConsoleWorld } from './testing/console.ts';
import { HAS_BROWSER, REASON, screenshot, violations, WINDOWS } from './testing/console.ts';
import { pagesOf } from './testing/pages.ts';
import { startWorld, WORLDS } from './testing/worlds.ts';

const IS_THOROUGH = process.env['PERGOLA_TEST_DATA'] !== undefined;
const SETTLING_MS = 3000;
const SETTLING_STEPS = 30;
const CORNERS = ['400 dark', '1440 light'];

/** Violations in GraphiQL's own markup, which no attribute or style of ours changes, by rule. */
const OF_GRAPHIQL: Readonly<Record<string, RegExp>> = {
  // A tab contains the buttons that open and close it; each of them is reached by keyboard.
  'nested-interactive': /^nested-interactive (?:<li [^>]*class="graphiql-tab[^>]*> [^<]*)+$/,
};

/** Returns the violations of the page without those of GraphiQL itself. */
async function ownViolations(page: Page): Promise<readonly string[]> {
  const found = await violations(page);
  return found.filter((text) => !OF_GRAPHIQL[text.split(' ')[0]!]?.test(text));
}

/** Returns the width of the content, once it fits or some time has passed: the editor follows the window after it. */
async function settledWidth(page: Page, most: number): Promise<number> {
  for (let left = SETTLING_STEPS; ; left--) {
    const width = await page.evaluate<number>('document.documentElement.scrollWidth');
    if (width <= most || left === 0) return width;
    await sleep(SETTLING_MS / SETTLING_STEPS);
  }
}

test('the list of pages has every page', () => {
  const source = readFileSync(new URL('page/page.jsx', import.meta.url), 'utf8');
  const pages = [...source.matchAll(/^ {2}('?)(\w*)\1: lazy/gm)].map(([, , name]) => name);
  expect(pages.length).toBeGreaterThan(5);
  const listed = new Set(pagesOf(WORLDS[0]!).map(({ path }) => path.split(/[/?]/)[0]));
  expect([...listed].sort()).toEqual(pages.sort());
});

const given = IS_THOROUGH ? WORLDS : WORLDS.filter(({ isSmall }) => isSmall);
describe.skipIf(!HAS_BROWSER).each(given)(`$name${REASON}`, { timeout: 120_000 }, (given) => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startWorld(given);
  }, 180_000);
  afterAll(() => world?.close());

  test.each(pagesOf(given))('/$path', async ({ path, isShown }) => {
    const page = await world.browser.newPage();
    await page.resize(1440, 900);
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    await page.until(isShown);
    const found: unknown[] = [];
    for (const [width, scheme] of WINDOWS) {
      await page.resize(width, 900);
      await page.prefer(scheme);
      await page.until(`innerWidth === ${width} && (${isShown})`);
      const scrollWidth = await settledWidth(page, width);
      if (scrollWidth > width) found.push([width, scheme, `is ${scrollWidth} px wide`]);
      const isLookedAt = given.isSmall || CORNERS.includes(`${width} ${scheme}`);
      const violating = isLookedAt ? await ownViolations(page) : [];
      for (const violation of violating) found.push([width, scheme, violation]);
      await screenshot(page, `${given.name}-${path}-${width}-${scheme}`.replaceAll(/\W/g, '-'));
    }
    expect(found).toEqual([]);
    await page.close();
  });
});
