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

const SITE = 'https://docs.example/0.4.0/schemas';
const lineOf = (kind: string, base = SITE) =>
  `# yaml-language-server: $schema=${base}/pergola.dev/${kind}_v1alpha1.json\n`;

test('files that are rewritten name the schema of each resource, once', async () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\n';
  const table = NEW.replace('InheritedRole', 'Table').replace('roles: [b] # both', 'table: a # one');
  const other = '# yaml-language-server: $schema=https://other.example/a.json\n';
  const text = [OLD, secret, table, other + OLD].join('---\n');
  const json = JSON.stringify({
    apiVersion: 'pergola.dev/v1alpha1',
    kind: 'InheritedRole',
    spec: { roleSet: ['b'] },
  });
  const folder = folderWith({ 'a.yaml': text, 'new.yaml': NEW, 'b.json': json });
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  const run = (...flags: readonly string[]) => convert(['-f', folder, ...flags]);

  expect(await run('--schemas', SITE)).toMatchObject({ code: 0, err: '' });
  const named = [lineOf('inheritedrole') + NEW, secret, lineOf('table') + table, other + NEW].join('---\n');
  expect(read('a.yaml')).toBe(named);
  expect([read('new.yaml'), JSON.parse(read('b.json')).spec]).toEqual([NEW, { roles: ['b'] }]);
  expect((await run('--schemas', SITE)).out).toBe('3 files, none has the old form.\n');
  expect(read('a.yaml')).toBe(named);

  const newer = SITE.replace('0.4.0', '0.5.0');
  writeFileSync(join(folder, 'a.yaml'), named.replaceAll('roles:', 'roleSet:'));
  expect((await run('--schemas', newer)).code).toBe(0);
  expect(read('a.yaml')).toBe(named.replaceAll(SITE, newer));
  writeFileSync(join(folder, 'a.yaml'), named.replaceAll('roles:', 'roleSet:'));
  expect((await run('--schemas', 'none')).code).toBe(0);
  expect(read('a.yaml')).toBe(named);
  expect((await convert(['-f', '-', '--schemas', SITE], OLD)).out).toBe(lineOf('inheritedrole') + NEW);
  expect(await run('--schemas', 'public')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--schemas public is neither a URL nor a folder'),
  });
});

test('without a path the command says how to use it', async () => {
  expect(await convert([])).toMatchObject({ code: 2, err: expect.stringContaining('-f FOLDER') });
});
