/** Opening Access on a thousand tables needs no statement in their database, sends little, and keeps no task of the browser busy. */
import { expect, test } from 'vitest';
import { createDatabase } from '../testing/database.ts';
import { slowness } from '../testing/machine-speed.ts';
import { HAS_BROWSER, REASON, startConsole } from './testing/console.ts';

const TABLES = 1000;
const MOST_BYTES = 1.2e6;
/** The longest task of the browser on a usual machine. */
const MOST_TASK_MS = 200;

test.skipIf(!HAS_BROWSER)(`Access on ${TABLES} tables${REASON}`, { timeout: 200_000 }, async () => {
  const source = await createDatabase();
  const names = Array.from({ length: TABLES }, (_, i) => `t${i}`);
  await source.sql(names.map((name) => `create table ${name} (id int primary key, owner text)`).join(';'));
  const { database: own, engine, browser, close } = await startConsole('');
  try {
    const permission = { columns: ['id'], filter: { owner: { _eq: 'X-Engine-User-Id' } } };
    const tables = names.map((name) => ({
      table: { schema: 'public', name },
      select_permissions: ['reader', 'other'].map((role) => ({ role, permission })),
    }));
    const configuration = { connection_info: { database_url: source.url } };
    const metadata = { version: 3, sources: [{ name: 'big', kind: 'postgres', tables, configuration }] };
    expect((await engine.admin('replace_metadata', { metadata }, { version: 2 })).status).toBe(200);
    // Without its database, no statement can succeed.
    const name = new URL(source.url).pathname.slice(1);
    await own.sql(`alter database "${name}" allow_connections false`);
    await own.sql(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    const page = await browser.newPage();
    await page.go(
      `${engine.url}/console/access?role=reader&compare=other#admin-secret=${engine.adminSecret}`,
    );
    await page.until(`document.querySelectorAll('tbody th').length >= 100`);
    const bytes = await page.evaluate<number>(
      `performance.getEntriesByType('resource').reduce((sum, { transferSize }) => sum + transferSize, 0)`,
    );
    expect(bytes).toBeLessThan(MOST_BYTES);
    const longest = await page.evaluate<number>(`new Promise((resolve) => {
      const entries = (list) => resolve(Math.max(0, ...list.getEntries().map(({ duration }) => duration)));
      new PerformanceObserver(entries).observe({ type: 'longtask', buffered: true });
      setTimeout(() => resolve(0), 500);
    })`);
    expect(longest).toBeLessThan(MOST_TASK_MS * slowness());
  } finally {
    await close();
    await source.drop();
  }
});
