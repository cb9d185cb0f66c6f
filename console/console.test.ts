/** Tests GraphiQL in a real browser, as a user sees it: signing in, the example, roles, headers, subscriptions, narrow windows. */
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Page } from '../testing/browser.ts';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { BUILT, buildChangedConsole } from './build.ts';
import {
  type ConsoleWorld,
  fill,
  HAS_BROWSER,
  press,
  REASON,
  startConsole,
  TIMEOUT_MS,
  trackTable,
} from './testing/console.ts';

describe('the files of the console', () => {
  let own: TestDatabase;
  let other: TestEngine;
  beforeAll(async () => {
    await buildChangedConsole();
    own = await createDatabase();
    other = await startTestEngine({ databaseUrl: own.url, enableConsole: true });
  }, TIMEOUT_MS);
  afterAll(async () => {
    await other?.close();
    await own?.drop();
  });

  test.each(['/', '/console'])('%s leads to the console, relative to the prefix of a proxy', async (path) => {
    const response = await fetch(`${other.url}${path}`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'console/']);
  });

  test('the page may load from the engine only, and no page may frame it', async () => {
    const { headers } = await fetch(`${other.url}/console/`);
    const policy = Object.fromEntries(
      headers
        .get('content-security-policy')!
        .split('; ')
        .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
    );
    expect(policy).toMatchObject({
      'default-src': "'none'",
      'script-src': "'self'",
      'connect-src': "'self'",
      'frame-ancestors': "'none'",
      'form-action': "'none'",
    });
    expect(JSON.stringify(policy)).not.toMatch(/https?:|unsafe-eval|\*/);
  });

  test('the page names its own files only', async () => {
    const page = await (await fetch(`${other.url}/console/`)).text();
    const assets = [...page.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/g)].map((match) => match[1]);
    expect(assets.length).toBeGreaterThan(1);
    for (const asset of assets) expect((await fetch(`${other.url}/console${asset}`)).status).toBe(200);
    expect(page).not.toMatch(/https?:\/\//);
  });

  test('the files are those for users, also when a test builds them', () => {
    const files = readdirSync(`${BUILT}/assets`).filter((file) => /^index.*\.js\.gz$/.test(file));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files)
      expect(gunzipSync(readFileSync(`${BUILT}/assets/${file}`)).includes('React DevTools')).toBe(false);
  });

  test('an address without a page has the status 404, and the page says so', async () => {
    const response = await fetch(`${other.url}/console/nothing/at/all`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect((await fetch(`${other.url}/console/assets/nothing.js`)).status).toBe(404);
  });

  test('every file is served with and without compression, the same bytes', async () => {
    const names = readdirSync(`${BUILT}/assets`).map((file) => file.replace('.gz', ''));
    expect(names.length).toBeGreaterThan(5);
    for (const name of names) {
      const [plain, compressed] = await Promise.all(
        ['identity', 'gzip'].map((encoding) =>
          fetch(`${other.url}/console/assets/${name}`, { headers: { 'accept-encoding': encoding } }),
        ),
      );
      expect([plain!.status, compressed!.headers.get('content-encoding')]).toEqual([200, 'gzip']);
      expect(await compressed!.text()).toBe(await plain!.text());
    }
  });

  test.each(['..%2Findex.html', '.gz', 'none.js', '..%2F..%2Fsources.json', 'a%00.js', 'index.html'])(
    'there is no file %s',
    async (name) => {
      expect((await fetch(`${other.url}/console/assets/${name}`)).status).toBe(404);
    },
  );
});

test.each(['visitor', '"><b>&', undefined])(
  'the page knows the role of requests without credentials: %s',
  async (role) => {
    const own = await createDatabase();
    const options = role === undefined ? {} : { unauthorizedRole: role };
    const other = await startTestEngine({ databaseUrl: own.url, enableConsole: true, ...options });
    try {
      const page = await (await fetch(`${other.url}/`)).text();
      const escaped = (role ?? '').replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
      expect(page).toContain(`<meta name="unauthorized-role" content="${escaped}"`);
    } finally {
      await other.close();
      await own.drop();
    }
  },
);

