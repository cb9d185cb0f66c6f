/** Tests requests after another client changed the columns of a table, while the engine does not look for changes: computed fields
 *  receive the row as it is now, wherever they are called, and a request that only the former columns explain runs again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSession } from '../../testing/websocket.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
let engine: TestEngine;

const must = async (type: string, args: object) => {
  const answer = await engine.admin(type, { source: 'default', ...args });
  expect(answer).toMatchObject({ status: 200 });
};

beforeAll(async () => {
  await database.sql(`
    create table writer (id int primary key, name text);
    create type mood as enum ('red', 'blue');
    create type tone as enum ('red', 'blue');
    create table book (id int primary key, title text, spare text, kind mood default 'red', writer_id int references writer);
    create function label(b book) returns text language sql stable as $$ select upper(b.title) $$;
    create function others(b book) returns setof book language plpgsql stable as
      $$ begin return query select * from book where writer_id = b.writer_id and id <> b.id order by id; end $$;
    create function sole(b book) returns book language sql stable as $$ select * from book where id = b.id $$;
    create function found(n int) returns setof book language sql stable as $$ select * from book where id <= n order by id $$;
    insert into writer values (1, 'Ann'), (2, 'Bob');
    insert into book (id, title, writer_id) values (1, 'one', 1), (2, 'two', 1), (3, 'three', 2)`);
  engine = await startTestEngine({ databaseUrl: database.url, sourceCheckInterval: 0 });
  for (const table of ['writer', 'book']) await must('pg_track_table', { table });
  await must('pg_create_object_relationship', {
    table: 'book',
    name: 'writer',
    using: { foreign_key_constraint_on: 'writer_id' },
  });
  await must('pg_create_array_relationship', {
    table: 'writer',
    name: 'books',
    using: { foreign_key_constraint_on: { table: 'book', column: 'writer_id' } },
  });
  for (const name of ['label', 'others', 'sole'])
    await must('pg_add_computed_field', { table: 'book', name, definition: { function: name } });
  await must('pg_track_function', { function: 'found' });
  await must('pg_create_select_permission', {
    table: 'book',
    role: 'reader',
    permission: {
      columns: ['id', 'title'],
      computed_fields: ['label'],
      filter: { label: { _neq: 'X' } },
      allow_aggregations: true,
    },
  });
});
afterAll(() => engine?.close());

/** Computed fields at every position of a request. */
const REQUESTS: readonly (readonly [position: string, query: string, path?: string])[] = [
  ['in a list', '{ book(order_by: {id: asc}) { id label others { id label } sole { label } } }'],
  ['by primary key', '{ book_by_pk(id: 1) { label others { label } } }'],
  ['under a limit', '{ book(limit: 2, order_by: {id: asc}) { label others { id } } }'],
  [
    'under a limit, in the order of another table',
    '{ book(limit: 3, order_by: [{writer: {name: desc}}, {id: asc}]) { label sole { id } writer { name books(order_by: {id: asc}) { label } } } }',
  ],
  [
    'under a limit, in the order of a computed value',
    '{ book(limit: 2, order_by: [{label: desc}, {id: asc}]) { label writer { name } } }',
  ],
  ['under distinct_on', '{ book(distinct_on: writer_id, order_by: {writer_id: asc, id: asc}) { label } }'],
  [
    'in nodes of an aggregate',
    '{ book_aggregate(limit: 2, order_by: [{writer: {name: desc}}, {id: asc}]) { aggregate { count max { label } } nodes { label others { id } writer { name } } } }',
  ],
  ['in a condition', '{ book(where: {label: {_eq: "TWO"}}) { id label } }'],
  ['in a condition on rows', '{ book(where: {others: {title: {_eq: "one"}}}, order_by: {id: asc}) { id } }'],
  [
    'behind relationships',
    '{ writer(order_by: {id: asc}) { books(order_by: {id: asc}, limit: 1) { label writer { books(order_by: {id: asc}) { label } } } } }',
  ],
  ['of a function', '{ found(args: {n: 2}) { label others { id } } }'],
  ['in groups', '{ book_aggregate(where: {label: {_neq: "X"}}) { aggregate { count } } }'],
  [
    'of a connection',
    '{ book_connection(first: 2, order_by: {writer: {name: desc}}) { edges { cursor node { label others { label } } } } }',
    '/v1beta1/relay',
  ],
  [
    'of a connection without a page',
    '{ book_connection(order_by: {writer: {name: desc}}) { edges { node { label } } } }',
    '/v1beta1/relay',
  ],
  [
    'of a connection of distinct rows',
    '{ book_connection(first: 2, distinct_on: writer_id, order_by: [{writer_id: asc}, {writer: {name: desc}}, {id: asc}]) { edges { node { label writer { name } } } } }',
    '/v1beta1/relay',
  ],
  [
    'of a connection of distinct rows in the order of own columns',
    '{ book_connection(first: 2, distinct_on: writer_id, order_by: [{writer_id: asc}, {id: asc}]) { edges { node { label others { id } } } } }',
    '/v1beta1/relay',
  ],
  [
    'of updated rows',
    'mutation { update_book(where: {id: {_eq: 1}}, _set: {title: "one"}) { returning { label others { id label } } } }',
  ],
  [
    'of a written row',
    'mutation { update_book_by_pk(pk_columns: {id: 1}, _set: {title: "one"}) { label writer { books(order_by: {id: asc}) { label } } } }',
  ],
];

const ask = async ([, query, path = '/v1/graphql']: (typeof REQUESTS)[number], role = 'admin') => {
  const headers = { 'content-type': 'application/json', 'x-engine-role': role };
  const answer = await engine.fetch(path, { method: 'POST', headers, body: JSON.stringify({ query }) });
  return (await answer.json()) as { readonly data?: unknown; readonly errors?: unknown };
};

