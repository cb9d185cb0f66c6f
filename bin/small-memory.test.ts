/** Tests that `pergola serve` has the settings of a small process, keeps its process id, and leaves settings of the administrator alone. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startEngine } from '../testing/engine-process.ts';
import { testDatabase } from '../testing/world.ts';

const database = testDatabase();

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

/** Runs the decision in a process with this memory, and returns the flags with which it replaces itself; null when it does not. */
async function flagsWith(
  mib: number,
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[] | null> {
  const script = `
    let flags = null;
    process.constrainedMemory = () => ${mib} * 2 ** 20;
    process.execve = (_, args) => { flags = args.filter((argument) => argument.startsWith('--max')); };
    const { keepMemorySmall } = await import(${JSON.stringify(new URL('small-memory.mjs', import.meta.url).href)});
    keepMemorySmall();
    console.log(JSON.stringify(flags));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    env: { PATH: process.env['PATH'], ...environment },
  });
  return JSON.parse(stdout);
}

const IMAGE = { MALLOC_ARENA_MAX: '2', NODE_OPTIONS: '--max-semi-space-size=4' };
const SEMI = '--max-semi-space-size=4';

test.runIf(process.platform === 'linux').each([
  [256, {}, [SEMI, '--max-old-space-size=140']],
  [256, IMAGE, ['--max-old-space-size=140']],
  [128, IMAGE, ['--max-old-space-size=70']],
  [511, IMAGE, ['--max-old-space-size=281']],
  [512, IMAGE, null],
  [512, {}, [SEMI]],
  [256, { ...IMAGE, NODE_OPTIONS: '--max-semi-space-size=4 --max-old-space-size=100' }, null],
  [256, { ...IMAGE, NODE_OPTIONS: '--max-old-space-size-percentage=40' }, null],
])('a container of %i MiB with %j', async (mib, environment, flags) => {
  expect(await flagsWith(mib, environment)).toEqual(flags);
});
