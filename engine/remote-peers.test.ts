/** A remote schema served by somebody else's library, in a process of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { openSocket } from '../testing/websocket.ts';
import { passThroughCpu } from './bench/remote.ts';

let database: TestDatabase;
let engine: TestEngine;
let peer: ChildProcess;
let url: string;

beforeAll(async () => {
  peer = spawn(process.execPath, ['testing/yoga.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [printed] = (await once(peer.stdout!, 'data')) as [Buffer];
  url = printed.toString().trim();
  database = await createDatabase();
  engine = await startTestEngine({ databaseUrl: database.url });
  const added = await engine.admin('add_remote_schema', { name: 'library', definition: { url } });
  expect(added).toMatchObject({ status: 200 });
});
afterAll(async () => {
  peer?.kill();
  await engine?.close();
  await database?.drop();
});

test('unions, interfaces, enums, custom scalars and input objects go both ways', async () => {
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

test('fields of federation are fields like any other', async () => {
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

test('subscriptions', async () => {
  const socket = await openSocket(engine.url, 'graphql-transport-ws');
  const headers = { 'x-engine-admin-secret': engine.adminSecret };
  socket.send({ type: 'connection_init', payload: { headers } });
  await socket.next();
  const query = 'subscription { added { __typename title ... on Titled { heading: title } sequel { id } } }';
  socket.send({ type: 'subscribe', id: '1', payload: { query } });
  // Nobody says that the subscription has begun there: books are added until one is told of.
  const adding = setInterval(() => void engine.graphql('mutation { addBook(title: "Ulysses") { id } }'), 100);
  const payload = {
    data: { added: { __typename: 'Book', title: 'Ulysses', heading: 'Ulysses', sequel: null } },
  };
  expect(await socket.next()).toEqual({ type: 'next', id: '1', payload });
  clearInterval(adding);
  socket.socket.terminate();
});

test('passing a query through costs little CPU beside asking the service itself', async () => {
  const apart = await createDatabase();
  onTestFinished(apart.drop);
  const asked = { databaseUrl: apart.url, serviceUrl: url };
  const { engine, direct } = await passThroughCpu(asked, { warming: 200, requests: 100, rounds: 3 });
  // About three times what a client needs to ask anybody; a machine that is busy is slower at both. In microseconds:
  // node engine/bench/remote.ts.
  expect(engine / direct).toBeLessThan(8);
});

test('what introspection tells of it builds a schema again', async () => {
  const { buildClientSchema, getIntrospectionQuery, validateSchema } = await import('graphql');
  const { data } = await engine.graphql(getIntrospectionQuery());
  const schema = buildClientSchema(data as never);
  expect(validateSchema(schema)).toEqual([]);
  expect(schema.getType('Moment')?.description).toBe('A moment, as text.');
});
