/** Tests the redaction of secrets: every form of every part is replaced, and nothing else. */
import { expect, test } from 'vitest';
import { SentSecrets } from './sent-secrets.ts';

const PLANTED = 'pl4nt/d+"s é';
const FORMS: readonly (readonly [string, (text: string) => string])[] = [
  ['as it is', (text) => text],
  ['in JSON', (text) => JSON.stringify({ text })],
  ['in JSON within JSON', (text) => JSON.stringify(JSON.stringify({ text }))],
  ['encoded for a URL', encodeURIComponent],
  ['encoded as a whole URL', encodeURI],
  ['in a form', (text) => encodeURIComponent(text).replaceAll('%20', '+')],
  ['in base64', (text) => btoa(String.fromCharCode(...Buffer.from(text)))],
];
/** The value of a variable, and the part of it that a service sees. */
const VALUES: readonly (readonly [string, string])[] = [
  [PLANTED, PLANTED],
  [`Bearer ${'t0ken'.repeat(9)}`, 't0ken'.repeat(9)],
  ['http://user:pl4ntedpassword@host.invalid/x', 'pl4ntedpassword'],
  ['http://user:pl4ntedpassword@host.invalid/x', 'user:pl4ntedpassword'],
  ['http://Pl4nted-Host.invalid:81/x', 'pl4nted-host.invalid:81'],
  ['http://host.invalid/hooks/pl4ntedsegment/y', 'pl4ntedsegment'],
  ['http://host.invalid/?key=pl4ntedkey', 'pl4ntedkey'],
  ['http://host.invalid/pl4nted%20segment', 'pl4nted segment'],
];

for (const [value, part] of VALUES) {
  test.each(FORMS)(`${part} of ${value} is redacted %s`, (_, form) => {
    const secrets = new SentSecrets(() => value);
    secrets.read('SECRET');
    const printed = `before ${form(part)} after`;
    const redacted = secrets.redacted(printed);
    expect(redacted).toMatch(/^before .*\{\{SECRET\}\}.* after$/s);
    expect(redacted).not.toContain(part);
    expect(redacted).not.toContain(form(part));
  });
}

test('a secret that was cut off is redacted, too', () => {
  const value = 'abcdefghij'.repeat(50);
  const secrets = new SentSecrets(() => value);
  secrets.read('LONG');
  expect(secrets.redacted(`${value.slice(0, 200)} is not a String.`)).toBe('{{LONG}} is not a String.');
});

test('JSON keeps its shape, and values that were not sent stay', () => {
  const secrets = new SentSecrets((name) => `${name}-pl4nted`);
  const value = {
    a: ['A-pl4nted', 1, null, true],
    'A-pl4nted': { deep: 'x A-pl4nted y' },
    other: 'B-pl4nted',
  };
  expect(secrets.redactedJson(value)).toBe(value);
  secrets.read('A');
  expect(secrets.redactedJson(value)).toEqual({
    a: ['{{A}}', 1, null, true],
    '{{A}}': { deep: 'x {{A}} y' },
    other: 'B-pl4nted',
  });
});

test('credentials of forwarded headers are secrets, other headers are not', () => {
  const secrets = new SentSecrets(() => '');
  secrets.addHeaders([
    ['authorization', 'Bearer tok.en.1234'],
    ['x-kind', 'ordinary'],
  ]);
  expect(secrets.redacted('tok.en.1234, ordinary')).toBe('{{authorization}}, ordinary');
});
