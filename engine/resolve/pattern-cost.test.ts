/** Tests the costs of patterns: ordinary ones cost next to nothing, those that keep Postgres at work cost too much, and random ones that may
 *  pass are compiled and matched in a moment by a real Postgres. */
import '../../testing/seed.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isWithin } from '../../testing/machine-speed.ts';
import { testDatabase } from '../../testing/world.ts';
import type { PatternLanguage } from '../catalog/operators.ts';
import { patternCost } from './pattern-cost.ts';

const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`).join('|');

/** Patterns as people write them. Each costs so little that a hundred of them may be in one statement. */
const ORDINARY: readonly (readonly [PatternLanguage, string])[] = [
  ['regex', '^a.*b$'],
  [
    'regex',
    "^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$",
  ],
  ['regex', '^(?:(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)(?:\\.(?!$)|$)){4}$'],
  ['regex', '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'],
  ['regex', '^.{0,255}$'],
  ['regex', '(\\w)\\1'],
  ['regex', '\\m(\\w+)\\s+\\1\\M'],
  ['regex', '<(\\w+)[^>]*>.*</\\1>'],
  ['regex', `^(?:${words(60)})?$`],
  ['regex', '[[:alpha:]_][[:alnum:]_-]*'],
  ['regex', '***=(a*)*'],
  ['regex', '(?i)straße|street|road'],
  ['similar', '%(b|d)%'],
  ['similar', '%a%b%c%d%e%f%'],
  ['similar', '_{3}-[0-9]+%'],
  ['similar', '\\%\\%%'],
  ['like', '%'.repeat(4000)],
  ['lquery', '*.Europe.*.!Russia*{1,3}.*'],
  ['lquery', 'a@*|b%.*{2,}'],
];

/** Patterns that keep Postgres at work for a second or more, or that it refuses after a second. */
const COSTLY: readonly (readonly [PatternLanguage, string])[] = [
  ['similar', '%'.repeat(1000)],
  ['similar', '(a|%)*'.repeat(400)],
  ['regex', '.*'.repeat(1000)],
  ['regex', 'a?'.repeat(1000)],
  ['regex', '(a|b)*'.repeat(400)],
  ['regex', '(a{0,9}|b*){200}'],
  ['regex', '(?:a?b?c?){0,100}'],
  ['regex', '(?:$|a|)'.repeat(400)],
  ['regex', '(((a*){0,50}){0,50}){0,50}'],
  ['regex', '((((((a{0,3}){0,3}){0,3}){0,3}){0,3}){0,3})'],
  ['regex', '[ab]'.repeat(100_000)],
  ['regex', '\\w'.repeat(100_000)],
  ['regex', '((a{255}){255}){255}'],
  ['regex', '^(.*)(.*)(.*)(.*)(.*)\\5\\4\\3\\2\\1$'],
  ['lquery', `${'*.a.'.repeat(8)}b`],
  ['lquery', `${'*{1,50}.'.repeat(8)}b`],
];

test.each(ORDINARY)('an ordinary pattern of %s: %s', (language, pattern) => {
  expect(patternCost(pattern, language)).toBeLessThan(0.01);
});

test.each(COSTLY)('a costly pattern of %s: %.40s', (language, pattern) => {
  expect(patternCost(pattern, language)).toBeGreaterThan(1);
});

test.each(
  [
    '(',
    '[',
    '{',
    '\\',
    '[[:',
    '[[:a',
    '(?',
    '|',
    'a{1',
    'a{',
    '%(',
    '(|',
    '[]',
    '[^]',
    '[\\',
    '*',
    'a{9,1}',
  ].flatMap((part) => [part, part.repeat(90_000), `${part.repeat(90_000)}a`]),
)('the cost of any text is read once: %.20s', (text) => {
  for (const language of ['like', 'similar', 'regex', 'lquery'] as const) {
    const beganAt = performance.now();
    expect(patternCost(text, language)).not.toBeNaN();
    const ms = performance.now() - beganAt;
    expect(isWithin(ms, 500), `${ms} ms`).toBe(true);
  }
});

describe('random patterns that cost at most 1', () => {
  const database = testDatabase();

  const atom = fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^c]',
    '\\w',
    '^',
    '$',
    '(?=a)',
    '\\y',
    'word',
    '',
    '(?!b)',
  );
  const quantifier = fc.constantFrom('', '', '*', '+', '?', '{0,3}', '{2}', '{0,255}', '{1,40}', '*?');
  const times = fc.constantFrom(1, 1, 1, 2, 5, 20, 99, 300);
  const { pattern } = fc.letrec<{ pattern: string; piece: string }>((tie) => ({
    piece: fc.oneof(
      { maxDepth: 4 },
      fc
        .tuple(atom, quantifier)
        .map(([text, how]) => text + (text === '' || /^[\^$]|y$|!b/.test(text) ? '' : how)),
      fc
        .tuple(tie('pattern'), quantifier, times)
        .map(([text, how, n]) => `(?:${text})${how}`.repeat(text.length * n > 20_000 ? 1 : n)),
    ),
    pattern: fc
      .array(fc.array(tie('piece'), { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 })
      .map((branches) => branches.map((pieces) => pieces.join('')).join('|')),
  }));

  test('keep Postgres at work for a moment', async () => {
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(pattern, async (text) => {
        if (patternCost(text, 'regex') > 1) return;
        passed += 1;
        const sql = `set statement_timeout = '1500ms'; select 'abababababacab' ~ $pattern$${text}$pattern$`;
        // Postgres may refuse it, at once.
        const failure = await database.sql(sql).then(
          () => '',
          (error: Error) => error.message,
        );
        expect(failure).not.toContain('timeout');
      }),
      { numRuns: 1500 },
    );
    expect(passed).toBeGreaterThan(200);
  }, 120_000);
});
