/** Tests the secrets in a folder: which are accepted, how a change is followed, and what is kept while the folder is broken. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EngineError } from '../errors/engine-error.ts';
import type { Observation } from '../observe/observation.ts';
import { adminSecretsOf, consoleSecretsOf, isSecretSet, openSecrets } from './accepted-secrets.ts';
import { authenticator } from './authenticate.ts';
import { OPEN } from './testing/options.ts';

let folder: string;
let now = 0;
let reports: Observation[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pergola-secrets-'));
  now = 0;
  reports = [];
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const open = (options = {}) =>
  openSecrets(
    adminSecretsOf({ ...OPEN, adminSecretPath: folder, ...options }),
    (x) => reports.push(x),
    () => now,
  );
const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
const accepted = (check: (secret: string) => boolean, ...secrets: string[]) => secrets.filter(check);

test('every file is a secret, without the line break at its end; empty and hidden files are none', () => {
  write('primary', 'one\n');
  write('secondary', 'two ');
  write('empty', '\n');
  write('.hidden', 'three');
  expect(accepted(open(), 'one', 'two ', 'two', 'one\n', '', 'three')).toEqual(['one', 'two ']);
});

test('secrets of options are accepted besides those of the folder', () => {
  write('primary', 'one');
  expect(accepted(open({ adminSecret: 'fixed' }), 'one', 'fixed', 'other')).toEqual(['one', 'fixed']);
});

test('a change counts after a second: the new secret is accepted, the removed one is not, although it was used', () => {
  write('primary', 'old');
  const check = open();
  expect(accepted(check, 'old', 'new')).toEqual(['old']);
  write('secondary', 'new');
  now = 999;
  expect(accepted(check, 'old', 'new')).toEqual(['old']);
  now = 1000;
  expect(accepted(check, 'old', 'new')).toEqual(['old', 'new']);
  write('primary', 'new');
  write('secondary', 'old');
  now = 2000;
  expect(accepted(check, 'old', 'new')).toEqual(['old', 'new']);
  rmSync(join(folder, 'secondary'));
  now = 3000;
  expect(accepted(check, 'old', 'new')).toEqual(['new']);
});

test('a folder is followed the way Kubernetes replaces the files of a mounted Secret', () => {
  const version = (name: string, secret: string) => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'primary'), secret);
    symlinkSync(name, join(folder, '..data_tmp'));
    renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
  };
  version('..2030_01', 'old');
  symlinkSync('..data/primary', join(folder, 'primary'));
  const check = open();
  expect(accepted(check, 'old', 'new')).toEqual(['old']);
  version('..2030_02', 'new');
  now = 1000;
  expect(accepted(check, 'old', 'new')).toEqual(['new']);
});

test.each([
  ['is gone', () => rmSync(folder, { recursive: true }), /ENOENT/],
  ['has no secret', () => write('primary', ''), /contains no file with an admin secret/],
  ['has a file that is too large', () => write('primary', 'x'.repeat(5000)), /more than 4096 bytes/],
])('while the folder %s the previous secrets are kept, and one warning says why', (_, damage, reason) => {
  write('primary', 'one');
  const check = open();
  damage();
  for (now of [1000, 2000, 3000]) expect(accepted(check, 'one', '', 'x')).toEqual(['one']);
  const failures = reports.flatMap((x) => (x.kind === 'secrets read' && x.failure ? [x.failure] : []));
  expect(failures).toEqual([expect.stringMatching(reason)]);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  write('primary', 'two');
  now = 4000;
  expect(accepted(check, 'one', 'two')).toEqual(['two']);
  expect(reports.at(-1)).toMatchObject({ count: 1, failure: null });
});

test('an engine does not start with a folder that has no secret, and never counts as open', () => {
  expect(() => open()).toThrow(/contains no file with an admin secret/);
  expect(() => open({ adminSecretPath: join(folder, 'missing') })).toThrow(/ENOENT/);
  expect(isSecretSet({ ...OPEN, adminSecretPath: folder })).toBe(true);
  expect(isSecretSet(OPEN)).toBe(false);
});

test('requests without a secret, or with another one, are refused', () => {
  write('primary', 'one');
  const authenticate = authenticator({ ...OPEN, adminSecretPath: folder });
  const kindOf = (headers: Record<string, string>) => {
    try {
      return (authenticate(headers) as { role: string }).role;
    } catch (error) {
      return (error as EngineError).kind;
    }
  };
  expect(kindOf({ 'x-engine-admin-secret': 'one' })).toBe('admin');
  expect(kindOf({ 'x-engine-admin-secret': 'two' })).toBe('adminSecretInvalid');
  expect(kindOf({ 'x-engine-role': 'admin' })).toBe('adminSecretMissing');
});

test('what is reported contains no secret', () => {
  write('primary', 'hush-one');
  const check = open();
  write('secondary', 'hush-two');
  now = 1000;
  check('x');
  expect(reports).toHaveLength(2);
  expect(JSON.stringify(reports)).not.toContain('hush');
});

test('console secrets are followed in the same way, and reported as such', () => {
  const openConsole = () =>
    openSecrets(
      consoleSecretsOf({ ...OPEN, consoleSecret: 'fixed', consoleSecretPath: folder }),
      (x) => reports.push(x),
      () => now,
    );
  expect(openConsole).toThrow(/contains no file with a console secret/);
  write('primary', 'old');
  const check = openConsole();
  write('primary', 'new');
  now = 1000;
  expect(accepted(check, 'fixed', 'old', 'new')).toEqual(['fixed', 'new']);
  expect(reports.at(-1)).toMatchObject({ kind: 'secrets read', secrets: 'console', count: 1 });
});
