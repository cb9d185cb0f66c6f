/** Tests the cost of reading a migration: random texts of up to one megabyte from a grammar of tokens that have or lack their end, each with
 *  its processor time. AMPLIFICATION_RUNS=5000 reads that many and prints the ten that took longest. */
import { expect, test } from 'vitest';
import { cpuMilliseconds } from '../../testing/cpu-time.ts';
import { randomBits } from '../../testing/random-bits.ts';
import { migrationsIn, migrationsSteps } from './read-migrations.ts';

const { AMPLIFICATION_RUNS = '40' } = process.env;
const MOST_MILLISECONDS = 1000;
const MOST_PRINTED = 10;

const TOKENS = [
  ...[
    'a',
    'a;\n',
    ';',
    ' ',
    '\n',
    '\r\n',
    '\r',
    '(',
    ')',
    "'",
    "''",
    '"',
    '""',
    '--',
    '-- a\n',
    '/*',
    '*/',
    '/**/',
    '\\',
  ],
  ...[
    '$',
    '$$',
    '$a$',
    '$a',
    "e'",
    "e'a'",
    "\\'",
    "e'a'\n",
    'ä',
    '\u00a0',
    '1',
    'create ',
    'function ',
    'begin ',
    'atomic ',
  ],
  ...[
    'case ',
    'end ',
    'copy ',
    'from ',
    'stdin ',
    'reindex ',
    'concurrently ',
    'commit;',
    'rollback ',
    'to ',
    'prepare ',
  ],
  ...[
    "insert into t values (1, 'abc');\n",
    '-- pergola: ',
    '-- pergola: no-transaction\n',
    'create function f() begin atomic ',
  ],
];

/** A few tokens in random order, which are repeated in random patterns up to a random length. */
function randomText(bits: () => number): string {
  const token = () => TOKENS[bits() % TOKENS.length]!;
  const some = (most: number) => Array.from({ length: 1 + (bits() % most) }, token).join('');
  const length = 2 ** (12 + (bits() % 9));
  const parts = [some(3)];
  for (let size = 0; size < length; ) {
    const part = some(4);
    const repeated = part.repeat(1 + (bits() % Math.ceil(length / part.length / (1 + (bits() % 3)))));
    parts.push(repeated, some(2));
    size += repeated.length;
  }
  return parts.join('').slice(0, length);
}

test('no random migration of up to one megabyte takes a second of processor time', () => {
  const bits = randomBits(29);
  const taken: { readonly milliseconds: number; readonly text: string }[] = [];
  for (let run = 0; run < Number(AMPLIFICATION_RUNS); run++) {
    const text = randomText(bits);
    const milliseconds = cpuMilliseconds(() => void migrationsIn([{ name: '1_a.sql', text }]));
    taken.push({ milliseconds, text });
    expect(milliseconds, JSON.stringify(text.slice(0, 200))).toBeLessThan(MOST_MILLISECONDS);
  }
  if (taken.length < 1000) return;
  for (const { milliseconds, text } of taken
    .sort((a, b) => b.milliseconds - a.milliseconds)
    .slice(0, MOST_PRINTED)) {
    console.log(
      `${milliseconds.toFixed(0)} ms  ${text.length} characters  ${JSON.stringify(text.slice(0, 60))}`,
    );
  }
}, 600_000);

test.each(['a;\n', 'a;\r\n', "insert into t values (1, 'abc', 'def');\n", '\r\n', 'commit;'])(
  'ten megabytes of %j are read in short steps',
  (part) => {
    const text = part.repeat(1e7 / part.length);
    const steps = migrationsSteps([{ name: '1_a.sql', text }]);
    const milliseconds: number[] = [];
    let isDone = false;
    const step = () => {
      isDone = steps.next().done === true;
    };
    while (!isDone) milliseconds.push(cpuMilliseconds(step));
    // Some steps contain work of the garbage collector.
    expect(milliseconds.sort((a, b) => b - a)[5]).toBeLessThan(50);
  },
);
