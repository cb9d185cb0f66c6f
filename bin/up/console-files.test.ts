/** Tests that `pergola up` writes the resources of the console into its folder, with a real engine, and never changes a file. */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { startTestEngine } from '../../testing/engine.ts';
import { writeForConsole, writeResource } from './console-files.ts';

const textOf = (name: string) =>
  `apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata:\n  name: ${name}\nspec:\n  table: book\n`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pergola-up-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a resource is written once, and the files that exist are unchanged', async () => {
  expect(await writeResource(folder, 'book.yaml', textOf('book'))).toEqual({
    file: join(folder, 'book.yaml'),
    resource: 'Table default/book',
  });
  expect(await writeResource(folder, 'other.yaml', textOf('book'))).toEqual({
    problem: 'Table book is at book.yaml:1 already: change it there.',
  });
  writeFileSync(join(folder, 'notes.yaml'), '# mine\n');
  expect(await writeResource(folder, 'notes.yaml', textOf('notes'))).toEqual({
    problem: `${join(folder, 'notes.yaml')} exists already.`,
  });
  expect(readFileSync(join(folder, 'notes.yaml'), 'utf8')).toBe('# mine\n');
});

test.each([
  ['../book.yaml', textOf('book')],
  ['a/book.yaml', textOf('book')],
  ['.book.yaml', textOf('book')],
  ['book.sql', textOf('book')],
  ['book.yaml', 'drop table book'],
  ['book.yaml', ''],
  ['book.yaml', `${textOf('a')}---\n${textOf('b')}`],
  ['book.yaml', 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n'],
  ['book.yaml', 5],
])('%s with %j is not written', async (name, text) => {
  expect(await writeResource(folder, name, text)).toHaveProperty('problem');
  expect(readdirSync(folder)).toEqual([]);
});

test('what the console stores in the engine is written, with the outcome, until the end', async () => {
  const database = await createDatabase();
  const engine = await startTestEngine({ databaseUrl: database.url });
  const stop = new AbortController();
  const printed: string[] = [];
  const state = async () => {
    const { body } = await engine.admin<Record<string, { readonly pergola_up?: object }>>(
      'get_catalog_state',
      {
        type: 'console',
      },
    );
    expect(Object.keys(body).toSorted()).toEqual(['console_state', 'id']);
    return body['console_state']?.pergola_up;
  };
  try {
    const address = { url: engine.url, adminSecret: engine.adminSecret };
    const print = (text: string) => printed.push(text);
    const writing = writeForConsole({ address, folder, print, signal: stop.signal });
    await expect.poll(state, { timeout: 10_000 }).toEqual({ folder });
    const resources = { 'book.yaml': textOf('book'), 'bad.yaml': 'no resource' };
    await engine.admin('patch_catalog_state', { type: 'console', patch: { pergola_up: { resources } } });
    const file = join(folder, 'book.yaml');
    await expect.poll(state, { timeout: 10_000 }).toEqual({
      folder,
      resources: {},
      written: {
        'book.yaml': { file, resource: 'Table default/book' },
        'bad.yaml': { problem: expect.any(String) },
      },
    });
    expect(readFileSync(file, 'utf8')).toBe(textOf('book'));
    expect(printed).toEqual([`Written by the console: ${file}\n`]);
    stop.abort();
    await writing;
    expect(await state()).toBeUndefined();
  } finally {
    stop.abort();
    await engine.close();
    await database.drop();
  }
});

test('it ends soon after the signal when the engine does not answer', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const stop = new AbortController();
  try {
    const address = { url: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`, adminSecret: 'a' };
    const writing = writeForConsole({ address, folder, print: () => {}, signal: stop.signal });
    await once(silent, 'request');
    stop.abort();
    await writing;
  } finally {
    silent.closeAllConnections();
    silent.close();
  }
});
