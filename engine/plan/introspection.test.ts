/** Introspection says what the library's own executor would say of the same schema. */
import { executeSync, getIntrospectionQuery, parse } from 'graphql';
import { expect, test } from 'vitest';
import { finish } from '../metadata/steps.ts';
import { planOf, prepare } from './testing/ask.ts';

function asked(text: string, variables: Record<string, unknown> = {}, role = 'reader'): unknown {
  const [root] = planOf(text, variables, role).roots;
  if (root?.kind !== 'schema-text') throw new Error('introspection is a text about the schema');
  return JSON.parse(String(finish(root.text.steps())));
}

/** By the library; lists of named things put in order of name. */
function expected(text: string, variables: Record<string, unknown> = {}, role = 'reader'): unknown {
  const schema = prepare(text, role, null).role.schema();
  const { data, errors } = executeSync({ schema, document: parse(text), variableValues: variables });
  expect(errors).toBeUndefined();
  return inOrder(Object.values(data as object)[0]);
}

function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) {
    const items: unknown[] = value.map(inOrder);
    const isNamed = items.every((item) => typeof item === 'object' && item !== null && 'name' in item);
    const nameOf = (item: unknown) => (item as { name: string }).name;
    return isNamed ? items.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, inOrder(item)]));
}

const EVERYTHING = getIntrospectionQuery({
  specifiedByUrl: true,
  directiveIsRepeatable: true,
  schemaDescription: true,
  inputValueDeprecation: true,
  oneOf: true,
});

test.each(['admin', 'reader', 'nobody'])('the whole schema of %s', (role) => {
  const schema = asked(EVERYTHING, {}, role) as { types: { name: string }[] };
  expect(schema).toEqual(expected(EVERYTHING, {}, role));
  expect(schema.types.some(({ name }) => name === 'article_set_input')).toBe(role === 'admin');
});

test('a selection of it, with aliases, fragments, variables and what is not there', () => {
  const text = `query ($name: String!, $old: Boolean) {
    __type(name: $name) { meta: __typename ...Named shown: fields(includeDeprecated: $old) { name type { ...Named } } }
  } fragment Named on __Type { name kind ofType { name } }`;
  expect(asked(text, { name: 'author', old: true })).toEqual(expected(text, { name: 'author', old: true }));
  expect(asked(text, { name: 'author_set_input', old: false })).toBeNull();
  expect(asked('{ __type(name: "author") { fields { name } } }')).toEqual({
    fields: ['articles', 'articles_aggregate', 'id', 'meta', 'name'].map((name) => ({ name })),
  });
});

test('each type, and each field of a type, is written in a step of its own', () => {
  const [root] = planOf(EVERYTHING, null, 'admin').roots;
  if (root?.kind !== 'schema-text') throw new Error('introspection is a text about the schema');
  const { types } = asked(EVERYTHING, {}, 'admin') as { types: { fields: unknown[] | null }[] };
  const parts = types.flatMap(({ fields }) => [null, ...(fields ?? [])]);
  const steps = root.text.steps();
  let count = 0;
  while (!steps.next().done) count++;
  expect(count).toBeGreaterThan(parts.length);
});

test('a plan holds the selection and not the text, which is written anew at every call', () => {
  const [root] = planOf('{ __schema { queryType { name } } }', null, 'admin').roots;
  if (root?.kind !== 'schema-text') throw new Error('introspection is a text about the schema');
  expect(JSON.stringify(root)).toBe('{"kind":"schema-text","alias":"__schema","text":{}}');
  const texts = [finish(root.text.steps()), finish(root.text.steps())];
  expect(texts).toEqual(Array(2).fill('{"queryType":{"name":"query_root"}}'));
});

test('fields that select the same share a text', () => {
  const text = `{ a: __schema { ...Types } b: __schema { ...Types } c: __schema { queryType { name } }
    d: __type(name: "author") { name } e: __type(name: "author") { name } f: __type(name: "article") { name } }
    fragment Types on __Schema { types { name } }`;
  const texts = planOf(text, null, 'admin').roots.map((root) => root.kind === 'schema-text' && root.text);
  expect(texts.map((one) => texts.indexOf(one))).toEqual([0, 0, 2, 3, 3, 5]);
});

test.each(['admin', 'reader', 'nobody'])(
  '%s: the limit is somewhat more than the standard introspection',
  (role) => {
    const text = getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    });
    const { mostCharacters } = finish(prepare(text, role).role.reachedSchema());
    const { length } = JSON.stringify(asked(text, {}, role));
    // What every schema has is a large part of a small one.
    expect(mostCharacters - 100_000).toBeLessThan(1.9 * length);
    expect(mostCharacters).toBeGreaterThan(1.2 * length);
  },
);
