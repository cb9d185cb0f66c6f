/** Tests links to what does not exist, or does no longer: the page names it. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConsoleWorld,
  HAS_BROWSER,
  REASON,
  startConsole,
  TIMEOUT_MS,
  trackTable,
} from './testing/console.ts';

const LINKS = [
  ['access?role=nobody', 'No permission names the role nobody.'],
  ['access?role=reader&compare=nobody', 'No permission names the role nobody.'],
  ['access?role=reader&table=nothing', 'No table has this name.'],
  ['model/table/default/public/gone', 'the metadata has no object with the key table/default/public/gone.'],
  ['data?table=gone', 'The role cannot list gone, or there is no such table.'],
  [
    'data?table=book&filters=%5Bxx&page=-5',
    'The link is not whole: it says filters and page, which cannot be read.',
  ],
  ['activity?view=nothing', 'Activity has no view nothing.'],
  ['activity?view=constructor', 'Activity has no view constructor.'],
  ['ownership?view=versions', 'Ownership has no view versions.'],
  ['ownership?resource=Table+shop%2Fgone', 'No resource Table shop/gone owns an object'],
  ['nothing/at/all', 'The console has no page nothing/at/all.'],
  ['activity?view=events', 'The metadata has no event trigger. Change has a form for one.'],
  ['ownership?find=gone', 'Nothing has this name.'],
] as const;

describe.skipIf(!HAS_BROWSER)(`links to what does not exist${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsole('create table book (id int primary key)');
    await trackTable(world.engine, 'book', { reader: ['id'] }, {});
    const entry = {
      ...{ manager: 'm', uid: '1', cr: 'Table shop/book', generation: 1, hash: 'h' },
      deletionPolicy: 'Delete',
    };
    const state = { manager: 'm', objects: { 'table/default/public/book': entry } };
    await world.engine.admin('set_catalog_state', { type: 'operator', state });
  }, TIMEOUT_MS);
  afterAll(() => world?.close());

  test.each(LINKS)('/%s', async (path, sentence) => {
    const page = await world.browser.newPage();
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    await page.until(`document.querySelector('main')?.innerText.includes(${JSON.stringify(sentence)})`);
    expect(await page.evaluate(`document.title.endsWith('Pergola')`)).toBe(true);
    await page.close();
  });
});
