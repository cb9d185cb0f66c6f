/** Tests that a bundle serves like its sources, loads nothing that a start does not need, and is not used once a source has changed. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildChangedConsole } from '../console/build.ts';
import { createDatabase } from '../testing/database.ts';
import { ANY_PORT, healthyUrl } from '../testing/engine-process.ts';
import { bundle } from './bundle.ts';
import { bundleOf, LIST, ROOT } from './bundled.mjs';

/** The files beside the sources are found from there. */
const folder = mkdtempSync(join(ROOT, 'dist-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a bundle', () => {
  const file = join(folder, 'serve.mjs');
  const script = (argv: readonly string[]) => [
    '--input-type=module',
    '-e',
    `process.once('exit', () => console.log(JSON.stringify(process.moduleLoadList)));
     await (await import('${pathToFileURL(file)}')).run(${JSON.stringify(argv)});`,
  ];
  beforeAll(async () => {
    await bundle(folder);
    await buildChangedConsole();
  });

  test('prints the help that the sources print', () => {
    const help = (command: readonly string[]) =>
      execFileSync(process.execPath, command, { encoding: 'utf8' });
    expect(help(script(['--help']))).toContain(
      help(['bin/pergola.mjs', 'serve', '--help']).replaceAll('bin/pergola.mjs', 'pergola'),
    );
  });

  test('starts an engine with the SQL beside its sources and the console, and loads one HTTP client', async () => {
    const database = await createDatabase();
    const engine = spawn(process.execPath, script([...ANY_PORT, '--enable-console']), {
      env: { ...process.env, ENGINE_GRAPHQL_DATABASE_URL: database.url },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    engine.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    const url = await healthyUrl(engine, 'ignore');
    expect((await fetch(`${url}/`)).status).toBe(200);
    engine.kill('SIGTERM');
    await once(engine, 'close');
    await database.drop();
    const loaded = JSON.parse(output.trim().split('\n').at(-1)!) as readonly string[];
    expect(loaded).toContain('NativeModule http');
    expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
  });

  test.each([
    ['jose', 'JWTClaimValidationFailed'],
    ['prom-client', 'escapeLabelValue'],
    ['@opentelemetry', '_flushOneBatch'],
  ])('has %s in no file that a start reads', (_, part) => {
    const start = readFileSync(file, 'utf8');
    expect(start.includes('GraphQLSchema = class')).toBe(true);
    expect(start.includes(part)).toBe(false);
  });
});

describe('the bundle of a command', () => {
  const built = mkdtempSync(join(tmpdir(), 'pergola-built-'));
  const source = join(built, 'source.ts');
  const ageSeconds = (path: string, seconds: number) => {
    const time = Date.now() / 1000 - seconds;
    utimesSync(path, time, time);
  };
  beforeAll(() => {
    for (const path of [source, join(built, 'serve.mjs')]) writeFileSync(path, '');
    writeFileSync(join(built, LIST), JSON.stringify([relative(ROOT, source)]));
    ageSeconds(join(built, 'serve.mjs'), 10);
    ageSeconds(source, 20);
  });

  afterAll(() => rmSync(built, { recursive: true, force: true }));

  test('is used while it is newer than its sources', () => {
    expect(bundleOf('serve', built)).toBe(join(built, 'serve.mjs'));
  });

  test('is not used once a source is newer or missing', () => {
    ageSeconds(source, 5);
    expect(bundleOf('serve', built)).toBeUndefined();
    rmSync(source);
    expect(bundleOf('serve', built)).toBeUndefined();
  });

  test('is not there for other commands, and without a build', () => {
    expect(bundleOf('plan', built)).toBeUndefined();
    expect(bundleOf('serve', join(built, 'missing'))).toBeUndefined();
  });
});
