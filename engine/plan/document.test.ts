/** Which documents are taken, and in whose words the others are refused. */
import { expect, test } from 'vitest';
import { errorOf, prepare, refusal } from './testing/ask.ts';

test('text that does not parse is not a valid query', () => {
  expect(refusal('{ author { id }')).toBe('$.query: not a valid graphql query');
  expect(refusal('')).toBe('$.query: not a valid graphql query');
});

test('the operation is chosen by its name', () => {
  const text = 'query A { author { id } } query B { article { id } }';
  expect(prepare(text, 'admin', 'B').operation.name?.value).toBe('B');
  expect(errorOf(() => prepare(text, 'admin', 'C'))).toBe('$: no such operation found in the document: "C"');
});

test('without a name there must be exactly one operation', () => {
  expect(refusal('query A { author { id } } query B { author { id } }')).toBe(
    '$: exactly one operation has to be present in the document when operationName is not specified',
  );
  expect(refusal('fragment F on author { id }')).toBe(
    '$: exactly one operation has to be present in the document',
  );
});

test('two definitions of one name are refused; of two operations the first counts', () => {
  const refused = (text: string) => errorOf(() => prepare(text));
  expect(refused('{ author { ...F } } fragment F on author { id } fragment F on author { name }')).toBe(
    '$: multiple definitions for fragment "F"',
  );
  expect(refused('query ($a: Int, $a: Int) { author(limit: $a) { id } }')).toBe(
    '$: multiple definitions for variable "a"',
  );
  for (const text of [
    '{ author(limit: 1, limit: 2) { id } }',
    '{ author(where: { id: { _eq: 1 }, id: { _eq: 2 } }) { id } }',
  ]) {
    expect(refused(text)).toBe('$.query: not a valid graphql query');
  }
  const twice = 'query A { author { id } } query A { article { id } }';
  expect(prepare(twice, 'admin', 'A').operation.selectionSet.selections).toMatchObject([
    { name: { value: 'author' } },
  ]);
});

test('a role that may change nothing has no mutations', () => {
  expect(refusal('mutation { delete_author(where: {}) { affected_rows } }', null, 'reader')).toBe(
    '$: no mutations exist',
  );
});

test('directives the engine does not know are refused, caching hints are not', () => {
  expect(refusal('query @nope { author { id } }')).toBe("$: directive 'nope' is not defined in the schema");
  expect(refusal('{ author @nope { id } }')).toBe(
    "$.selectionSet: directive 'nope' is not defined in the schema",
  );
  expect(refusal('query @cached(ttl: 5) { author { id } }')).toBe('no error');
});

test('unused variables and fragments are fine', () => {
  expect(refusal('query ($a: Int, $b: NoSuchType) { author { id } } fragment F on nope { nope }')).toBe(
    'no error',
  );
});

test('a request nested beyond measure is refused, not crashed on', () => {
  const deep = (levels: number) =>
    `{ article ${'{ author { articles '.repeat(levels)}{ id }${' } }'.repeat(levels)} }`;
  expect(refusal(deep(10))).toBe('no error');
  expect(refusal(deep(200))).toBe('$: the request is nested too deeply');
  expect(refusal('{ author '.repeat(30_000))).toBe('$: the request is nested too deeply');
  expect(refusal(`{ author(where: ${'{ _not: '.repeat(300)}{}${' }'.repeat(300)}) { id } }`)).toBe(
    '$: the request is nested too deeply',
  );
});

test('introspection that would multiply is refused', () => {
  const nested = (levels: number): string =>
    levels === 0 ? 'name' : `fields { type { ${nested(levels - 1)} } }`;
  expect(refusal(`{ __schema { types { ${nested(1)} } } }`)).toBe('no error');
  expect(refusal(`{ __schema { types { ${nested(6)} } } }`)).toMatch(/introspection depth/);
});
