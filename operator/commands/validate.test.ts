/** Tests `pergola validate` as a program: every problem of a folder, with its line; what is valid; and what cannot be checked here. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { EVERY_KIND } from '../../testing/examples.ts';

const PROGRAM = join(import.meta.dirname, '../../bin/pergola.mjs');

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'pergola-validate-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

function validate(
  argv: readonly string[],
  input = '',
): Promise<{ code: number; lines: readonly string[]; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [PROGRAM, 'validate', ...argv], (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), lines: out.trimEnd().split('\n'), err }),
    );
    child.stdin?.end(input);
  });
}

const table = (name: string, spec: string) =>
  `apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata: { name: ${name} }\nspec:\n${spec}`;

test('the examples are valid', async () => {
  const { code, lines } = await validate(['-f', EVERY_KIND]);
  expect([code, lines.at(-1)]).toEqual([0, expect.stringMatching(/^\d+ resources, no problems\.$/)]);
});

test('every problem of every file is there, with the line of its field', async () => {
  const folder = folderWith({
    'tables/author.yaml': `# Authors\n${table('author', '  table: author\n  permisions: []\n  permissions:\n    - role: r\n      select: { columns: [id], filter: {}, lmit: 1 }\n    - role: r\n      delete: {}\n')}`,
    'tables/broken.yaml': 'a: [\n',
    'b.yaml': `${table('Second', '  suspend: perhaps\n')}---\n# comment\n${table('third', '  table: { schema: public, name: x }\n')}`,
  });
  const { code, lines } = await validate(['-f', folder]);
  expect(code).toBe(1);
  for (const start of [
    'b.yaml:3: Table default/Second: metadata.name must consist of lower-case letters',
    'b.yaml:4: Table default/Second: spec.table is required',
    'b.yaml:5: Table default/Second: spec.suspend must be a boolean, and is "perhaps"',
    'b.yaml:8: Table default/third: the resource has an older form of v1alpha1; pergola convert rewrites it',
    'b.yaml:12: Table default/third: spec.table must be a string',
    'tables/author.yaml:7: Table default/author: spec.permisions is not a field; the nearest name is "permissions"',
    'tables/author.yaml:8: Table default/author: spec.permissions has two items with the role "r"',
    'tables/author.yaml:10: Table default/author: spec.permissions[0].select.lmit is not a field',
    'tables/author.yaml:12: Table default/author: spec.permissions[1].delete.filter is required',
    'tables/broken.yaml:',
  ]) {
    expect(
      lines.some((line) => line.startsWith(start)),
      `${start}\n${lines.join('\n')}`,
    ).toBe(true);
  }
  expect(lines.at(-1)).toBe('3 resources, 10 problems.');
});

test('a broken rule of the spec has its path once', async () => {
  const text = table('hook', '  table: author\n  name: hook\n  webhook: { value: "http://127.0.0.1:9" }\n');
  const { lines } = await validate([
    '-f',
    folderWith({ 'hook.yaml': text.replace('Table', 'EventTrigger') }),
  ]);
  expect(lines).toEqual([
    'hook.yaml:4: EventTrigger default/hook: spec: an event trigger without insert, update, delete and enableManual never fires; add an operation',
    '1 resource, 1 problem.',
  ]);
});

test('two resources for one object conflict, unless they belong to two engines', async () => {
  const list = (...specs: string[]) =>
    `apiVersion: v1\nkind: List\nitems:\n${specs
      .map(
        (spec, i) =>
          `- { apiVersion: pergola.dev/v1alpha1, kind: Table, metadata: { name: t${i} }, spec: ${spec} }\n`,
      )
      .join('')}`;
  const same = await validate(['-f', '-'], list('{ table: a }', '{ table: a }'));
  expect(same.code).toBe(1);
  expect(same.lines[0]).toMatch(
    /^stdin:5: Table default\/t1: table default\/public\/a belongs to Table default\/t0/,
  );
  const two = list('{ engineRef: { name: one }, table: a }', '{ engineRef: { name: two }, table: a }');
  expect(await validate(['-f', '-'], two)).toMatchObject({ code: 0, lines: ['2 resources, no problems.'] });
});

test('definitions in the schema language are read', async () => {
  const action = `apiVersion: pergola.dev/v1alpha1\nkind: Action\nmetadata: { name: a }\nspec:\n  handler: { value: "http://a" }\n  sdl: "type Mutation { a: "\n`;
  const { lines } = await validate(['-f', folderWith({ 'a.yaml': action })]);
  expect(lines[0]).toMatch(/^a\.yaml:6: Action default\/a: spec\.sdl: Syntax Error/);
});

test('the document of a PermissionTest is read, because one that is no GraphQL passes a test of an error', async () => {
  const text =
    'apiVersion: pergola.dev/v1alpha1\nkind: PermissionTest\nmetadata: { name: a }\nspec:\n  role: r\n  query: "{ a"\n  expect: { error: {} }\n';
  const { lines } = await validate(['-f', folderWith({ 'a.yaml': text })]);
  expect(lines[0]).toBe(
    'a.yaml:6: PermissionTest default/a: spec.query: Syntax Error: Expected Name, found <EOF>. (line 1)',
  );
});

test('a ConfigMap that the folder does not have is no problem, and is reported', async () => {
  const bundle =
    'apiVersion: pergola.dev/v1alpha1\nkind: MetadataBundle\nmetadata: { name: a }\nspec:\n  from: [{ configMapKeyRef: { name: b, key: c } }]\n';
  const { code, err } = await validate(['-f', folderWith({ 'a.yaml': bundle })]);
  expect([code, err]).toEqual([
    0,
    expect.stringMatching(/^not checked: a\.yaml:1: MetadataBundle default\/a: .*ConfigMap default\/b/),
  ]);
});

test('an artifact of a registry is not downloaded, and its Migration is reported', async () => {
  const migration = `apiVersion: pergola.dev/v1alpha1\nkind: Migration\nmetadata: { name: a }\nspec:\n  ociArtifact: { repository: registry.invalid/acme/library, tag: v1 }\n`;
  const { code, err } = await validate(['-f', folderWith({ 'a.yaml': migration })]);
  expect([code, err]).toEqual([
    0,
    expect.stringMatching(
      /^not checked: a\.yaml:1: Migration default\/a: spec\.ociArtifact is not downloaded/,
    ),
  ]);
});

test('a folder without resources is no valid folder', async () => {
  const { code, err } = await validate(['-f', folderWith({ 'a.yaml': 'kind: Kustomization\n' })]);
  expect([code, err]).toEqual([1, expect.stringContaining('contains no resources of pergola.dev')]);
});

test('-o json has the same problems', async () => {
  const folder = folderWith({ 'a.yaml': table('a', '  table: a\n  colour: red\n') });
  const { code, lines } = await validate(['-f', folder, '-o', 'json']);
  expect([code, JSON.parse(lines.join(''))]).toEqual([
    1,
    {
      resources: 1,
      isValid: false,
      problems: [{ place: 'a.yaml:6', message: expect.stringContaining('spec.colour is not a field') }],
      unchecked: [],
    },
  ]);
});

test('the files of a Migration are checked: names, versions, and statements that cannot run in their file', async () => {
  const migration = (name: string, spec: string) =>
    `apiVersion: pergola.dev/v1alpha1\nkind: Migration\nmetadata: { name: ${name} }\nspec:\n${spec}`;
  const folder = folderWith({
    'a.yaml': migration(
      'a',
      '  files:\n    - { name: 1_a.sql, sql: select 1 }\n    - { name: 01_b.sql, sql: select 1 }\n    - { name: 3_c.sql, sql: "begin; commit" }\n',
    ),
    'b.yaml': `${migration('b', '  source: other\n  configMapRef: { name: sql }\n')}---
apiVersion: v1
kind: ConfigMap
metadata: { name: sql }
data:
  first.sql: select 1
  2_index.sql: create index concurrently i on t (a)
  notes.md: nothing
`,
    'c.yaml': migration('c', '  source: third\n  configMapRef: { name: elsewhere }\n'),
  });
  const { code, lines } = await validate(['-f', folder]);
  expect(code).toBe(1);
  const text = lines.join('\n');
  for (const part of [
    'Migration default/a: version 1 is used by 1_a.sql and 01_b.sql; rename one of them',
    'Migration default/a: 3_c.sql:1: statement 1 begins or ends a transaction',
    'Migration default/b: first.sql: is not named VERSION_NAME.sql',
    'Migration default/b: 2_index.sql:1: statement 1 cannot run in a transaction',
  ]) {
    expect(text).toContain(part);
  }
  expect(text).not.toContain('Migration default/c');
});
