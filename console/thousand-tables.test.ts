/** Opening a page on a thousand tables needs no statement in their database, sends little, and keeps no task of the browser busy. */
import { expect, test } from 'vitest';
import { createDatabase } from '../testing/database.ts';
import { isWithin } from '../testing/machine-speed.ts';
import { HAS_BROWSER, REASON, screenshot, startConsole } from './testing/console.ts';
import { pagesOf } from './testing/pages.ts';
import { WORLDS } from './testing/worlds.ts';

const TABLES = 1000;
const MOST_BYTES = 1.2e6;
/** The longest task of the browser on a usual machine. */
const MOST_TASK_MS = 200;

const THOUSAND = WORLDS.find(({ name }) => name === 'a thousand tables')!;

/** The pages, and what is true when they show their tables: every view but the rows of a table, which are read when somebody asks for them. */
const PAGES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    pagesOf(THOUSAND)
      .filter(({ title }) => title !== 'Data, a table')
      .map(({ path, isShown }) => [path.replace('/default/', '/big/'), isShown]),
  ),
  'access?role=reader&compare=other': `document.querySelectorAll('tbody th').length >= 100`,
  model: `document.body.innerText.includes('1001 objects') && document.querySelectorAll('.rows a').length > 10`,
  // All others lead to this one.
  'model/table/big/public/t0': `document.querySelectorAll('.diagram .node').length > 10`,
  data: `document.querySelectorAll('.data option').length > 1000`,
  'ownership?view=unowned': `document.querySelectorAll('tbody th').length >= 100`,
  // Every table can be found by a part of its name, without a list of all of them.
  'change?kind=TablePermission': `((names) => names?.length === 50 && names[0].value === 't0')(document.querySelector('.change input[list]')?.list?.options)`,
};

test.skipIf(!HAS_BROWSER)(`pages on ${TABLES} tables${REASON}`, { timeout: 400_000 }, async () => {
  const source = await createDatabase();
  const names = Array.from({ length: TABLES }, (_, i) => `t${i}`);
  await source.sql(names.map((name) => `create table ${name} (id int primary key, owner text)`).join(';'));
  const { database: own, engine, browser, close } = await startConsole('');
  try {
    const permission = { columns: ['id'], filter: { owner: { _eq: 'X-Engine-User-Id' } } };
    const tables = names.map((name) => ({
      table: { schema: 'public', name },
      object_relationships: ['parent', 'root'].map((relationship) => ({
        name: relationship,
        using: {
          manual_configuration: {
            remote_table: {
              schema: 'public',
              name: relationship === 'root' ? 't0' : `t${Math.floor(Number(name.slice(1)) / 3)}`,
            },
            column_mapping: { id: 'id' },
          },
        },
      })),
      select_permissions: ['reader', 'other'].map((role) => ({ role, permission })),
    }));
    const configuration = { connection_info: { database_url: source.url } };
    const metadata = { version: 3, sources: [{ name: 'big', kind: 'postgres', tables, configuration }] };
    await engine.must('replace_metadata', { metadata }, { version: 2 });
    // Without its database, no statement can succeed.
    const name = new URL(source.url).pathname.slice(1);
    await own.sql(`alter database "${name}" allow_connections false`);
    await own.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    for (const [path, isShown] of Object.entries(PAGES)) {
      const page = await browser.newPage();
      await page.resize(1440, 900);
      await page.go(`${engine.url}/console/${path}#admin-secret=${engine.adminSecret}`);
      await page.until(isShown);
      // The bytes of Explore, with its editor and the schema, have a test of their own.
      const bytes = await page.evaluate<number>(
        `performance.getEntriesByType('resource').reduce((sum, { transferSize }) => sum + transferSize, 0)`,
      );
      expect([path, bytes]).toEqual([
        path,
        expect.toSatisfy((sent: number) => sent > 0 && (path === '' || sent < MOST_BYTES)),
      ]);
      const longest = await page.evaluate<number>(`new Promise((resolve) => {
        const entries = (list) => resolve(Math.max(0, ...list.getEntries().map(({ duration }) => duration)));
        new PerformanceObserver(entries).observe({ type: 'longtask', buffered: true });
        setTimeout(() => resolve(0), 500);
      })`);
      if (process.env['PERGOLA_SCREENSHOTS']) console.log(path, bytes, longest);
      expect([path, longest]).toEqual([
        path,
        expect.toSatisfy((took: number) => isWithin(took, MOST_TASK_MS)),
      ]);
      await screenshot(page, `thousand-${path.replaceAll(/\W/g, '-')}`);
    }
  } finally {
    await close();
    await source.drop();
  }
});
