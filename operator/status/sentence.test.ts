/** Messages of conditions: one sentence for every reason, whatever a clause of the operator, an engine or a database contains. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { load } from 'js-yaml';
import { expect, test } from 'vitest';
import { REASONS, type Reason } from '../kinds.ts';
import type { Verdict } from '../ports/verdict.ts';
import { NO_HELD_CHANGES } from '../settle/hold-back.ts';
import { NO_BACKOFF } from '../settle/refusal-backoff.ts';
import { resource } from '../testing/resources.ts';
import { statusOf } from './conditions.ts';
import { engineStatusOf } from './engine-status.ts';
import { MOST_SENTENCE_CHARACTERS, sentence } from './sentence.ts';

/** Returns what is wrong with a text that should be one sentence; undefined when nothing is. */
function wrongWith(text: string): string | undefined {
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  if (!/^(?:[\p{Lu}\d"'`(]|spec\b|metadata\b)/u.test(text)) return 'its beginning';
  if (!/[^.]\.$/u.test(text)) return 'its end';
  if (/[\p{Cc}\u2028\u2029]/u.test(text)) return 'a line break or control character';
  if (/[.!?] \p{Lu}/u.test(outside)) return 'a sentence inside';
  if (text.length > MOST_SENTENCE_CHARACTERS) return 'its length';
  return text.isWellFormed() ? undefined : 'half a character';
}

const NO_REPORT = {
  resources: [],
  verdicts: new Map(),
  statuses: new Map(),
  inconsistent: [],
  wasWritten: false,
  unpublished: 0,
  isWaiting: false,
  isCut: false,
  isOfEdits: false,
  backoff: NO_BACKOFF,
  heldBack: NO_HELD_CHANGES,
  admitsFirst: false,
};
const engine = resource('Engine', 'main', { endpoint: { service: { name: 'engine', port: 8080 } } });

const CLAUSES = [
  ['1 object applied', '1 object applied.'],
  ['the engine answers', 'The engine answers.'],
  ['The engine answers.', 'The engine answers.'],
  ['spec.roles is required', 'spec.roles is required.'],
  ['http://main:8080 answers 502: bad gateway', '"http://main:8080" answers 502: bad gateway.'],
  ['default.author, which is a table, is missing', '"default.author", which is a table, is missing.'],
  ['"author" is missing', '"author" is missing.'],
  ['no such field. Did you mean "name"?', 'No such field; Did you mean "name".'],
  ['a text "One. Two." is kept, e.g. here', 'A text "One. Two." is kept, e.g. here.'],
  ['ERROR: one\n  DETAIL: two\r\n', 'ERROR: one DETAIL: two.'],
  ['waits for version 1.2.3 of a.b', 'Waits for version 1.2.3 of a.b.'],
  ['an end…', 'An end….'],
  ['  ', 'No message.'],
  ['', 'No message.'],
] as const;

test.each(CLAUSES)('%j is %j', (clause, expected) => {
  expect(sentence(clause)).toBe(expected);
  expect(wrongWith(expected)).toBeUndefined();
});

const PARTS = [
  ...[
    'a',
    'Z',
    'é',
    'É',
    'ß',
    '1',
    ' ',
    '  ',
    '.',
    '. ',
    '! ',
    '? ',
    ';',
    ':',
    ',',
    '…',
    '"',
    '\\',
    "'",
    '`',
    '(',
    '«',
  ],
  ...[
    '\n',
    '\r',
    '\t',
    '\u0000',
    '\u001b[31m',
    '\u2028',
    '\u0085',
    '\ud800',
    '😀',
    'spec.a',
    'http://a:1/',
    'e.g. A',
  ],
  'x'.repeat(600),
];

test('any text becomes one sentence, and a sentence stays as it is', () => {
  const texts = fc.array(fc.oneof(fc.constantFrom(...PARTS), fc.string())).map((parts) => parts.join(''));
  fc.assert(
    fc.property(texts, (text) => {
      const made = sentence(text);
      expect(wrongWith(made)).toBeUndefined();
      expect(sentence(made)).toBe(made);
    }),
    { numRuns: 5000 },
  );
});

test.each(Object.keys(REASONS) as Reason[])('every message with the reason %s is a sentence', (reason) => {
  const context = { now: new Date(0), progressDeadlineSeconds: 60 };
  for (const [message] of CLAUSES) {
    const verdict: Verdict = {
      outcome: { reason, message },
      drift: message,
      delivery: { reason: 'Scheduled', message },
      test: { reason: 'TestFailed', message, isRun: true },
      wasWritten: false,
      failing: [],
    };
    const { conditions } = statusOf(resource('PermissionTest', 'one', {}), verdict, context);
    const ofEngine = engineStatusOf(engine, NO_REPORT, context, {
      problem: { reason, message },
      rivals: [{ lease: 'a', identity: `b. ${message}`, seenTime: '' }],
    });
    const found = [...conditions, ...ofEngine.conditions].map(({ type, message: said }) => [
      type,
      wrongWith(said),
    ]);
    expect(found.map(([type]) => type)).toEqual(
      expect.arrayContaining(['Ready', 'Drifted', 'Passed', 'Contested']),
    );
    expect(found.filter(([, wrong]) => wrong)).toEqual([]);
  }
});

test('the statuses of the golden cases are sentences', () => {
  const files = globSync('../golden/*/statuses.yaml', { cwd: import.meta.dirname });
  const messages = files.flatMap((file) => {
    const statuses = load(readFileSync(join(import.meta.dirname, file), 'utf8')) as Statuses;
    return Object.values(statuses).flatMap((conditions) =>
      conditions.flatMap(({ message }) => message ?? []),
    );
  });
  expect(messages.length).toBeGreaterThan(30);
  expect(messages.filter(wrongWith)).toEqual([]);
});

type Statuses = Readonly<Record<string, readonly { readonly message?: string }[]>>;
