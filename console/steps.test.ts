/** Steps of a user on each page, on a huge model with an owner for every object: none keeps the browser busy for long.
 *  Not here: opening a page (speed.test.ts). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import type { TestEngine } from '../testing/engine.ts';
import { isWithin } from '../testing/machine-speed.ts';
import {
  type ConsoleWorld,
  choose,
  EDITOR,
  fill,
  HAS_BROWSER,
  press,
  REASON,
  shows,
  TIMEOUT_MS,
} from './testing/console.ts';
import { longestTaskMs, MOST_TASK_MS, untilValidated } from './testing/page-figures.ts';
import { startWorld, WORLDS } from './testing/worlds.ts';

/** A step, and an expression that is true when the page shows its result. */
type Step = readonly [step: (page: Page) => Promise<unknown>, isShown: string];

const clickOn =
  (selector: string): Step[0] =>
  (page) =>
    page.evaluate(`document.querySelector(${JSON.stringify(selector)}).click()`);
const pressed =
  (button: string): Step[0] =>
  (page) =>
    press(page, button);
const find =
  (text: string): Step[0] =>
  (page) =>
    fill(page, `document.querySelector('main input[type=search]')`, text);
const chosen =
  (label: string, value: string): Step[0] =>
  (page) =>
    choose(
      page,
      `[...document.querySelectorAll('main label')].find(({ innerText }) => innerText.startsWith('${label}')).querySelector('select')`,
      value,
    );
/** The page is complete before the next step. */
const wait: Step[0] = async () => {};
const ROWS = `document.querySelectorAll('main tbody th').length`;
const READS = `!/Loading|Reading/.test(document.querySelector('main').innerText)`;

/** The steps on each page, by its address: each list, search and choice that depends on the size of the model. */
const STEPS: Readonly<Record<string, readonly Step[]>> = {
  access: [
    [wait, `document.querySelectorAll('main option').length > 94`],
    [chosen('Role', 'role_0'), `${ROWS} >= 100`],
    [chosen('Compare with', 'role_1'), `document.querySelector('.differs')`],
    [pressed('Show more of 250 tables'), `${ROWS} === 250`],
    [clickOn('tbody th button'), `document.querySelector('.why')`],
    [find('number_24'), `${ROWS} === 11`],
    [chosen('Role', 'admin'), shows('everything')],
  ],
  model: [
    [wait, `document.querySelector('.rows a')`],
    [find('number_1'), shows('111 objects')],
    [find('table_number_0'), shows('1 object')],
    [clickOn('.rows a'), `document.querySelector('article h2')`],
  ],
  'model/source/default': [
    [wait, `document.querySelector('article h2')`],
    [find('no_such_name'), shows('0 objects')],
  ],
  data: [
    [wait, `document.querySelectorAll('main option').length > 250`],
    [chosen('Table', 'table_number_0'), shows(' ms)')],
    [chosen('Table', 'table_number_1'), shows(' ms)')],
  ],
  ownership: [
    [wait, `${ROWS} > 0`],
    [pressed('Show more of 1000'), `${ROWS} >= 400`],
    [clickOn('[aria-label="Resources"] tbody th button'), `document.querySelector('.object button')`],
    [clickOn('.object button'), `document.querySelector('.scrolling')`],
    [find('table-1'), `${ROWS} > 0 && ${ROWS} < 400`],
    [clickOn('.views a[href$="unowned"]'), `${READS} && ${ROWS} >= 100`],
    [pressed('Show more of 1000'), `${ROWS} >= 200`],
    [clickOn('.views a[href$="revisions"]'), `document.querySelector('main .object-change')`],
    [pressed('Show more of 1000'), `document.querySelectorAll('main .object-change').length >= 50`],
    [clickOn('.views a[href$="tests"]'), `${READS} && document.querySelector('main p')`],
  ],
  activity: ['events', 'scheduled', 'actions', 'subscriptions', 'usage'].map((view) => [
    clickOn(`.views a[href$="${view}"]`),
    READS,
  ]),
  change: ['Table', 'Relationship', 'Action', 'RemoteSchema'].map((kind) => [
    chosen('Kind', kind),
    `document.querySelector('.change legend')`,
  ]),
};

