/** Tests the page Access in a real browser: it shows what `get_role_access` and `explain_access` answer, as text, in any width and scheme,
 *  by keyboard, and runs no statement in the source until a row is explained. axe-core finds no violation. */
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

describe.skipIf(!HAS_BROWSER)(`the page Access in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const { engine, page } = useConsole(
    `create table book (id int primary key, title text, owner text);
      create table "${MARKUP}" (id int primary key, title text);
      insert into book values (1, '${MARKUP}', 'ann'), (2, 'Two', 'bob')`,
    { unauthorizedRole: 'reader', consoleSecret: CONSOLE_SECRET },
  );

  beforeAll(async () => {
    await trackTable(engine, 'book', { reader: ['id', 'title'], other: ['owner'] });
    await trackTable(engine, MARKUP);
    await engine.admin('add_inherited_role', { role_name: 'both', role_set: ['reader', 'other'] });
  }, TIMEOUT_MS);

  beforeEach(async () => {
    await page.go(`${engine.url}/console/access#admin-secret=${engine.adminSecret}`);
    await page.until(`document.querySelector('select option:nth-child(2)')`);
  });

  const since = '2026-01-01T00:00:00.000Z';
  const request = JSON.stringify({ query: '{ book { id } }' });
  const passed = {
    manager: 'm',
    role: 'reader',
    reason: 'TestPassed',
    message: 'as expected',
    since,
    request,
  };
  const failed = { ...passed, reason: 'TestFailed', message: MARKUP };
  const store = (tests: object) =>
    engine.admin('set_catalog_state', { type: 'operator', state: { manager: 'm', objects: {}, tests } });

  const open = async (query: string) => {
    await page.go(`${engine.url}/console/access?${query}`);
    await page.until(`document.querySelector('tbody th')`);
  };
  const text = () => page.evaluate<string>('document.querySelector("main").innerText');
  const rowOf = (table: string) =>
    page.evaluate<readonly string[]>(
      `[...document.querySelectorAll('tbody tr')].map((row) => [...row.children].map((cell) => cell.innerText)).find(([name]) => name === ${JSON.stringify(table)})`,
    );
  test('the address names the view, and the page leaves the secret out of it', async () => {
    await open('role=reader');
    expect(await page.evaluate('location.href')).toBe(`${engine.url}/console/access?role=reader`);
    expect(await rowOf('book')).toEqual(['book', '2 columns, some rows', 'no', 'no', 'no']);
    expect(await text()).toContain('Requests without credentials have this role.');
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(engine.adminSecret);
  });

  test('an inherited role shows where each right comes from, and two roles where they differ', async () => {
    await open('role=both&compare=reader');
    expect(await text()).toContain('both inherits from reader, other.');
    expect(await page.evaluate('document.querySelectorAll(".differs").length')).toBe(1);
    expect((await rowOf('book'))[1]).toContain(
      'reader: 2 columns, some rows (other columns, masked columns)',
    );
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.details')`);
    for (const role of ['reader', 'other']) expect(await text()).toContain(`Rows (from ${role})`);
    expect(await text()).toContain('owner = X-Engine-User-Id');
  });

  test('why explains a row that is hidden, and the same row for its owner', async () => {
    await open('role=reader');
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.why')`);
    const explain = async (user: string) => {
      await page.evaluate(`document.querySelector('.why [name=variables]').focus()`);
      await page.selectAll();
      await page.type(JSON.stringify({ 'x-engine-user-id': user }));
      await page.pressEnter();
    };
    await explain('bob');
    await page.until(`document.querySelector('.verdict.hidden')`);
    expect(await text()).toContain('the row has "ann", x-engine-user-id is bob');
    await explain('ann');
    await page.until(`document.querySelector('.verdict.visible')`);
  });

  test('why says which columns of a row are masked for a role that inherits, and the role sees every row', async () => {
    const on = { source: 'default', table: { schema: 'public', name: 'book' }, role: 'seer' };
    await engine.admin('pg_create_select_permission', { ...on, permission: { columns: ['id'], filter: {} } });
    await engine.admin('add_inherited_role', { role_name: 'two', role_set: ['reader', 'seer'] });
    await open('role=two&opened=book');
    expect(await rowOf('book')).toContainEqual(expect.stringContaining('every row'));
    await page.until(`document.querySelector('.why')`);
    for (const [user, said] of [
      ['bob', 'because no parent that reaches it grants them: title.'],
      ['ann', 'Not masked in this row: title.'],
    ] as const) {
      await fill(
        page,
        `document.querySelector('.why [name=variables]')`,
        JSON.stringify({ 'user-id': user }),
      );
      await page.pressEnter();
      await page.until(shows(said));
    }
    await engine.admin('drop_inherited_role', { role_name: 'two' });
    await engine.admin('pg_drop_select_permission', on);
  });

  test('the page begins with the roles, and shows tables with a permission or a difference only', async () => {
    await page.until(shows('both inherits from reader, other'));
    await page.evaluate(
      `[...document.querySelectorAll('.roles a')].find((a) => a.innerText === 'reader').focus()`,
    );
    await page.pressEnter();
    const names = `[...document.querySelectorAll('tbody th')].map((each) => each.innerText).join()`;
    const only = `document.querySelector('.check input')`;
    await page.until(`${names}.includes('<img')`);
    await page.evaluate(`${only}.click()`);
    await page.until(`${names} === 'book'`);
    expect(await page.evaluate('location.search')).toBe('?role=reader&only=yes');
    await open('role=reader&compare=other&only=yes');
    await page.until(`${names} === 'book'`);
    await page.go(`${engine.url}/console/access?role=other&compare=other&only=yes`);
    await page.until(shows('The roles do not differ on such a table.'));
  });

  test('an opened table has the details of both roles', async () => {
    await open('role=reader&compare=other');
    await page.until(`document.querySelector('.differs')`);
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.details')`);
    const [select] = (
      await page.evaluate<string>(`document.querySelector('.details section').innerText`)
    ).split('\n\n\n');
    expect(select!.replace(/\s+/g, ' ')).toMatch(/reader Columns id, title .* other Columns owner /);
  });

  test('why explains an insert by its values, and begins with the columns of the key', async () => {
    await engine.admin('pg_create_insert_permission', {
      source: 'default',
      table: { schema: 'public', name: 'book' },
      role: 'reader',
      permission: {
        columns: ['id', 'owner'],
        check: { owner: { _eq: 'X-Engine-User-Id' } },
        set: { title: 'X-Engine-Title' },
      },
    });
    await open('role=reader');
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.why [name=key]')?.value === '{"id": 1}'`);
    await choose(page, `document.querySelector('.why select')`, 'insert');
    await page.until(
      `document.querySelector('.why [name=values]') && !document.querySelector('.why [name=key]')`,
    );
    const insert = async (owner: string) => {
      await fill(page, `document.querySelector('.why [name=values]')`, JSON.stringify({ id: 3, owner }));
      const variables = '{"user-id": "ann", "title": "Three"}';
      await fill(page, `document.querySelector('.why [name=variables]')`, variables);
      await page.pressEnter();
    };
    await insert('bob');
    await page.until(`document.querySelector('.verdict.refused')`);
    await insert('ann');
    await page.until(`document.querySelector('.verdict.allowed')`);
    expect(await text()).toContain('Preset: title = x-engine-title, which is "Three".');
    expect(await text()).toContain('nothing was written');
    await engine.admin('pg_drop_insert_permission', {
      source: 'default',
      table: { schema: 'public', name: 'book' },
      role: 'reader',
    });
  });

  test('why says what to write in a field, whose session variables need no prefix', async () => {
    await open('role=reader');
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.why')`);
    const enter = async (name: string, value: string) => {
      await fill(page, `document.querySelector('.why [name=${name}]')`, value);
      await page.pressEnter();
    };
    await enter('key', '1');
    await page.until(shows('The key of a row is JSON: {"id": 1}'));
    await enter('key', '{"id": 1}');
    await enter('variables', 'user-id=ann');
    await page.until(shows('Session variables are JSON: {"user-id": "1"}'));
    await enter('variables', '{"user-id": "ann"}');
    await page.until(`document.querySelector('.verdict.visible')`);
  });

  test('with the console secret, why says which clauses hold without the values of the row', async () => {
    await press(page, 'Sign out');
    await page.until(`document.querySelector('.sign-in')`);
    await page.go(`${engine.url}/console/access?role=reader#console-secret=${CONSOLE_SECRET}`);
    await page.until(`document.querySelector('tbody th')`);
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelector('.why')`);
    await page.evaluate(`document.querySelector('.why [name=variables]').focus()`);
    await page.type('{"x-engine-user-id": "bob"}');
    await page.pressEnter();
    await page.until(`document.querySelector('.verdict.hidden')`);
    expect(await text()).toContain('owner = X-Engine-User-Id: does not hold');
    expect(await text()).not.toContain('ann');
  });

  test('each operation says whether tests cover it and what came of them, and failing ones lead to Ownership', async () => {
    await open('role=reader');
    await page.until(shows('No result of a PermissionTest is known here.'));
    await store({ 'PermissionTest a/reads': passed });
    await open('role=other');
    await page.until(shows('1 of 2 permissions of tables have a test. 1 test passed.'));
    expect(await rowOf('book')).toEqual(['book', '1 column, some rows\nno test', 'no', 'no', 'no']);
    await store({ 'PermissionTest a/reads': passed, 'PermissionTest a/fails': { ...failed, role: 'both' } });
    await open('role=reader');
    await page.until(shows('1 of 2 tests failed'));
    expect((await rowOf('book'))[1]).toBe('2 columns, some rows\n1 of 2 tests failed');
    await page.evaluate(`document.querySelector('tbody button').click()`);
    await page.until(`document.querySelectorAll('.details [aria-label="Tests"] li').length === 2`);
    expect(await text()).toMatch(new RegExp(`PermissionTest a/fails as both: failed since .*: ${MARKUP}`));
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
    await page.evaluate(`document.querySelector('.failing a').click()`);
    await page.until(`document.querySelector('tbody th')`);
    expect(await page.evaluate('location.pathname + location.search')).toBe(
      '/console/ownership?view=tests&find=PermissionTest+a%2Ffails',
    );
    expect(await text()).toContain(`PermissionTest a/fails\tboth\tfailed\t${MARKUP}\t`);
    expect(await text()).not.toContain('a/reads');
    await store({});
  });

  test('a role sees no result of a test', async () => {
    await store({ 'PermissionTest a/reads': passed });
    const { body } = await engine.admin(
      'get_permission_tests',
      {},
      { headers: { 'x-engine-role': 'reader' } },
    );
    expect(JSON.stringify(body)).not.toContain('a/reads');
    expect(body).toMatchObject({ code: 'access-denied' });
    await store({});
  });

  test('names with markup are text', async () => {
    await open(`role=admin&table=${encodeURIComponent('<img')}`);
    expect((await rowOf(MARKUP))[1]).toBe('everything');
    expect(await page.evaluate('document.querySelectorAll("main img").length')).toBe(0);
  });

  test('the page says why it shows nothing to requests without credentials', async () => {
    await press(page, 'Sign out');
    await page.until(`document.querySelector('.sign-in')`);
    await press(page, 'Go on without signing in');
    await page.until(`document.body.innerText.includes('for administrators and the console secret')`);
    expect(await page.evaluate('document.querySelectorAll("select").length')).toBe(0);
  });

  test.each(SOME_WINDOWS)(
    '%i px, %s: axe-core finds nothing, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 900);
      await page.prefer(scheme);
      await store({ 'PermissionTest a/reads': passed, 'PermissionTest a/fails': failed });
      await open('role=both&compare=admin');
      await page.evaluate(`document.querySelector('tbody button').click()`);
      await page.until(`document.querySelector('.why')`);
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      if (width === 1440)
        expect(
          await page.evaluate(
            `(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector('.scrolls'))`,
          ),
        ).toBe(0);
      await screenshot(page, `access-${width}-${scheme}`);
    },
  );
});
