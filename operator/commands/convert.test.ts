/** Tests `pergola convert` as a program: files in place, --check, standard input, and files that are no YAML. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../bin/pergola.mjs');
const OLD =
  '# Editors.\napiVersion: pergola.dev/v1alpha1\nkind: InheritedRole\nmetadata: { name: a }\nspec:\n  roleSet: [b] # both\n';
const NEW = OLD.replace('roleSet', 'roles');

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-convert-'));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

function convert(argv: readonly string[], input = ''): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, 'convert', ...argv], (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
    child.stdin?.end(input);
  });
}

test('files of the old form are rewritten, others are not', async () => {
  const folder = folderWith({ 'old.yaml': OLD, 'new.yaml': NEW, 'notes.txt': OLD });
  const { code, out } = await convert(['-f', folder]);
  expect([code, out]).toEqual([0, `${join(folder, 'old.yaml')}\n1 of 2 files rewritten.\n`]);
  expect(readFileSync(join(folder, 'old.yaml'), 'utf8')).toBe(NEW);
  expect(readFileSync(join(folder, 'notes.txt'), 'utf8')).toBe(OLD);
  expect(await convert(['-f', folder, '--check'])).toMatchObject({
    code: 0,
    out: '2 files, none has the old form.\n',
  });
});

test('--check writes nothing and exits with 1', async () => {
  const folder = folderWith({ 'old.yaml': OLD });
  expect(await convert(['-f', folder, '--check'])).toMatchObject({
    code: 1,
    out: expect.stringContaining('1 of 1 file has the old form'),
  });
  expect(readFileSync(join(folder, 'old.yaml'), 'utf8')).toBe(OLD);
});

test('a file that is no YAML is named with its line, and the others are rewritten', async () => {
  const folder = folderWith({ 'chart.yaml': 'a: 1\nb: [\n', 'old.yaml': OLD });
  const { code, err } = await convert(['-f', folder]);
  expect([code, err]).toEqual([1, expect.stringContaining(`${join(folder, 'chart.yaml')}:`)]);
  expect(readFileSync(join(folder, 'old.yaml'), 'utf8')).toBe(NEW);
});

test('JSON stays JSON, on standard input too', async () => {
  const resource = { apiVersion: 'pergola.dev/v1alpha1', kind: 'InheritedRole', spec: { roleSet: ['b'] } };
  const converted = { ...resource, spec: { roles: ['b'] } };
  const folder = folderWith({ 'old.json': JSON.stringify(resource) });
  expect((await convert(['-f', folder])).code).toBe(0);
  expect(JSON.parse(readFileSync(join(folder, 'old.json'), 'utf8'))).toEqual(converted);
  const { code, out } = await convert(
    ['-f', '-'],
    JSON.stringify({ kind: 'List', apiVersion: 'v1', items: [resource] }),
  );
  expect([code, JSON.parse(out).items]).toEqual([0, [converted]]);
  expect((await convert(['-f', '-'], OLD)).out).toBe(NEW);
});

test('without a path the command says how to use it', async () => {
  expect(await convert([])).toMatchObject({ code: 2, err: expect.stringContaining('-f FOLDER') });
});