describe.skipIf(!HAS_BROWSER)(`GraphiQL in a browser${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  let database: TestDatabase;
  let engine: TestEngine;
  let page: Page;

  beforeAll(async () => {
    world = await startConsole(
      "create table book (id int primary key, title text, owner text); insert into book values (1, 'One', 'ann'), (2, 'Two', 'bob')",
    );
    ({ database, engine } = world);
    await trackTable(engine, 'book', { reader: ['id', 'title'] });
  }, TIMEOUT_MS);

  afterAll(() => world?.close());

  beforeEach(async () => {
    page = await world.browser.newPage();
    await page.resize(1400, 900);
  });

  const signIn = async () => {
    await page.go(`${engine.url}/#admin-secret=${engine.adminSecret}`);
    await page.until(editorHas('book'));
  };
  const editorHas = (text: string) => `${content('graphiql-query-editor')}.includes(${JSON.stringify(text)})`;
  const resultHas = (text: string) => `${content('result-window')}.includes(${JSON.stringify(text)})`;
  const run = () => page.evaluate(`${BUTTON}.click()`);
  const setRole = async (role: string) => {
    await fill(page, ROLE_FIELD, role);
    await page.pressEnter();
  };
  /** The example of the role replaces the one before it, and with it what is typed at the same time. */
  const becomeReader = async () => {
    await setRole('reader');
    await page.until(`!${editorHas('owner')}`);
  };
  const writeQuery = (text: string) => fill(page, inputOf('.graphiql-query-editor'), text);
  const writeHeaders = async (text: string) => {
    await press(page, 'Headers');
    await fill(page, inputOf('.graphiql-editor-tool .graphiql-editor:not(.hidden)'), text);
  };

  test('a link signs in, the secret leaves the address and is not stored beyond the tab, and the example runs', async () => {
    await signIn();
    expect(await page.evaluate('location.href')).toBe(`${engine.url}/console/`);
    await run();
    await page.until(resultHas('One'));
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain(engine.adminSecret);
  });

  test('a link that is opened where the page is open signs in, too', async () => {
    await page.go(`${engine.url}/`);
    await page.until('document.querySelector(".sign-in input")');
    await signIn();
    expect(await page.evaluate('location.href')).toBe(`${engine.url}/console/`);
  });

  test('headers and queries stay when the role changes and when the page is loaded again', async () => {
    await signIn();
    await writeHeaders('{"x-engine-user-id": "ann"}');
    await setRole('reader');
    await page.until(`!${editorHas('owner')}`);
    await run();
    await page.until(resultHas('One'));
    expect(await page.evaluate(resultHas('Two'))).toBe(false);
    await writeQuery('query Mine { book { title } }');
    await page.until(`(localStorage['graphiql:tabState'] ?? '').includes('Mine')`);
    await page.reload();
    await page.until(editorHas('query Mine'));
    await page.until(`${ROLE_FIELD}?.value === 'reader'`);
    // GraphiQL ignores the button until it has restored the tab, and says nowhere when that is.
    await page.until(`${resultHas('"title": "One"')} || (${IS_IDLE} && (${BUTTON}.click(), false))`);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('user-id');
  });

  test('a subscription follows changes with the headers of the editor, until it is stopped', async () => {
    await signIn();
    await becomeReader();
    await writeHeaders('{"x-engine-user-id": "bob"}');
    await writeQuery('subscription { book { title } }');
    await run();
    await page.until(resultHas('Two'));
    expect(await page.evaluate(resultHas('One'))).toBe(false);
    await database.sql("update book set title = 'Second' where id = 2");
    await page.until(resultHas('Second'));
    await run();
    await page.until(IS_IDLE);
    await database.sql("update book set title = 'Two' where id = 2");
  });

  test('a subscription that fails shows the error of the engine', async () => {
    await signIn();
    await becomeReader();
    await writeQuery('subscription { book { owner } }');
    await run();
    await page.until(resultHas("field 'owner' not found"));
  });

  test('a read-only console sends no mutation, and an editable one does', async () => {
    const mutation = 'mutation { insert_book(objects: [{id: 9}]) { affected_rows } }';
    const rows = () => database.sql('select id from book where id = 9');
    await signIn();
    await writeQuery(mutation);
    await run();
    await page.until(resultHas('This console is read-only'));
    await writeQuery(`${mutation} }`);
    await run();
    await page.until(resultHas('Syntax Error'));
    expect(await rows()).toEqual([]);
    const editable = await startTestEngine({
      ...{ databaseUrl: database.url, enableConsole: true, consoleMode: 'edit' as const },
    });
    try {
      const config = await (await editable.fetch('/v1alpha1/config')).json();
      expect(config).toMatchObject({ console_mode: 'edit' });
      await page.go(`${editable.url}/#admin-secret=${editable.adminSecret}`);
      await page.until(editorHas('book'));
      await writeQuery(mutation);
      await run();
      await page.until(resultHas('"affected_rows": 1'));
      expect(await rows()).toEqual([{ id: 9 }]);
    } finally {
      await database.sql('delete from book where id = 9');
      await editable.close();
    }
  });

  test('a role without any permission gets a warning, which another role removes', async () => {
    await signIn();
    await setRole('nobody');
    await page.until('document.body.innerText.includes("No permission names the role nobody.")');
    await setRole('reader');
    await page.until('!document.body.innerText.includes("No permission names")');
  });

  test('results are next to the editor in wide windows, and below it in narrow ones', async () => {
    await signIn();
    const positions = () =>
      page.evaluate<{ right: number; bottom: number; left: number; top: number; height: number }>(`(() => {
        const editor = document.querySelector('.graphiql-editors').getBoundingClientRect();
        const { left, top, height } = document.querySelector('.graphiql-response').getBoundingClientRect();
        return { right: editor.right, bottom: editor.bottom, left, top, height };
      })()`);
    const wide = await positions();
    expect(wide.left).toBeGreaterThanOrEqual(wide.right);
    await page.resize(500, 900);
    await page.until('innerWidth === 500');
    const narrow = await positions();
    expect(narrow.top).toBeGreaterThanOrEqual(narrow.bottom);
    expect(narrow.height).toBeGreaterThan(200);
    expect(narrow.left).toBeLessThan(200);
  });

  test('without a secret, a token in the headers can be used', async () => {
    await page.go(`${engine.url}/`);
    await page.until('document.querySelector(".sign-in input")');
    await press(page, 'Go on without signing in');
    await page.until('document.querySelector(".graphiql-container")');
  });
});

const BUTTON = 'document.querySelector(".graphiql-execute-button")';
const IS_IDLE = `${BUTTON}.ariaLabel.startsWith("Execute")`;
const ROLE_FIELD = 'document.querySelector(".bar input")';

function content(className: string): string {
  return `document.querySelector(".${className} .view-lines").innerText.replaceAll("\\u00a0", " ")`;
}

/** The element of an editor that takes the keyboard. */
function inputOf(editor: string): string {
  return `document.querySelector('${editor} .native-edit-context, ${editor} textarea')`;
}
