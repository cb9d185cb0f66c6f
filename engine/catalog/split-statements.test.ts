/** Tests the splitting of SQL into statements: against Postgres itself, against a splitter that reads one character at a time, and its cost
 *  for each character. */
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cpuMilliseconds } from '../../testing/cpu-time.ts';
import { randomBits } from '../../testing/random-bits.ts';
import { testDatabase } from '../../testing/world.ts';
import { oneStatement } from '../database/one-statement.ts';
import { headOf, splitStatements, splitSteps } from './split-statements.ts';
import { pieceAt } from './sql-pieces.ts';

const split = (text: string) => [...splitStatements(text)];

test.each([
  ['select 1; select 2', ['select 1', 'select 2']],
  ['select 1;', ['select 1']],
  [' ; ;; -- nothing\n /* at all */', []],
  [`select 'a;b''c;'; select ";" as "x"";"`, [`select 'a;b''c;'`, `select ";" as "x"";"`]],
  [`select e'it\\';s'; select 2`, [`select e'it\\';s'`, 'select 2']],
  [`select e'a' -- '\n 'b\\'; c'; select 2`, [`select e'a' -- '\n 'b\\'; c'`, 'select 2']],
  [`select e'a' 'b\\'; select 2`, [`select e'a' 'b\\'`, 'select 2']],
  ['do $$ begin; end $$; select 1', ['do $$ begin; end $$', 'select 1']],
  ['do $a$ ; $$ ; $a$; select $1', ['do $a$ ; $$ ; $a$', 'select $1']],
  ['select 1 -- ; no\n; select 2', ['select 1 -- ; no\n', 'select 2']],
  ['select 1 -- ; no\r; select 2', ['select 1 -- ; no\r', 'select 2']],
  ['/* a /* ; */ ; */ select 1; select 2', ['select 1', 'select 2']],
  ['\u00a0; select 1', ['\u00a0', 'select 1']],
  [
    'create rule r as on insert to t do (delete from a; delete from b); select 1',
    ['create rule r as on insert to t do (delete from a; delete from b)', 'select 1'],
  ],
  [
    'create function f() returns int begin/**/ATOMIC select case when true then 1 end; select 2 as end; end; select 3',
    [
      'create function f() returns int begin/**/ATOMIC select case when true then 1 end; select 2 as end; end',
      'select 3',
    ],
  ],
  ['create table t (begin atomic); select 1', ['create table t (begin atomic)', 'select 1']],
  [
    'create table "begin" (a int) atomic; begin atomic; end',
    ['create table "begin" (a int) atomic', 'begin atomic', 'end'],
  ],
  ['begin; select 1; commit', ['begin', 'select 1', 'commit']],
])('splits %j', (text, statements) => {
  expect(split(text)).toEqual(statements);
});

test.each([
  `select 'unfinished; text`,
  'select "a; b',
  'select $a$ ; $b$',
  'select 1 /* ; /* */',
  '/* ; ',
  `select e'\\'; `,
])('keeps all of %j, whose end is missing, and which the database refuses', (text) =>
  expect(split(text)).toEqual([text]),
);

test.each([
  ['COPY binary public."Ä;b" (a, "from stdin") /* ; */ From--\rstdin', 'copy binary public . " from stdin'],
  ['prepare/**/transaction $$x$$', 'prepare transaction $'],
  ['\\copy a', '\\ copy a'],
])('the head of %j', (statement, head) => expect(headOf(statement)).toBe(head));

/** Parts of texts: every token, some without its end, and words that begin and end bodies. */
const PARTS = [
  ...[
    ' ',
    '\n',
    '\r',
    '\r\n',
    '\f',
    '\t',
    '\v',
    '\u00a0',
    '\ufeff',
    ';',
    ';',
    ';',
    '; select 1;',
    '(',
    ')',
    ',',
  ],
  ...[
    '--',
    "-- it's",
    '/*',
    '*/',
    '/* ; */',
    '/*/',
    '-',
    '/',
    '*',
    '\\',
    '\\.',
    '$',
    '$1',
    '$$',
    '$a$',
    '$ä$',
    'a$$',
  ],
  ...[
    `'`,
    `''`,
    `'a;b'`,
    `'\\'`,
    `e'`,
    `E'\\'`,
    `e'a'`,
    `'b\\';c'`,
    `u&'`,
    `N'a'`,
    '"',
    '""',
    '"a;"',
    `U&"a"`,
  ],
  ...[
    'create ',
    'or replace ',
    'function ',
    'procedure ',
    'f() ',
    'returns int ',
    'begin ',
    'atomic ',
    'begin atomic ',
  ],
  ...[
    'case ',
    'when true then ',
    'end ',
    'end;',
    'as ',
    'select ',
    'select 1',
    'commit',
    'table ',
    't.',
    'ſelect',
    '1e5',
  ],
  ...['copy t from stdin;', 'begin/**/atomic ', 'begin--\ratomic ', 'create function f() returns int '],
];
const textsOf = (seed: number, length: number): string[] => {
  const bits = randomBits(seed);
  return Array.from({ length }, () =>
    Array.from({ length: 1 + (bits() % 14) }, () => PARTS[bits() % PARTS.length]).join(''),
  );
};

