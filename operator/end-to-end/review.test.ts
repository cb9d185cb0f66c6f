/** Runs the example of a review, deploy/examples/review, as its workflow does: a pull request that widens a filter by accident is stopped,
 *  by the plan and by a PermissionTest, and one that adds a column passes. Not here: the steps of the workflow that belong to the service that runs it. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLE = join(ROOT, 'deploy/examples/review');
const GUIDE = join(ROOT, 'docs/guides/reviewing-changes.md');

let database: TestDatabase;
let engine: TestEngine;
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pergola-review-'));
  await cp(join(EXAMPLE, 'api'), join(folder, 'base'), { recursive: true });
  await cp(join(EXAMPLE, 'api'), join(folder, 'head'), { recursive: true });
  database = await createDatabase();
});
afterEach(async () => {
  await engine?.close();
  await database?.drop();
  await rm(folder, { recursive: true });
});

/** Changes a file of the pull request. */
async function edit(file: string, before: string, after: string): Promise<void> {
  const path = join(folder, 'head', file);
  const text = await readFile(path, 'utf8');
  expect(text).toContain(before);
  await writeFile(path, text.replace(before, after));
}

async function review(): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  await database.sql(await readFile(join(folder, 'head/schema.sql'), 'utf8'));
  engine = await startTestEngine({ databaseUrl: database.url });
  const env = {
    PATH: process.env['PATH'],
    PERGOLA: `${process.execPath} ${join(ROOT, 'bin/pergola.mjs')}`,
    ENGINE: engine.url,
    ENGINE_GRAPHQL_ADMIN_SECRET: engine.adminSecret,
    DATABASE_URL: database.url,
  };
  const argv = [join(EXAMPLE, 'review.sh'), join(folder, 'base'), join(folder, 'head')];
  return new Promise((resolve) => {
    execFile('sh', argv, { env }, (error, out, err) => resolve({ code: Number(error?.code ?? 0), out, err }));
  });
}

test('a filter that is widened by accident is stopped, with the Markdown of the guide', async () => {
  await edit('document.yaml', '_and:', '_or:');
  const { code, out, err } = await review();
  expect(code).toBe(1);
  expect(err).toContain('FAIL  member-reads-current-documents-of-the-account');
  expect(await readFile(GUIDE, 'utf8')).toContain(`~~~markdown\n${out}~~~\n`);
  expect(out).toContain('**Refused by --fail-on widened**');
});

test('a column more passes', async () => {
  await edit('schema.sql', 'title text not null,', 'title text not null,\n  summary text,');
  await edit('document.yaml', '[id, title]', '[id, title, summary]');
  const { code, out, err } = await review();
  expect([code, out, err]).toEqual([
    0,
    expect.stringContaining('columns: id, title → id, title, summary'),
    expect.stringContaining('ok    member-reads'),
  ]);
  expect(out).not.toContain('Refused');
});

test('a column less is stopped, because clients break', async () => {
  await edit('document.yaml', '[id, title]', '[title]');
  const { code, out, err } = await review();
  expect([code, out]).toEqual([1, expect.stringContaining('**Refused by --fail-on breaking**')]);
  expect(err).toContain('ok    member-reads');
});

test('a misspelt field is stopped before anything else', async () => {
  await edit('document.yaml', 'filter:', 'filtre:');
  const { code, out, err } = await review();
  expect([code, out]).toEqual([1, '']);
  expect(err).toContain('document.yaml');
});
