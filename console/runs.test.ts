/** Tests the results of Explore in a real browser: their numbers, the role and session variables that they are of, and the tabs that have them. */
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  CONSOLE_SECRET,
  EDITOR,
  fill,
  HAS_BROWSER,
  press,
  REASON,
  shows,
  TIMEOUT_MS,
  trackTable,
  useConsole,
  violations,
} from './testing/console.ts';

const [ROLE, VARIABLES] = [0, 1].map((i) => `document.querySelectorAll('.bar input')[${i}]`) as [
  string,
  string,
];
const BUTTON = `document.querySelector('.graphiql-execute-button')`;
const IS_IDLE = `${BUTTON}.ariaLabel.startsWith('Execute')`;
const RESULT = `__MONACO.editor.getModels().find(({ uri }) => /response/.test(uri.path)).getValue()`;
const NOTE = `document.querySelector('.run-note').innerText`;
const TABS = `[...document.querySelectorAll('.graphiql-tab-button')].map((tab) => tab.innerText).join()`;
const DIGITS = ['9007199254740993', '1.10', '123456789012345678901234567890.123'];
const REFUSAL = 'Session variables are JSON: {"user-id": "1"}';

describe.skipIf(!HAS_BROWSER)(`results of Explore in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const { database, engine, page } = useConsole(
    `create table book (id int primary key, title text, owner text);
      create table figure (id bigint primary key, price numeric, note jsonb);
      create view slow as select id from book where pg_sleep(60) is not null;
      insert into book select n, 'Book ' || n, case when n % 2 = 1 then 'ann' else 'bob' end from generate_series(1, 3) n;
      insert into figure values (${DIGITS[0]}, ${DIGITS[1]}, '{"n": ${DIGITS[2]}}')`,
    { consoleSecret: CONSOLE_SECRET, consoleMode: 'edit' },
  );

  beforeAll(async () => {
    await trackTable(engine, 'book', { reader: ['id', 'title'] });
    await trackTable(engine, 'figure');
    await trackTable(engine, 'slow');
  }, TIMEOUT_MS);

  const editorHas = (text: string) =>
    `__MONACO.editor.getModels().find(({ uri }) => /operation/.test(uri.path)).getValue().includes(${JSON.stringify(text)})`;
  const resultHas = (text: string) => `${RESULT}.includes(${JSON.stringify(text)})`;
  const open = async () => {
    await page.go(`${engine.url}/#admin-secret=${engine.adminSecret}`);
    await page.until(editorHas('Example'));
  };
  const write = async (text: string) => {
    await fill(page, EDITOR, text);
    await page.until(editorHas(text));
  };
  const writeTool = async (tool: 'Variables' | 'Headers', text: string) => {
    await press(page, tool);
    const editor = '.graphiql-editor-tool .graphiql-editor:not(.hidden)';
    await fill(page, `document.querySelector('${editor} .native-edit-context, ${editor} textarea')`, text);
  };
  const click = () => page.evaluate(`${BUTTON}.click()`);
  const commit = async (field: string, text: string) => {
    await fill(page, field, text);
    await page.pressEnter();
  };
  const viewAs = async (role: string, user: string) => {
    await commit(VARIABLES, JSON.stringify({ 'user-id': user }));
    await commit(ROLE, role);
    await page.until(`!${editorHas('owner')}`);
  };
  const subscriptions = async () => {
    const { body } = await engine.admin<{ subscriptions: number }>('list_subscriptions', {});
    return body.subscriptions;
  };

  test('numbers of results and variables keep all digits', async () => {
    await open();
    const hasDigits = DIGITS.map(resultHas).join(' && ');
    for (const operation of [
      'query { figure { id price note } }',
      'subscription { figure { id price note } }',
      `mutation { update_figure(where: {}, _set: {price: "1.10"}) { returning { id price note } } }`,
    ]) {
      await write(operation);
      await click();
      await page.until(hasDigits);
      await page.until(`${IS_IDLE} || (${BUTTON}.click(), false)`);
    }
    await write('query Find($id: bigint!) { figure_by_pk(id: $id) { price } }');
    await writeTool('Variables', `{"id": ${DIGITS[0]}} // the largest`);
    await click();
    await page.until(resultHas('1.10'));
  });

  test('a change of the session variables, of the role or of a header ends what runs, and the result says whose it is', async () => {
    await open();
    await viewAs('reader', 'ann');
    await write('subscription { book { title } }');
    await click();
    await page.until(resultHas('Book 1'));
    expect(await page.evaluate(NOTE)).toBe('');
    await commit(VARIABLES, '{"user-id": "bob"}');
    await page.until(
      `${NOTE} === 'Result for reader with {"user-id":"ann"}. Run the operation again for the current role and headers.'`,
    );
    await page.until(IS_IDLE);
    await expect.poll(subscriptions).toBe(0);
    expect(await violations(page, ['.graphiql-response'])).toEqual([]);
    await click();
    await page.until(`${resultHas('Book 2')} && !${resultHas('Book 1')} && ${NOTE} === ''`);
    await writeTool('Headers', '{"x-engine-user-id": "ann"}');
    await page.until(`${NOTE}.includes('"bob"') && ${IS_IDLE}`);
    await expect.poll(subscriptions).toBe(0);
    await click();
    await page.until(`${resultHas('Book 1')} && ${NOTE} === ''`);
    await commit(ROLE, '');
    await page.until(`${NOTE}.startsWith('Result for reader')`);
    await write('query { slow { id } }');
    await click();
    await page.until(`!${IS_IDLE}`);
    await commit(ROLE, 'reader');
    await page.until(`${IS_IDLE} && ${NOTE} === 'Stopped before the answer came.'`);
    const running = `select count(*)::int as n from pg_stat_activity where query like '%slow%' and state = 'active' and pid <> pg_backend_pid()`;
    await expect.poll(async () => (await database.sql(running))[0], { timeout: 10_000 }).toEqual({ n: 0 });
  });

  test('a subscription ends with its tab, and with the session', async () => {
    await open();
    await write('subscription { book { title } }');
    await click();
    await page.until(resultHas('Book 1'));
    await page.evaluate(`document.querySelector('.graphiql-tab-add').click()`);
    await page.until(IS_IDLE);
    await expect.poll(subscriptions).toBe(0);
    expect(await page.evaluate(RESULT)).toBe('');
    await page.evaluate(`document.querySelector('.graphiql-tab-button').click()`);
    await page.until(resultHas('Book 1'));
    await click();
    await expect.poll(subscriptions).toBe(1);
    await press(page, 'Sign out');
    await page.until(`document.querySelector('.sign-in')`);
    await expect.poll(subscriptions).toBe(0);
  });

  test('session variables and roles that cannot be sent are a problem at their field, and page, query and result stay', async () => {
    await open();
    await write('query Mine { book { title owner } }');
    await click();
    await page.until(resultHas('ann'));
    const problemOf = (field: string) =>
      `document.getElementById(${field}.getAttribute('aria-describedby')).innerText`;
    await commit(VARIABLES, '{bad');
    await page.until(`${problemOf(VARIABLES)} === ${JSON.stringify(REFUSAL)}`);
    expect(await page.evaluate(`${VARIABLES}.value + ${VARIABLES}.ariaInvalid`)).toBe('{badtrue');
    await page.until(`${editorHas('query Mine')} && ${resultHas('ann')}`);
    await click();
    await page.until(`${resultHas('Session variables are JSON')} && !${resultHas('ann')} && ${IS_IDLE}`);
    await commit(ROLE, 'żółw');
    await page.until(`${problemOf(ROLE)}.includes('A browser cannot send')`);
    expect(await violations(page, ['.bar'])).toEqual([]);
    await page.evaluate('window.isBefore = true');
    await page.reload();
    await page.until(`!window.isBefore && ${VARIABLES}?.value === '{bad'`);
    await page.until(`document.querySelector('main').innerText === ${JSON.stringify(REFUSAL)}`);
    await commit(VARIABLES, '');
    await page.until(editorHas('query Mine'));
    await click();
    await page.until(`${resultHas('ann')} || (${IS_IDLE} && (${BUTTON}.click(), false))`);
  });

  test('plan and time are those of the operation, the role and the tab that are shown', async () => {
    await open();
    const pane = `document.querySelector('.pane').innerText`;
    await page.evaluate(`document.querySelector('button[aria-label="Show Explain"]').click()`);
    await page.until(`document.querySelector('.pane')`);
    await write('query Mine { book { title } }');
    await click();
    await page.until(`${pane}.includes('The last run took')`);
    await press(page, 'Explain the operation');
    await page.until(`${pane}.includes('cost=')`);
    const isEmpty = `!/cost=|The last run/.test(${pane})`;
    await page.evaluate(`document.querySelector('.graphiql-tab-add').click()`);
    await page.until(isEmpty);
    await page.evaluate(`document.querySelector('.graphiql-tab-button').click()`);
    await page.until(`/The last run[^]*cost=/.test(${pane})`);
    await commit(VARIABLES, '{"user-id": "ann"}');
    await commit(ROLE, 'reader');
    await page.until(`${isEmpty} && ${pane}.includes('As reader')`);
    await commit(ROLE, '');
    await commit(VARIABLES, '');
    await page.until(`/The last run[^]*cost=/.test(${pane})`);
    await write('query Mine { book { id } }');
    await page.until(isEmpty);
  });

  test('a stream shows its batches, newest first, and beside them the errors of its end', async () => {
    await open();
    await viewAs('reader', 'ann');
    await write(
      'subscription { ...A } fragment A on subscription_root { book_stream(batch_size: 1, cursor: [{initial_value: {id: 0}}]) { id } }',
    );
    await click();
    await page.until(`${NOTE} === '2 batches, newest first.'`);
    expect(await page.evaluate(`JSON.parse(${RESULT})`)).toEqual(
      [3, 1].map((id) => ({ data: { book_stream: [{ id }] } })),
    );
    const table = { schema: 'public', name: 'book' };
    const permission = { columns: ['id', 'title'], filter: { owner: { _eq: 'X-Engine-User-Id' } } };
    await engine.admin('pg_drop_select_permission', { source: 'default', table, role: 'reader' });
    await page.until(IS_IDLE);
    expect(await page.evaluate(`JSON.parse(${RESULT})`)).toMatchObject([
      { errors: [{ message: expect.any(String) }] },
      ...[3, 1].map((id) => ({ data: { book_stream: [{ id }] } })),
    ]);
    await engine.admin('pg_create_select_permission', {
      ...{ source: 'default', table, role: 'reader', permission },
    });
  });

  test.each([0, 200, 400, 700])('loading again %i ms after the example adds no tab', async (wait) => {
    await open();
    await sleep(wait);
    await page.evaluate('window.isBefore = true');
    await page.reload();
    await page.until(`!window.isBefore && ${editorHas('Example')} && ${TABS} === 'Example'`);
    await sleep(700);
    expect(await page.evaluate(TABS)).toBe('Example');
  });

  test('tabs with their variables and the one that is open stay when the page is loaded again', async () => {
    await open();
    await page.evaluate(`document.querySelector('.graphiql-tab-add').click()`);
    await write('query Second { book { id } }');
    await writeTool('Variables', '{"a": 1}');
    await page.until(
      `JSON.parse(localStorage['graphiql:tabState']).tabs[1].variables === '{"a": 1}' && ${TABS} === 'Example,Second'`,
    );
    await page.evaluate('window.isBefore = true');
    await page.reload();
    await page.until(`!window.isBefore && ${editorHas('query Second')} && ${TABS} === 'Example,Second'`);
    const variables = `__MONACO.editor.getModels().find(({ uri }) => /variables/.test(uri.path)).getValue()`;
    await page.until(`${variables} === '{"a": 1}'`);
    await page.evaluate(`document.querySelector('.graphiql-tab-button').click()`);
    await page.until(`${editorHas('query Example')} && ${variables} === ''`);
  });

  test.each(['first', 'after a wrong one', 'after the admin secret', 'by a link', 'on Data'])(
    'a session with the console secret has one tab: %s',
    async (kind) => {
      if (kind === 'after the admin secret') {
        await open();
        await press(page, 'Sign out');
      } else await page.go(`${engine.url}/${kind === 'on Data' ? 'console/data' : ''}`);
      await page.until(`document.querySelector('.sign-in')`);
      const signIn = async (secret: string) => {
        await page.evaluate(`document.querySelectorAll('.sign-in [type=radio]')[1].click()`);
        await fill(page, `document.querySelector('.sign-in [type=password]')`, secret);
        await page.pressEnter();
      };
      if (kind === 'after a wrong one') {
        await signIn('wrong');
        await page.until(shows('does not accept'));
      }
      if (kind === 'by a link') await page.go(`${engine.url}/#console-secret=${CONSOLE_SECRET}`);
      else await signIn(CONSOLE_SECRET);
      if (kind === 'on Data') {
        await page.until(`document.querySelector('.data select')`);
        await page.go(`${engine.url}/console/`);
      }
      await page.until(`${editorHas('Example')} && ${TABS} === 'Example'`);
      await sleep(700);
      expect(await page.evaluate(TABS)).toBe('Example');
    },
  );

  test('the settings have no theme, because all pages follow the system, and the focus returns to their button', async () => {
    await open();
    const button = `document.querySelector('[aria-label="Open settings dialog"]')`;
    await page.evaluate(`${button}.focus(); ${button}.click()`);
    await page.until(shows('Clear storage'));
    expect(await page.evaluate(shows('Theme'))).toBe(false);
    await page.pressKey('Escape');
    await page.until(`!document.querySelector('.graphiql-dialog') && document.activeElement === ${button}`);
  });
});