/** Whole statements, whose spaces are replaced by other white space. */
const WHOLE = [
  ...[
    'select 1',
    `select 'a;' || e'\\';' || U&"a" as "b;"`,
    'create table begin (atomic int)',
    'do $do$ begin; end $do$',
    '',
  ],
  ...[
    `select e'a' \n '\\'; commit; select \\''`,
    'create rule r as on insert to t do ( select 1 ; select 2 ) ',
    '$$',
  ],
  'create or replace function f() returns int language sql begin atomic select case 1 when 2 then 3 end ; select 4 as end ; end',
  'create procedure p() begin atomic ; end',
  ...[
    'prepare transaction $a$;$a$',
    'select 1 atomic',
    'select t.end from t',
    '(',
    `'`,
    '*/',
    '/*',
    'end',
    'commit and chain',
  ],
];
const SPACES = [
  ' ',
  '\n',
  '\r',
  '\r\n',
  '\f',
  '\t',
  '/**/',
  '/* /* ; */ */',
  '--;\n',
  `--'\r`,
  '--/*\r\n',
  `/*'*/ `,
];
const sentencesOf = (seed: number, length: number): string[] => {
  const bits = randomBits(seed);
  const oneOf = (from: readonly string[]) => from[bits() % from.length]!;
  // Every fourth choice is from all, so that most texts are grammatical.
  const statement = () => oneOf(bits() % 4 === 0 ? WHOLE : WHOLE.slice(0, 7));
  return Array.from({ length }, () =>
    Array.from({ length: 1 + (bits() % 4) }, statement)
      .join(' ; ')
      .replaceAll(' ', () => oneOf(SPACES)),
  );
};

describe('Postgres', () => {
  const database = testDatabase();
  let client: pg.Client;
  let version: number;
  beforeAll(async () => {
    client = new pg.Client({ connectionString: database.url });
    await client.connect();
    const { rows } = await client.query("select current_setting('server_version_num')::int as version");
    ({ version } = rows[0]);
  });
  afterAll(() => client.end());

  const failureOf = (query: string | pg.QueryConfig): Promise<Record<string, string> | undefined> =>
    client.query(query).then(
      () => undefined,
      (error) => error,
    );
  /** True when the grammar accepts the text. The division fails before anything of the text runs. */
  const isGrammatical = async (text: string) => {
    const failure = await failureOf(`select 1/0;${text}`);
    expect(failure, text).toBeDefined();
    return failure!['code'] === '22012';
  };
  /** Returns true when the text has several statements that the grammar accepts. */
  const expectAgreement = async (text: string): Promise<boolean> => {
    const statements = split(text);
    const grammatical: boolean[] = [];
    for (const statement of statements) {
      grammatical.push(await isGrammatical(statement));
      await client.query('begin');
      const failure = await failureOf(oneStatement(statement));
      await client.query('rollback');
      expect(failure?.['message'] ?? '', JSON.stringify(text)).not.toMatch(/multiple commands/);
    }
    const isWhole = await isGrammatical(text);
    expect(grammatical.every(Boolean), JSON.stringify(text)).toBe(isWhole);
    return isWhole && statements.length > 1;
  };

  test.each([
    'create function f() returns int begin atomic select 1 as end; select 1 end; end; select 2',
    'create or replace function f() returns int language sql begin -- \r atomic select case 1 when 1 then 2 end; end; select 2',
    'create procedure p() begin atomic end; select 2',
    'create procedure p(begin int, "end" int) begin atomic; select 1 case; select 2 as "atomic"; end; begin',
    `select e'a'\n'\\'; commit; select \\''; select 2`,
    `select e'a' --\r '\\'; commit; select \\''; select 2`,
    'create table begin (atomic int); create table t (begin int, atomic int); select 1',
    'select 1 begin; select 2 atomic; select 3',
  ])('reads %j as the same statements', async (text) => {
    const isAccepted = await expectAgreement(text);
    // Older ones have no `begin atomic`.
    if (version >= 140_000) expect(isAccepted).toBe(true);
  });

  test('reads random texts as the same statements', async () => {
    let several = 0;
    for (const text of [...sentencesOf(5, 300), ...textsOf(20_261_127, 500)]) {
      // A vertical tab is white space since Postgres 17.
      several += Number(await expectAgreement(version < 170_000 ? text.replaceAll('\v', '\f') : text));
    }
    expect(several).toBeGreaterThan(50);
  }, 300_000);
});

