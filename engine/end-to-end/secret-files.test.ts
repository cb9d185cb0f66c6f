/** Tests files that metadata names and that cannot be read for a time: they may be created later, or be half written when the engine looks.
 *  What names them works again soon after they can be read, without a request that changes anything.
 *  Not here: files whose text changes (named-values-places.test.ts). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { startRemote } from '../../testing/remote.ts';

const SOON = { timeout: 15_000, interval: 50 };

let database: TestDatabase;
let remote: Awaited<ReturnType<typeof startRemote>>;
let folder: string;
const engines: TestEngine[] = [];

const start = async () => {
  const engine = await startTestEngine({ databaseUrl: database.url, dynamicSecretsPath: [folder] });
  engines.push(engine);
  return engine;
};
const inconsistent = async (engine: TestEngine) => {
  const { body } = await engine.admin<{ inconsistent_objects: readonly { reason: string }[] }>(
    'get_inconsistent_metadata',
    {},
  );
  return body.inconsistent_objects.map(({ reason }) => reason);
};
const far = async (engine: TestEngine) => (await engine.graphql('{ far }')).data;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pergola-secret-files-'));
  remote = await startRemote('type Query { far: String }', { 'Query.far': () => 'away' });
  database = await createDatabase();
});
afterEach(async () => {
  for (const engine of engines.splice(0)) await engine.close();
  await remote.close();
  await database.drop();
  await rm(folder, { recursive: true });
});

test.each([
  [
    'the URL of a remote schema',
    (file: string): object => ({ url_from_file: file }),
    (): string => remote.url,
  ],
  [
    'a header of a remote schema',
    (file: string): object => ({ url: remote.url, headers: [{ name: 'x-token', value_from_file: file }] }),
    () => 'token',
  ],
])('%s: an engine that starts before its file exists serves it soon after', async (_, definition, text) => {
  const file = join(folder, 'text');
  await writeFile(file, text());
  const first = await start();
  const { status } = await first.admin('add_remote_schema', { name: 'far', definition: definition(file) });
  expect(status).toBe(200);
  await rm(file);
  const second = await start();
  expect(await inconsistent(second)).toEqual([expect.stringContaining(`"${file}" cannot be read`)]);
  expect(await far(second)).toBeUndefined();
  await writeFile(file, '');
  await writeFile(file, `${text()}\n`);
  await vi.waitFor(async () => expect(await far(second)).toEqual({ far: 'away' }), SOON);
  expect(await inconsistent(second)).toEqual([]);
  // It appeared before, and may go and come again.
  await rm(file);
  const third = await start();
  await writeFile(file, text());
  await vi.waitFor(async () => expect(await far(third)).toEqual({ far: 'away' }), SOON);
  await vi.waitFor(async () => expect(await far(second)).toEqual({ far: 'away' }), SOON);
});
