/** Tests the page Model in a real browser: each object has an address that opens at it, the diagram and the list lead from table to table by mouse
 *  and keyboard, what is inconsistent is explained, names with markup are text, and axe-core finds no violation. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CONSOLE_SECRET,
  fill,
  HAS_BROWSER,
  press,
  REASON,
  SOME_WINDOWS,
  screenshot,
  shows,
  TIMEOUT_MS,
  useConsole,
  violations,
} from './testing/console.ts';

/** A name that would run if it were markup, with signs that addresses must escape. */
const MARKUP = '<img src=x onerror=document.title=1>/%?#';

const named = (name: string) => ({ schema: 'public', name });
const toOne = (name: string, column: string) => ({ name, using: { foreign_key_constraint_on: column } });
const toMany = (name: string, table: string, column: string) => ({
  name,
  using: { foreign_key_constraint_on: { table: named(table), columns: [column] } },
});

const TABLES = [
  { table: named('color'), is_enum: true },
  {
    table: named('author'),
    array_relationships: [toMany('books', 'book', 'author_id')],
  },
  {
    table: named('book'),
    object_relationships: [toOne('author', 'author_id'), toOne('lost', 'auther_id')],
    array_relationships: [toMany('loans', 'loan', 'book_id')],
    select_permissions: [{ role: 'reader', permission: { columns: ['id', 'tilte'], filter: {} } }],
  },
  { table: named('loan'), object_relationships: [toOne('book', 'book_id'), toOne('member', 'member_id')] },
  { table: named('member') },
  { table: named(MARKUP), configuration: { custom_name: 'odd' } },
];
const ACTION = {
  name: 'order',
  definition: { handler: 'https://hooks.example.test/the-secret-part', output_type: 'Order' },
};
const CUSTOM_TYPES = { objects: [{ name: 'Order', fields: [{ name: 'id', type: 'Int!' }] }] };