const search = `document.querySelector('.pane input[type=search]')`;
const complete = `__MONACO.editor.getEditors()[0].trigger('test', 'editor.action.triggerSuggest', {})`;
const show = (title: string) => clickOn(`button[aria-label="Show ${title}"]`);
const STEPS_OF_EXPLORE: readonly Step[] = [
  [show('Build'), `document.querySelectorAll('.pane .tick').length >= 50`],
  [show('Documentation'), `document.querySelectorAll('.docs li').length >= 50`],
  [
    (page) => fill(page, search, 'no_such_name'),
    `document.querySelector('.docs').innerText.includes('Nothing has')`,
  ],
  [(page) => fill(page, search, 'query_root'), `document.querySelectorAll('.docs li').length === 1`],
  [
    (page) =>
      page.evaluate(
        `[...document.querySelectorAll('.pane .link')].find((each) => each.innerText === 'query_root').click()`,
      ),
    `document.querySelectorAll('.docs li').length >= 50`,
  ],
  [
    (page) => fill(page, EDITOR, 'query { ').then(() => page.evaluate(complete)),
    `document.querySelector('.suggest-widget .monaco-list-row')`,
  ],
];

/** Writes a ledger in which a resource owns the objects of each table, and others are released, or are not served. Permissions have no owner. */
async function ownObjects(engine: TestEngine): Promise<void> {
  const { body } = await engine.admin('list_objects', {});
  const { objects: all } = body as { readonly objects: readonly { readonly key: string }[] };
  const manager = 'm';
  const entryOf = (key: string) => {
    const [, table = 'others'] = /(table_number_\d+)/.exec(key) ?? [];
    return { manager, cr: `Table shop/${table.replaceAll('_', '-')}`, generation: 1, hash: 'h' };
  };
  const many = Array.from({ length: 1000 }, (_, i) => `table-${i}`);
  const since = '2026-01-01T00:00:00Z';
  const bad = { manager, reason: 'RejectedByEngine', message: 'a message', since };
  const released = { manager, cr: 'Table shop/old', releasedAt: since };
  const state = {
    manager,
    objects: Object.fromEntries(all.map(({ key }) => [key, entryOf(key)])),
    unserved: Object.fromEntries(many.map((name) => [`Table shop/${name}`, bad])),
    reservations: Object.fromEntries(many.map((name) => [`table/default/public/${name}`, released])),
  };
  const { status } = await engine.admin('set_catalog_state', { type: 'operator', state });
  expect([all.length > 1000, status]).toEqual([true, 200]);
}

describe.skipIf(!HAS_BROWSER)(`steps of a user on a huge model${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startWorld(WORLDS.find(({ name }) => name === 'a huge model')!);
    await ownObjects(world.engine);
  }, TIMEOUT_MS);
  afterAll(() => world?.close());

  const opened = async (path: string, isShown: string) => {
    const page = await world.browser.newPage();
    await page.resize(1440, 900);
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    await page.until(isShown);
    return page;
  };

  /** Returns the time of the longest task of each step. */
  const tasksOf = async (page: Page, steps: readonly Step[]) => {
    const found: number[] = [];
    for (const [step, isShown] of steps) {
      const beganMs = await page.evaluate<number>('performance.now()');
      await step(page);
      await page.until(isShown);
      found.push(await longestTaskMs(page, beganMs));
    }
    await page.close();
    return found;
  };

  test.each(Object.entries(STEPS))('/%s', async (path, steps) => {
    const found = await tasksOf(await opened(path, `document.querySelector('main h1') && ${READS}`), steps);
    expect(isWithin(Math.max(...found), MOST_TASK_MS), JSON.stringify(found)).toBe(true);
  });

  test('Explore', async () => {
    const page = await opened('', EDITOR);
    await untilValidated(page);
    const found = await tasksOf(page, STEPS_OF_EXPLORE);
    expect(isWithin(Math.max(...found), MOST_TASK_MS), JSON.stringify(found)).toBe(true);
  });
});
