/** Tests Explore in a real browser: the role and session variables that a user views as apply to the schema, operations, subscriptions, the
 *  explanation and the code; nothing else sees another role. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  CONSOLE_SECRET,
  choose,
  EDITOR,
  fill,
  HAS_BROWSER,
  press,
  REASON,
  SOME_WINDOWS,
  screenshot,
  TIMEOUT_MS,
  trackTable,
  useConsole,
  violations,
} from './testing/console.ts';

const run = promisify(execFile);
const [ROLE, VARIABLES] = [0, 1].map((i) => `document.querySelectorAll('.bar input')[${i}]`) as [
  string,
  string,
];
const PANE = `document.querySelector('.pane')`;

describe.skipIf(!HAS_BROWSER)(`the page Explore in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  const { database, engine, page } = useConsole(
    `create table book (id int primary key, title text, owner text);
      create table ledger (id int primary key, owner text);
      insert into book values (1, 'One', 'ann'), (2, 'Two', 'bob')`,
    { consoleSecret: CONSOLE_SECRET },
  );

  beforeAll(async () => {
    await trackTable(engine, 'book', { reader: ['id', 'title'] });
    await trackTable(engine, 'ledger', { treasurer: ['id'] });
  }, TIMEOUT_MS);

  const lines = (className: string) =>
    `document.querySelector('.${className} .view-lines')?.innerText.replaceAll('\\u00a0', ' ')`;
  const editorHas = (text: string) => `${lines('graphiql-query-editor')}?.includes(${JSON.stringify(text)})`;
  const resultHas = (text: string) => `${lines('result-window')}?.includes(${JSON.stringify(text)})`;
  const open = async (kind: 'admin' | 'console') => {
    const secret = kind === 'admin' ? engine.adminSecret : CONSOLE_SECRET;
    await page.go(`${engine.url}/#${kind}-secret=${secret}`);
    await page.until(editorHas('book'));
  };
  const commit = async (field: string, text: string) => {
    await fill(page, field, text);
    await page.pressEnter();
  };
  const viewAs = async (role: string, user: string) => {
    await commit(VARIABLES, JSON.stringify({ 'user-id': user }));
    await commit(ROLE, role);
    await page.until(`!${editorHas('owner')}`);
  };
  const execute = () => page.evaluate(`document.querySelector('.graphiql-execute-button').click()`);
  const openPane = async (title: string) => {
    await page.evaluate(`document.querySelector('button[aria-label="Show ${title}"]').click()`);
    await page.until(PANE);
  };
  /** The select of the pane with a label that begins so. */
  const selectOf = (label: string) =>
    `[...document.querySelectorAll('.pane label')].find((label) => label.innerText.startsWith('${label}')).querySelector('select')`;
  /** The checkbox of a field or an argument. */
  const tick = (name: string) =>
    `[...document.querySelectorAll('.pane .tick')].find((each) => each.innerText.split(' ')[0] === '${name}')?.querySelector('input')`;
  const codeIn = async (language: string) => {
    await choose(page, selectOf('Language'), language);
    return page.evaluate<string>(`${PANE}.querySelector('pre').textContent`);
  };

  test('operations run as the role with its session variables, and both stay when the page is loaded again', async () => {
    await open('admin');
    await viewAs('reader', 'ann');
    await execute();
    await page.until(resultHas('One'));
    expect(await page.evaluate(resultHas('Two'))).toBe(false);
    await commit(VARIABLES, '{"user-id": "bob"}');
    await execute();
    await page.until(resultHas('Two'));
    await page.evaluate('window.isBefore = true');
    await page.reload();
    const values = `[${ROLE}?.value, ${VARIABLES}?.value].join()`;
    await page.until(`!window.isBefore && ${values} === 'reader,{"user-id": "bob"}'`);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('user-id');
  });

  test('the operation is explained as that role: SQL, plan, and the time of the last run', async () => {
    await open('admin');
    await viewAs('reader', 'ann');
    await openPane('Explain');
    await press(page, 'Explain the operation');
    await page.until(`${PANE}.innerText.includes('Plan')`);
    const text = await page.evaluate<string>(`${PANE}.innerText`);
    expect(text).toContain('As reader');
    // The condition of the permission of the role.
    expect(text).toMatch(/"owner"/);
    expect(text).toMatch(/cost=/);
    await execute();
    await page.until(`/The last run took [\\d.]+ ms/.test(${PANE}.innerText)`);
    // The example of the other role replaces the one before.
    await commit(ROLE, 'treasurer');
    await page.until(editorHas('ledger'));
    await press(page, 'Explain the operation');
    await page.until(`/As treasurer[^]*"ledger"/.test(${PANE}.innerText)`);
    const query = 'query { book { id } }';
    await fill(page, EDITOR, query);
    await page.until(editorHas(query));
    await press(page, 'Explain the operation');
    await page.until(`${PANE}.querySelector('.problem')?.innerText.includes("field 'book' not found")`);
  });

  test('the code runs as that role and has no secret', async () => {
    await open('admin');
    await viewAs('reader', 'ann');
    await openPane('Code');
    const code = await codeIn('curl');
    expect(code).not.toContain(engine.adminSecret);
    const env = { ...process.env, ADMIN_SECRET: engine.adminSecret };
    const { stdout } = await run('sh', ['-c', code], { env });
    expect(JSON.parse(stdout)).toEqual({ data: { book: [{ id: 1, title: 'One' }] } });
    for (const language of ['fetch', 'Apollo Client']) {
      const text = await codeIn(language);
      expect(text).toContain(`'x-engine-role': 'reader'`);
      expect(text).toContain(`'x-engine-user-id': 'ann'`);
      expect(text).not.toContain(engine.adminSecret);
    }
    await fill(page, EDITOR, 'query Other { book { id } }');
    await page.until(`${PANE}.querySelector('pre').textContent.includes('query Other')`);
  });

  test('an operation is built by ticking fields of the schema of the role, and undone', async () => {
    await open('admin');
    await viewAs('reader', 'ann');
    await fill(page, EDITOR, '# mine\nquery Mine { book { id } }');
    await page.until(editorHas('# mine'));
    await openPane('Build');
    await page.until(`${tick('title')}`);
    expect(await page.evaluate(`${tick('owner')} === undefined`)).toBe(true);
    await page.evaluate(`${tick('title')}.click()`);
    await page.until(editorHas('title'));
    expect(await page.evaluate(editorHas('# mine'))).toBe(true);
    await page.evaluate(`${PANE}.querySelector('summary').click(); ${tick('limit')}.click()`);
    await page.until(editorHas('book(limit: 10)'));
    await page.evaluate(`${tick('id')}.click()`);
    await page.until(`!${editorHas('id')}`);
    await execute();
    await page.until(resultHas('One'));
    await choose(page, selectOf('Operation'), 'subscription');
    await page.until(`${tick('book')} && !${tick('book')}.checked`);
    await page.evaluate(`${tick('book')}.click()`);
    await page.until(editorHas('subscription {'));
    await fill(page, `${PANE}.querySelector('input[type=search]')`, 'by_pk');
    await page.until(`${tick('book_by_pk')} && !${tick('book_stream')}`);
  });

  test('the documentation has what the role sees, is searched, and opens from the editor', async () => {
    const paneHas = (text: string) => `${PANE}.innerText.includes(${JSON.stringify(text)})`;
    const link = (name: string) =>
      `[...document.querySelectorAll('.pane .link')].find((each) => each.innerText === '${name}')`;
    const follow = (name: string) => page.evaluate(`${link(name)}.click()`);
    const search = (text: string) => fill(page, `${PANE}.querySelector('input[type=search]')`, text);
    await open('admin');
    await openPane('Documentation');
    await follow('query_root');
    await search('by_p');
    await page.until(`${link('book_by_pk')} && !${link('book_aggregate')}`);
    await follow('book_by_pk');
    await page.until(`${paneHas('query_root.book_by_pk')} && ${paneHas('id: Int!')}`);
    await follow('book');
    await page.until(link('owner'));
    await search('');
    await follow('owner');
    await page.until(paneHas('book.owner'));
    // The coordinate remains, and the role has no such field.
    await viewAs('reader', 'ann');
    await page.until(paneHas('has no book.owner'));
    for (let i = 0; i < 4; i++) await press(page, 'Back');
    await page.until(paneHas('All types'));
    await search('titl');
    await page.until(link('book.title'));
    await search('owner');
    await page.until(paneHas('Nothing has this name.'));
    await page.evaluate(`(() => {
      const [editor] = __MONACO.editor.getEditors();
      editor.setPosition(editor.getModel().getPositionAt(editor.getValue().indexOf('title') + 1));
      editor.focus();
      editor.trigger('test', 'editor.action.revealDefinition');
    })()`);
    await page.until(paneHas('book.title'));
  });

  test('an introspection of the user has its answer as text, and the editor completes and validates with the schema', async () => {
    await open('admin');
    const query = 'query IntrospectionQuery { __schema { queryType { name } } }';
    await fill(page, EDITOR, query);
    await page.until(editorHas(query));
    await execute();
    await page.until(resultHas('"query_root"'));
    await fill(page, EDITOR, 'query { nothing }');
    await page.until(`document.querySelector('.graphiql-query-editor .squiggly-error')`);
    await fill(page, EDITOR, 'query { book { ow');
    await page.evaluate(
      `__MONACO.editor.getEditors()[0].trigger('test', 'editor.action.triggerSuggest', {})`,
    );
    await page.until(
      `document.querySelector('.suggest-widget .monaco-list-row')?.innerText.includes('owner')`,
    );
  });

  test('the schema is read again when the user wants it', async () => {
    await open('admin');
    await openPane('Documentation');
    await page.until(`${PANE}.innerText.includes('book')`);
    expect(await page.evaluate(`${PANE}.innerText.includes('later')`)).toBe(false);
    await database.sql('create table later (id int primary key)');
    await trackTable(engine, 'later');
    await page.evaluate(`document.querySelector('button[aria-label^="Re-fetch"]').click()`);
    await page.until(`${PANE}.innerText.includes('later')`);
  });

  test('an operation is saved as a resource with its name', async () => {
    await open('admin');
    await fill(page, EDITOR, 'query Mine { book { id } }');
    await page.until(editorHas('query Mine'));
    await openPane('Save');
    await page.until(`${PANE}.querySelector('pre')?.textContent.includes('name: "Mine"')`);
    const download = await page.evaluate<string>(`decodeURIComponent(${PANE}.querySelector('a').href)`);
    expect(download).toContain('kind: QueryCollection');
    expect(download).toContain('query Mine {');
    await fill(page, EDITOR, 'query 7');
    await page.until(`${PANE}.querySelector('.problem')?.innerText.includes('Syntax Error')`);
  });

  test('with the console secret a role is chosen, its schema shown, and another role not', async () => {
    await open('console');
    expect(await page.evaluate(`${ROLE}.value`)).toBe('reader');
    expect(await page.evaluate(editorHas('owner'))).toBe(false);
    await commit(VARIABLES, '{"user-id": "ann"}');
    await execute();
    await page.until(resultHas('One'));
    await openPane('Explain');
    await press(page, 'Explain the operation');
    await page.until(`${PANE}.innerText.includes('Plan')`);
    await commit(ROLE, 'treasurer');
    await page.until(editorHas('ledger'));
  });

  test('a role that is removed does not come back, and one that no permission names is a note', async () => {
    const problem = `document.getElementById(${ROLE}.getAttribute('aria-describedby')).innerText`;
    await open('console');
    await fill(page, EDITOR, 'query Mine { book { id } }');
    await page.until(editorHas('query Mine'));
    await page.evaluate(`${ROLE}.focus()`);
    for (const role of ['', 'admin']) {
      await commit(ROLE, role);
      await page.until(`${problem}.startsWith('Choose a role') && ${ROLE}.value === '${role}'`);
      expect(await page.evaluate(editorHas('query Mine'))).toBe(true);
      await execute();
      await page.until(resultHas('Choose a role'));
    }
    await commit(ROLE, 'nobody');
    await page.until(`${problem} === 'No permission names the role nobody.'`);
    await commit(ROLE, 'reader');
    await page.until(`${problem} === ''`);
  });

  test('a link sets the role that it names, and any other keeps the role of the tab', async () => {
    await open('admin');
    await viewAs('reader', 'ann');
    expect(await page.evaluate('location.search')).toBe('?role=reader');
    const goTo = async (path: string, role: string) => {
      await page.go(`${engine.url}/console/${path}`);
      await page.until(`${ROLE}?.value === '${role}' && location.search.includes('role=${role}')`);
    };
    await goTo('data?table=book', 'reader');
    await goTo('data?table=ledger&role=treasurer', 'treasurer');
    await goTo('', 'treasurer');
    expect(await page.evaluate(`${VARIABLES}.value`)).toBe('{"user-id":"ann"}');
    await goTo('?role=reader', 'reader');
  });

  test.each(SOME_WINDOWS)(
    '%i px, %s: axe-core finds nothing in the bar and the panes, and nothing is wider than the window',
    async (width, scheme) => {
      await page.resize(width, 900);
      await page.prefer(scheme);
      await open('admin');
      await viewAs('reader', 'ann');
      for (const pane of ['Documentation', 'Build', 'Explain', 'Code', 'Save']) {
        await openPane(pane);
        if (pane === 'Explain') {
          await press(page, 'Explain the operation');
          await page.until(`${PANE}.innerText.includes('Plan')`);
        }
        await screenshot(page, `explore-${pane.toLowerCase()}-${width}-${scheme}`);
        expect(await violations(page, ['.bar', '.pane'])).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      }
    },
  );
});