describe.skipIf(!HAS_BROWSER)(`the page Model in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const { database, engine, page } = useConsole(
    `create table color (name text primary key, meaning text);
      insert into color values ('red', 'stop');
      create table author (id int primary key, name text not null);
      comment on table author is '${MARKUP}';
      create table book (id int primary key, title text, author_id int references author, color text references color);
      create table member (id int primary key);
      create table loan (id int primary key, book_id int references book, member_id int references member);
      create table "${MARKUP}" (id int primary key, title text)`,
    { unauthorizedRole: 'reader', consoleSecret: CONSOLE_SECRET },
  );

  beforeAll(async () => {
    const source = {
      name: 'default',
      kind: 'postgres',
      configuration: { connection_info: { database_url: database.url } },
      tables: TABLES,
    };
    const metadata = { version: 3, sources: [source], actions: [ACTION], custom_types: CUSTOM_TYPES };
    const args = { metadata, allow_inconsistent_metadata: true };
    const { status } = await engine.admin('replace_metadata', args, { version: 2 });
    expect(status).toBe(200);
  }, TIMEOUT_MS);

  beforeEach(async () => {
    await page.go(`${engine.url}/console/model#console-secret=${CONSOLE_SECRET}`);
    await page.until(`document.querySelector('.rows a')`);
  });

  const open = async (key: string) => {
    await page.go(`${engine.url}/console/model/${key}`);
    await page.until(`document.querySelector('.object h1') && !document.querySelector('.object .loading')`);
  };
  const text = () => page.evaluate<string>('document.querySelector(".object").innerText');
  const title = () => page.evaluate<string>('document.querySelector(".object h1").innerText');
  const nodes = () =>
    page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('.node text:not(.detail)')].map((node) => node.textContent)`,
    );
  const path = () => page.evaluate<string>('location.pathname');

  test('a source lists all of its tables', async () => {
    await open('source/default');
    await page.until(shows(`Tables (${TABLES.length})`));
  });

  test('what is inconsistent is named with its cause and what to do', async () => {
    await page.until(shows('2 objects are inconsistent'));
    expect(await text()).toContain('Object relationship lost in book');
    expect(await text()).toContain('Did you mean "author_id"?');
    expect(await text()).toContain('Select permission reader in book');
    expect(await text()).toContain('Did you mean "title"?');
    await page.evaluate(`document.querySelector('.check input').click()`);
    await page.until(`document.querySelectorAll('.rows a').length === 1`);
    expect(await page.evaluate(`document.querySelector('.rows a').innerText`)).toBe('book inconsistent');
  });

  test('what has no effect is named too, on the pages that show the object', async () => {
    await database.sql('create table "two words" (id int primary key)');
    await engine.admin('pg_track_table', { source: 'default', table: named('two words') });
    await page.reload();
    await page.until(shows('One object does not do what it declares.'));
    await open('table/default/public/two%20words');
    await page.until(shows('Not as declared'));
    expect(await text()).toContain('"two words" is not a valid GraphQL name');
    await page.go(`${engine.url}/console/access?role=reader&table=two`);
    await page.until(shows('"two words" is not a valid GraphQL name'));
    await engine.admin('pg_untrack_table', { source: 'default', table: named('two words') });
  });

  test('the address of an object opens at it', async () => {
    await open('table/default/public/book');
    await page.until(shows('Columns (4)'));
    expect(await title()).toBe('book');
    expect(await text()).toContain('auther_id');
    expect(await text()).toContain('primary key');
    await open('object_relationship/default/public/book/author');
    await page.until(shows('in book → author'));
    await open('action/order');
    await page.until(shows('https://hooks.example.test…'));
    expect(await text()).not.toContain('the-secret-part');
    await open('table/default/public/color');
    await page.until(shows('Values (1)'));
  });

  test.each(['table/default/public/nothing', 'no-such-kind/a'])('%s is no object', async (key) => {
    await page.go(`${engine.url}/console/model/${key}`);
    await page.until(shows('the metadata has no object with the key'));
  });

  test('names with markup are text, and have an address', async () => {
    const key = `table/default/public/${encodeURIComponent(MARKUP)}`;
    await open(key);
    expect(await title()).toBe(MARKUP);
    await open('table/default/public/author');
    await page.until(shows(MARKUP));
    await page.evaluate(
      `[...document.querySelectorAll('.rows a')].find((link) => link.innerText.includes('<img')).click()`,
    );
    await page.until(`document.querySelector('.object h1').innerText.includes('<img')`);
    expect(await path()).toBe(`/console/model/${key}`);
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
    expect(await page.evaluate('document.title')).toMatch(/^<img.* – Model – Pergola$/);
  });

  test('the diagram shows related tables, expands them, and leads to them', async () => {
    await open('table/default/public/author');
    await page.until(`document.querySelector('.node')`);
    expect(await nodes()).toEqual(['author', 'book', '+1']);
    await page.evaluate(
      `document.querySelector('.more').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }))`,
    );
    await page.until(`document.querySelectorAll('.node').length === 3`);
    expect(await nodes()).toEqual(expect.arrayContaining(['author', 'book', 'loan', '+1']));
    await page.evaluate(
      `[...document.querySelectorAll('.node a')].find((node) => node.textContent.includes('loan')).dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }))`,
    );
    await page.until(`document.querySelector('.object h1').innerText === 'loan'`);
    expect(await path()).toBe('/console/model/table/default/public/loan');
    await page.evaluate('history.back()');
    await page.until(`document.querySelector('.object h1').innerText === 'author'`);
  });

  test('the diagram moves and zooms by keyboard', async () => {
    await open('table/default/public/book');
    // The diagram is as wide as the window leaves it, which a scroll bar changes.
    await page.until(shows('Columns (4)'));
    await page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    );
    const view = () =>
      page.evaluate<string>(`document.querySelector('.diagram svg > g').getAttribute('transform')`);
    const pressKey = (key: string) =>
      page.evaluate(
        `document.querySelector('.diagram svg').dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`,
      );
    const before = await view();
    await pressKey('ArrowLeft');
    await page.until(`document.querySelector('.diagram svg > g').getAttribute('transform') !== '${before}'`);
    const moved = await view();
    await pressKey('+');
    await page.until(`document.querySelector('.diagram svg > g').getAttribute('transform') !== '${moved}'`);
    await pressKey('0');
    await page.until(`document.querySelector('.diagram svg > g').getAttribute('transform') === '${before}'`);
  });

  test('the list is searched, and the arrow keys move in it', async () => {
    await fill(page, `document.querySelector('input[type=search]')`, 'or');
    await page.until(shows('5 objects'));
    const pressKey = (key: string) =>
      page.evaluate(
        `document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }))`,
      );
    await page.evaluate(`document.querySelector('.rows a[tabindex="0"]').focus()`);
    const focused = () => page.evaluate<string>('document.activeElement.innerText');
    const first = await focused();
    await pressKey('ArrowDown');
    await page.until(`document.activeElement.innerText !== ${JSON.stringify(first)}`);
    await pressKey('End');
    await page.until(`document.activeElement.innerText === 'Order'`);
    await page.pressEnter();
    await page.until(`document.querySelector('.object h1').innerText === 'Order'`);
  });

  test('the page is for those who see all roles', async () => {
    await press(page, 'Sign out');
    await page.until(`document.querySelector('.sign-in')`);
    await press(page, 'Go on without signing in');
    await page.until(shows('for administrators and the console secret'));
    expect(await page.evaluate('document.querySelectorAll(".rows").length')).toBe(0);
  });

  test.each(SOME_WINDOWS)(
    '%i px, %s: axe-core finds nothing, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 900);
      await page.prefer(scheme);
      for (const key of ['', 'table/default/public/book']) {
        await page.go(`${engine.url}/console/model/${key}`);
        await page.until(key === '' ? shows('Most related') : shows('Columns (4)'));
        expect(await violations(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await screenshot(page, `model-${key === '' ? 'start-' : ''}${width}-${scheme}`);
      }
    },
  );
});
