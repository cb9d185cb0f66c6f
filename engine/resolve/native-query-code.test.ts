import { expect, test } from 'vitest';
import { EngineError } from '../errors/engine-error.ts';
import { parseNativeQueryCode } from './native-query-code.ts';

const names = new Set(['id', 'term']);
const parse = (code: string) => parseNativeQueryCode(code, names);
function reasonOf(code: string): string {
  try {
    parse(code);
  } catch (error) {
    if (error instanceof EngineError)
      return error.messageIn('newer').replace('Failed to validate query: ', '');
  }
  return 'accepted';
}

test('arguments stand between the text, as often as they are used', () => {
  expect(parse('select {{id}} + {{ id }}, {{term}}')).toEqual([
    'select ',
    { argument: 'id' },
    ' + ',
    { argument: 'id' },
    ', ',
    { argument: 'term' },
  ]);
});

test('code without arguments is its text, without semicolons at its end', () => {
  expect(parse('select 1 ;\n ; ')).toEqual(['select 1']);
  expect(parse('select {{id}};')).toEqual(['select ', { argument: 'id' }]);
});

test('a comment is text, whatever it says', () => {
  const code = "select 1 -- {{id}} ; ) $1 '\n/* {{x}} /* ' */ ) */ + 2";
  expect(parse(code)).toEqual([code]);
});

test('quotes hide what is no argument', () => {
  const code = `select '{{1,2},{3,4}}'::int[], ';)', E'\\';(', "a;b)", $x$ ; ( $1 $x$`;
  expect(parse(code)).toEqual([code]);
});

test('an argument inside quotes is refused with the reason', () => {
  const inside = 'the argument "term" is inside a string literal; arguments are values and need no quotes';
  expect(reasonOf("select '%{{term}}%'")).toBe(inside);
  expect(reasonOf("select E'\\'{{ term }}'")).toBe(inside);
  expect(reasonOf('select $$ {{term}} $$')).toBe(inside);
  expect(reasonOf('select "{{term}}"')).toContain('inside a quoted name');
});

test('an argument that nobody declared is refused, and one that does not end', () => {
  expect(reasonOf('select {{nobody}}')).toBe('the argument "nobody" is used but not declared');
  expect(reasonOf('select {{id} }')).toBe("found '{{' without a matching closing '}}'");
});

test('code cannot leave its parentheses, be two statements or take the parameters of others', () => {
  expect(reasonOf('select 1) union (select 2')).toContain('closes nothing');
  expect(reasonOf('select (1')).toContain('nothing closes');
  expect(reasonOf('select 1; drop table x')).toBe('there is more than one statement');
  expect(reasonOf('select $1')).toContain('a parameter $1');
  expect(reasonOf('select a$1 from x')).toBe('accepted');
});
