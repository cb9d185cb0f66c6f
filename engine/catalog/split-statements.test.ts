import { expect, test } from 'vitest';
import { splitStatements } from './split-statements.ts';

test.each([
  ['select 1; select 2', ['select 1', ' select 2']],
  ['select 1;', ['select 1']],
  [' ; ;; -- nothing\n /* at all */', []],
  [`select 'a;b''c;'; select ";" as "x"";"`, [`select 'a;b''c;'`, ` select ";" as "x"";"`]],
  [`select e'it\\';s'; select 2`, [`select e'it\\';s'`, ' select 2']],
  ['do $$ begin; end $$; select 1', ['do $$ begin; end $$', ' select 1']],
  ['do $a$ ; $$ ; $a$; select $1', ['do $a$ ; $$ ; $a$', ' select $1']],
  ['select 1 -- ; no\n; select 2', ['select 1 -- ; no\n', ' select 2']],
  ['/* a /* ; */ ; */ select 1; select 2', ['/* a /* ; */ ; */ select 1', ' select 2']],
  [
    'create rule r as on insert to t do (delete from a; delete from b); select 1',
    ['create rule r as on insert to t do (delete from a; delete from b)', ' select 1'],
  ],
  [
    'create function f() returns int begin atomic select case when true then 1 end; select 2; end; select 3',
    [
      'create function f() returns int begin atomic select case when true then 1 end; select 2; end',
      ' select 3',
    ],
  ],
  ['begin; select 1; commit', ['begin', ' select 1', ' commit']],
])('splits %j', (text, statements) => {
  expect(splitStatements(text)).toEqual(statements);
});

test('keeps all of a text with an unterminated quote, which the database refuses', () => {
  expect(splitStatements(`select 'unfinished; text`).join(';')).toBe(`select 'unfinished; text`);
});
