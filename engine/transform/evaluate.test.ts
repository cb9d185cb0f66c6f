/** Values of templates: the examples people write, and every function. */

import { expect, test } from 'vitest';
import { withNearestNumbers } from '../json/value.ts';
import { rendered, renderedText, scopeOf, TransformError } from './render.ts';

const BODY = {
  id: 7,
  name: 'Ada',
  tags: ['x', 'y'],
  nested: { 'my key': null },
  articles: [
    { id: 1, published: true },
    { id: 2, published: false },
  ],
};
const SESSION = { 'x-engine-role': 'user' };
const scope = scopeOf(
  new Map<string, unknown>([
    ['$body', BODY],
    ['$', { event: 1 }],
  ]),
  SESSION,
);

const evaluated = (source: string) => rendered(source, scope);

function problemOf(source: string) {
  try {
    evaluated(source);
  } catch (error) {
    if (error instanceof TransformError) return error.problem;
    throw error;
  }
  throw new Error('it had a value');
}

test.each([
  ['{"a": [1, -2.5e3, true, null, "\\n\\u00e9"]}', { a: [1, -2500, true, null, '\né'] }],
  ['{{ $body.name }}', 'Ada'],
  ['"hello {{ $body.name }}, {{ $body.id }} {{ $body.tags }}"', 'hello Ada, 7 ["x","y"]'],
  [`{{ $body.nested['my key'] }}`, null],
  ['{{ $.event }}', 1],
  ['{{ $body?.nope.further.still }}', null],
  ['{{ $body?.nope ?? "none" }}', 'none'],
  [
    '{{ range i, x := $body.articles }} { "n": {{ i }}, "id": {{ x.id }} } {{ end }}',
    [
      { n: 0, id: 1 },
      { n: 1, id: 2 },
    ],
  ],
  [
    '{{ range _, x := $body.articles }} {{ if x.published }} {{ x.id }} {{ else }} null {{ end }} {{ end }}',
    [1, null],
  ],
  ['{{ if $body.id == 1 }} 1 {{ elif $body.id > 6 && $body.id <= 7 }} 2 {{ else }} 3 {{ end }}', 2],
  ['{{ "x" in $body.tags }}', true],
  ['{{ "nope" in $body }}', false],
  ['{{ $body.articles[0] == {"published": true, "id": 1} }}', true],
  ['{{ (1 != 2) || $body.nope }}', true],
  ['# a comment\n1 # another', 1],
  ['{{ not ($body.id < 3) }}', true],
  ['{{ escapeUri "a b/ü!" }}', 'a%20b%2F%C3%BC%21'],
  ['{{ getSessionVariable("X-Engine-Role") }}', 'user'],
  [
    '[{{ empty("") }}, {{ empty({}) }}, {{ empty(0) }}, {{ empty(null) }}, {{ empty("a") }}]',
    [true, true, true, true, false],
  ],
  [
    '[{{ size("abc") }}, {{ size([1]) }}, {{ size({"a":1}) }}, {{ size(true) }}, {{ size(null) }}]',
    [3, 1, 1, 1, 0],
  ],
  [
    '[{{ inverse("ab") }}, {{ inverse([1,2]) }}, {{ inverse(4) }}, {{ inverse(true) }}]',
    ['ba', [2, 1], 0.25, false],
  ],
  ['[{{ head("ab") }}, {{ head([1,2]) }}, {{ tail("ab") }}, {{ tail([1,2]) }}]', ['a', 1, 'b', [2]]],
  [
    '[{{ toLower("AB") }}, {{ toUpper("ab") }}, {{ toTitle("hello wORLD") }}, {{ toCaseFold("AB") }}]',
    ['ab', 'AB', 'Hello World', 'ab'],
  ],
  ['{{ fromPairs([["a", 1], ["b", 2]]) }}', { a: 1, b: 2 }],
  ['{{ toPairs({"a": 1}) }}', [['a', 1]]],
  ['{{ removeNulls([1, null, 2]) }}', [1, 2]],
  [
    '[{{ concat([[1], [2]]) }}, {{ concat(["a", "b"]) }}, {{ concat([{"a": 1}, {"a": 2}]) }}]',
    [[1, 2], 'ab', { a: 2 }],
  ],
] as const)('%s is %j', (source, value) => {
  expect(withNearestNumbers(evaluated(source))).toEqual(value);
});

test('numbers keep their spelling, and are compared by value', () => {
  const written = evaluated('[1.50, {{ 1.0 == 1 }}, {{ 12345678901234567890 > 1.50 }}, {{ [1.0] == [1] }}]');
  expect(JSON.stringify(written)).toBe('[1.50,true,true,true]');
});

test('a URL is text with expressions', () => {
  expect(renderedText('https://{{ $body.name }}.example/{{ escapeUri $body.name }}?q="1"', scope)).toBe(
    'https://Ada.example/Ada?q="1"',
  );
});

test.each([
  ['{{ $body.world }}', 'Attribute Error', "'Object' has no attribute 'world'.", 4, 15],
  ['{{ $nope }}', 'Name Error', "Variable '$nope' not in scope", 4, 9],
  ['{{ nope(1) }}', 'Name Error', "Variable 'nope' not in scope", 4, 11],
  ['{{ $body.tags[9] }}', 'Index Error', 'Index out of range: 9.', 4, 17],
  ['{{ $body.id.x }}', 'Attribute Error', "'Number' has no attribute 'x'.", 4, 14],
  ['{{ if $body.id }} 1 {{ else }} 2 {{ end }}', 'Type Error', "'7' is not a boolean.", 7, 15],
  ['{{ 1 < "a" }}', 'Type Error', "Cannot compare 'Number' and 'String'.", 4, 11],
  ['{{ range i, x := $body.id }} 1 {{ end }}', 'Range Error', 'Can only range over an array', 1, 41],
  [
    '{{ getSessionVariable("this_variable_doesnt_exist") }}',
    'Function Error',
    'Session variable "this_variable_doesnt_exist" not found',
    22,
    52,
  ],
  ['{{ toLower 1 }}', 'Function Error', 'Expected a string, but encountered Number', 12, 13],
])('%s is a %s', (source, code, message, start, end) => {
  expect(problemOf(source)).toEqual({
    error_code: code,
    message,
    source_position: { start_line: 0, start_column: start, end_line: 0, end_column: end },
  });
});

test('inherited properties are not attributes', () => {
  expect(problemOf('{{ $body.constructor }}').error_code).toBe('Attribute Error');
  expect(evaluated('{"__proto__": 1}')).toEqual(JSON.parse('{"__proto__": 1}'));
});