const CHANGES = ['alter table book add later date', 'alter table book drop spare'] as const;

test('another client may add and drop columns that no request names', async () => {
  const before: Awaited<ReturnType<typeof ask>>[] = [];
  for (const request of REQUESTS) before.push(await ask(request));
  for (const [i, answer] of before.entries()) expect(answer, REQUESTS[i]![0]).not.toHaveProperty('errors');
  for (const change of CHANGES) {
    await database.sql(change);
    for (const [i, request] of REQUESTS.entries())
      expect(await ask(request), `${change}: ${request[0]}`).toEqual(before[i]);
    const asReader = await ask(['', '{ book(order_by: {id: asc}) { label others { id } } }'], 'reader');
    expect(asReader).not.toHaveProperty('errors');
  }
  // The engine has not looked: nothing suggested it.
  expect(await ask(['', '{ book { later } }'])).toHaveProperty('errors');
});

/** A request over each endpoint, which returns its response. */
const OVER: Readonly<Record<string, () => Promise<unknown>>> = {
  '/v1/graphql': () => ask(['', '{ book(where: {kind: {_eq: "red"}}, order_by: {id: asc}) { id } }']),
  '/v1alpha1/graphql': () =>
    ask(['', '{ book(where: {kind: {_eq: "red"}}, order_by: {id: asc}) { id } }', '/v1alpha1/graphql']),
  'a batch': async () => {
    const query = '{ book(where: {kind: {_eq: "red"}}, order_by: {id: asc}) { id } }';
    const body = JSON.stringify([{ query }, { query }]);
    const headers = { 'content-type': 'application/json' };
    return (await engine.fetch('/v1/graphql', { method: 'POST', headers, body })).json();
  },
  '/v1beta1/relay': () =>
    ask([
      '',
      '{ book_connection(where: {kind: {_eq: "red"}}, order_by: {id: asc}) { edges { node { id } } } }',
      '/v1beta1/relay',
    ]),
  'a REST endpoint': async () => (await engine.fetch('/api/rest/books')).json(),
  'a WebSocket': async () => {
    const socket = await openSession(engine);
    const query = '{ book(where: {kind: {_eq: "red"}}, order_by: {id: asc}) { id } }';
    socket.send({ type: 'subscribe', id: '1', payload: { query } });
    const answer = await socket.next();
    socket.close();
    return answer;
  },
  'a mutation': () =>
    ask([
      '',
      'mutation { update_book(where: {kind: {_eq: "red"}}, _set: {title: "one"}) { affected_rows } }',
    ]),
};

describe('a request that only the former types explain runs again', () => {
  beforeAll(async () => {
    const query = '{ book(where: {kind: {_eq: "red"}}, order_by: {id: asc}) { id } }';
    const definition = { queries: [{ name: 'books', query }] };
    const args = { collection_name: 'all', query_name: 'books' };
    await must('create_query_collection', { name: 'all', definition });
    await must('create_rest_endpoint', {
      name: 'books',
      url: 'books',
      methods: ['GET'],
      definition: { query: args },
    });
  });

  test.each(Object.entries(OVER))('over %s', async (_, request) => {
    const before = JSON.stringify(await request());
    expect(before).not.toContain('errors');
    for (const type of ['tone', 'mood']) {
      await database.sql(`alter table book alter kind drop default,
        alter kind type ${type} using kind::text::${type}, alter kind set default 'red'`);
      // The engine checks a source at most once a second for requests that fail.
      await sleep(1000);
      expect(JSON.stringify(await request())).toBe(before);
    }
  });

  test('over a subscription', async () => {
    const socket = await openSession(engine);
    const query =
      'subscription { book(where: {kind: {_eq: "red"}}, order_by: {id: asc}) { id spoken: title } }';
    socket.send({ type: 'subscribe', id: '1', payload: { query } });
    expect(JSON.stringify(await socket.next())).not.toContain('errors');
    await sleep(1000);
    await database.sql(
      `alter table book alter kind drop default, alter kind type tone using kind::text::tone`,
    );
    await sleep(2500);
    await database.sql(`update book set title = 'changed' where id = 1`);
    expect(JSON.stringify(await socket.next())).toContain('changed');
    socket.close();
    await database.sql(`alter table book alter kind type mood using kind::text::mood`);
  });

  test('after a type was renamed, which changes no table', async () => {
    await must('reload_metadata', {});
    await database.sql('alter type mood rename to feeling');
    await sleep(1000);
    expect(await OVER['/v1/graphql']!()).not.toHaveProperty('errors');
  });
});

test('a function that always fails is called twice at most, and does not make the engine look without end', async () => {
  await database.sql(`create sequence calls;
    create function broken(n int) returns setof book language plpgsql as
      $$ begin perform nextval('calls'); raise exception 'no such thing' using errcode = '42703'; end $$`);
  await must('pg_track_function', { function: 'broken', configuration: { exposed_as: 'query' } });
  // Postgres counts sessions since version 14.
  const opened = async () => {
    const [row] = await database.sql('select * from pg_stat_database where datname = current_database()');
    return Number(row!['sessions'] ?? 0);
  };
  const before = await opened();
  for (let i = 0; i < 40; i++) {
    const answer = await ask(['', `{ f${i % 5}: broken(args: {n: 1}) { id } }`]);
    expect(answer).toHaveProperty('errors');
  }
  const [{ calls }] = (await database.sql(`select last_value as calls from calls`)) as [{ calls: string }];
  expect(Number(calls)).toBeLessThanOrEqual(80);
  await sleep(1500);
  expect((await opened()) - before).toBeLessThanOrEqual(60);
});
