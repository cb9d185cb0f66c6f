/** Tests the page Activity in a real browser: the last hour from the engine's memory, logs that are read on request only, an event that is delivered again,
 *  subscriptions with what they cost; as text, in any width and scheme, by keyboard. axe-core finds no violation. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import type { TestDatabase } from '../testing/database.ts';
import type { TestEngine } from '../testing/engine.ts';
import { TestWebhook } from '../testing/webhook.ts';
import { openSocket, type TestSocket } from '../testing/websocket.ts';
import {
  CONSOLE_SECRET,
  type ConsoleWorld,
  HAS_BROWSER,
  MARKUP,
  press,
  REASON,
  SOME_WINDOWS,
  screenshot,
  shows,
  startConsole,
  TIMEOUT_MS,
  trackTable,
  violations,
} from './testing/console.ts';

describe.skipIf(!HAS_BROWSER)(`the page Activity in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  let engine: TestEngine;
  let database: TestDatabase;
  let webhook: TestWebhook<unknown>;
  let socket: TestSocket;
  let page: Page;

  beforeAll(async () => {
    webhook = await TestWebhook.start();
    webhook.reply = () => ({ status: 500 });
    world = await startConsole(
      `create table book (id int primary key, title text, owner text); insert into book values (1, '${MARKUP}', 'ann')`,
      {
        ...{ consoleSecret: CONSOLE_SECRET, consoleMode: 'edit', env: { HOOK: webhook.url } },
        ...{ eventsFetchInterval: 50, asyncActionsFetchInterval: 50, unauthorizedRole: 'reader' },
      },
    );
    ({ engine, database } = world);
    await trackTable(engine, 'book', { reader: ['id', 'title'] });
    const retry = { num_retries: 0, interval_sec: 1, timeout_sec: 5 };
    const on = { name: 'on_book', table: 'book', webhook: '{{HOOK}}', insert: { columns: '*' } };
    await engine.must('pg_create_event_trigger', { ...on, retry_conf: retry });
    const cron = { name: 'nightly', schedule: '0 3 * * *', webhook: '{{HOOK}}', include_in_metadata: true };
    await engine.must('create_cron_trigger', { ...cron, payload: { note: MARKUP } });
    const past = new Date(Date.now() - 1000).toISOString();
    const once = { webhook: '{{HOOK}}', schedule_at: past, payload: { note: 'once' } };
    await engine.must('create_scheduled_event', { ...once, retry_conf: { num_retries: 0 } });
    await engine.must('set_custom_types', {
      objects: [{ name: 'Done', fields: [{ name: 'id', type: 'Int' }] }],
    });
    const definition = { kind: 'asynchronous', output_type: 'Done', handler: '{{HOOK}}' };
    const withInput = { ...definition, arguments: [{ name: 'note', type: 'String!' }] };
    await engine.must('create_action', { name: 'work', definition: withInput });
    await engine.graphql('mutation ($note: String!) { work(note: $note) }', { variables: { note: MARKUP } });
    await engine.graphql('query Titles { book { title } }');
    const reader = { 'x-engine-role': 'reader', 'x-engine-user-id': 'ann' };
    const shop = { ...reader, 'graphql-client-name': MARKUP };
    await engine.graphql('query Names { book { id } }', { headers: shop });
    await engine.graphql('query Names { book { id title } }', { headers: reader });
    await engine.graphql('{ missing }');
    await database.sql(`insert into book values (2, '${MARKUP}', 'bob')`);
    socket = await openSocket(engine.url, 'graphql-transport-ws');
    const headers = { 'x-engine-admin-secret': engine.adminSecret };
    socket.send({ type: 'connection_init', payload: { headers } });
    await socket.next();
    socket.send({ type: 'subscribe', id: '1', payload: { query: 'subscription { book { id } }' } });
    await socket.next();
  }, TIMEOUT_MS);

  afterAll(async () => {
    socket?.close();
    await world?.close();
    await webhook?.close();
  });

  beforeEach(async () => {
    page = await world.browser.newPage();
    await page.resize(1440, 900);
  });

  const open = async (query = '', secret = `admin-secret=${engine.adminSecret}`) => {
    await page.go(`${engine.url}/console/activity?${query}#${secret}`);
    await page.until(`document.querySelector('.views')`);
  };
  const text = () => page.evaluate<string>('document.querySelector("main").innerText');
  const readLog = async () => {
    await page.until(`document.querySelector('form button:not(:disabled)')`);
    await page.evaluate(`document.querySelector('form button').focus()`);
    await page.pressEnter();
    await page.until(`document.querySelector('tbody th button')`);
  };
  const openEntry = async () => {
    await page.evaluate(`document.querySelector('tbody th button').focus()`);
    await page.pressEnter();
    await page.until(`document.querySelector('.details')`);
  };

  test('the last hour shows rates, errors, sources and slow operations', async () => {
    await open();
    await page.until(`document.querySelectorAll('.chart').length === 6`);
    await page.until(shows('Titles'));
    for (const part of ['validation-failed', 'query: ', 'p95: ', 'subscriptions: 1']) {
      expect(await text()).toContain(part);
    }
    const source = await page.evaluate<string>(
      `[...document.querySelectorAll('[aria-label=Sources] tbody tr')].map((row) => row.innerText).join()`,
    );
    expect(source).toMatch(/^default\s+\d+\s+[\d.]+ ms\s+\d+ of 50/);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(engine.adminSecret);
  });

  test('the log of an event trigger is read on request; an event shows its attempts and is delivered again', async () => {
    await open('view=events&source=default&name=on_book');
    expect(await text()).toContain('Nothing is read until you press the button.');
    expect(await page.evaluate('document.querySelectorAll("tbody").length')).toBe(0);
    await expect
      .poll(async () => (await database.sql('select error from pergola.event_log'))[0]!['error'])
      .toBe(true);
    await readLog();
    expect(await text()).toContain('failed');
    await openEntry();
    await page.until(shows('status 500'));
    expect(await text()).toContain(MARKUP);
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
    const before = webhook.received.length;
    webhook.reply = () => ({ status: 200 });
    await press(page, 'Deliver again');
    await expect.poll(() => webhook.received.length).toBe(before + 1);
    await expect
      .poll(async () => (await database.sql('select delivered from pergola.event_log'))[0]!['delivered'])
      .toBe(true);
    await readLog();
    expect(await text()).toContain('delivered');
  });

  test('scheduled events have their attempts, one-off ones and those of a cron trigger', async () => {
    await open('view=scheduled&source=one_off');
    await readLog();
    await openEntry();
    await page.until(shows('status 500'));
    expect(await text()).toContain('"note": "once"');
    await open('view=events&source=default&name=nope&status=bogus');
    await page.until(shows('There is no event trigger default nope.'));
    await open('view=events&source=default&name=on_book&status=bogus');
    await page.until(shows('There is no state bogus.'));
    await open('view=scheduled&source=cron&name=nightly');
    await press(page, 'Read the log');
    await page.until(shows('The log has no such entry.'));
    await open('view=scheduled&source=cron&name=nightly&status=scheduled');
    await readLog();
    expect(await page.evaluate(`document.querySelectorAll('tbody th').length`)).toBeGreaterThan(1);
  });

  test('calls of asynchronous actions have their request and response', async () => {
    await open('view=actions');
    await readLog();
    await openEntry();
    expect(await text()).toContain(JSON.stringify(MARKUP));
    expect(await text()).toContain('internal error');
  });

  test('subscriptions are listed with their statement and cost', async () => {
    await open('view=subscriptions');
    await page.until(shows('1 running, 1 as admin.'));
    await openEntry();
    expect(await text()).toContain('"public"."book"');
    expect(await text()).toMatch(/live query 1\s+default\s+1\s+1\s+1 s/);
  });

  test('the console is a client with a name', async () => {
    await page.go(`${engine.url}/console/data?table=book#admin-secret=${engine.adminSecret}`);
    await page.until(`document.querySelector('tbody')`);
    await open('view=usage&role=admin');
    await page.until(`/Rows\\s+pergola-console/.test(document.querySelector('main').innerText)`);
  });

  test('clients have their operations and the fields that they use, also with the console secret', async () => {
    await open('view=usage&role=reader', `console-secret=${CONSOLE_SECRET}`);
    await page.until(`document.querySelectorAll('[aria-label=Operations] tbody tr').length === 2`);
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
    const openRow = async (grid: string, row: string) => {
      const rows = `[...document.querySelectorAll('[aria-label=${grid}] tbody tr')]`;
      await page.evaluate(
        `${rows}.find((each) => each.innerText.includes(${JSON.stringify(row)})).querySelector('button').focus()`,
      );
      await page.pressEnter();
      await page.until(`document.querySelector('[aria-label=${grid}] .details li')`);
      return page.evaluate<string>(`document.querySelector('[aria-label=${grid}] .details').innerText`);
    };
    const fields = await openRow('Operations', MARKUP);
    expect(fields).toContain('book.id');
    expect(fields).not.toContain('book.title');
    const clients = await openRow('Fields', 'book.title');
    expect(clients).toContain('Client without a name: Names (1)');
    expect(clients).not.toContain(MARKUP);
    await page.evaluate(`document.querySelector('[name=coordinate]').focus()`);
    await page.type('book.title');
    await page.pressEnter();
    await page.until(`document.querySelectorAll('[aria-label=Operations] tbody tr').length === 1`);
    expect(await page.evaluate('location.search')).toBe('?view=usage&role=reader&coordinate=book.title');
  });

  test('the console secret sees rates and names, and no log', async () => {
    const secret = `console-secret=${CONSOLE_SECRET}`;
    await open('', secret);
    await page.until(shows('Titles'));
    await open('view=events&source=default&name=on_book', secret);
    await page.until(shows('Event triggers: on_book (book).'));
    expect(await page.evaluate('document.querySelectorAll("form").length')).toBe(0);
  });

  test('requests without credentials see nothing', async () => {
    await page.go(`${engine.url}/console/activity`);
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
      for (const view of ['', 'events', 'scheduled', 'actions', 'subscriptions', 'usage']) {
        const name = { events: '&source=default&name=on_book', scheduled: '&source=one_off' }[view] ?? '';
        await open(`view=${view}${name}`);
        if (view === '') await page.until(shows('Titles'));
        else if (view !== 'subscriptions' && view !== 'usage') await readLog();
        if (view !== '') {
          await page.until(`document.querySelector('tbody th button')`);
          await openEntry();
        }
        if (view === 'events' || view === 'scheduled') await page.until(`document.querySelector('.attempt')`);
        expect([view, await violations(page)]).toEqual([view, []]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await screenshot(page, `activity-${view || 'hour'}-${width}-${scheme}`);
      }
    },
  );
});
