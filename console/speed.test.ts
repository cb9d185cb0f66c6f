/** The pages on a huge model: the bytes that each one needs, the time until the first paint, and the longest task of the browser. Times are those of
 *  the fastest of three, on a usual machine. PERGOLA_FIGURES=1 prints them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import { slowness } from '../testing/machine-speed.ts';
import { type ConsoleWorld, EDITOR, fill, HAS_BROWSER, REASON, TIMEOUT_MS } from './testing/console.ts';
import { pagesOf } from './testing/pages.ts';
import { startWorld, WORLDS } from './testing/worlds.ts';

const MOST_BYTES = 1.2e6;
/** The most bytes of the page with the editor. */
const MOST_EDITOR_BYTES = 2e6;
const MOST_PAINT_MS = 1000;
const MOST_TASK_MS = 200;
const TRIES = 3;

/** The files that were received: a thread of the editor that begins again has its file from the cache. */
const FILES = `performance.getEntriesByType('resource').filter(({ name, transferSize }) => name.includes('/console/assets/') && transferSize > 0)`;

/** Writes an operation and waits until the thread of the editor has found its mistake: then it has received the schema. */
async function untilValidated(page: Page): Promise<void> {
  await fill(page, EDITOR, 'query { nothing }');
  await page.until(`document.querySelector('.graphiql-query-editor .squiggly-error')`);
}

describe.skipIf(!HAS_BROWSER)(`pages on a huge model${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const given = WORLDS.find(({ name }) => name === 'a huge model')!;
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startWorld(given);
  }, TIMEOUT_MS);
  afterAll(() => world?.close());

  const measure = async (path: string, isShown: string) => {
    const page = await world.browser.newPage();
    await page.resize(1440, 900);
    await page.go(`${world.engine.url}/console/${path}#admin-secret=${world.engine.adminSecret}`);
    await page.until(isShown);
    if (path === '') await untilValidated(page);
    const bytes = await page.evaluate<number>(
      `${FILES}.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
    );
    const paintMs = await page.evaluate<number>(
      `performance.getEntriesByName('first-contentful-paint')[0].startTime`,
    );
    const taskMs = await page.evaluate<number>(`new Promise((resolve) => {
      const entries = (list) => resolve(Math.max(0, ...list.getEntries().filter(({ startTime }) => startTime > performance.timing.loadEventEnd - performance.timeOrigin).map(({ duration }) => duration)));
      new PerformanceObserver(entries).observe({ type: 'longtask', buffered: true });
      setTimeout(() => resolve(0), 500);
    })`);
    await page.close();
    return { bytes, paintMs, taskMs };
  };

  test.each(pagesOf(given))('/$path', async ({ path, isShown }) => {
    const tries: Awaited<ReturnType<typeof measure>>[] = [];
    const mostTaskMs = MOST_TASK_MS * slowness();
    const isQuick = ({ taskMs, paintMs }: (typeof tries)[number]) =>
      taskMs < mostTaskMs && paintMs < MOST_PAINT_MS;
    do tries.push(await measure(path, isShown));
    while (tries.length < TRIES && !tries.some(isQuick));
    const best = (of: 'paintMs' | 'taskMs') => Math.min(...tries.map((each) => each[of]));
    const figures = { bytes: tries[0]!.bytes, paintMs: best('paintMs'), taskMs: best('taskMs') };
    if (process.env['PERGOLA_FIGURES']) console.log(path, figures);
    expect(figures.bytes).toBeGreaterThan(0);
    expect(figures.bytes).toBeLessThan(path === '' ? MOST_EDITOR_BYTES : MOST_BYTES);
    expect(figures.paintMs).toBeLessThan(MOST_PAINT_MS * slowness());
    expect(figures.taskMs).toBeLessThan(mostTaskMs);
  });
});
