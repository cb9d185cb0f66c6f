/** Pages run one statement in a database for each request of a user: the rows of Data, the answer of why, and the log of an event trigger. That they run
 *  none when they are opened is tested in thousand-tables.test.ts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type CuttingProxy, openProxy } from '../engine/wire/testing/proxy.ts';
import type { Page } from '../testing/browser.ts';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import {
  type ConsoleWorld,
  choose,
  HAS_BROWSER,
  press,
  REASON,
  shows,
  startConsole,
  TIMEOUT_MS,
} from './testing/console.ts';

const BOOK = { schema: 'public', name: 'book' };

/** A page, an expression that is true when a user can ask, the request, and an expression that is true when the page shows the answer. */
const REQUESTS: readonly (readonly [
  path: string,
  isReady: string,
  ask: (page: Page) => Promise<unknown>,
  isShown: string,
])[] = [
  [
    'data',
    `document.querySelectorAll('main option').length > 1`,
    (page) => choose(page, `document.querySelector('main select')`, 'book'),
    shows(' ms)'),
  ],
  [
    'access?role=reader',
    `(document.querySelector('.why [name=key]') ?? document.querySelector('tbody button')?.click())?.value === '{"id": 1}'`,
    (page) => press(page, 'Explain'),
    `document.querySelector('.verdict')`,
  ],
  [
    'activity?view=events&source=shop&name=told',
    `[...document.querySelectorAll('button')].some((each) => each.innerText === 'Read the log' && !each.disabled)`,
    (page) => press(page, 'Read the log'),
    `document.querySelectorAll('[aria-label=Log] tbody tr').length > 0`,
  ],
];

describe.skipIf(!HAS_BROWSER)(`statements of pages${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  let source: TestDatabase;
  let proxy: CuttingProxy;
  beforeAll(async () => {
    source = await createDatabase();
    await source.sql(`create table book (id int primary key, title text, owner text);
      insert into book values (1, 'One', 'ann')`);
    proxy = await openProxy(source.url);
    // The engine itself sends none: it fetches no events, and does not check the database.
    world = await startConsole('', { eventsFetchBatchSize: 0, sourceCheckInterval: 0 });
    const connection_info = { database_url: proxy.url };
    await world.engine.must('pg_add_source', { name: 'shop', configuration: { connection_info } });
    await world.engine.must('pg_track_table', { source: 'shop', table: BOOK });
    const permission = { columns: ['id', 'title'], filter: { owner: { _eq: 'X-Engine-User-Id' } } };
    await world.engine.must('pg_create_select_permission', {
      source: 'shop',
      table: BOOK,
      role: 'reader',
      permission,
    });
    await world.engine.must('pg_create_event_trigger', {
      ...{ source: 'shop', table: BOOK, name: 'told' },
      ...{ webhook: 'http://127.0.0.1:9', insert: { columns: '*' } },
    });
    await source.sql(`insert into book values (2, 'Two', 'bob')`);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await world?.close();
    await proxy?.close();
    await source?.drop();
  });

  test.each(REQUESTS)('/%s', async (path, isReady, ask, isShown) => {
    const page = await world.browser.newPage();
    await page.resize(1440, 900);
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    await page.until(isReady);
    const before = proxy.executed;
    await ask(page);
    await page.until(isShown);
    expect(proxy.executed - before).toBe(1);
    await page.close();
  });
});
