/** What templates look like, and what is said of those that are none. */
import { expect, test } from 'vitest';
import { parseTemplate, parseText } from './parse.ts';
import { TemplateError } from './template.ts';

function problemOf(source: string) {
  try {
    parseTemplate(source);
  } catch (error) {
    if (error instanceof TemplateError) return error.problem(source);
    throw error;
  }
  throw new Error('it was read');
}

test('a path has members and items, some of them optional', () => {
  expect(parseTemplate(`{{ $body.foo?.bar[0]?['my key'] }}`)).toMatchObject({
    kind: 'path',
    name: '$body',
    steps: [
      { key: 'foo', isOptional: false },
      { key: 'bar', isOptional: true },
      { key: 0, isOptional: false },
      { key: 'my key', isOptional: true },
    ],
  });
});

test('operators bind as usual: ?? least, comparisons most', () => {
  expect(parseTemplate('$a > 1 && $b in [1] || $c ?? true')).toMatchObject({
    operator: '??',
    left: { operator: '||', left: { operator: '&&', left: { operator: '>' }, right: { operator: 'in' } } },
  });
});

test('a function takes the next value, a name before a bracket is a path', () => {
  expect(parseTemplate('not $a.b == true')).toMatchObject({
    operator: '==',
    left: { kind: 'call', name: 'not' },
  });
  expect(parseTemplate('size [1]')).toMatchObject({
    kind: 'call',
    name: 'size',
    argument: { kind: 'array' },
  });
  expect(parseTemplate('x[1]')).toMatchObject({ kind: 'path', name: 'x' });
  expect(parseTemplate('{{ if x }} 1 {{ else }} 2 {{ end }}')).toMatchObject({ kind: 'if' });
});

test('braces of nested objects are no delimiters', () => {
  expect(parseTemplate('{"a":{"b":{{ $c }}}}')).toMatchObject({
    kind: 'object',
    fields: [['a', { fields: [['b', { kind: 'path', name: '$c' }]] }]],
  });
});

test('text outside of expressions is literal', () => {
  expect(parseText('http://{host}/{{ $body.id }}?"x"')).toMatchObject({
    parts: [{ value: 'http://' }, { value: '{' }, { value: 'host}/' }, { kind: 'path' }, { value: '?"x"' }],
  });
});

test('an error has its position: lines from 0, columns from 1', () => {
  expect(problemOf('$body.hello }}')).toEqual({
    error_code: 'Parse Error',
    message: "Unexpected token '}'.",
    source_position: { start_line: 0, start_column: 13, end_line: 0, end_column: 14 },
  });
  expect(problemOf('{\n "a": ,\n}').source_position).toMatchObject({ start_line: 1, start_column: 7 });
});

test.each([
  '',
  '{{ $a',
  '"open',
  '{"a" 1}',
  '{"{{ $a }}": 1}',
  '[1,]',
  '{{ if $a }} 1 {{ end }}',
  '$a..b',
  '$a[x]',
])('refuses %j', (source) => {
  expect(problemOf(source).error_code).toBe('Parse Error');
});

test('nesting has a limit, and no stack overflows', () => {
  expect(problemOf('['.repeat(100_000)).message).toBe('The template is nested too deeply.');
  expect(problemOf(`${'not '.repeat(100_000)}true`).message).toBe('The template is nested too deeply.');
});
