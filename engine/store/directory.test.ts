import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exportMetadata } from '../metadata/export.ts';
import { parseMetadata } from '../metadata/parse.ts';
import { readDirectory, writeDirectory } from './directory.ts';

const metadata = (...tables: string[]) =>
  parseMetadata({
    version: 3,
    sources: [
      {
        name: 'default',
        kind: 'postgres',
        configuration: { connection_info: { database_url: { from_env: 'URL' } } },
        tables: tables.map((table) => ({ table })),
      },
    ],
  });
const newFolder = () => mkdtempSync(join(tmpdir(), 'pergola-directory-'));
const AUTHOR = 'databases/default/tables/public_author.yaml';

test('a written directory is read back', async () => {
  const folder = join(newFolder(), 'metadata');
  const files = await writeDirectory(folder, metadata('author', 'book'));
  expect(files).toContain(AUTHOR);
  expect(exportMetadata(readDirectory(folder))).toEqual(exportMetadata(metadata('author', 'book')));
});

test('files of removed objects are deleted, and other files are kept', async () => {
  const folder = newFolder();
  await writeDirectory(folder, metadata('author', 'book'));
  const note = join(folder, 'databases/default/tables/README.md');
  writeFileSync(note, 'ours');
  await writeDirectory(folder, metadata('book'));
  expect(existsSync(join(folder, AUTHOR))).toBe(false);
  expect(readFileSync(note, 'utf8')).toBe('ours');
});

test('an unreadable directory is not overwritten', async () => {
  const folder = newFolder();
  await writeDirectory(folder, metadata('author'));
  writeFileSync(join(folder, AUTHOR), 'a: [');
  await expect(writeDirectory(folder, metadata('book'))).rejects.toThrow(AUTHOR);
  expect(readFileSync(join(folder, AUTHOR), 'utf8')).toBe('a: [');
});

test('the error names a missing folder, or a path that is no folder', () => {
  expect(() => readDirectory('/nowhere/metadata')).toThrow('there is no folder /nowhere/metadata');
});
