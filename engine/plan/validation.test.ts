/** What is refused before any value is known: names, selections, fragments, variables that do not fit. */
import { expect, test } from 'vitest';
import { planOf, refusal } from './testing/ask.ts';

test('an unknown field is named with its type, under its path', () => {
  expect(refusal('{ nope { id } }')).toBe(
    "$.selectionSet.nope: field 'nope' not found in type: 'query_root'",
  );
  expect(refusal('{ author { articles { nope } } }')).toBe(
    "$.selectionSet.author.selectionSet.articles.selectionSet.nope: field 'nope' not found in type: 'article'",
  );
});

test('what a role may not see is not found, in the same words', () => {
  const hidden = (text: string) => refusal(text, null, 'reader');
  expect(hidden('{ profile { text } }')).toMatch(/field 'profile' not found in type: 'query_root'/);
  expect(hidden('{ author { email } }')).toMatch(/field 'email' not found in type: 'author'/);
  expect(hidden('{ author(where: { email: { _eq: "x" } }) { id } }')).toMatch(
    /\$\.selectionSet\.author\.args\.where\.email: field 'email' not found in type: 'author_bool_exp'/,
  );
  expect(hidden('{ author(order_by: { email: asc }) { id } }')).toMatch(
    /not found in type: 'author_order_by'/,
  );
  expect(hidden('{ author(distinct_on: email) { id } }')).toMatch(
    /expected one of the values \['id', 'meta', 'name'\] for type 'author_select_column', but found 'email'/,
  );
});

test('an unknown argument is named with its field', () => {
  expect(refusal('{ author(first: 1) { id } }')).toBe(
    "$.selectionSet.author: 'author' has no argument named 'first'",
  );
});

test('objects need a selection, scalars take none', () => {
  expect(refusal('{ author { articles } }')).toBe(
    "$.selectionSet.author.selectionSet.articles.selectionSet: missing selection set for 'article'",
  );
  expect(refusal('{ author { id { x } } }')).toMatch(/unexpected subselection set for non-object field/);
});

test('a fragment on another type is skipped, and its fields are not validated', () => {
  for (const text of [
    '{ author { id ... on article { nope { id } } } }',
    '{ author { id ...F } } fragment F on article { nope(a: 1) }',
    '{ author { ... on nope { nope @include(if: true) } } }',
  ]) {
    expect(refusal(text), text).toBe('no error');
  }
});

test('what a literal skips is not validated', () => {
  for (const skipped of ['@skip(if: true)', '@include(if: false)']) {
    expect(refusal(`{ author { id nope ${skipped} ... ${skipped} { nope } } }`)).toBe('no error');
    expect(
      refusal(`{ author { id nope ${skipped.replace(/true|false/, (is) => String(is === 'false'))} } }`),
    ).toMatch(/field 'nope' not found/);
  }
});

test('a variable must fit every place it stands at', () => {
  expect(refusal('query ($n: Int!) { author(where: { name: { _eq: $n } }) { id } }', { n: 'x' })).toBe(
    "$.selectionSet.author.args.where.name._eq: variable 'n' is declared as 'Int!', but used where 'String' is expected",
  );
  expect(refusal('query ($l: String) { author(limit: $l) { id } }', { l: 1 })).toBe(
    "$.selectionSet.author.args.limit: variable 'l' is declared as 'String', but used where 'Int' is expected",
  );
  expect(refusal('query ($i: Int) { author_by_pk(id: $i) { id } }', { i: 1 })).toMatch(
    /declared as 'Int', but used where 'Int!' is expected/,
  );
  expect(refusal('query ($i: [Int]) { author(where: { id: { _in: $i } }) { id } }', { i: [] })).toMatch(
    /declared as '\[Int\]', but used where '\[Int!\]' is expected/,
  );
  expect(refusal('query ($i: Boolean) { author { id @include(if: $i) } }', { i: true })).toMatch(
    /declared as 'Boolean', but used where 'Boolean!' is expected/,
  );
});

test('a default lets a nullable variable stand where null may not', () => {
  expect(refusal('query ($i: Int = 1) { author_by_pk(id: $i) { id } }')).toBe('no error');
  expect(refusal('query ($i: Int = null) { author_by_pk(id: $i) { id } }')).toMatch(/is expected$/);
});

test('an undeclared variable is unbound, also inside JSON', () => {
  expect(refusal('{ author(limit: $l) { id } }')).toBe('$: unbound variable "l"');
  expect(refusal('{ author(where: { meta: { _contains: { a: [$x] } } }) { id } }')).toMatch(
    /unbound variable "x"/,
  );
});

test('fragments that multiply are walked once and refused for their size', () => {
  const fragment = (i: number) =>
    `fragment F${i} on author { a: articles { author { ...F${i + 1} } } b: articles { author { ...F${i + 1} } } }`;
  const text = `{ author { ...F0 } } ${Array.from({ length: 14 }, (_, i) => fragment(i)).join(' ')}
    fragment F14 on author { id }`;
  const started = performance.now();
  expect(refusal(text)).toMatch(/the request selects more than 20000 fields$/);
  expect(performance.now() - started).toBeLessThan(15_000);
});

test('a fragment spread many times in one place costs nothing', () => {
  const fragment = (i: number) => `fragment F${i} on author { ...F${i + 1} ...F${i + 1} }`;
  const text = `{ author { ...F0 } } ${Array.from({ length: 40 }, (_, i) => fragment(i)).join(' ')}
    fragment F40 on author { id }`;
  expect(planOf(text).roots).toHaveLength(1);
});
