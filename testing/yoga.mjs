/** A GraphQL Yoga server as a process of its own: a peer that somebody else wrote, with federation's fields, unions, interfaces,
 *  custom scalars, enums, input objects and a subscription, which it tells over server-sent events by itself and, unless called
 *  with --no-sockets, over WebSockets. Prints its URL. For remote-peers.test.ts. */
import { EventEmitter } from 'node:events';
import { createServer } from 'node:http';
import { createPubSub, createSchema, createYoga } from 'graphql-yoga';
import { WebSocketServer } from 'ws';

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

const events = createPubSub();

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
  Mutation: {
    addBook: (_, { title, genre }) => {
      const added = book(books.length + 1, title, genre);
      events.publish('added', { added });
      return added;
    },
  },
  Subscription: { added: { subscribe: () => events.subscribe('added') } },
};

const yoga = createYoga({ schema: createSchema({ typeDefs, resolvers }), logging: false });
const server = createServer(yoga);

/** Yoga leaves WebSockets to others: what it executes, told as graphql-transport-ws. */
const sockets = process.argv.includes('--no-sockets')
  ? new EventEmitter()
  : new WebSocketServer({ server, path: '/graphql' });
sockets.on('connection', (socket) => {
  const say = (type, id, payload) => socket.send(JSON.stringify({ type, id, payload }));
  const running = new Map();
  socket.on('close', () => {
    for (const results of running.values()) results.return();
  });
  socket.on('message', async (data) => {
    const { type, id, payload } = JSON.parse(data);
    if (type === 'connection_init') say('connection_ack');
    if (type === 'complete') running.get(id)?.return();
    if (type !== 'subscribe') return;
    const { schema, parse, validate, subscribe, contextFactory } = yoga.getEnveloped({ params: payload });
    const document = parse(payload.query);
    const errors = validate(schema, document);
    if (errors.length > 0) return say('error', id, errors);
    const { variables: variableValues } = payload;
    const results = await subscribe({
      schema,
      document,
      variableValues,
      contextValue: await contextFactory(),
    });
    running.set(id, results);
    for await (const result of results) say('next', id, result);
    say('complete', id);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/graphql`));
