/** Rules for the looks of every page, on names as long as Postgres lets them be, in a narrow and a wide window: nothing is wider than the window, no
 *  control covers another one, links have the colour of the console, and the title of the tab says which page it is. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ConsoleWorld, HAS_BROWSER, REASON, TIMEOUT_MS } from './testing/console.ts';
import { pagesOf } from './testing/pages.ts';
import { startWorld, type World } from './testing/worlds.ts';

const LONG = 'a_name_as_long_as_postgres_lets_it_be_that_has_63_characters_xx';
const OTHER = LONG.replace('a_name', 'b_name');
const select = (role: string) => ({
  role,
  permission: { columns: '*', filter: { [LONG]: 'X-Engine-User-Id' } },
});
const ROLES = [LONG.replaceAll('_', '-'), OTHER] as const;

const LONG_NAMES: World = {
  name: 'long names',
  load: () => {},
  sql: [LONG, OTHER]
    .map(
      (name) => `create table ${name} (id int primary key references ${LONG}, ${LONG} text);
        insert into ${name} select i, repeat('word_', 80) from generate_series(1, 3) i`,
    )
    .join(';'),
  tables: [
    {
      table: { schema: 'public', name: LONG },
      array_relationships: [
        {
          name: OTHER,
          using: { foreign_key_constraint_on: { table: { schema: 'public', name: OTHER }, column: 'id' } },
        },
      ],
      select_permissions: ROLES.map(select),
    },
    { table: { schema: 'public', name: OTHER }, select_permissions: ROLES.map(select) },
  ],
  roles: ROLES,
  table: { schema: 'public', name: LONG },
};

/** An expression for the texts of controls in the window that another control covers. */
const COVERED = `[...document.querySelectorAll('main :is(a, button, input, select, textarea)')].filter((control) => {
  const isGraphiql = control.closest('.graphiql-container');
  const { left, top, width, height } = control.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const found = document.elementFromPoint(x, y)?.closest('a, button, input, select, textarea');
  return !isGraphiql && width > 1 && found && !found.contains(control) && !control.contains(found) && isVisible(control, x, y);
}).map((control) => control.outerHTML.slice(0, 200))`;
/** Returns false for a point of an element that an ancestor which scrolls does not show. */
const IS_VISIBLE = `function isVisible(element, x, y) {
  for (let each = element.parentElement; each; each = each.parentElement) {
    const { left, right, top, bottom } = each.getBoundingClientRect();
    const isClipped = getComputedStyle(each).overflow !== 'visible' || each.tagName === 'svg';
    if (isClipped && (x < left || x > right || y < top || y > bottom)) return false;
  }
  return true;
}`;
const DEFAULT_LINKS = `[...document.querySelectorAll('main a[href]')].filter((a) => /^rgb\\(0, 0, 238\\)|rgb\\(158, 158, 255\\)$/.test(getComputedStyle(a).color)).map((a) => a.outerHTML.slice(0, 200))`;
const FAILED = `performance.getEntriesByType('resource').filter(({ responseStatus }) => responseStatus >= 400).map(({ name }) => name)`;

describe.skipIf(!HAS_BROWSER)(`the looks of every page${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  const titles = new Map<string, string>();
  beforeAll(async () => {
    world = await startWorld(LONG_NAMES);
  }, TIMEOUT_MS);
  afterAll(() => world?.close());

  test.each(pagesOf(LONG_NAMES))('$title', async ({ title, path, isShown }) => {
    const page = await world.browser.newPage();
    await page.prefer('light');
    await page.resize(400, 900);
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    await page.until(isShown);
    await page.until('document.documentElement.scrollWidth <= 400');
    await page.evaluate(`${IS_VISIBLE}; globalThis.isVisible = isVisible; 0`);
    expect(await page.evaluate(COVERED)).toEqual([]);
    await page.resize(1440, 900);
    await page.until(`innerWidth === 1440 && (${isShown})`);
    expect(await page.evaluate(COVERED)).toEqual([]);
    expect(await page.evaluate(DEFAULT_LINKS)).toEqual([]);
    expect(await page.evaluate(FAILED)).toEqual([]);
    const shown = await page.evaluate<string>('document.title');
    expect(shown.endsWith(`${title.split(',')[0]} – Pergola`)).toBe(true);
    expect(titles.get(shown) ?? title).toBe(title);
    titles.set(shown, title);
    await page.close();
  });

  test('a long value ends with an ellipsis, and is shown whole on request', async () => {
    const page = await world.browser.newPage();
    await page.go(`${world.engine.url}/console/data?table=${LONG}#admin-secret=${world.engine.adminSecret}`);
    await page.until(`document.querySelector('.whole-text')`);
    const hidden = `(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)(document.querySelector('td:has(.whole-text) .cell'))`;
    expect(await page.evaluate<number>(hidden)).toBeGreaterThan(10);
    await page.evaluate(`document.querySelector('.whole-text').focus()`);
    await page.pressEnter();
    await page.until(`${hidden} <= 1`);
    await page.close();
  });
});
