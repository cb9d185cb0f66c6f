/** Tests Migrations from an artifact in the commands plan, apply and in `pergola test`, with a real engine and a registry. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { migrationsDeclaredIn } from '../../bin/permission-tests/folder-tests.ts';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { runCommand } from '../../testing/output.ts';
import { dockerConfigOf, orasLayers, startRegistry, type TestRegistry } from '../../testing/registry.ts';
import { run as apply } from '../commands/apply.ts';
import { run as plan } from '../commands/plan.ts';
import { FolderSource } from './folder-source.ts';

let database: TestDatabase;
let engine: TestEngine;
let registry: TestRegistry;
let folder: string;

beforeEach(async () => {
  database = await createDatabase();
  engine = await startTestEngine({ databaseUrl: database.url });
  registry = await startRegistry({ authentication: 'bearer' });
  folder = await mkdtemp(join(tmpdir(), 'pergola-artifacts-'));
  registry.push('acme/library', 'v1', orasLayers({ '1_book.sql': 'create table book (id int primary key)' }));
  await write('book.yaml', document('Table', 'book', 'table: book'));
  await write('migration.yaml', migration('secretRef: {name: pull}'));
  vi.stubEnv('DOCKER_CONFIG', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await engine.close();
  await registry.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

const write = (file: string, text: string) => writeFile(join(folder, file), text);
const document = (kind: string, name: string, ...spec: string[]) =>
  `apiVersion: pergola.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec:\n  ${spec.join('\n  ')}\n`;
const migration = (...more: string[]) =>
  document(
    'Migration',
    'library',
    'ociArtifact:',
    `  repository: ${registry.host}/acme/library`,
    '  tag: v1',
    '  plainHttp: true',
    ...more.map((line) => `  ${line}`),
  );
const secret = (text: string) =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: pull}\nstringData:\n  .dockerconfigjson: '${text}'\n`;

const command = async (main: typeof apply) => {
  const engineFlags = [
    '--engine',
    engine.url,
    ...(engine.adminSecret ? ['--admin-secret', engine.adminSecret] : []),
  ];
  const { code, out, err } = await runCommand(main, ['-f', folder, ...engineFlags]);
  return { code, text: `${out}${err}` };
};

test('plan lists the files of the artifact, and apply runs them', async () => {
  await write('secret.yaml', secret(dockerConfigOf(registry.host)));
  const planned = await command(plan);
  expect(planned.text).toContain('would run: 1_book.sql');
  const applied = await command(apply);
  expect([applied.code, applied.text]).toEqual([0, expect.stringContaining('the newest version is 1')]);
  expect((await engine.graphql('{ book { id } }')).data).toEqual({ book: [] });
  const again = await command(plan);
  expect([again.code, again.text]).toEqual([0, expect.not.stringContaining('would run')]);
});

test('without the Secret the credentials are those of the Docker client; without both it is missing', async () => {
  const missing = await command(apply);
  expect([missing.code, missing.text]).toEqual([
    1,
    expect.stringMatching(
      /SecretNotFound.*spec\.ociArtifact\.secretRef: there is no Secret default\/pull in the files/s,
    ),
  ]);
  expect(missing.text).toContain('DependencyNotReady');
  await write('config.json', dockerConfigOf(registry.host));
  expect((await command(apply)).code).toBe(0);
});

test('a registry that does not answer is named, and nothing else fails', async () => {
  await registry.close();
  await write('migration.yaml', migration());
  const { code, text } = await command(apply);
  expect([code, text]).toEqual([
    1,
    expect.stringMatching(/ArtifactUnavailable.*acme\/library:v1: .*does not answer: ECONNREFUSED/s),
  ]);
  registry = await startRegistry();
});

test('pergola test runs the files of the artifact on its database', async () => {
  await write('secret.yaml', secret(dockerConfigOf(registry.host)));
  const sql = 'create table book (id int primary key)';
  expect(await migrationsDeclaredIn(await new FolderSource(folder).snapshot())).toEqual([
    { source: 'default', files: [{ name: '1_book.sql', text: sql }] },
  ]);
});
