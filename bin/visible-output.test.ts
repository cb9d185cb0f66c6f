/** Control characters in names do not reach the terminal: a database and files whose names hold them, through commands that print names. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { testDatabase } from '../testing/world.ts';

const PROGRAM = fileURLToPath(new URL('pergola.mjs', import.meta.url));

/** A title, a colour, a cursor movement, a carriage return, and the short form of ESC [. */
const SEQUENCES = ['\u001b]0;title\u0007', '\u001b[31m', '\u001b[2A', '\r', '\u009b8m', '\u007f'];
const visible = (text: string) =>
  [...text].map((each) => (/[\u0020-\u007e]/.test(each) ? each : `\\u${hex(each)}`)).join('');
const hex = (each: string) => each.charCodeAt(0).toString(16).padStart(4, '0');

const database = testDatabase();
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'pergola-visible-'));
  for (const [i, sequence] of SEQUENCES.entries()) {
    await database.sql(`create table "t${i}${sequence}" (id int, "c${sequence}" int)`);
  }
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
});

function printed(...argv: readonly string[]): string {
  const env = { ...process.env, FORCE_COLOR: '1' };
  const { stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], { env, encoding: 'utf8' });
  return stdout + stderr;
}

/** The text without the colours of the commands themselves, each of which begins and ends in one line. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
const withoutColours = (text: string) => text.replace(/\u001b\[\d+m([^\u001b]*)\u001b\[\d+m/g, '$1');
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find.
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

test.each(SEQUENCES)('validate prints the name %j visibly, with colours of its own', (sequence) => {
  const file = join(folder, 'table.yaml');
  const table = { apiVersion: 'pergola.dev/v1alpha1', kind: 'Table', metadata: { name: 'a' } };
  writeFileSync(file, JSON.stringify({ ...table, spec: { [`no${sequence}`]: sequence } }));
  const text = printed('validate', '-f', file);
  expect(text).toContain('\u001b[31m');
  expect(withoutColours(text)).not.toMatch(CONTROLS);
  expect(text).toContain(`no${visible(sequence)}`);
});

test('init prints the names of a database visibly', () => {
  const text = printed('init', '--database-url', database.url, '-o', join(folder, 'resources'));
  expect(withoutColours(text)).not.toMatch(CONTROLS);
  expect(text).toMatch(/t0\\u001b|files in/);
});
