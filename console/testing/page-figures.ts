/** The figures of a page in a browser: the bytes that it needs, the time until the first paint, and the longest task after it has loaded.
 *  Not here: the limits (speed.test.ts), the document that prints them (docs/pages/speed.ts). */
import { appendFileSync } from 'node:fs';
import type { Page } from '../../testing/browser.ts';
import { type ConsoleWorld, EDITOR, fill } from './console.ts';
import type { ListedPage } from './pages.ts';

/** The limit of the longest task of a page, on a usual machine. */
export const MOST_TASK_MS = 200;

export type PageFigures = {
  /** The bytes of the files of the console, compressed. */
  readonly bytes: number;
  readonly paintMs: number;
  readonly taskMs: number;
};

/** The files that were received: a thread of the editor that begins again has its file from the cache. */
const FILES = `performance.getEntriesByType('resource').filter(({ name, transferSize }) => name.includes('/console/assets/') && transferSize > 0)`;

/** Opens the page in a new tab, as an administrator, and measures it. */
export async function measurePage(
  { browser, engine }: ConsoleWorld,
  { path, isShown }: Pick<ListedPage, 'path' | 'isShown'>,
): Promise<PageFigures> {
  const page = await browser.newPage();
  await page.resize(1440, 900);
  await page.go(`${engine.url}/console/${path}#admin-secret=${engine.adminSecret}`);
  await page.until(isShown);
  if (path === '') await untilValidated(page);
  const bytes = await page.evaluate<number>(
    `${FILES}.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  );
  const paintMs = await page.evaluate<number>(
    `performance.getEntriesByName('first-contentful-paint')[0].startTime`,
  );
  const taskMs = await longestTaskMs(page);
  await page.close();
  return { bytes, paintMs, taskMs };
}

/** Returns the time of the longest task of the thread of the page that began after the page was loaded and after a moment of its clock. */
export function longestTaskMs(page: Page, afterMs = 0): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    const isLater = ({ startTime }) => startTime > Math.max(${afterMs}, performance.timing.loadEventEnd - performance.timeOrigin);
    const entries = (list) => resolve(Math.max(0, ...list.getEntries().filter(isLater).map(({ duration }) => duration)));
    new PerformanceObserver(entries).observe({ type: 'longtask', buffered: true });
    setTimeout(() => resolve(0), 500);
  })`);
}

/** Writes an operation and waits until the thread of the editor has found its mistake: then it has received the schema. */
export async function untilValidated(page: Page): Promise<void> {
  await fill(page, EDITOR, 'query { nothing }');
  await page.until(`document.querySelector('.graphiql-query-editor .squiggly-error')`);
}

/** Adds the figures of a page as a line of JSON to the file PERGOLA_FIGURES, if it is set. */
export function recordFigures(world: string, title: string, figures: PageFigures): void {
  const file = process.env['PERGOLA_FIGURES'];
  if (file) appendFileSync(file, `${JSON.stringify({ world, title, figures })}\n`);
}
