/** The page Change: a form for each kind, the resource that it writes, and the effect by a dry run. Skipped where there is no browser. */
import { load } from 'js-yaml';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KINDS } from '../operator/kinds.ts';
import type { Page } from '../testing/browser.ts';
import { startTestEngine } from '../testing/engine.ts';
import {
  CONSOLE_SECRET,
  type ConsoleWorld,
  choose,
  fill,
  HAS_BROWSER,
  press,
  REASON,
  screenshot,
  shows,
  startConsole,
  TIMEOUT_MS,
  trackTable,
  violations,
  WINDOWS,
} from './testing/console.ts';

describe.skipIf(!HAS_BROWSER)(`the page Change in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  let page: Page;

  beforeAll(async () => {
    world = await startConsole('create table book (id int primary key, title text, owner text)', {
      consoleSecret: CONSOLE_SECRET,
    });
    await trackTable(world.engine, 'book', { reader: ['id', 'title'] });
  }, TIMEOUT_MS);

  afterAll(() => world?.close());

  beforeEach(async () => {
    page = await world.browser.newPage();
    await page.resize(1440, 900);
  });

  const open = async (kind: string, secret: 'admin' | 'console' = 'admin') => {
    const text = secret === 'admin' ? world.engine.adminSecret : CONSOLE_SECRET;
    await page.go(`${world.engine.url}/console/change?kind=${kind}#${secret}-secret=${text}`);
    await page.until(`document.querySelector('.change legend')`);
  };
  const control = (label: string) =>
    `[...document.querySelectorAll('.change label')].find((each) => each.firstChild.textContent.split(',')[0].trim() === '${label}')?.control`;
  const enter = (label: string, text: string) => fill(page, control(label), text);
  const resource = async () =>
    load(await page.evaluate<string>(`document.querySelector('.change pre').textContent`)) as {
      kind: string;
      metadata: { name: string };
      spec: object;
    };
  const permit = async (columns: string) => {
    await enter('table', 'book');
    await enter('role', 'reader');
    await choose(page, control('Add to spec'), 'select');
    await enter('columns', columns);
    await enter('filter', '{}');
  };

  test('a permission: its YAML, what is missing until then, and what the role gains, with nothing changed', async () => {
    await open('TablePermission');
    await page.until(shows('spec.table is required'));
    await permit('id\ntitle\nowner');
    await page.until(shows('Nothing.'));
    expect(await resource()).toMatchObject({
      kind: 'TablePermission',
      metadata: { name: expect.stringMatching(/book/) },
      spec: { table: 'book', role: 'reader', select: { columns: ['id', 'title', 'owner'], filter: {} } },
    });
    const { body: before } = await world.engine.admin('export_metadata', {});
    await press(page, 'Try it, without changing anything');
    await page.until(shows('reader reaches more of public.book'));
    await page.until(shows('schema of reader: 5 safe'));
    for (const text of ['Apply to this engine', 'Open as a file'])
      expect(await page.evaluate(shows(text))).toBe(false);
    expect((await world.engine.admin('export_metadata', {})).body).toEqual(before);
    await enter('columns', 'id');
    await page.until(shows('The spec has changed since.'));
  });

  test('in edit mode a change that fits is applied, unless an operator manages the engine', async () => {
    const editing = await startTestEngine({
      databaseUrl: world.database.url,
      enableConsole: true,
      consoleMode: 'edit',
      consoleNewFileUrl: 'https://forge.example/new?path=api/{name}&value={text}',
    });
    try {
      const link = `${editing.url}/console/change?kind=TablePermission#admin-secret=${editing.adminSecret}`;
      const permitted = async () => {
        const { body } = await editing.admin('export_metadata', {});
        const { sources } = body as {
          sources: { tables: { select_permissions: { permission: { columns: string } }[] }[] }[];
        };
        return sources[0]!.tables[0]!.select_permissions[0]!.permission.columns;
      };
      await page.go(link);
      await page.until(`document.querySelector('.change legend')`);
      await permit('*');
      await press(page, 'Try it, without changing anything');
      await page.until(shows('Apply to this engine'));
      const opened = `[...document.querySelectorAll('a')].find((each) => each.textContent === 'Open as a file').href`;
      const { origin, searchParams } = new URL(await page.evaluate<string>(opened));
      expect([origin, searchParams.get('path')]).toEqual([
        'https://forge.example',
        expect.stringMatching(/^api\/.*\.yaml$/),
      ]);
      expect(searchParams.get('value')).toBe(
        await page.evaluate(
          `document.querySelector('[aria-label=Resource] pre, pre[aria-label=Resource], [aria-label=Resource]').textContent`,
        ),
      );
      await press(page, 'Apply to this engine');
      await page.until(shows('Applied'));
      expect(await permitted()).toBe('*');
      const state = { manager: 'm', objects: {} };
      await editing.admin('set_catalog_state', { type: 'operator', state });
      await press(page, 'Try it, without changing anything');
      await page.until(shows('An operator manages this engine'));
      expect(await page.evaluate(shows('Apply to this engine'))).toBe(false);
      // What pergola up does (bin/up/console-files.ts).
      const store = (state: object) =>
        editing.admin('patch_catalog_state', { type: 'console', patch: { pergola_up: state } });
      await store({ folder: `/home/${'long'.repeat(50)}` });
      await press(page, 'Try it, without changing anything');
      await page.until(shows('Write it into the folder'));
      for (const [width, scheme] of WINDOWS) {
        await page.resize(width, 900);
        await page.prefer(scheme);
        await page.until(`innerWidth === ${width}`);
        expect(await violations(page)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        await page.evaluate(`document.querySelector('[aria-label=Effect]').scrollIntoView()`);
        await screenshot(page, `change-folder-${width}-${scheme}`);
      }
      await press(page, 'Write it into the folder');
      await page.until(shows('Writing…'));
      const waiting = async () => {
        const { body } = await editing.admin('get_catalog_state', { type: 'console' });
        return (body as { console_state: { pergola_up: { resources?: Record<string, string> } } })
          .console_state.pergola_up.resources;
      };
      await expect.poll(waiting).toBeDefined();
      const [[name, text]] = Object.entries((await waiting())!) as [[string, string]];
      expect(name).toMatch(/^[a-z0-9-]+\.yaml$/);
      expect(text).toContain('kind: TablePermission');
      await store({ resources: { [name]: null }, written: { [name]: { file: `resources/${name}` } } });
      await page.until(shows(`Written: resources/${name}. It is applied now.`));
    } finally {
      await editing.close();
    }
  });

  test('tables and roles that exist are offered by a part of their name', async () => {
    await open('TablePermission');
    const offered = (label: string) =>
      `[...(${control(label)}.list?.options ?? [])].map(({ value }) => value).join()`;
    await page.until(`${offered('table')} === 'book'`);
    await page.until(`${offered('role')} === 'reader'`);
    await enter('table', 'OO');
    await page.until(`${offered('table')} === 'book'`);
    await enter('table', 'x');
    await page.until(`${offered('table')} === ''`);
  });

  test('a filter and columns are read as the documents write them, and text that cannot be read is in no resource', async () => {
    await open('TablePermission');
    await permit('["*"]');
    await enter('filter', '{owner: {_eq: X-Engine-User-Id}}');
    await page.until(shows('Nothing.'));
    const select = { columns: ['*'], filter: { owner: { _eq: 'X-Engine-User-Id' } } };
    expect(await resource()).toMatchObject({ spec: { select } });
    await enter('filter', '{owner: ');
    await page.until(shows('spec.select.filter cannot be read'));
    expect(await resource()).toMatchObject({ spec: { select: { columns: ['*'] } } });
    expect(await page.evaluate(shows('filter:'))).toBe(false);
  });

  test('a mistake is named at its field of the spec', async () => {
    await open('TablePermission');
    await permit('id\nnothing');
    await press(page, 'Try it, without changing anything');
    await page.until(shows('spec.select.columns[1]'));
  });

  test('markup in names is text', async () => {
    await open('Table');
    await enter('table', '<img src=x onerror=document.title=1>');
    await page.until(shows('<img'));
    expect(await page.evaluate('document.title')).not.toBe('1');
  });

  test('with the console secret there is the form, and no dry run', async () => {
    await open('TablePermission', 'console');
    await page.until(shows('An administrator can see here'));
    expect(await page.evaluate(shows('Try it'))).toBe(false);
  });

  test('every kind of the form can be opened', async () => {
    const problems: string[] = [];
    await open('Table');
    const kinds = await page.evaluate<string[]>(
      `[...document.querySelector('.change select').options].map((option) => option.value)`,
    );
    for (const kind of kinds) {
      await choose(page, control('Kind'), kind);
      await page.until(shows(KINDS.find((row) => row.kind === kind)!.description.slice(0, 40)));
      problems.push(...(await violations(page)));
    }
    expect([kinds.length > 15, problems]).toEqual([true, []]);
  });

  test.each(WINDOWS)(
    '%i px, %s: axe-core finds nothing, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 900);
      await page.prefer(scheme);
      await open('TablePermission');
      await permit('id\nowner');
      await press(page, 'Try it, without changing anything');
      await page.until(shows('reader reaches'));
      await screenshot(page, `change-${width}-${scheme}`);
      const [form, effect] = await page.evaluate<readonly number[]>(
        `[...document.querySelector('.change .columns').children].map((each) => each.getBoundingClientRect().left)`,
      );
      // The effect is beside the form where both fit.
      if (width !== 800) expect(effect! > form!).toBe(width === 1440);
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    },
  );
});
