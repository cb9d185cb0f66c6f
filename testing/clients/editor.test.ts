/** Tests in an editor's language server the lines that `convert` writes: the schema of each document is found in a folder, a misspelt field is reported at its
 *  line, and fields are offered. Reference: docs/guides/gitops.md. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test, vi } from 'vitest';
import { writeSchemas } from '../../crds/json-schemas.ts';
import { run as convert } from '../../operator/commands/convert.ts';

const root = mkdtempSync(join(tmpdir(), 'pergola-editor-'));
afterAll(() => {
  vi.restoreAllMocks();
  rmSync(root, { recursive: true });
});

const head = (kind: string) =>
  `apiVersion: pergola.dev/v1alpha1\nkind: ${kind}\nmetadata: { name: a }\nspec:\n`;
const RESOURCES = [
  `# Editors.\n${head('InheritedRole')}  role: editor\n  roleSet: [author, reader]\n`,
  'apiVersion: v1\nkind: Secret\nmetadata: { name: s }\nanything: 1\n',
  `${head('Table')}  table: author\n  permisions: []\n`,
].join('---\n');

test('an editor finds a misspelt field at its line, and knows the fields of each document', async () => {
  const [schemas, file] = [join(root, 'schemas'), join(root, 'resources/tables/all.yaml')];
  mkdirSync(join(root, 'resources/tables'), { recursive: true });
  writeSchemas(schemas);
  writeFileSync(file, RESOURCES);
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  expect(await convert(['-f', join(root, 'resources'), '--schemas', schemas])).toBe(0);

  // The same by a path from the file.
  const near = join(root, 'resources/tables/near.yaml');
  writeFileSync(near, readFileSync(file, 'utf8').replaceAll(`$schema=${schemas}/`, '$schema=../../schemas/'));
  const plain = join(root, 'resources/tables/plain.yaml');
  writeFileSync(plain, RESOURCES);

  const lines = readFileSync(file, 'utf8').split('\n');
  const misspelt = lines.findIndex((line) => line.includes('permisions'));
  const program = join(import.meta.dirname, 'editor.mjs');
  const argv = [file, near].flatMap((one) => [one, `${misspelt}:2`]);
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...argv, plain, '1:0']);
  const said = JSON.parse(stdout);
  for (const one of [file, near]) {
    expect(said[one].problems).toEqual([`${misspelt + 1}: Property permisions is not allowed.`]);
    expect(said[one].offered).toEqual(expect.arrayContaining(['permissions', 'objectRelationships']));
  }
  expect(said[plain].problems).toEqual([]);
}, 120_000);
