/** The admin operations that the pages send: each is one of OPERATIONS, found in the sources of the pages, and each session sends only those that it may
 *  perform. What the engine refuses is tested for every operation in engine/end-to-end (role-operations.test.ts, console-secret.test.ts). */
import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OperationDeclaration } from '../engine/metadata/operations/row.ts';
import { namesAt, OPERATION_NAMES, OPERATIONS } from '../engine/metadata/operations.ts';
import {
  CONSOLE_SECRET,
  type ConsoleWorld,
  HAS_BROWSER,
  REASON,
  startConsole,
  TIMEOUT_MS,
  trackTable,
} from './testing/console.ts';
import { pagesOf } from './testing/pages.ts';
import { startRecorder } from './testing/recorded.ts';
import { WORLDS } from './testing/worlds.ts';

/** The operations of the pages that change something, each behind a button that only administrators have. */
const CHANGING = ['patch_catalog_state', 'patch_metadata', 'pg_redeliver_event', 'rollback_metadata'];
/** The operations of the pages that only administrators may perform: their answers have rows, messages, or the whole state. */
const FOR_ADMINISTRATORS = [
  'get_catalog_state',
  'get_scheduled_event_invocations',
  'get_scheduled_events',
  'list_action_calls',
  'pg_get_event_by_id',
  'pg_get_event_logs',
];

const BY_NAME = new Map(
  OPERATION_NAMES.flatMap((name) =>
    namesAt(name, '/v1/metadata').map((type) => [type, OPERATIONS[name] as OperationDeclaration] as const),
  ),
);
const folder = new URL('page/', import.meta.url);
const sources = readdirSync(folder)
  .filter((file) => /\.jsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(new URL(file, folder), 'utf8') }));
const sent = sources.flatMap(({ file, text }) =>
  [...text.matchAll(/\b(?:perform|useAnswer)\(\s*\w+,\s*('\w+'|\w+)/g)].map(([, type = '']) => ({
    file,
    type,
  })),
);
const types = [
  ...new Set(sent.filter(({ type }) => type.startsWith("'")).map(({ type }) => type.slice(1, -1))),
];

test('every operation of the pages is one of OPERATIONS, and is named where it is sent', () => {
  expect(types.length).toBeGreaterThan(15);
  expect(types.filter((type) => !BY_NAME.has(type))).toEqual([]);
  const passedOn = sent.filter(({ type }) => !type.startsWith("'")).map(({ file }) => file);
  expect([...new Set(passedOn)]).toEqual(['requests.js', 'use-answer.js']);
});

test('every operation of the pages is for the console secret, or for administrators', () => {
  const others = types.filter((type) => !BY_NAME.get(type)!.isForConsole);
  const isChange = (type: string) => !['read', 'batch'].includes(BY_NAME.get(type)!.effect);
  expect(others.filter(isChange).toSorted()).toEqual(CHANGING);
  expect(others.filter((type) => !isChange(type)).toSorted()).toEqual(FOR_ADMINISTRATORS);
});

describe.skipIf(!HAS_BROWSER)(`pages with the console secret${REASON}`, { timeout: TIMEOUT_MS }, () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsole('create table book (id int primary key, title text, owner text)', {
      consoleSecret: CONSOLE_SECRET,
      consoleMode: 'edit',
    });
    await trackTable(world.engine, 'book', { reader: ['id', 'title'] });
  }, TIMEOUT_MS);
  afterAll(() => world?.close());

  const pages = pagesOf({
    ...WORLDS[0]!,
    roles: ['reader', 'reader'],
    table: { schema: 'public', name: 'book' },
  });

  test.each(pages)('/$path sends no request that the engine refuses', async ({ path }) => {
    const recorder = await startRecorder(world.engine.url);
    const page = await world.browser.newPage();
    try {
      await page.go(`${recorder.url}/console/${path}#console-secret=${CONSOLE_SECRET}`);
      await page.until(
        `document.querySelector('.bar') && document.querySelector('main, .graphiql-container')`,
      );
      await recorder.quiet();
      const refused = recorder.requests.filter(({ answer }) => answer.includes('access-denied'));
      expect(refused.map(({ path: to, body, answer }) => [to, body, answer])).toEqual([]);
      expect(recorder.requests.length).toBeGreaterThan(0);
    } finally {
      await page.close();
      await recorder.close();
    }
  });
});
