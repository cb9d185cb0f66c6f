/** The page Change: a form for each kind, the resource that it writes, and the effect by a dry run. Skipped where there is no browser. */
import { load } from 'js-yaml';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { KINDS } from '../operator/kinds.ts';
import { startTestEngine } from '../testing/engine.ts';
import {
  CONSOLE_SECRET,
  choose,
  fill,
  HAS_BROWSER,
  press,
  REASON,
  SOME_WINDOWS,
  screenshot,
  shows,
  TIMEOUT_MS,
  trackTable,
  useConsole,
  violations,
} from './testing/console.ts';

const READER = 'select_permission/default/public/book/reader';

const TABLES =
  'create table book (id int primary key, title text, owner text); create table books (id int primary key)';

describe.skipIf(!HAS_BROWSER)(`the page Change in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const { database, engine, page } = useConsole(TABLES, { consoleSecret: CONSOLE_SECRET });

  beforeAll(async () => {
    await trackTable(engine, 'book', { reader: ['id', 'title'] });
  }, TIMEOUT_MS);

  beforeEach(async () => {
    const { admin } = engine;
    for (const type of ['console', 'operator']) await admin('set_catalog_state', { type, state: {} });
    const permission = { columns: ['id', 'title'], filter: { owner: { _eq: 'X-Engine-User-Id' } } };
    const definition = { role: 'reader', permission };
    await admin('patch_metadata', { put: [{ key: READER, definition }] });
  });

  const open = async (kind: string, secret: 'admin' | 'console' = 'admin') => {
    const text = secret === 'admin' ? engine.adminSecret : CONSOLE_SECRET;
    await page.go(`${engine.url}/console/change?kind=${kind}#${secret}-secret=${text}`);
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
    await page.until(shows('Filled from what the engine has'));
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
    const { body: before } = await engine.admin('export_metadata', {});
    await press(page, 'Try it, without changing anything');
    await page.until(shows('reader reaches more of public.book'));
    await page.until(shows('the schema of reader: 5 changes break no client'));
    // More access looks like a warning, and the change of the object itself is shown, too.
    await page.until(`document.querySelector('.warning')?.innerText.includes('reader reaches more')`);
    await page.until(shows('+       "owner"'));
    await page.until(shows('This console changes nothing (--console-mode)'));
    for (const text of ['Apply to this engine', 'Open as a file'])
      expect(await page.evaluate(shows(text))).toBe(false);
    expect((await engine.admin('export_metadata', {})).body).toEqual(before);
    await enter('columns', 'id');
    await page.until(shows('The resource has changed since.'));
  });

  test('in edit mode a change that fits is applied, unless an operator manages the engine', async () => {
    const editing = await startTestEngine({
      databaseUrl: database.url,
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
      for (const text of ['The engine would accept it', 'Apply to this engine'])
        expect(await page.evaluate(shows(text))).toBe(false);
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
      for (const [width, scheme] of SOME_WINDOWS) {
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
      const resource = `TablePermission default/${name.replace('.yaml', '')}`;
      const unserved = {
        [resource]: { manager: 'm', reason: 'Conflict', message: 'another has it', since: '' },
      };
      await editing.admin('patch_catalog_state', { type: 'operator', patch: { unserved } });
      await store({
        resources: { [name]: null },
        written: { [name]: { file: `resources/${name}`, resource } },
      });
      await page.until(shows(`Written: resources/${name}. It is not applied: Conflict: another has it.`));
    } finally {
      await editing.close();
    }
  });

  test('an object of another resource is a conflict, and one of the same resource is its next version', async () => {
    const spec = {
      table: 'book',
      role: 'reader',
      select: { columns: ['title'], filter: {} },
      suspend: false,
    };
    const owned = (cr: string) => ({
      manager: 'm',
      objects: { [READER]: { manager: 'm', uid: '1', cr } },
      manifests: { [cr]: { manager: 'm', manifest: JSON.stringify({ spec }) } },
    });
    const own = (cr: string) => engine.admin('set_catalog_state', { type: 'operator', state: owned(cr) });
    await own('Table shop/book');
    await open('TablePermission');
    await permit('*');
    await page.until(shows('It belongs to Table shop/book.'));
    await press(page, 'Try it, without changing anything');
    await page.until(shows('It would not be applied'));
    await page.until(shows(`${READER} belongs to Table shop/book: this resource would be in conflict`));
    expect(await page.evaluate(shows('The engine would accept it'))).toBe(false);
    await own('TablePermission shop/reader-book');
    await page.go(`${engine.url}/console/change?kind=Table`);
    await page.go(`${engine.url}/console/change?kind=TablePermission`);
    await page.until(shows('It belongs to TablePermission shop/reader-book.'));
    await press(page, 'Try it, without changing anything');
    await page.until(shows('The engine would accept it'));
    expect((await resource()).metadata.name).toBe('reader-book');
    await press(page, 'Fill the form from it');
    await page.until(shows('Filled from what the engine has'));
    expect((await resource()).spec).toEqual(spec);
  });

  test('a form begins with what the engine has, and another name begins anew', async () => {
    await trackTable(engine, 'books');
    await open('Table');
    await enter('table', 'book');
    await page.until(shows('Filled from what the engine has: table/default/public/book'));
    const filled = {
      table: 'book',
      configuration: { customName: 'book' },
      permissions: [{ role: 'reader', select: { columns: ['id', 'title'] } }],
    };
    expect(await resource()).toMatchObject({ spec: filled });
    await press(page, 'Try it, without changing anything');
    await page.until(shows('The engine has all of it: nothing changes.'));
    await press(page, 'Remove configuration');
    await press(page, 'Try it, without changing anything');
    await page.until(shows('-   "configuration": {'));
    await press(page, 'Empty the form');
    await enter('table', 'book');
    await page.until(shows('Filled from'));
    await enter('table', 'books');
    await page.until(shows('Filled from what the engine has: table/default/public/books'));
    expect((await resource()).spec).toEqual({ table: 'books', configuration: { customName: 'books' } });
    await enter('table', 'nothing');
    await page.until(`!${shows('Filled from')}`);
    expect((await resource()).spec).toEqual({ table: 'nothing' });
    await engine.admin('pg_untrack_table', { source: 'default', table: 'books' });
  });

  test('what was entered is kept in the tab, without secrets, until the form is emptied', async () => {
    await open('CronTrigger');
    await enter('name', 'nightly');
    await enter('schedule', '0 3 * * *');
    await choose(page, control('Add to spec'), 'payload');
    await enter('payload', '{token: a-secret}');
    await page.until(shows('a-secret'));
    await page.go(`${engine.url}/console/change?kind=Table`);
    await page.until(shows('spec.table is required'));
    await page.go(`${engine.url}/console/change?kind=CronTrigger`);
    await page.until(shows('Left out, because it may be a secret or cannot be read: spec.payload'));
    expect((await resource()).spec).toEqual({ name: 'nightly', schedule: '0 3 * * *' });
    await page.until(shows('spec.payload was left out: enter it again, or go on without'));
    await press(page, 'Go on without');
    await page.until(`!${shows('left out')}`);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain('a-secret');
    await press(page, 'Empty the form');
    await page.until(shows('spec.schedule is required'));
    await page.go(`${engine.url}/console/change?kind=CronTrigger`);
    await page.until(shows('spec.schedule is required'));
  });

  test('a change is not made when the metadata has changed since it was tried', async () => {
    const editing = await startTestEngine({
      databaseUrl: database.url,
      enableConsole: true,
      consoleMode: 'edit',
    });
    const columnsOf = async () => {
      const { body } = await editing.admin('describe_object', { key: READER });
      return (body as { definition: { permission: { columns: unknown } } }).definition.permission.columns;
    };
    try {
      await page.go(`${editing.url}/console/change?kind=TablePermission#admin-secret=${editing.adminSecret}`);
      await page.until(`document.querySelector('.change legend')`);
      await permit('*');
      await press(page, 'Try it, without changing anything');
      await page.until(shows('Apply to this engine'));
      const args = { source: 'default', table: 'book', role: 'reader' };
      await editing.admin('pg_drop_select_permission', args);
      const permission = { columns: ['owner'], filter: {} };
      await editing.admin('pg_create_select_permission', { ...args, permission });
      await press(page, 'Apply to this engine');
      await page.until(shows('The metadata has changed since. Try it again.'));
      expect(await columnsOf()).toEqual(['owner']);
      await press(page, 'Try it, without changing anything');
      await page.until(`${shows('Apply to this engine')} && !${shows('has changed since')}`);
      await press(page, 'Apply to this engine');
      await page.until(shows('Applied.'));
      expect(await columnsOf()).toBe('*');
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

  test('what waits for an object that does not exist is said before it is written', async () => {
    await open('AllowListEntry');
    await enter('collection', 'nowhere');
    await press(page, 'Try it, without changing anything');
    await page.until(
      shows('allowlist/nowhere waits for query_collection/nowhere, which the engine does not have'),
    );
    expect(await page.evaluate(shows('The engine would accept it'))).toBe(false);
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

  test.each(SOME_WINDOWS)(
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