/** Splits by the rule for each character, with no other rule than those of quotes and comments. */
function simpleSplit(text: string): string[] {
  const found: string[] = [];
  let [start, depth, at] = [-1, 0, 0];
  const until = (end: string, from: number) => {
    const next = text.indexOf(end, from);
    return next < 0 ? text.length : next + end.length;
  };
  while (at < text.length) {
    const rest = text.slice(at);
    const before = at;
    const dollar = /^\$([A-Za-z_\u0080-\uffff][A-Za-z_0-9\u0080-\uffff]*)?\$/.exec(rest);
    if (rest.startsWith('--')) {
      while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++;
      continue;
    }
    if (rest.startsWith('/*')) {
      for (let nested = 0; at < text.length; ) {
        const two = text.slice(at, at + 2);
        at += two === '/*' || two === '*/' ? 2 : 1;
        nested += two === '/*' ? 1 : two === '*/' ? -1 : 0;
        if (nested === 0) break;
        if (at >= text.length && start < 0) start = before;
      }
      continue;
    }
    if (/^[ \t\n\r\f\v]/.test(rest)) {
      at++;
      continue;
    }
    if (rest[0] === ';' && depth <= 0) {
      if (start >= 0) found.push(text.slice(start, at));
      [start, depth] = [-1, 0];
      at++;
      continue;
    }
    if (dollar) at = until(dollar[0], at + dollar[0].length);
    else if (rest[0] === "'" || rest[0] === '"') at = until(rest[0], at + 1);
    else if (/^[A-Za-z_\u0080-\uffff]/.test(rest)) at += /^[\w$\u0080-\uffff]+/.exec(rest)![0].length;
    else {
      depth += rest[0] === '(' ? 1 : rest[0] === ')' ? -1 : 0;
      at++;
    }
    if (start < 0) start = before;
  }
  if (start >= 0) found.push(text.slice(start));
  return found;
}

test('random texts without escapes and bodies have the statements of a simple splitter', () => {
  const texts = textsOf(3, 40_000).filter((text) => !/[eE]'|atomic/.test(text));
  expect(texts.length).toBeGreaterThan(10_000);
  for (const text of texts) expect(split(text)).toEqual(simpleSplit(text));
});

test('tokens cover the text, and none is empty', () => {
  for (const text of textsOf(4, 10_000)) {
    for (let at = 0; at < text.length; ) {
      const { start, end } = pieceAt(text, at);
      expect(start).toBe(at);
      expect(end).toBeGreaterThan(at);
      expect(end).toBeLessThanOrEqual(text.length);
      at = end;
    }
  }
});

/** Texts that are repeated. The first two are a beginning and the end. */
const REPEATED: readonly (readonly [string, string, string])[] = [
  ['', 'a;\n', ''],
  ['', `insert into t values (1, 'abc', E'\\n');\n`, ''],
  ['create function f() begin atomic ', 'select case when 1 then 2 end;', ''],
  ['create function f() begin atomic ', 'begin atomic ; ', 'end'],
  ["'", 'a', ''],
  ["'", "''", ''],
  ["e'", "\\'", ''],
  ['', "e'a' ", ''],
  ['', "e'a'\n--\n", ''],
  ["e'a'", '\n', 'b'],
  ["e'a'", '--', ''],
  ['', '$a', ''],
  ['', '$a$ $b$ ', ''],
  ['', '/*', ''],
  ['', '*/', ''],
  ['', '/**/', ''],
  ['', '(', ''],
  ['', '"', ''],
  ['', `'"`, ''],
  ['', ' ', ''],
  ['reindex', ' ', 'x'],
  ['copy ', 'from ', ''],
  ['', 'ä', ''],
  ['-- pergola:', ' ', 'x'],
];
const LENGTH = 500_000;

test.each(REPEATED)('%j %j %j: twice the text takes no more than thrice the time', (start, part, end) => {
  const textOf = (length: number) => start + part.repeat(length / part.length) + end;
  const work = (text: string) => () => split(text).forEach(headOf);
  work(textOf(LENGTH / 10))();
  const once = cpuMilliseconds(work(textOf(LENGTH)));
  const twice = cpuMilliseconds(work(textOf(2 * LENGTH)));
  expect(once).toBeLessThan(1000);
  expect(twice).toBeLessThan(3 * once + 50);
});

test('a step of ten megabytes is short', () => {
  const steps = splitSteps('a;\n'.repeat(3_500_000));
  const milliseconds: number[] = [];
  let isDone = false;
  const step = () => {
    isDone = steps.next().done === true;
  };
  while (!isDone) milliseconds.push(cpuMilliseconds(step));
  expect(milliseconds.length).toBeGreaterThan(500);
  // Some steps contain work of the garbage collector.
  expect(milliseconds.sort((a, b) => b - a)[5]).toBeLessThan(50);
});
