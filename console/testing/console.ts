/** The surroundings of tests of the pages: the built console, an engine that serves it on a database of its own, a browser, and what a user
 *  does. Tests are skipped where there is no browser (testing/browser.ts). Not here: what the pages must show (the tests). */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type Browser, type Page, startBrowser } from '../../testing/browser.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine, type TestEngineOptions } from '../../testing/engine.ts';
import { later } from '../../testing/world.ts';
import { buildChangedConsole } from '../build.ts';

export { HAS_BROWSER, REASON } from '../../testing/browser.ts';

export const TIMEOUT_MS = 120_000;
/** A name or a value that would run if it were markup. */
export const MARKUP = '<img src=x onerror=document.title=1>';
export const CONSOLE_SECRET = 'a-secret-for-looking';
/** The element of the operation editor of Explore that has the focus. */
export const EDITOR = `document.querySelector('.graphiql-query-editor .native-edit-context, .graphiql-query-editor textarea')`;

const AXE = readFileSync(new URL('../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');

export type ConsoleWorld = {
  readonly database: TestDatabase;
  readonly engine: TestEngine;
  readonly browser: Browser;
  readonly close: () => Promise<void>;
};

/** Builds the console if it has changed, runs `sql` in a new database, and starts an engine and a browser. */
export async function startConsole(
  sql: string,
  options: Omit<TestEngineOptions, 'databaseUrl'> = {},
): Promise<ConsoleWorld> {
  await buildChangedConsole();
  const database = await createDatabase();
  await database.sql(sql);
  const engine = await startTestEngine({ databaseUrl: database.url, enableConsole: true, ...options });
  const browser = await startBrowser();
  return {
    database,
    engine,
    browser,
    close: async () => {
      await browser.close();
      await engine.close();
      await database.drop();
    },
  };
}

/** Starts the console for the tests of a `describe`, and opens a page for each of them, as wide as most windows. */
export function useConsole(
  ...world: Parameters<typeof startConsole>
): Omit<ConsoleWorld, 'close'> & { readonly page: Page } {
  let started: ConsoleWorld | undefined;
  let page: Page | undefined;
  beforeAll(async () => {
    started = await startConsole(...world);
  }, TIMEOUT_MS);
  afterAll(() => started?.close());
  beforeEach(async () => {
    page = await started!.browser.newPage();
    await page.resize(1440, 900);
  });
  return {
    database: later(() => started?.database),
    engine: later(() => started?.engine),
    browser: later(() => started?.browser),
    page: later(() => page),
  };
}

/** Tracks a table of the schema `public` and lets each role select the columns of its rows that the filter admits. */
export async function trackTable(
  engine: TestEngine,
  name: string,
  roles: Readonly<Record<string, readonly string[]>> = {},
  filter: object = { owner: { _eq: 'X-Engine-User-Id' } },
): Promise<void> {
  const table = { schema: 'public', name };
  await engine.admin('pg_track_table', {
    source: 'default',
    table,
    configuration: { custom_name: /^\w+$/.test(name) ? name : 'odd' },
  });
  for (const [role, columns] of Object.entries(roles)) {
    const permission = { columns, filter };
    await engine.admin('pg_create_select_permission', { source: 'default', table, role, permission });
  }
}

/** Presses the button with this text. */
export function press(page: Page, button: string): Promise<unknown> {
  const text = JSON.stringify(button);
  return page.evaluate(
    `[...document.querySelectorAll('button')].find((b) => b.innerText === ${text}).click()`,
  );
}

/** Replaces what is in the element by text, as from the keyboard. */
export async function fill(page: Page, element: string, text: string): Promise<void> {
  await page.evaluate(`${element}.focus()`);
  await page.selectAll();
  await page.type(text);
}

/** Chooses a value of the select that an expression finds, as a user does. React sets the property by itself, so its own setter is called. */
export async function choose(page: Page, select: string, value: string): Promise<void> {
  await page.evaluate(`(() => {
    const select = ${select};
    Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, 'value').set.call(select, ${JSON.stringify(value)});
    select.dispatchEvent(new Event('change', { bubbles: true }));
  })()`);
}

/** An expression that is true when the page shows the text. */
export function shows(text: string): string {
  return `document.body.innerText.includes(${JSON.stringify(text)})`;
}

/** Returns what axe-core finds wrong on the page, or in the elements that the selectors name. */
export async function violations(page: Page, within: readonly string[] = []): Promise<readonly string[]> {
  const context = within.length === 0 ? 'document' : JSON.stringify({ include: within });
  await page.evaluate(`${AXE}; 0`);
  return page.evaluate(
    `axe.run(${context}, { resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id, nodes }) => id + ' ' + nodes.map(({ html, any }) => html + ' ' + any.map(({ message }) => message)).join()))`,
  );
}

const WIDTHS = [400, 800, 1440] as const;

/** The windows in which every page is looked at. */
export const WINDOWS = WIDTHS.flatMap((width) => [[width, 'light'] as const, [width, 'dark'] as const]);

/** Fewer windows, for the states of a page: colours do not depend on the width. */
export const SOME_WINDOWS = WINDOWS.filter(([width, scheme]) => scheme === 'light' || width === 1440);

/** Writes what the window shows into a file of the folder PERGOLA_SCREENSHOTS, if it is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['PERGOLA_SCREENSHOTS'];
  if (folder) await page.screenshot(`${folder}/${name}.png`);
}
