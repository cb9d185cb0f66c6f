import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EngineError } from '../errors/engine-error.ts';
import { databaseAddress } from './database-url.ts';

const hosts = [{ host: 'a', port: null }];
const target = { hosts, user: null, password: null, database: 'b', parameters: {} };

describe('the address of a source is', () => {
  test('given as it is', () => {
    expect(databaseAddress('postgres://a/b', { env: {}, folders: [] })).toEqual({
      target,
      origin: 'literal',
    });
  });

  test('in the environment', () => {
    const address = databaseAddress({ from_env: 'DB' }, { env: { DB: ' postgres://a/b\n' }, folders: [] });
    expect(address).toEqual({ target, origin: 'secret' });
    for (const name of ['DB', 'constructor', '__proto__']) {
      expect(() => databaseAddress({ from_env: name }, { env: {}, folders: [] })).toThrow(
        `environment variable "${name}" is not set`,
      );
    }
  });

  test('no option of the engine but those of databases', () => {
    const secrets = {
      env: {
        ENGINE_GRAPHQL_DATABASE_URL: 'postgres://a/b',
        ENGINE_GRAPHQL_METADATA_DATABASE_URL: 'postgres://a/b',
        ENGINE_GRAPHQL_PG_SOURCE_URL_1: 'postgres://a/b',
        ENGINE_GRAPHQL_ADMIN_SECRET: 'postgres://a/b',
        ENGINE_GRAPHQL_JWT_SECRET: 'host=a',
      },
      folders: [],
    };
    for (const name of Object.keys(secrets.env).slice(0, 3)) {
      expect(databaseAddress({ from_env: name }, secrets)).toEqual({ target, origin: 'secret' });
    }
    for (const name of Object.keys(secrets.env).slice(3)) {
      expect(() => databaseAddress({ from_env: name }, secrets)).toThrow('no connection may use it');
    }
  });

  test('made of parameters, whatever is in them', () => {
    const connection_parameters = {
      username: 'u@x',
      password: 'p/:?#',
      host: 'h',
      port: 5433,
      database: 'd b',
    };
    expect(databaseAddress({ connection_parameters }, { env: {}, folders: [] })).toEqual({
      target: {
        hosts: [{ host: 'h', port: 5433 }],
        user: 'u@x',
        password: 'p/:?#',
        database: 'd b',
        parameters: {},
      },
      origin: 'literal',
    });
  });
});

describe('a file', () => {
  let root: string;
  const at = (path: string, ...folders: string[]) =>
    databaseAddress(
      { dynamic_from_file: join(root, path) },
      { env: {}, folders: folders.map((folder) => join(root, folder)) },
    );

  /** `allowed` as Kubernetes mounts a secret, with more in it than there should be. */
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'pergola-url-'));
    await mkdir(join(root, 'allowed', '..2026', 'inner'), { recursive: true });
    await mkdir(join(root, 'allowed-not'));
    await writeFile(join(root, 'allowed', '..2026', 'url'), 'postgres://a/b\n');
    await symlink('..2026', join(root, 'allowed', '..data'));
    await symlink('..data/url', join(root, 'allowed', 'url'));
    await symlink('allowed', join(root, 'link'));
    await writeFile(join(root, 'outside'), 'postgres://planted-secret/b');
    await writeFile(join(root, 'allowed-not', 'url'), 'postgres://planted-secret/b');
    await symlink('../outside', join(root, 'allowed', 'escape'));
    await symlink('..', join(root, 'allowed', 'up'));
    await writeFile(join(root, 'allowed', 'junk'), 'planted-secret');
    await writeFile(join(root, 'allowed', 'large'), 'x'.repeat(70_000));
  });
  afterAll(() => rm(root, { recursive: true }));

  test('is read below an allowed folder, through links that stay there', () => {
    expect(at('allowed/url', 'other', 'allowed')).toEqual({ target, origin: 'secret' });
    expect(at('allowed/url', 'allowed/')).toEqual({ target, origin: 'secret' });
    expect(at('link/url', 'link')).toEqual({ target, origin: 'secret' });
    expect(at('allowed/..data/url', 'allowed')).toEqual({ target, origin: 'secret' });
  });

  test.each([
    ['no folder is allowed', 'allowed/url', []],
    ['it is in another folder', 'outside', ['allowed']],
    ['the other folder begins alike', 'allowed-not/url', ['allowed']],
    ['it is the folder', 'allowed', ['allowed']],
    ['its path leads out', 'allowed/../outside', ['allowed']],
    ['a link leads out', 'allowed/escape', ['allowed']],
    ['a folder leads out', 'allowed/up/outside', ['allowed']],
    ['it is a folder', 'allowed/..2026/inner', ['allowed']],
    ['it does not exist', 'allowed/none', ['allowed']],
    ['it is too large', 'allowed/large', ['allowed']],
    ['it holds something else', 'allowed/junk', ['allowed']],
    ['the folder does not exist', 'allowed/url', ['none']],
  ])('is refused where %s', (_, path, folders) => {
    let error: unknown;
    try {
      at(path, ...folders);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(EngineError);
    expect((error as EngineError).codeIn('newer')).toBe('invalid-configuration');
    expect((error as EngineError).message).not.toContain('planted-secret');
  });

  test.each(['/proc/self/environ', '/proc/self/cmdline', '/etc/passwd', 'relative/url', ''])(
    '%j is refused by default, and alike whether or not it is there',
    (path) => {
      const refused = (file: string) => () =>
        databaseAddress({ dynamic_from_file: file }, { env: {}, folders: ['/run/secrets'] });
      const text = (file: string) =>
        `file ${JSON.stringify(file)} is not below a folder of --dynamic-secrets-path`;
      expect(refused(path)).toThrow(text(path));
      expect(refused(`${path}/none`)).toThrow(text(`${path}/none`));
    },
  );
});
