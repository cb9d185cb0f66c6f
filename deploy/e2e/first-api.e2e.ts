/** Follows docs/guides/first-api.md on a cluster, by its own commands and files: the part for kind, then the part with Argo CD. What cannot run here,
 *  and what runs instead, is one table; everything else runs as it stands. The answer is that of the page.
 *  In: E2E_ARGOCD_SERVER, as in argocd.e2e.ts. The steps are one story and run in order. Not here: the part for a laptop (docs/first-api.test.ts). */
import { mkdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../bin/free-port.ts';
import { blocksOf } from '../../operator/testing/guide.ts';
import { get, kubectl, until } from './cluster.ts';
import { commandsOf, Reader } from './guide.ts';
import { IMAGE_VALUES, POSTGRES_IMAGE, removeAll, uniqueName } from './release.ts';
import { Repository } from './repository.ts';

const SERVER = process.env['E2E_ARGOCD_SERVER'] ?? '';
const namespace = uniqueName('pergola-first');
const reader = new Reader(namespace);
const repository = new Repository({}, []);
const port = await freePort();
const BLOCKS = blocksOf(readFileSync('docs/guides/first-api.md', 'utf8')).map(({ text }) => text);
const ANSWER = BLOCKS.find((text) => text.startsWith('{"data"'))!;

/** Texts of the page, each with the one that runs here instead: the cluster and its images are there already, Argo CD reads a folder of this machine, and the port 8080
 *  may be in use. */
const INSTEAD: readonly (readonly [string, string])[] = [
  ['docker build -t pergola:trial -f deploy/Dockerfile .\n', ''],
  ['kind create cluster\n', ''],
  ['kind load docker-image pergola:trial\n', ''],
  ['--set image.repository=pergola --set image.tag=trial', IMAGE_VALUES.join(' ')],
  [
    '--set postgres.enabled=true',
    `--set postgres.enabled=true,postgres.image=${POSTGRES_IMAGE},postgres.runAsUser=1000`,
  ],
  [' 8080:8080', ` ${port}:8080`],
  ['http://localhost:8080/healthz', `http://localhost:${port}/healthz`],
  ['http://localhost:8080/v1/graphql', `http://localhost:${port}/v1/graphql`],
  ['repoURL: https://git.example.org/notes.git', `repoURL: ${repository.url}`],
  ['server: https://kubernetes.default.svc', `server: ${SERVER}`],
  ['namespace: api', `namespace: ${namespace}`],
];
/** Texts of the page that were replaced. */
const replaced = new Set<string>();

const KIND = commandsOf('first-api.md', 'On kind').map(instead);
const ARGOCD = commandsOf('first-api.md', 'In a cluster with Argo CD').map(instead);

beforeAll(() => {
  for (const file of ['notes/note.yaml', 'engine.yaml', 'application.yaml']) reader.write(file, fileOf(file));
  const rules = 'deploy/argocd/argocd-cm.yaml';
  reader.write(rules, readFileSync(rules, 'utf8'));
});

afterAll(async () => {
  reader.dispose();
  repository.dispose();
  if (process.env['E2E_KEEP']) return;
  if (SERVER !== '') await kubectl('-n', 'argocd', 'delete', 'application', 'notes', '--ignore-not-found');
  await removeAll(namespace);
});

test('the page has everything that is replaced here', () => {
  expect(INSTEAD.map(([text]) => text).filter((text) => !replaced.has(text))).toEqual([]);
  expect([KIND.length, ARGOCD.length]).toEqual([2, 1]);
});

test('the commands for kind end with the answer of the page', async () => {
  await reader.run(KIND[0]!);
  const printed = await reader.run(KIND[1]!);
  expect(printed).toContain('engine.pergola.dev/main condition met\ntable.pergola.dev/note condition met\n');
  expect(printed.endsWith(`\n${ANSWER}`)).toBe(true);
});

test.skipIf(SERVER === '')('the commands for Argo CD keep the namespace as the folder is', async () => {
  await reader.run('kubectl -n api delete -f notes && kubectl -n api delete -f engine.yaml');
  mkdirSync(`${repository.folder}/notes`);
  for (const file of ['notes/note.yaml', 'engine.yaml']) repository.add(file, fileOf(file));
  repository.commit('the first API');
  await reader.run(ARGOCD[0]!);
  await until('the Application is Synced and Healthy', async () => {
    const { sync, health, conditions } = (await get('application', 'notes', '-n', 'argocd')).status ?? {};
    if (conditions) throw new Error(JSON.stringify(conditions));
    return sync?.status === 'Synced' && health?.status === 'Healthy';
  });
  const request = KIND[1]!.slice(KIND[1]!.indexOf('kubectl -n api wait'));
  expect((await reader.run(request)).endsWith(`\n${ANSWER}`)).toBe(true);
  await kubectl('-n', namespace, 'delete', 'table.pergola.dev/note');
  await until('the table is back', async () => (await reader.run(request)).endsWith(`\n${ANSWER}`));
});

/** Returns a text of the page as it runs here. */
function instead(text: string): string {
  return INSTEAD.reduce((rest, [page, here]) => {
    if (rest.includes(page)) replaced.add(page);
    return rest.replace(page, here);
  }, text);
}

/** Returns a file of the page, whose block begins with its name. */
function fileOf(name: string): string {
  return instead(`${BLOCKS.find((text) => text.startsWith(`# ${name}\n`))}\n`);
}
