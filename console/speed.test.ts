/** The pages on a huge model: the bytes that each one needs, the time until the first paint, and the longest task of the browser. Times are those of
 *  the fastest of three, on a usual machine. Not here: what a user does on an open page (steps.test.ts). PERGOLA_FIGURES names a file for the figures, which then are those of all models (.ci/page-speed.ts). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isWithin } from '../testing/machine-speed.ts';
import { type ConsoleWorld, HAS_BROWSER, REASON, TIMEOUT_MS } from './testing/console.ts';
import { MOST_TASK_MS, measurePage, type PageFigures, recordFigures } from './testing/page-figures.ts';
import { pagesOf } from './testing/pages.ts';
import { startWorld, WORLDS } from './testing/worlds.ts';

const MOST_BYTES = 1.2e6;
/** The most bytes of the page with the editor. */
const MOST_EDITOR_BYTES = 2e6;
const MOST_PAINT_MS = 1000;
const TRIES = 3;
const IS_RECORDED = process.env['PERGOLA_FIGURES'] !== undefined;
const MEASURED = WORLDS.filter(({ name }) => IS_RECORDED || name === 'a huge model');

describe.skipIf(!HAS_BROWSER).each(MEASURED)(`pages on $name${REASON}`, { timeout: TIMEOUT_MS }, (given) => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startWorld(given);
  }, TIMEOUT_MS);
  afterAll(() => world?.close());

  test.each(pagesOf(given))('/$path', async ({ path, title, isShown }) => {
    const tries: PageFigures[] = [];
    const isQuick = ({ taskMs, paintMs }: PageFigures) =>
      isWithin(taskMs, MOST_TASK_MS) && isWithin(paintMs, MOST_PAINT_MS);
    do tries.push(await measurePage(world, { path, isShown }));
    while (tries.length < TRIES && !tries.some(isQuick));
    const best = (of: 'paintMs' | 'taskMs') => Math.min(...tries.map((each) => each[of]));
    const figures = { bytes: tries[0]!.bytes, paintMs: best('paintMs'), taskMs: best('taskMs') };
    recordFigures(given.name, title, figures);
    expect(figures.bytes).toBeGreaterThan(0);
    expect(figures.bytes).toBeLessThan(path === '' ? MOST_EDITOR_BYTES : MOST_BYTES);
    expect(tries.some(isQuick), JSON.stringify(figures)).toBe(true);
  });
});
