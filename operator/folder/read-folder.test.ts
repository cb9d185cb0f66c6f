/** Tests reading folders with several documents per file, lists, files of other programs, and mistakes. */
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

test('documents of all files at any depth are read, each with its line', async () => {
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

test('a List is read as its items', async () => {
  const items = ['one', 'two'].map((name) => ({
    apiVersion: 'pergola.dev/v1alpha1',
    kind: 'Table',
    metadata: { name },
  }));
  const { names } = await read({ 'l.json': JSON.stringify({ apiVersion: 'v1', kind: 'List', items }) });
  expect(names).toEqual(['Table default/one l.json:1', 'Table default/two l.json:1']);
});

test('other API groups, other files, hidden folders and empty documents are ignored', async () => {
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

test('a syntax error is reported with file and line, and only that file is left out', async () => {
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
  [
    'apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata: {name: 5}',
    'Table: metadata.name must be a string, and is 5',
  ],
  ['kind: Table\nmetadata: {name: a}', 'Table: apiVersion is required; write pergola.dev/v1alpha1'],
  [
    '\n- apiVersion: pergola.dev/v1alpha1\n  kind: Table\n  metadata: {name: a}',
    'x.yaml:2: a list of resources; write each as a document of its own, with --- between them',
  ],
  [
    'apiVersion: pergola.dev/v1alpha1\nkind: Table\nmetadata: {name: {{ .Release.Name }}}',
    'a mapping or list is a key, as in {{ … }} without quotes; render a template first, as helm template does, or quote it',
  ],
  [
    'apiVersion: pergola.dev/v1alpha1\nkind: Table\nkind: Source',
    'invalid YAML at column 1: the key is written twice',
  ],
])('an invalid document is reported: %j', async (text, message) => {
  const { names, problems } = await read({ 'x.yaml': text });
  expect([names, problems.length]).toEqual([[], 1]);
  expect(problems[0]).toContain(message);
});

test('a duplicate resource is reported, and the second one is left out', async () => {
  const { names, problems } = await read({ 'a.yaml': table('one'), 'b.yaml': table('one') });
  expect(names).toEqual(['Table default/one a.yaml:1']);
  expect(problems).toEqual(['b.yaml:1: Table default/one is at a.yaml:1 too; rename one of them']);
});

test('values of Secrets are read from data and stringData', async () => {
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

test('YAML anchors and merges work as in kubectl, and dates remain text', async () => {
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

test('a missing folder is an error', async () => {
  await expect(readFolder(join(folder, 'nowhere'))).rejects.toThrow('nowhere');
});
