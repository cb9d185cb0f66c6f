/** A GraphQL Yoga server as a process of its own: a peer that somebody else wrote, with federation's fields, unions, interfaces,
 *  custom scalars, enums, input objects and a subscription. Prints its URL. For remote-peers.test.ts. */
import { createServer } from 'node:http';
import { createSchema, createYoga } from 'graphql-yoga';

const typeDefs = /* GraphQL */ `
  "A moment, as text."
  scalar Moment
  scalar _Any
  enum Genre { NOVEL ESSAY }
  interface Titled { title: String! }
  type Book implements Titled { id: ID! title: String! genre: Genre! printed: Moment sequel: Book }
  type Film implements Titled { title: String! minutes: Int }
  union Work = Book | Film
  union _Entity = Book
  type _Service { sdl: String }
  input BookFilter { genre: [Genre!] printedAfter: Moment title: TitleFilter = { contains: "" } }
  input TitleFilter { contains: String }
  type Query {
    books(filter: BookFilter, first: Int = 100): [Book!]!
    works: [Work!]!
    titled: [Titled!]!
    shelf(size: Int!): [Book!]!
    fails: String
    _service: _Service!
    _entities(representations: [_Any!]!): [_Entity]!
  }
  type Mutation { addBook(title: String!, genre: Genre! = NOVEL): Book! }
  type Subscription { added: Book! }`;

const book = (id, title, genre = 'NOVEL') => ({
  __typename: 'Book',
  id,
  title,
  genre,
  printed: `19${id}0-01-01`,
});
const books = [book(1, 'Emma'), book(2, 'Walden', 'ESSAY')];
const film = { __typename: 'Film', title: 'Metropolis', minutes: 153 };
const isWanted = (filter) => (each) =>
  (!filter?.genre || filter.genre.includes(each.genre)) &&
  (!filter?.printedAfter || each.printed > filter.printedAfter) &&
  each.title.includes(filter?.title?.contains ?? '');

const resolvers = {
  Query: {
    books: (_, { filter, first }) => books.filter(isWanted(filter)).slice(0, first),
    works: () => [...books, film],
    titled: () => [...books, film],
    shelf: (_, { size }) => Array.from({ length: size }, (_, i) => book(i, `volume ${i}`)),
    fails: () => {
      throw new Error('masked by the server');
    },
    _service: () => ({ sdl: 'type Book @key(fields: "id") { id: ID! }' }),
    _entities: (_, { representations }) =>
      representations.map(({ id }) => books.find((each) => each.id === Number(id))),
  },
  Book: { sequel: ({ id }) => books.find((each) => each.id === id + 1) },
  Mutation: { addBook: (_, { title, genre }) => book(books.length + 1, title, genre) },
};

const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false });
const server = createServer(yoga);
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/graphql`));
