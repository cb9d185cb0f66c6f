/** Tests authentication: every combination of secret, role and configuration. */
import { expect, test } from 'vitest';
import { EngineError } from '../errors/engine-error.ts';
import type { Session } from '../resolve/session.ts';
import { type AuthOptions, authenticator } from './authenticate.ts';
import { OPEN } from './testing/options.ts';

const CLOSED: AuthOptions = { ...OPEN, adminSecret: 'hush' };
const SECRET = { 'x-engine-admin-secret': 'hush' };

const ask = (options: AuthOptions, headers: Record<string, string>) =>
  authenticator(options)(headers) as Session;

function refusalOf(options: AuthOptions, headers: Record<string, string>): EngineError {
  try {
    ask(options, headers);
  } catch (error) {
    if (error instanceof EngineError) return error;
  }
  throw new Error('was not refused');
}

test('without a secret every request is the administrator', () => {
  expect(ask(OPEN, {})).toEqual({
    role: 'admin',
    variables: { 'x-engine-role': 'admin' },
    mayUseBackendOnly: false,
  });
});

test('without a secret the role is that of the headers', () => {
  expect(ask(OPEN, { 'x-engine-role': 'user' }).role).toBe('user');
});

test('with a secret a request without it is refused', () => {
  const error = refusalOf(CLOSED, { 'x-engine-role': 'user' });
  expect([error.status, error.codeIn('newer'), error.message]).toEqual([
    401,
    'access-denied',
    'x-engine-admin-secret/x-engine-access-key required, but not found',
  ]);
});

test('a wrong secret is refused, even with an unauthorized role', () => {
  for (const options of [CLOSED, { ...CLOSED, unauthorizedRole: 'anonymous' }]) {
    const error = refusalOf(options, { 'x-engine-admin-secret': 'hus' });
    expect([error.status, error.message]).toEqual([401, 'invalid x-engine-admin-secret/x-engine-access-key']);
  }
  expect(refusalOf(CLOSED, { 'x-engine-admin-secret': '' }).kind).toBe('adminSecretInvalid');
});

test('the right secret is the administrator, or the role of the headers', () => {
  expect(ask(CLOSED, SECRET).role).toBe('admin');
  expect(ask(CLOSED, { ...SECRET, 'x-engine-role': 'user' }).role).toBe('user');
  expect(ask(CLOSED, { 'x-engine-access-key': 'hush' }).role).toBe('admin');
});

test('any of several secrets is accepted, and they replace the single one', () => {
  const options = { ...CLOSED, adminSecrets: ['new', 'old'] };
  expect(ask(options, { 'x-engine-admin-secret': 'new' }).role).toBe('admin');
  expect(ask(options, { 'x-engine-admin-secret': 'old' }).role).toBe('admin');
  expect(refusalOf(options, SECRET).kind).toBe('adminSecretInvalid');
});

test('the unauthorized role cannot be changed by headers', () => {
  const session = ask({ ...CLOSED, unauthorizedRole: 'anonymous' }, { 'x-engine-role': 'admin' });
  expect(session.role).toBe('anonymous');
  expect(session.variables).toEqual({ 'x-engine-role': 'anonymous' });
});

test('session variables are the headers with the prefix, without the secrets', () => {
  const headers = {
    ...SECRET,
    'x-engine-access-key': 'hush',
    'x-engine-user-id': '7',
    'x-other': 'a',
    cookie: 'b',
  };
  expect(ask(CLOSED, headers).variables).toEqual({ 'x-engine-role': 'admin', 'x-engine-user-id': '7' });
});

test('with another prefix its headers count, and those of the default prefix do not', () => {
  const options = { ...CLOSED, headerPrefix: 'x-other-' };
  const headers = { 'x-other-admin-secret': 'hush', 'x-other-user-id': '7', 'x-engine-user-id': '8' };
  expect(ask(options, headers).variables).toEqual({ 'x-engine-role': 'admin', 'x-engine-user-id': '7' });
  expect(refusalOf(options, SECRET).message).toBe(
    'x-other-admin-secret/x-other-access-key required, but not found',
  );
});

test('an empty role is refused instead of taken for the administrator', () => {
  expect(refusalOf(OPEN, { 'x-engine-role': '' }).kind).toBe('emptyRole');
});

test('only trusted sessions that request backend-only permissions have them', () => {
  const wish = (value: string) => ({ 'x-engine-use-backend-only-permissions': value });
  expect(ask(OPEN, wish('true')).mayUseBackendOnly).toBe(true);
  expect(ask(CLOSED, { ...SECRET, ...wish('YES') }).mayUseBackendOnly).toBe(true);
  expect(ask(CLOSED, { ...SECRET, ...wish('f') }).mayUseBackendOnly).toBe(false);
  expect(ask({ ...CLOSED, unauthorizedRole: 'anonymous' }, wish('true')).mayUseBackendOnly).toBe(false);
});

test('a header for backend-only permissions that is no boolean is refused', () => {
  const error = refusalOf(OPEN, { 'x-engine-use-backend-only-permissions': 'maybe' });
  expect(error.codeIn('newer')).toBe('bad-request');
  expect(error.message).toBe(
    'x-engine-use-backend-only-permissions:  Not a valid boolean text. True values are ["true","t","yes","y"] ' +
      'and  False values are ["false","f","no","n"]. All values are case insensitive',
  );
});

test('the secret is checked before the hook, and a hook that cannot be reached is an error of its own', async () => {
  const options = { ...CLOSED, authHook: 'http://127.0.0.1:1/', unauthorizedRole: 'anonymous' };
  expect(ask(options, SECRET).role).toBe('admin');
  await expect(authenticator(options)({})).rejects.toMatchObject({ kind: 'hookFailed' });
});
