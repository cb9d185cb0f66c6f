/** The documentation of a schema: its coordinates, what belongs to a type, and the search. */
import { buildSchema, introspectionFromSchema } from 'graphql';
import { expect, test } from 'vitest';
import { defaultOf, foundAt, membersIn, relatedTo } from './page/docs-coordinates.js';
import { searchedIn } from './page/docs-search.js';
import { LazySchema } from './page/lazy-schema.js';
import { packedSchema } from './page/packed-schema.js';

const schema = lazily(`
  interface Named { name: String }
  type Book implements Named { name: String price(currency: String = "EUR"): Float }
  type Author implements Named { name: String }
  enum kind { new old }
  input filter { kind: kind = new }
  union Found = Book | Author
  type Query { book(filter: filter): [Book] named: Named found: Found }
`);

function lazily(text: string): LazySchema {
  return new LazySchema(packedSchema(introspectionFromSchema(buildSchema(text))));
}

function search(text: string, most = 100, given = schema) {
  return searchedIn(given, text, most, new AbortController().signal);
}

test('a coordinate is a type or its field, and none where the schema lacks it', () => {
  expect(foundAt(schema, { type: 'Book' }).type?.name).toBe('Book');
  expect(foundAt(schema, { type: 'Book', field: 'price' }).member?.name).toBe('price');
  expect(foundAt(schema, { type: 'Book', field: 'none' })).toEqual({});
  expect(foundAt(schema, { type: 'Found', field: 'name' })).toEqual({});
  expect(foundAt(schema, { type: 'None' }).type).toBeUndefined();
});

test('members, related types and defaults are those of the schema', () => {
  const namesIn = (name: string) => membersIn(schema.getType(name)!).map((member) => member.name);
  expect(namesIn('kind')).toEqual(['new', 'old']);
  expect(namesIn('Book')).toEqual(['name', 'price']);
  expect(namesIn('Found')).toEqual([]);
  expect(relatedTo(schema, schema.getType('Book')!)).toEqual([['Implements', ['Named']]]);
  expect(relatedTo(schema, schema.getType('Named')!)).toEqual([['Possible types', ['Book', 'Author']]]);
  expect(relatedTo(schema, schema.getType('Found')!)).toEqual([['Possible types', ['Book', 'Author']]]);
  expect(membersIn(schema.getType('filter')!).map(defaultOf)).toEqual(['new']);
  expect(membersIn(schema.getType('Book')!).map(defaultOf)).toEqual([undefined, undefined]);
});

test('the search finds types first, then members, and fields by an argument', async () => {
  expect(await search('BOOK')).toEqual([{ type: 'Book' }, { type: 'Query', field: 'book' }]);
  expect(await search('currency')).toEqual([{ type: 'Book', field: 'price', argument: 'currency' }]);
  expect(await search('name', 2)).toEqual([{ type: 'Named' }, { type: 'Named', field: 'name' }]);
  expect(await search('nothing')).toEqual([]);
});

test('the search of a large schema lets others run, and ends when it is no longer needed', async () => {
  const fields = Array.from({ length: 400 }, (_, i) => `field_${i}: String`).join(' ');
  const types = Array.from({ length: 300 }, (_, i) => `type T${i} { ${fields} }`).join(' ');
  const large = lazily(`type Query { a: T0 } ${types}`);
  let turns = 0;
  const timer = setInterval(() => turns++);
  expect(await search('nothing', 100, large)).toEqual([]);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
  const controller = new AbortController();
  const searched = searchedIn(large, 'nothing', 100, controller.signal);
  controller.abort();
  expect(await searched).toBeNull();
});
