/** The operation builder changes what it is to change: after each random click the text selects exactly that much more or less, with its
 *  comments, and is valid. */
import {
  buildSchema,
  type GraphQLObjectType,
  getNamedType,
  isObjectType,
  isRequiredArgument,
  parse,
  print,
  validate,
} from 'graphql';
import { describe, expect, test } from 'vitest';
import { randomBits } from '../testing/random-bits.ts';
import {
  fieldsOf,
  newOperation,
  operationIn,
  withArgument,
  withField,
  withoutArgument,
  withoutField,
} from './page/builder.js';

const schema = buildSchema(`
  scalar jsonb
  scalar uuid
  enum order_by { asc desc }
  input int_exp { _eq: Int _in: [Int!] }
  input book_bool_exp { id: int_exp _and: [book_bool_exp!] }
  input book_insert { id: Int! tags: [String!]! kind: order_by! data: jsonb }
  type author { id: Int! name: String books(limit: Int, where: book_bool_exp): [book!]! }
  type book { id: Int! title: String data(path: String): jsonb author: author! }
  type Nothing { of: author }
  type Query {
    book(limit: Int, where: book_bool_exp, order_by: [order_by!], is_new: Boolean): [book!]!
    book_by_pk(id: Int!): book
    author_by_key(id: uuid!, deep: Boolean): author
    nothing: Nothing
    version: String
  }
  type Mutation { insert_book(objects: [book_insert!]!): author }
  type Subscription { book: [book!]! author_stream(batch_size: Int!): [author!]! }
`);

const operation = (text: string) => operationIn({ query: text }).operation!;
const field = (name: string, kind: 'Query' | 'Mutation' | 'Subscription' = 'Query') =>
  (schema.getType(kind) as GraphQLObjectType).getFields()[name]!;
const flat = (text: string) => print(parse(text)).replaceAll(/\s+/g, ' ').trim();

describe('single changes', () => {
  test('a new operation has the required arguments and the first leaves', () => {
    expect(flat(newOperation('query', field('book_by_pk')))).toBe('{ book_by_pk(id: 10) { id title data } }');
    expect(flat(newOperation('query', field('nothing')))).toBe('{ nothing { __typename } }');
    expect(flat(newOperation('mutation', field('insert_book', 'Mutation')))).toBe(
      'mutation { insert_book(objects: [{ id: 10, tags: [""], kind: asc }]) { id name } }',
    );
  });

  test('a field follows the last one, after its comment, in the form of the text', () => {
    const text = '# mine\nquery Mine {\n    book { id } # last\n}\n';
    expect(withField(text, operation(text), field('version'))).toBe(
      '# mine\nquery Mine {\n    book { id } # last\n    version\n}\n',
    );
    const short = '{ version }';
    expect(withField(short, operation(short), field('book_by_pk'))).toBe(
      '{ version book_by_pk(id: 10) { id title data } }',
    );
  });

  test('the only field of a subscription is replaced, and a lone __typename', () => {
    const live = 'subscription {\n  book { id }\n}\n';
    expect(flat(withField(live, operation(live), field('author_stream', 'Subscription')))).toBe(
      'subscription { author_stream(batch_size: 10) { id name } }',
    );
    const text = 'query {\n  version\n}\n';
    const empty = withoutField(text, operation(text), fieldsOf(operation(text))[0]!);
    expect(empty).toBe('query {\n  __typename\n}\n');
    expect(withField(empty, operation(empty), field('version'))).toBe(text);
  });

  test('an empty selection is filled', () => {
    const text = '  query Mine {}';
    expect(withField(text, operation(text), field('version'))).toBe('  query Mine {\n    version\n  }');
  });

  test('without an operation there is none, and a mistake is told', () => {
    expect(operationIn({ query: ' # nothing\n' })).toEqual({ operation: null });
    expect(operationIn({ query: '{ book {' }).problem).toContain('Syntax Error');
    expect(
      operationIn({ query: 'query A { a } query B { b }', operationName: 'B' }).operation?.name?.value,
    ).toBe('B');
  });
});

/** Returns each operation and field of the text whose selection can change, with its type. */
function owners(text: string) {
  const found: { node: ReturnType<typeof operation>; type: GraphQLObjectType }[] = [];
  const visit = (node: ReturnType<typeof operation>, type: GraphQLObjectType) => {
    found.push({ node, type });
    for (const child of fieldsOf(node)) {
      const named =
        child.name.value === '__typename'
          ? undefined
          : getNamedType(type.getFields()[child.name.value]!.type);
      if (isObjectType(named)) visit(child as never, named);
    }
  };
  visit(operation(text), schema.getQueryType()!);
  return found;
}

test('random clicks keep the operation valid, and each is undone by its opposite', () => {
  for (let seed = 0; seed < 60; seed++) {
    const bits = randomBits(seed);
    const any = <T>(items: readonly T[]): T => items[bits() % items.length]!;
    let text = seed % 2 ? '{ version }' : 'query Mine {\n  # note\n  version # more\n}\n';
    for (let i = 0; i < 25; i++) {
      const { node, type } = any(owners(text));
      const chosen = any(Object.values(type.getFields()));
      const selected = fieldsOf(node).find(({ name }) => name.value === chosen.name);
      const before = text;
      const again = () => owners(text).find((each) => each.node.loc!.start === node.loc!.start)!.node;
      const fieldAgain = () => fieldsOf(again()).find(({ name }) => name.value === chosen.name)!;
      if (!selected) {
        const isReplaced = fieldsOf(node).every(({ name }) => name.value === '__typename');
        text = withField(text, node, chosen);
        if (!isReplaced) expect(flat(withoutField(text, again(), fieldAgain()))).toBe(flat(before));
      } else if (chosen.args.length > 0 && bits() % 2) {
        const argument = any(chosen.args);
        const isGiven = selected.arguments?.some(({ name }) => name.value === argument.name);
        if (isGiven && isRequiredArgument(argument)) continue;
        if (isGiven) text = withoutArgument(text, selected, argument.name);
        else {
          text = withArgument(text, selected, argument);
          expect(flat(withoutArgument(text, fieldAgain(), argument.name))).toBe(flat(before));
        }
      } else text = withoutField(text, node, selected);
      expect([seed, i, text, validate(schema, parse(text)).map(({ message }) => message)]).toEqual([
        seed,
        i,
        text,
        [],
      ]);
      if (before.includes('# note')) expect(text).toContain('# note');
    }
  }
});
