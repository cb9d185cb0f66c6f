/** Folders as people keep them: several documents, lists, other programs' files, mistakes. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readFolder } from './read-folder.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pergola-folder-'));
});
afterEach(() => rm(folder, { recursive: true }));

async function read(files: Readonly<Record<string, string>>) {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const { manifests, secrets, problems } = await readFolder(folder);
  return {
    names: manifests.map((m) => `${m.kind} ${m.namespace}/${m.name} ${m.position}`),
    manifests,
    secrets,
    problems: problems.map(({ position, message }) => `${position}: ${message}`),
  };
}

const table = (name: string, more = '') => `apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: ${name}${more}}
spec: {source: default}
`;

test('documents of every file at any depth, each with its line', async () => {
  const { names, problems } = await read({
    'b.yaml': `# about a\n---\n${table('one')}---\n${table('two', ', namespace: team')}`,
    'deep/er/a.yml': table('three'),
    'c.json': JSON.stringify({
      apiVersion: 'pergola.dev/v1alpha1',
      kind: 'Source',
      metadata: { name: 'four' },
    }),
  });
  expect(names).toEqual([
    'Table default/one b.yaml:3',
    'Table team/two b.yaml:8',
    'Source default/four c.json:1',
    'Table default/three deep/er/a.yml:1',
  ]);
  expect(problems).toEqual([]);
});

test('a List is its items', async () => {
  const items = ['one', 'two'].map((name) => ({
    apiVersion: 'pergola.dev/v1alpha1',
    kind: 'Table',
    metadata: { name },
  }));
  const { names } = await read({ 'l.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  expect(names).toEqual(['Table default/one l.json:1', 'Table default/two l.json:1']);
});

test('what is not ours is left to others: other groups, other files, hidden folders, empty documents', async () => {
  const { names, problems } = await read({
    'deployment.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\n',
    'values.yaml': 'replicas: 3\n',
    'list.yaml': '- 1\n- 2\n',
    'empty.yaml': '---\n---\n',
    'notes.md': 'kind: Table\n\t: [',
    '.git/x.yaml': ':\t[',
    'node_modules/x.yaml': ':\t[',
  });
  expect([names, problems]).toEqual([[], []]);
});

test('a syntax error has a file and a line, and takes its file with it but no other', async () => {
  const { names, problems } = await read({
    'bad.yaml': `${table('one')}---\n${table('two')}  broken: [\n`,
    'good.yaml': table('three'),
  });
  expect(names).toEqual(['Table default/three good.yaml:1']);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^bad\.yaml:(9|10|11): \S/);
});

test.each([
  [
    'apiVersion: pergola.dev/v1\nkind: Table',
    'apiVersion pergola.dev/v1 is not known; write pergola.dev/v1alpha1',
  ],
  [
    'apiVersion: pergola.dev/v1alpha1\nkind: Tabel',
    'there is no kind Tabel; there are Engine, Source, Table,',
  ],
  ['apiVersion: pergola.dev/v1alpha1', 'there is no kind (none)'],
  ['apiVersion: pergola.dev/v1alpha1\nkind: Table', 'Table: metadata.name is required'],
  ['apiVersion: pergola.dev/v1alpha1\nkind: Table\nkind: Source', 'duplicated mapping key'],
])('%j is told', async (text, message) => {
  const { names, problems } = await read({ 'x.yaml': text });
  expect([names, problems.length]).toEqual([[], 1]);
  expect(problems[0]).toContain(message);
});

test('the same resource twice is told, and the second file gives nothing', async () => {
  const { names, problems } = await read({ 'a.yaml': table('one'), 'b.yaml': table('one') });
  expect(names).toEqual(['Table default/one a.yaml:1']);
  expect(problems).toEqual(['b.yaml:1: Table default/one is at a.yaml:1 too; rename one of them']);
});

test('Secrets give their values, encoded or plain', async () => {
  const { secrets } = await read({
    's.yaml': `apiVersion: v1
kind: Secret
metadata: {name: db, namespace: team}
data: {uri: ${Buffer.from('postgres://x').toString('base64')}}
stringData: {user: me}
`,
  });
  expect(secrets.get('team/db')).toEqual({ uri: 'postgres://x', user: 'me' });
});

test('YAML is read as kubectl reads it where it matters: anchors, merges, no dates', async () => {
  const { manifests } = await read({
    'x.yaml': `apiVersion: pergola.dev/v1alpha1
kind: Table
metadata: {name: x}
spec:
  a: &a {p: 1}
  b: {<<: *a, q: 2020-01-01}
`,
  });
  expect(manifests[0]?.spec).toEqual({ a: { p: 1 }, b: { p: 1, q: '2020-01-01' } });
});

test('a folder that is not there is an error', async () => {
  await expect(readFolder(join(folder, 'nowhere'))).rejects.toThrow('nowhere');
});
