/** Tests the page Data in a real browser: it shows the rows and columns that a role may read and no others, in everything that it sends, copies and
 *  saves; filters, order, pages and relationships are queries of that role; a running query is cancelled; axe-core finds no violation. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CONSOLE_SECRET,
  choose,
  fill,
  HAS_BROWSER,
  MARKUP,
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

describe.skipIf(!HAS_BROWSER)(`the page Data in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const { database, engine, page } = useConsole(
    `create table author (id int primary key, name text, owner text);
      create table book (title text, id int primary key, owner text, secret text, code bigint, author_id int references author);
      insert into author values (1, 'Ada', 'ann'), (2, 'Bea', 'bob');
      insert into book select 'Book ' || i, i, case when i <= 60 then 'ann' else 'bob' end, 'hidden-' || i, 9007199254740993, 1 from generate_series(1, 70) i;
      update book set title = '${MARKUP}' where id = 1;
      update book set title = 'a, "b"' where id = 2;
      create table mask (id int primary key, hint text, secret text, owner text);
      insert into mask values (1, null, 'mine', 'ann'), (2, null, 'hidden-2', 'bob');
      create table long (id int primary key, body text);
      insert into long select i, repeat('word ', 48000) from generate_series(1, 50) i;
      create table tone (value text primary key);
      insert into tone values ('dark'), ('light');
      create table paint (id int primary key, tone text references tone, owner text);
      insert into paint values (1, 'dark', 'ann'), (2, 'light', 'ann');
      create view slow as select id, pg_sleep(30)::text as nothing from author`,
    {
      ...{ unauthorizedRole: 'reader', consoleSecret: CONSOLE_SECRET },
      experimentalFeatures: ['naming_convention'],
    },
  );

  beforeAll(async () => {
    await trackTable(engine, 'author', { reader: ['id', 'name'], other: ['id'] });
    await trackTable(engine, 'book', { reader: ['id', 'title', 'code', 'author_id'], other: ['title'] });
    await trackTable(engine, 'long', { reader: ['id', 'body'] }, {});
    await trackTable(engine, 'slow', { reader: ['id', 'nothing'] }, {});
    await trackTable(engine, 'tone', {}, {});
    const on = (table: string) => ({ source: 'default', table: { schema: 'public', name: table } });
    await engine.admin('pg_set_table_is_enum', { ...on('tone'), is_enum: true });
    await trackTable(engine, 'paint', { reader: ['id', 'tone'] });
    await engine.admin('pg_create_object_relationship', {
      ...on('book'),
      name: 'author',
      using: { foreign_key_constraint_on: 'author_id' },
    });
    await engine.admin('pg_create_array_relationship', {
      ...on('author'),
      name: 'books',
      using: {
        foreign_key_constraint_on: { table: { schema: 'public', name: 'book' }, columns: ['author_id'] },
      },
    });
    await addShop();
    await trackTable(engine, 'mask', { reader: ['id', 'hint'] }, {});
    const own = { columns: ['id', 'secret'], filter: { owner: { _eq: 'X-Engine-User-Id' } } };
    const keeper = { source: 'default', table: { schema: 'public', name: 'mask' }, role: 'keeper' };
    await engine.admin('pg_create_select_permission', { ...keeper, permission: own });
    await engine.admin('add_inherited_role', { role_name: 'both', role_set: ['keeper', 'reader'] });
  }, TIMEOUT_MS);

  /** Adds a source with a namespace, other names of fields and types, and another naming convention. */
  const addShop = async () => {
    await engine.must('pg_add_source', {
      name: 'shop',
      configuration: { connection_info: { database_url: database.url } },
      customization: {
        root_fields: { namespace: 'shop', prefix: 'all_' },
        type_names: { prefix: 'shop_' },
        naming_convention: 'graphql-default',
      },
    });
    const on = (name: string) => ({ source: 'shop', table: { schema: 'public', name } });
    for (const [name, columns] of [
      ['author', ['id', 'name']],
      ['book', ['id', 'title', 'author_id']],
    ] as const) {
      await engine.must('pg_track_table', on(name));
      const permission = { columns, filter: { owner: { _eq: 'X-Engine-User-Id' } } };
      await engine.must('pg_create_select_permission', { ...on(name), role: 'shopper', permission });
    }
    const using = { foreign_key_constraint_on: { ...on('book'), columns: ['author_id'] } };
    await engine.must('pg_create_array_relationship', { ...on('author'), name: 'books', using });
  };

  beforeEach(async () => {
    await page.go(`${engine.url}/console/data#console-secret=${CONSOLE_SECRET}`);
    await page.until(`document.querySelector('.data select option:nth-child(2)')`);
    await viewAs('reader', 'ann');
  });

  const viewAs = async (role: string, user: string) => {
    for (const [at, text] of [
      [0, role],
      [1, JSON.stringify({ 'user-id': user })],
    ] as const) {
      await fill(page, `document.querySelectorAll('.bar input')[${at}]`, text);
      await page.pressEnter();
    }
    await page.until(`sessionStorage.getItem('pergola-role') === '${role}'`);
  };
  const open = async (query: string) => {
    await page.go(`${engine.url}/console/data?${query}`);
    await page.until(`document.querySelector('.data tbody tr')`);
  };
  const heads = () =>
    page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('thead th')].map((head) => head.innerText.trim())`,
    );
  const column = (at: number) =>
    page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('tbody tr')].map((row) => row.children[${at}].innerText)`,
    );
  const text = () => page.evaluate<string>('document.querySelector("main").innerText');
  const clickOn = (selector: string, label: string) =>
    page.evaluate(
      `[...document.querySelectorAll('${selector}')].find((each) => each.innerText.trim().startsWith('${label}')).click()`,
    );
  /** The texts that the page saves as files or copies, which the browser would keep. */
  const taken = async (button: string) => {
    await page.evaluate(`(() => {
      window.taken = null;
      URL.createObjectURL = (blob) => { blob.text().then((text) => { window.taken = text; }); return 'blob:none'; };
      HTMLAnchorElement.prototype.click = () => {};
      Object.defineProperty(navigator, 'clipboard', { configurable: true, value: { writeText: async (text) => { window.taken = text; } } });
    })()`);
    await press(page, button);
    await page.until('window.taken !== null');
    return page.evaluate<string>('window.taken');
  };

  test('a role sees its columns in the order of the table, and its rows, at most 50 on a page', async () => {
    await open('table=book');
    expect(await heads()).toEqual(['title', 'id', 'code', 'author_id', 'author']);
    expect(await text()).toContain('Rows 1–50');
    await press(page, 'Next');
    await page.until(shows('Rows 51–60'));
    expect((await column(0)).length).toBe(10);
    expect(await text()).not.toContain('hidden-');
    expect(await column(2)).toEqual(Array(10).fill('9007199254740993'));
  });

  test('a role that gets few rows in one request pages through all of them', async () => {
    const on = { source: 'default', table: { schema: 'public', name: 'book' }, role: 'few' };
    const permission = { columns: ['id', 'title'], filter: {}, limit: 20 };
    await engine.admin('pg_create_select_permission', { ...on, permission });
    await open('table=book&role=few');
    await page.until(shows('Rows 1–20'));
    expect(await text()).toContain('the role gets at most 20 in one request');
    await press(page, 'Next');
    await page.until(shows('Rows 21–40'));
    expect(await column(0)).toEqual(Array.from({ length: 20 }, (_, i) => `Book ${i + 21}`));
    await engine.admin('pg_drop_select_permission', on);
  });

  test('everything changes with the role', async () => {
    await open('table=book');
    await viewAs('other', 'bob');
    await page.until(`document.querySelectorAll('tbody tr').length === 10`);
    expect(await heads()).toEqual(['title']);
    expect(await column(0)).toEqual(Array.from({ length: 10 }, (_, i) => `Book ${i + 61}`));
    const rows = JSON.parse(await taken('JSON'));
    expect(rows[0]).toEqual({ title: 'Book 61' });
    const curl = await taken('Copy curl');
    expect(curl).toContain("-H 'x-engine-role: other'");
    expect(curl).toContain(`-H 'x-engine-user-id: bob'`);
    expect(curl).not.toContain(CONSOLE_SECRET);
    await viewAs('nobody', 'bob');
    await page.until(shows('The role can list no table.'));
    expect(await page.evaluate(`document.querySelectorAll('tbody tr').length`)).toBe(0);
  });

  test('filters and order are in the query and in the address', async () => {
    await open('table=book');
    await choose(page, `document.querySelectorAll('main select')[1]`, 'id');
    await page.evaluate(`document.querySelector('[name=operator]').value = '_in'`);
    await fill(page, `document.querySelector('[name=text]')`, '3, 5, 65');
    await page.pressEnter();
    await page.until(`document.querySelectorAll('tbody tr').length === 2`);
    await clickOn('th button', 'id');
    await page.until(`document.querySelector('[aria-sort=ascending]')`);
    await clickOn('th button', 'id');
    await page.until(
      `document.querySelector('[aria-sort=descending]') && document.querySelector('tbody tr')`,
    );
    expect(await column(1)).toEqual(['5', '3']);
    const given = await taken('Copy GraphQL');
    expect(given).toContain('$where: book_bool_exp');
    expect(given).toContain('"where":{"id":{"_in":[3,5,65]}}');
    expect(given).not.toContain('aggregate');
    const address = await page.evaluate<string>('location.search');
    await open(address.slice(1));
    expect(await column(1)).toEqual(['5', '3']);
    await page.evaluate(`document.querySelector('.filters button').click()`);
    await page.until(shows('Rows 1–50'));
  });

  test('a value of another type is said, and an enum offers its values', async () => {
    const filtered = (filter: object) => `filters=${encodeURIComponent(JSON.stringify([filter]))}`;
    const book = { column: 'id', operator: '_eq', text: 'red' };
    await page.go(`${engine.url}/console/data?table=book&${filtered(book)}`);
    await page.until(`document.querySelector('.actions .problem')?.innerText.includes('red')`);
    expect(await text()).not.toContain('has changed since');
    await page.go(
      `${engine.url}/console/data?table=paint&${filtered({ ...book, column: 'tone', operator: '_in', text: 'dark, red' })}`,
    );
    await page.until(shows('red is none of the values: dark, light.'));
    await page.evaluate(`document.querySelector('.filters button').click()`);
    await page.until(`document.querySelectorAll('tbody tr').length === 2`);
    await choose(page, `document.querySelectorAll('main select')[1]`, 'tone');
    await choose(page, `document.querySelector('select[name=text]')`, 'light');
    await press(page, 'Add filter');
    await page.until(`document.querySelectorAll('tbody tr').length === 1`);
    expect(await column(0)).toEqual(['2']);
  });

  test('what was revoked since the page read it is named, and read again', async () => {
    const on = { source: 'default', table: { schema: 'public', name: 'author' }, role: 'reader' };
    const { body } = await engine.admin<{ definition: { permission: { columns: string[] } } }>(
      'describe_object',
      { key: 'select_permission/default/public/author/reader' },
    );
    const { permission } = body.definition;
    const permit = async (columns: readonly string[]) => {
      await engine.admin('pg_drop_select_permission', on);
      await engine.admin('pg_create_select_permission', { ...on, permission: { ...permission, columns } });
    };
    await open('table=author');
    const filters = JSON.stringify([{ column: 'name', operator: '_neq', text: '' }]);
    await permit(['id']);
    await open(`table=author&filters=${encodeURIComponent(filters)}`).catch(() => undefined);
    await page.until(shows('The role cannot filter by name with _neq. Remove the filter.'));
    expect(await page.evaluate(`document.querySelectorAll('tbody tr').length`)).toBe(0);
    await permit(permission.columns);
    await page.evaluate(`document.querySelector('.filters button').click()`);
    await page.until(`document.querySelectorAll('tbody tr').length > 0`);
    await press(page, 'Run again');
    await page.until(`document.querySelector('thead').innerText.includes('name')`);
    await permit(['id']);
    // Ascending is the order that it has.
    await clickOn('th button', 'id');
    await page.until(`document.querySelector('[aria-sort=ascending]')`);
    await clickOn('th button', 'id');
    await page.until(shows('has changed since the page read it'));
    await press(page, 'Run again');
    await page.until(
      `document.querySelector('tbody tr') && !document.querySelector('thead').innerText.includes('name')`,
    );
    await permit(permission.columns);
  });

  test('relationships lead to the rows that the role may read', async () => {
    await open('table=author');
    expect(await column(1)).toEqual(['Ada']);
    await clickOn('tbody a', 'rows');
    await page.until(shows('Rows 1–50'));
    expect(await text()).toContain('author {"id":1} → books');
    const chosen = `document.querySelector('main select').value`;
    expect(await page.evaluate(chosen)).toBe('book');
    await clickOn('tbody a', 'row');
    await page.until(`${chosen} === 'author'`);
    await page.until(`document.querySelectorAll('tbody tr').length === 1`);
    expect(await heads()).toEqual(['id', 'name', 'books']);
    await page.evaluate('history.back()');
    await page.until(`${shows('Rows 1–50')} && ${chosen} === 'book'`);
    await choose(page, `document.querySelector('main select')`, 'author');
    await page.until(`!${shows('→ books')} && ${chosen} === 'author'`);
  });

  test('tables of a source with a namespace and a naming convention have rows, order and related rows', async () => {
    await viewAs('shopper', 'ann');
    await page.go(`${engine.url}/console/data`);
    await page.until(`document.querySelector('.data select option:nth-child(3)')`);
    const tables = `[...document.querySelectorAll('.data option')].map((option) => option.innerText)`;
    expect(await page.evaluate(tables)).toEqual(['–', 'shop.all_Author', 'shop.all_Book']);
    const order = encodeURIComponent(JSON.stringify({ column: 'id', direction: 'desc' }));
    await open(`table=shop.all_Book&order=${order}`);
    expect((await column(1)).slice(0, 2)).toEqual(['60', '59']);
    expect(await taken('Copy GraphQL')).toContain('{ shop { all_Book(');
    await open('table=shop.all_Author');
    expect(await column(1)).toEqual(['Ada']);
    await clickOn('tbody a', 'rows');
    await page.until(shows('Rows 1–50'));
    expect(await text()).toContain('shop.all_Author {"id":1} → books');
    expect(await text()).not.toContain('hidden-');
  });

  test('a null that may be a masked value is marked', async () => {
    await viewAs('both', 'ann');
    await open('table=mask');
    await page.until(shows('null or masked'));
    expect(await heads()).toEqual(['id', 'hint', 'secret']);
    expect(await column(1)).toEqual(['null', 'null']);
    expect((await column(2)).toSorted()).toEqual(['mine', 'null or masked']);
    expect(await text()).toContain('The role sees secret in some rows only.');
    await viewAs('reader', 'ann');
    await page.until(`document.querySelectorAll('thead th').length === 2 && document.querySelector('tbody')`);
    expect(await text()).not.toContain('masked');
  });

  test('values with markup are text, and CSV has quotation marks where it needs them', async () => {
    await open('table=book&order=%7B%22column%22%3A%22id%22%2C%22direction%22%3A%22asc%22%7D');
    expect((await column(0))[0]).toBe(MARKUP);
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
    const csv = await taken('CSV');
    expect(csv.split('\r\n').slice(0, 3)).toEqual([
      'title,id,code,author_id',
      `${MARKUP},1,9007199254740993,1`,
      '"a, ""b""",2,9007199254740993,1',
    ]);
    expect(await taken('JSON')).toContain('"code": 9007199254740993');
  });

  test('long texts are cut before they are laid out, and a cell shows more of its own on request', async () => {
    await open('table=long');
    const cell = `document.querySelector('.data tbody .cell')`;
    const lengths = () =>
      page.evaluate(
        `[...document.querySelectorAll('.data tbody .cell')].map((one) => one.textContent.length)`,
      );
    const long = async () => [...new Set(((await lengths()) as number[]).filter((one) => one > 10))];
    expect(await long()).toEqual([1001]);
    expect(await page.evaluate(cell + '.textContent')).toBe('1');
    await page.evaluate(`document.querySelector('.data tbody .whole-text').click()`);
    await page.until(shows('The first 100,000 of 240,000 characters. An export has all.'));
    expect(await long()).toEqual([100_001, 1001]);
  });

  test('a running query is cancelled, in the database too', async () => {
    await page.go(`${engine.url}/console/data?table=slow`);
    await page.until(`document.querySelector('.actions')?.innerText.includes('Running')`);
    const sleeping = () =>
      database.sql(
        `select pid from pg_stat_activity where state = 'active' and query like '%"slow"%' and pid <> pg_backend_pid()`,
      );
    await expect.poll(async () => (await sleeping()).length, { timeout: 10_000 }).toBe(1);
    await press(page, 'Cancel');
    await page.until(shows('Cancelled.'));
    await expect.poll(async () => (await sleeping()).length, { timeout: 10_000 }).toBe(0);
  });

  test('without credentials, the page shows what the unauthorized role may read', async () => {
    await press(page, 'Sign out');
    await page.until(`document.querySelector('.sign-in')`);
    await press(page, 'Go on without signing in');
    await page.until(`document.querySelector('.data select option:nth-child(2)')`);
    expect(
      await page.evaluate(`[...document.querySelectorAll('.data option')].map((o) => o.innerText)`),
    ).toEqual(['–', 'author', 'book', 'long', 'mask', 'paint', 'slow']);
  });

  test('nothing secret is kept for the next visit', async () => {
    await open('table=book');
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(CONSOLE_SECRET);
  });

  test.each(SOME_WINDOWS)(
    '%i px, %s: axe-core finds nothing, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 900);
      await page.prefer(scheme);
      await open(
        'table=book&filters=%5B%7B%22column%22%3A%22id%22%2C%22operator%22%3A%22_gt%22%2C%22text%22%3A%223%22%7D%5D',
      );
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      await screenshot(page, `data-${width}-${scheme}`);
    },
  );
});
