/** Tests the page Ownership in a real browser: resources and their objects, objects without one, versions with their difference, and going back; as text, in
 *  any width and scheme, by keyboard. axe-core finds no violation. */
import { beforeAll, describe, expect, test } from 'vitest';
import {
  CONSOLE_SECRET,
  HAS_BROWSER,
  MARKUP,
  press,
  REASON,
  SOME_WINDOWS,
  screenshot,
  shows,
  TIMEOUT_MS,
  trackTable,
  useConsole,
  violations,
} from './testing/console.ts';

const BOOK = 'table/default/public/book';
/** Resources are in the order of their names, and the one with markup is before `Table shop/book`. */
const BOOK_OWNER = '[aria-label="Resources"] tbody tr:nth-child(2) th button';

describe.skipIf(!HAS_BROWSER)(`the page Ownership in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const { database, engine, page } = useConsole(
    `create table book (id int primary key, title text, owner text); create table "${MARKUP}" (id int primary key)`,
    { consoleSecret: CONSOLE_SECRET, consoleMode: 'edit', unauthorizedRole: 'reader' },
  );

  beforeAll(async () => {
    await trackTable(engine, MARKUP);
    await trackTable(engine, 'book');
    const permission = { columns: ['id'], filter: { title: { _eq: MARKUP } } };
    const of = { source: 'default', table: { schema: 'public', name: 'book' }, role: 'reader' };
    await engine.admin('pg_create_select_permission', { ...of, permission });
    const entry = {
      manager: 'm',
      uid: '1',
      cr: 'Table shop/book',
      generation: 3,
      hash: 'h',
      deletionPolicy: 'Delete',
    };
    const objects = {
      [BOOK]: entry,
      'table/default/public/gone': { ...entry, cr: `Table shop/${MARKUP}`, isPruneHeld: true },
    };
    const old = { manager: 'm', cr: 'Table shop/old', releasedAt: '2026-01-01T00:00:00Z' };
    const bad = { manager: 'm', reason: 'RejectedByEngine', message: MARKUP, since: '2026-01-03T00:00:00Z' };
    const unserved = { 'TablePermission shop/bad': bad };
    const spec = { table: 'book', comment: `${MARKUP}\nsecond line`, url: { value: '(hidden)' } };
    const manifest = { apiVersion: 'pergola.dev/v1alpha1', kind: 'Table', metadata: { name: 'book' }, spec };
    const manifests = {
      'Table shop/book': { manager: 'm', manifest: JSON.stringify(manifest) },
      'TablePermission shop/bad': { manager: 'm', manifest: '' },
    };
    const state = {
      manager: 'm',
      objects,
      unserved,
      manifests,
      reservations: { 'table/default/public/old': old },
    };
    await engine.admin('set_catalog_state', { type: 'operator', state });
  }, TIMEOUT_MS);

  const open = async (query = '', secret = `admin-secret=${engine.adminSecret}`) => {
    await page.go(`${engine.url}/console/ownership?${query}#${secret}`);
    await page.until(`document.querySelector('.views')`);
    await page.until(`document.querySelector('tbody th')`);
  };
  const text = () => page.evaluate<string>('document.querySelector("main").innerText');
  const pressFirst = async (selector: string) => {
    await page.evaluate(`document.querySelector('${selector}').focus()`);
    await page.pressEnter();
  };

  test('resources are listed with what they own, and an object with its definition', async () => {
    await open();
    expect(await text()).toContain('deletion of 1 waits for a confirmation');
    expect(await text()).toContain('1 missing in the engine');
    expect(await text()).toContain(`TablePermission shop/bad\tRejectedByEngine\t${MARKUP}`);
    expect(await text()).toContain('table/default/public/old');
    await pressFirst(BOOK_OWNER);
    await page.until(`document.querySelector('.object button')`);
    await pressFirst('.object button');
    await page.until(shows('"name": "book"'));
    expect(await page.evaluate('location.search')).toBe('?resource=Table+shop%2Fbook');
    await open('resource=Table+shop%2Fbook');
    await page.until(shows(BOOK));
  });

  test('an opened resource shows its YAML, which can be copied, also with the console secret', async () => {
    await open('resource=Table+shop%2Fbook', `console-secret=${CONSOLE_SECRET}`);
    await page.until(shows('kind: Table'));
    const yaml = await page.evaluate<string>(`document.querySelector('[aria-label^="YAML of"]').textContent`);
    expect(yaml).toBe(
      `apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata:\n  name: book\nspec:\n  table: book\n  comment: |-\n    ${MARKUP}\n    second line\n  url:\n    value: (hidden)\n`,
    );
    expect(await text()).toContain('Values that may be secrets, or data, are hidden.');
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
    // Only what a person does may write to the clipboard.
    await pressFirst('.manifest button');
    await page.until(shows('Copied.'));
  });

  test('a resource without YAML says why, and one that is not served opens as well', async () => {
    await open(`resource=${encodeURIComponent(`Table shop/${MARKUP}`)}`);
    await page.until(shows('The operator has not stored the YAML of this resource here.'));
    await pressFirst('[aria-label="Not served as written"] tbody th button');
    await page.until(shows('The YAML of this resource is too long to be stored in the engine.'));
  });

  test('objects without a resource are listed, and names with markup are text', async () => {
    await open('view=unowned');
    expect(await text()).toContain('3 objects belong to no custom resource');
    expect(await text()).toContain(MARKUP);
    await open();
    expect(await text()).toContain(`Table shop/${MARKUP}`);
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
  });

  test('versions have their authors and what changed, with the console secret as well', async () => {
    await open('view=revisions', `console-secret=${CONSOLE_SECRET}`);
    await page.until(shows('One object differs.'));
    expect(await text()).toContain('select_permission/default/public/book/reader added');
    // The difference is as wide as the list above it.
    const lefts = `[...document.querySelectorAll('[aria-label="Versions"], .difference')].map((each) => each.getBoundingClientRect().left)`;
    const [list, difference] = await page.evaluate<readonly number[]>(lefts);
    expect(difference).toBe(list);
    expect(await text()).toContain('+       "title": {');
    expect(await text()).not.toContain('Go back to version');
    await page.evaluate(`document.querySelectorAll('tbody button')[1].focus()`);
    await page.pressEnter();
    await page.until(shows(`${BOOK} added`));
    expect(await text()).toContain('owned by Table shop/book');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('What changed');
    expect(await page.evaluate('document.activeElement.getBoundingClientRect().top < innerHeight')).toBe(
      true,
    );
  });

  test('an administrator goes back to a version in an editable console, after a check, where no operator manages the engine', async () => {
    await open('view=revisions');
    await page.until(shows('An operator manages this engine'));
    expect(await page.evaluate(`document.querySelector('.roll-back button')`)).toBe(null);
    await engine.admin('patch_catalog_state', { type: 'operator', patch: { manager: null } });
    await open('view=revisions');
    await page.until(`document.querySelector('.roll-back button')`);
    await press(page, 'Check');
    await page.until(shows('Every object would be consistent.'));
    const removed = 'select_permission/default/public/book/reader removed';
    await page.until(`document.querySelector('.roll-back').innerText.includes('${removed}')`);
    await engine.admin('reload_metadata', {});
    await press(page, 'Go back now');
    await page.until(shows('The metadata has changed since. Check it again.'));
    await press(page, 'Check');
    await page.until(shows('Every object would be consistent.'));
    await press(page, 'Go back now');
    await page.until(shows('rollback_metadata'));
    const { body } = await engine.admin('export_metadata', {});
    expect(JSON.stringify(body)).not.toContain('select_permissions');
    await page.until(shows('select_permission/default/public/book/reader removed'));
  });

  test('going back to a version with a table that is gone names it, and leaves it out', async () => {
    await engine.admin('patch_catalog_state', { type: 'operator', patch: { manager: null } });
    await database.sql(`alter table "${MARKUP}" rename to away`);
    await engine.admin('reload_metadata', {});
    await open('view=revisions');
    await page.until(`document.querySelector('.roll-back button')`);
    await press(page, 'Check');
    await page.until(shows(`no such table/view exists in source: "${MARKUP}"`));
    await press(page, 'Go back without them');
    await page.until(`!document.querySelector('.roll-back').innerText.includes('Go back without them')`);
    const { body } = await engine.admin<{ inconsistent_objects: object[] }>('get_inconsistent_metadata', {});
    expect(body.inconsistent_objects).toHaveLength(1);
    await database.sql(`alter table away rename to "${MARKUP}"`);
    await engine.admin('reload_metadata', {});
  });

  test('requests without credentials see nothing', async () => {
    await page.go(`${engine.url}/console/ownership`);
    await page.until(`document.querySelector('.sign-in')`);
    await press(page, 'Go on without signing in');
    await page.until(shows('for administrators and the console secret'));
    expect(await page.evaluate('document.querySelectorAll(".views").length')).toBe(0);
  });

  test.each(SOME_WINDOWS)(
    '%i px, %s: axe-core finds nothing, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 1000);
      await page.prefer(scheme);
      for (const view of ['', 'unowned', 'revisions']) {
        await open(`view=${view}`);
        if (view === 'revisions') await page.until(shows('One object differs.'));
        else await pressFirst(view === '' ? BOOK_OWNER : 'tbody th button');
        if (view === '') {
          await page.until(`document.querySelector('.object button')`);
          await pressFirst('.object button');
        }
        if (view !== 'revisions') await page.until(`document.querySelector('.scrolling')`);
        expect([view, await violations(page)]).toEqual([view, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await screenshot(page, `ownership-${view || 'resources'}-${width}-${scheme}`);
      }
    },
  );
});
