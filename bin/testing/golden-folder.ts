/** Compares text and folders with golden files, which UPDATE_GOLDEN=1 rewrites. For the tests of `pergola init`. */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'vitest';

const isUpdating = Boolean(process.env['UPDATE_GOLDEN']);

export function compareFile(golden: string, text: string): void {
  if (isUpdating) writeTo(golden, text);
  expect(text).toBe(readFileSync(golden, 'utf8'));
}

/** Compares the content of two folders; `plain` removes from a text what differs between runs. */
export function compareFolder(golden: string, folder: string, plain: (text: string) => string): void {
  if (isUpdating) {
    rmSync(golden, { recursive: true, force: true });
    for (const [file, text] of contentOf(folder)) writeTo(join(golden, file), plain(text));
  }
  const actual = [...contentOf(folder)].map(([file, text]) => [file, plain(text)] as const);
  expect(new Map(actual)).toEqual(contentOf(golden));
}

/** Returns the text of each file, by path. */
export function contentOf(folder: string): ReadonlyMap<string, string> {
  const names = (readdirSync(folder, { recursive: true }) as string[]).toSorted();
  const files = names.map((name) => join(folder, name)).filter((path) => statSync(path).isFile());
  return new Map(files.map((path) => [relative(folder, path), readFileSync(path, 'utf8')]));
}

export function writeTo(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
