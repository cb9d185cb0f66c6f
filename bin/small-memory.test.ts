/** Tests that `pergola serve` has the settings of a small process, keeps its process id, and leaves settings of the administrator alone. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startEngine } from '../testing/engine-process.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** Starts an engine, and returns the arguments of its process and its variables of malloc. */
async function settings(environment: Record<string, string>) {
  const engine = await startEngine(
    { PATH: process.env['PATH'], ENGINE_GRAPHQL_DATABASE_URL: database.url, ...environment },
    'ignore',
  );
  const read = (file: string) => readFileSync(`/proc/${engine.pid}/${file}`, 'utf8').split('\0');
  const found = {
    flags: read('cmdline').filter((argument) => argument.includes('semi-space')),
    malloc: read('environ').filter((variable) => variable.startsWith('MALLOC_')),
  };
  await engine.stop();
  return found;
}

test.runIf(process.platform === 'linux')('serve has the settings', async () => {
  expect(await settings({})).toEqual({
    flags: ['--max-semi-space-size=4'],
    malloc: ['MALLOC_ARENA_MAX=2', 'MALLOC_TRIM_THRESHOLD_=131072'],
  });
});

test.runIf(process.platform === 'linux')('serve keeps the settings that it is started with', async () => {
  expect(await settings({ NODE_OPTIONS: '--max-semi-space-size=32' })).toMatchObject({ flags: [] });
  expect(await settings({ MALLOC_ARENA_MAX: '8' })).toEqual({ flags: [], malloc: ['MALLOC_ARENA_MAX=8'] });
});
