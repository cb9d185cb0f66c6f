/** A lazy schema is the schema that graphql builds from the same introspection, and builds only the types that are used. */
import {
  buildClientSchema,
  buildSchema,
  type GraphQLSchema,
  getIntrospectionQuery,
  graphqlSync,
  type IntrospectionQuery,
  isAbstractType,
  isInterfaceType,
  parse,
  printSchema,
  validate,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { randomBits } from '../testing/random-bits.ts';
import { LazySchema } from './page/lazy-schema.js';
import { packedSchema } from './page/packed-schema.js';

/** Every part of GraphQL's schema language, with names and texts beyond ASCII. */
const EVERYTHING = `
"""Of the schema: ä, 𝒳, "quotes"."""
schema { query: Root mutation: Changes subscription: Live }
directive @mark(why: String = "no reason", times: [Int!] = [1, 2]) repeatable on FIELD | QUERY
scalar uuid @specifiedBy(url: "https://example.com/uuid")
scalar jsonb
"A direction."
enum order_by { "Upwards." asc desc_nulls_last @deprecated(reason: "Use \\"asc\\".") }
input exp { _eq: Int = 3 _and: [exp!] _kind: order_by = asc _old: Int @deprecated(reason: "ä") }
input choice @oneOf { id: uuid name: String }
interface Node { id: uuid! }
interface Named implements Node { id: uuid! name: String }
type Book implements Node & Named { id: uuid! name: String price(in: String = "EUR", at: exp = {_eq: 1}): Float }
type Author implements Node { id: uuid! books(where: exp, limit: Int = 10, order_by: [order_by!] = [asc]): [Book!]! }
union Found = Book | Author
type Root {
  "Books, by what they are."
  book(where: exp, choice: choice): [[Book!]]!
  node(id: uuid!): Node
  find(text: String!): [Found!]!
  gone: jsonb @deprecated
}
type Changes { add(object: exp!, old: Int @deprecated(reason: "x")): Book }
type Live { book: [Book!]! }
`;

/** Returns the introspection of a schema with all options. */
function introspectionOf(schema: GraphQLSchema): IntrospectionQuery {
  const options = {
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  };
  const { data } = graphqlSync({ schema, source: getIntrospectionQuery(options) });
  return JSON.parse(JSON.stringify(data));
}

/** Returns the schema as the page gets it: what one thread packs is cloned for another. */
function lazily(introspection: IntrospectionQuery): LazySchema {
  return new LazySchema(structuredClone(packedSchema(introspection)));
}

/** Returns a schema with types of all kinds that refer to each other at random. */
function randomSchema(seed: number): GraphQLSchema {
  const bits = randomBits(seed);
  const any = <T>(items: readonly T[]): T => items[bits() % items.length]!;
  const some = (at: number, of: (i: number) => string) =>
    Array.from({ length: 1 + (bits() % at) }, (_, i) => of(i)).join(' ');
  const names = (kind: string) => Array.from({ length: 1 + (bits() % 5) }, (_, i) => `${kind}${i}`);
  const [objects, inputs, enums, scalars, interfaces] = ['O', 'I', 'E', 'S', 'F'].map(names) as string[][];
  const wrapped = (name: string) => any([name, `${name}!`, `[${name}]`, `[${name}!]!`, `[[${name}]!]`]);
  const note = () => any(['', '', `"text ${bits() % 9} ß"\n`]);
  const old = () => any(['', '', '@deprecated', '@deprecated(reason: "why")']);
  const inputType = () => any([...inputs!, ...enums!, ...scalars!, 'Int', 'String']);
  const argument = (i: number) =>
    `${note()}a${i}: ${any([`${wrapped(inputType())}`, 'Int = 7', '[String!] = ["b"]', `${any(enums!)} = v0`])}`;
  const outputType = () =>
    any([...objects!, ...interfaces!, ...enums!, ...scalars!, 'U', 'Boolean', 'Float', 'ID']);
  const field = (i: number) =>
    `${note()}f${i}${any(['', `(${some(3, argument)})`])}: ${wrapped(outputType())} ${old()}\n`;
  const implementing = () => any(['', `implements ${any(interfaces!)}`]);
  const definitions = [
    ...objects!.map((name) => `${note()}type ${name} ${implementing()} { shared: Int ${some(6, field)} }`),
    ...interfaces!.map((name) => `${note()}interface ${name} { shared: Int }`),
    ...inputs!.map((name) => `${note()}input ${name} { ${some(4, argument)} }`),
    ...enums!.map((name) => `${note()}enum ${name} { ${some(4, (i) => `${note()}v${i} ${old()}`)} }`),
    ...scalars!.map((name) => `${note()}scalar ${name}`),
    `union U = ${objects!.join(' | ')}`,
    `directive @d(${some(3, argument)}) on FIELD`,
    `type Query { ${some(9, field)} all: U }`,
    any(['', `type Mutation { ${some(5, field)} }`]),
  ];
  // An input object may need itself.
  return buildSchema(definitions.join('\n'), { assumeValid: true });
}

describe('a lazy schema', () => {
  const introspection = introspectionOf(buildSchema(EVERYTHING));

  test('prints as the schema of graphql, whatever parts it has', () => {
    expect(printSchema(lazily(introspection))).toBe(printSchema(buildClientSchema(introspection)));
  });

  test('prints as the schema of graphql, for random schemas', () => {
    for (let seed = 0; seed < 200; seed++) {
      const given = introspectionOf(randomSchema(seed));
      expect([seed, printSchema(lazily(given))]).toEqual([seed, printSchema(buildClientSchema(given))]);
    }
  });

  test('has the same possible types and implementations', () => {
    const [lazy, whole] = [lazily(introspection), buildClientSchema(introspection)];
    const seenIn = (schema: GraphQLSchema) =>
      Object.values(schema.getTypeMap())
        .filter(isAbstractType)
        .map((type) => [
          type.name,
          schema.getPossibleTypes(type).map(({ name }) => name),
          isInterfaceType(type) && schema.getImplementations(type).interfaces.map(({ name }) => name),
          Object.values(schema.getTypeMap())
            .filter((each) => schema.isSubType(type, each as never))
            .map(String),
        ]);
    expect(seenIn(lazy)).toEqual(seenIn(whole));
  });

  test('finds the same mistakes', () => {
    const query =
      '{ book { name nothing } find(text: 1) { ... on Nobody { id } ... on Book { price(in: 3) } } }';
    const mistakesIn = (schema: GraphQLSchema) =>
      validate(schema, parse(query)).map(({ message }) => message);
    expect(mistakesIn(lazily(introspection))).toEqual(mistakesIn(buildClientSchema(introspection)));
    expect(mistakesIn(lazily(introspection))).toHaveLength(4);
  });

  test('parses only the types whose fields are used', () => {
    const packed = packedSchema(introspection);
    const i = packed.head.types.findIndex(({ name }) => name === 'Author');
    packed.bytes.fill(0, packed.starts[i], packed.starts[i + 1]);
    const schema = new LazySchema(packed);
    expect(validate(schema, parse('{ book { name } find(text: "") { __typename } }'))).toEqual([]);
    expect(Object.keys(schema.getTypeMap())).toContain('Author');
    expect(() => validate(schema, parse('{ find(text: "") { ... on Author { id } } }'))).toThrow(SyntaxError);
  });
});
