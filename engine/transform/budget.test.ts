/** Templates that would take for ever, or more memory than there is: each is refused within seconds, and says so. */
import { expect, test } from 'vitest';
import { cpuMilliseconds } from '../../testing/cpu-time.ts';
import { MOST_CHARACTERS, MOST_STEPS } from './budget.ts';
import { rendered, renderedText, scopeOf, TransformError } from './render.ts';

const items = (count: number) => Array.from({ length: count }, (_, i) => i);
const BODY = { many: items(1000), text: 'x'.repeat(10_000) };
const value = (source: string, body: unknown = BODY) =>
  rendered(source, scopeOf(new Map([['$body', body]]), {}));
/** `of` with itself in it, so many times: `x` stands for the value before. */
const nested = (times: number, of: string, innermost = '"abcdefgh"') =>
  Array.from({ length: times }).reduce<string>(
    (inner) => `{{ range _, x := [${inner}] }} ${of} {{ end }}`,
    innermost,
  );

test.each([
  [
    'nested ranges',
    `{{ range _, a := $body.many }} {{ range _, b := $body.many }} {{ range _, c := $body.many }} 1 {{ end }} {{ end }} {{ end }}`,
  ],
  ['text that doubles', nested(60, '{{ concat([x, x]) }}')],
  ['text that doubles in text', nested(60, '"{{ x }}{{ x }}"')],
  ['lists that hold one twice', nested(60, '[x, x]')],
  ['objects that hold one twice', nested(60, '{"a": x, "b": x}')],
  ['lists that are joined', nested(60, '{{ concat(concat([x, x])) }}', '[1, 2, 3]')],
  [
    'lists of lists that are joined',
    `{{ range _, a := [$body.many] }} {{ concat(${nested(12, '{{ concat([x, x, x, x, x, x, x, x]) }}', '[$body.many, $body.many]')}) }} {{ end }}`,
  ],
  ['lists that are compared', `{{ ${nested(60, '[x, x]')} == ${nested(60, '[x, x]')} }}`],
  [
    'long text many times',
    `{{ range _, a := $body.many }} {{ range _, b := $body.many }} "{{ $body.text }}" {{ end }} {{ end }}`,
  ],
  ['a value in a message', `{{ if ${nested(60, '[x, x]')} }} 1 {{ else }} 2 {{ end }}`],
])('%s', (_, source) => {
  const since = performance.now();
  expect(() => value(source)).toThrow(TransformError);
  expect(performance.now() - since).toBeLessThan(10_000);
});

const LONG = 'x'.repeat(100_000);
const WIDE = Object.fromEntries(items(50_000).map((i) => [`k${i}`, i]));
const inLoops = (inner: string, depth = 3) =>
  Array.from({ length: depth }).reduce<string>(
    (body, _, i) => `{{ range _, v${i} := $body.many }} ${body} {{ end }}`,
    inner,
  );

/** The steps of an iteration beside those of its body. */
test.each([
  ['nothing', '1'],
  ['texts in upper case', '{{ toTitle($body.long) }}'],
  ['texts in reverse', '{{ inverse($body.long) }}'],
  ['wide objects that are compared', '{{ $body.wide == $body.wide2 }}'],
  ['lists that are searched', '{{ 5 in $body.many }}'],
  ['lists that are printed', '"{{ $body.many }}"'],
  ['lists of pairs', '{{ toPairs($body.wide) }}'],
  ['long paths', `{{ $body${'.a'.repeat(500)} }}`],
  ['ranges in ranges of one item', inLoops('1', 40).replaceAll('$body.many', '[1]')],
])('a loop of %s ends with its budget in a fraction of a second of processor time', (_, inner) => {
  const deep = Array.from({ length: 500 }).reduce<object>((a) => ({ a }), {});
  const body = { ...deep, many: items(1000), long: LONG, wide: WIDE, wide2: { ...WIDE } };
  const ms = cpuMilliseconds(() => expect(() => value(inLoops(inner), body)).toThrow('more than'));
  // 20 to 80 ms; a million steps without what they read took 3,900.
  expect(ms).toBeLessThan(600);
});

test('the error names the limit', () => {
  expect(() =>
    value('{{ range _, a := $body.many }} {{ range _, b := $body.many }} b {{ end }} {{ end }}'),
  ).toThrow(`The template takes more than ${MOST_STEPS} steps.`);
  expect(() =>
    value(
      '{{ range _, a := $body.many }} {{ range _, b := $body.many }} "{{ $body.text }}" {{ end }} {{ end }}',
    ),
  ).toThrow(`The template makes more than ${MOST_CHARACTERS} characters.`);
});

test('text with expressions has the same limits', () => {
  const source = `a?b=${nested(60, '"{{ x }}{{ x }}"')}`;
  expect(() => renderedText(source, scopeOf(new Map(), {}))).toThrow(TransformError);
});

test('realistic templates are far below the limits', () => {
  const rows = items(10_000).map((id) => ({ id, name: `author ${id}`, tags: ['a', 'b'] }));
  const source =
    '{{ range i, row := $body }} {"place": {{ i }}, "text": "{{ row.name }} of {{ toUpper(row.name) }}", "tag": {{ row.tags[0] ?? null }}} {{ end }}';
  expect(value(source, rows)).toHaveLength(10_000);
});
