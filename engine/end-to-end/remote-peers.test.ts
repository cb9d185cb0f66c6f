/** Tests a remote schema served by a GraphQL library of another project, in its own process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { openSession } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';
import { passThroughCpu } from '../bench/remote.ts';

let peer: ChildProcess;
let url: string;

afterAll(() => peer?.kill());

const { engine } = testWorld(async () => {
  ({ child: peer, url } = await startPeer());
});

beforeAll(async () => {
  const added = await engine.admin('add_remote_schema', { name: 'library', definition: { url } });
  expect(added).toMatchObject({ status: 200 });
});

test('unions, interfaces, enums, custom scalars and input objects work in both directions', async () => {
  const { data, errors } = await engine.graphql(
    `query ($filter: BookFilter, $first: Int) {
      books(filter: $filter, first: $first) { id title genre printed sequel { title } }
      works { __typename ... on Book { genre } ... on Film { minutes } }
      titled { title ... on Film { __typename } }
    }`,
    { variables: { filter: { genre: ['NOVEL'], printedAfter: '1900-01-01' }, first: 5 } },
  );
  expect(errors).toBeUndefined();
  expect(data).toEqual({
    books: [{ id: '1', title: 'Emma', genre: 'NOVEL', printed: '1910-01-01', sequel: { title: 'Walden' } }],
    works: [
      { __typename: 'Book', genre: 'NOVEL' },
      { __typename: 'Book', genre: 'ESSAY' },
      { __typename: 'Film', minutes: 153 },
    ],
    titled: [{ title: 'Emma' }, { title: 'Walden' }, { __typename: 'Film', title: 'Metropolis' }],
  });
});

test('fields of federation are ordinary fields', async () => {
  const { data } = await engine.graphql(
    'query ($them: [_Any!]!) { _service { sdl } _entities(representations: $them) { ... on Book { title } } }',
    { variables: { them: [{ __typename: 'Book', id: '2' }] } },
  );
  expect(data).toMatchObject({
    _service: { sdl: expect.stringContaining('@key') },
    _entities: [{ title: 'Walden' }],
  });
});

test('mutations and errors', async () => {
  const added = await engine.graphql('mutation { addBook(title: "Ulysses") { title genre } }');
  expect(added.data).toEqual({ addBook: { title: 'Ulysses', genre: 'NOVEL' } });
  const { data, errors } = await engine.graphql('{ fails }');
  expect(data).toBeNull();
  expect(errors).toMatchObject([{ message: 'Unexpected error.', path: ['fails'] }]);
});

/** Starts a service with these arguments. */
async function startPeer(...args: readonly string[]) {
  const child = spawn(process.execPath, ['testing/yoga.mjs', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [printed] = (await once(child.stdout!, 'data')) as [Buffer];
  return { child, url: printed.toString().trim() };
}

test.each(['WebSockets', 'server-sent events'])('subscriptions over %s', async (way) => {
  if (way === 'server-sent events') {
    const { child, url: alone } = await startPeer('--no-sockets');
    onTestFinished(() => void child.kill());
    const definition = { url: alone, customization: { root_fields_namespace: 'away' } };
    await engine.must('add_remote_schema', { name: 'away', definition });
  }
  const [before, after] = way === 'WebSockets' ? ['', ''] : ['away { ', ' }'];
  const socket = await openSession(engine);
  const query = `subscription { ${before} added { __typename title ... on Titled { heading: title } sequel { id } } ${after} }`;
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  // The service does not report the start of a subscription: books are added until one is received.
  const adding = setInterval(
    () => void engine.graphql(`mutation { ${before} addBook(title: "Ulysses") { id } ${after} }`),
    100,
  );
  const added = { __typename: 'Book', title: 'Ulysses', heading: 'Ulysses', sequel: null };
  const data = way === 'WebSockets' ? { added } : { away: { added } };
  expect(await socket.next()).toEqual({ type: 'next', id: '1', payload: { data } });
  clearInterval(adding);
  socket.socket.terminate();
});

test('forwarding a query costs little CPU compared with querying the service directly', async () => {
  const apart = await createDatabase();
  onTestFinished(apart.drop);
  const asked = { databaseUrl: apart.url, serviceUrl: url };
  const { engine, direct } = await passThroughCpu(asked, { warming: 200, requests: 100, rounds: 3 });
  // About three times the CPU of a client, measured in microseconds; a busy machine is slower at both. See: node
  // engine/bench/remote.ts.
  expect(engine / direct).toBeLessThan(8);
});

test('a schema can be built from the introspection of the engine', async () => {
  const { buildClientSchema, getIntrospectionQuery, validateSchema } = await import('graphql');
  const { data } = await engine.graphql(getIntrospectionQuery());
  const schema = buildClientSchema(data as never);
  expect(validateSchema(schema)).toEqual([]);
  expect(schema.getType('Moment')?.description).toBe('A moment, as text.');
});
