/** Tests every fault of an external service, with everything that calls one: a clear error at its path within the
 *  time limit, and the rest of the answer if GraphQL allows it. One real server is faulty; redirects lead to another,
 *  which must not receive requests. What callers do with good answers is tested beside them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testDatabase } from '../../testing/world.ts';

type Handle = (request: IncomingMessage, response: ServerResponse) => void;

const database = testDatabase();
let engine: TestEngine;
let hooked: TestEngine;
let remote: RemoteService;
let misbehave: Handle = (_, response) => void response.end();
let askedInside = 0;

const webhook = createServer((request, response) => {
  request.resume();
  request.on('end', () => misbehave(request, response));
});
const inside = createServer((_, response) => {
  askedInside++;
  response.end('{"data":{"word":"secret"},"word":"secret","X-Engine-Role":"admin"}');
});
const urlOf = (server: typeof webhook) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
const listening = (server: typeof webhook) =>
  new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

async function must(type: string, args: unknown): Promise<void> {
  expect((await engine.admin(type, args)).body, type).toEqual({ message: 'success' });
}

beforeAll(async () => {
  await Promise.all([listening(webhook), listening(inside)]);
  remote = await startRemote('type Word { text: String } type Query { word(id: Int): Word }');
  await database.sql('create table note (id int primary key, body text); insert into note values (1, null)');
  const options = { databaseUrl: database.url, env: { HOOK: urlOf(webhook) } };
  engine = await startTestEngine(options);
  await must('pg_track_table', { table: 'note' });
  const definition = { url: remote.url, timeout_seconds: LIMIT_SECONDS };
  await must('add_remote_schema', { name: 'words', definition });
  const to_remote_schema = {
    remote_schema: 'words',
    lhs_fields: ['id'],
    remote_field: { word: { arguments: { id: '$id' } } },
  };
  const word = { table: 'note', name: 'word', definition: { to_remote_schema } };
  await must('pg_create_remote_relationship', word);
  await must('set_custom_types', {
    objects: [{ name: 'Said', fields: [{ name: 'word', type: 'String!' }] }],
  });
  const action = { handler: '{{HOOK}}', type: 'query', output_type: 'Said', timeout: LIMIT_SECONDS };
  await must('create_action', { name: 'said', definition: action });
  const validate_input = { type: 'http', definition: { url: '{{HOOK}}', timeout: LIMIT_SECONDS } };
  const permission = { columns: '*', check: {}, validate_input };
  await must('pg_create_insert_permission', { table: 'note', role: 'user', permission });
  hooked = await startTestEngine({ ...options, authHook: urlOf(webhook), authHookTimeout: 1 });
});
afterAll(async () => {
  await Promise.all([engine?.close(), hooked?.close()]);
  await remote?.close();
  for (const server of [webhook, inside]) {
    server.close();
    server.closeAllConnections();
  }
});
beforeEach(() => {
  askedInside = 0;
});

/** Long enough for ten megabytes on a busy machine. */
const LIMIT_SECONDS = 3;
const TEN_MEGABYTES = 'a'.repeat(10_000_000);

/** The answer of a validation matters only when it refuses. */
let refuses = false;
const status = () => (refuses ? 400 : 200);

const FAULTS = {
  hangs: () => {},
  'cuts its answer off': (_, response) => {
    response.writeHead(200, { 'content-length': 1000 }).write('{"data":{"word":');
    setTimeout(() => response.destroy(), 20);
  },
  'answers garbage': (_, response) => void response.writeHead(status()).end('<html>'),
  'answers ten megabytes of something else': (_, response) =>
    void response.writeHead(status()).end(JSON.stringify({ other: TEN_MEGABYTES })),
  'answers with another type': (_, response) =>
    void response.writeHead(status()).end('{"data":{"word":[1],"f0":[1]},"word":[1],"message":[1]}'),
  'redirects to a private address': (_, response) =>
    void response.writeHead(307, { location: urlOf(inside) }).end(),
} as const satisfies Record<string, Handle>;
type Fault = keyof typeof FAULTS;

/** Within the time limit, plus the delays of a busy machine. */
async function faced<T>(fault: Fault, ask: () => Promise<T>): Promise<T> {
  misbehave = FAULTS[fault];
  remote.misbehave(misbehave);
  const startedAt = performance.now();
  const answer = await ask();
  remote.misbehave(null);
  expect(performance.now() - startedAt).toBeLessThan(15_000);
  expect(askedInside).toBe(0);
  return answer;
}

const ofRemotes = (data: string): readonly [Fault, string, string | undefined][] => [
  ['hangs', 'HTTP exception', 'Response timeout'],
  ['cuts its answer off', 'HTTP exception', 'No whole response: the answer was cut off'],
  ['answers garbage', 'did not answer with a GraphQL response', undefined],
  ['answers ten megabytes of something else', 'there is no data', undefined],
  ['answers with another type', `"${data}" is not of the type it should be`, undefined],
  ['redirects to a private address', 'HTTP exception', 'Redirects are not followed (status 307)'],
];

describe('a remote schema that', () => {
  test.each(ofRemotes('word'))('%s has its field null, and no other', async (fault, message, cause) => {
    const { data, errors } = await faced(fault, () => engine.graphql('{ note { id } word { text } }'));
    expect(data).toEqual({ note: [{ id: 1 }], word: null });
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining(message),
        path: ['word'],
        extensions: { path: '$.selectionSet.word', code: 'remote-schema-error' },
      },
    ]);
    expect(errors![0]).toMatchObject(
      cause === undefined ? {} : { extensions: { internal: { message: cause } } },
    );
  });

  test.each(ofRemotes('f0'))('%s has only the fields joined to rows null', async (fault, message, cause) => {
    const { data, errors } = await faced(fault, () => engine.graphql('{ note { id word { text } } }'));
    expect(data).toEqual({ note: [{ id: 1, word: null }] });
    expect(errors).toMatchObject([
      {
        message: expect.stringContaining(message),
        path: ['note', 'word'],
        extensions: { path: '$.selectionSet.note.selectionSet.word', code: 'remote-schema-error' },
      },
    ]);
    expect(errors![0]).toMatchObject(
      cause === undefined ? {} : { extensions: { internal: { message: cause } } },
    );
  });
});

/** Its errors are those of the whole request, as in the reference engine. */
describe('the webhook of an action that', () => {
  test.each<[Fault, string, unknown]>([
    ['hangs', 'http exception when calling webhook', `no answer in ${LIMIT_SECONDS} s`],
    ['cuts its answer off', 'http exception when calling webhook', 'the answer was cut off'],
    ['answers garbage', 'not a valid json response from webhook', expect.anything()],
    [
      'answers ten megabytes of something else',
      'field "word" expected in webhook response, but not found',
      expect.anything(),
    ],
    [
      'answers with another type',
      'got array for the action webhook response, expecting String',
      expect.anything(),
    ],
    ['redirects to a private address', 'not a valid json response from webhook', expect.anything()],
  ])('%s is reported', async (fault, message, error) => {
    const { data, errors } = await faced(fault, () => engine.graphql('{ said { word } }'));
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([
      { message, extensions: { path: '$', code: 'unexpected', internal: { error } } },
    ]);
  });
});

describe('the webhook of a validation that', () => {
  const reason = (text: string) => expect.stringContaining(text);
  test.each<[Fault, unknown]>([
    ['hangs', reason(`no answer in ${LIMIT_SECONDS} s`)],
    ['cuts its answer off', reason('the answer was cut off')],
    ['answers garbage', reason('status 400 and no message')],
    ['answers ten megabytes of something else', reason('status 400 and no message')],
    ['answers with another type', reason('status 400 and no message')],
    ['redirects to a private address', reason('status 307')],
  ])('%s allows no write', async (fault, message) => {
    refuses = true;
    const insert = 'mutation { insert_note(objects: {id: 2}) { affected_rows } }';
    const { data, errors } = await faced(fault, () => engine.graphql(insert, { role: 'user' }));
    refuses = false;
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ message, extensions: { code: 'unexpected' } }]);
    expect(await database.sql('select id from note')).toEqual([{ id: 1 }]);
  });
});

describe('an auth hook that', () => {
  test.each(Object.keys(FAULTS) as Fault[])('%s lets nobody in', async (fault) => {
    const { data, errors } = await faced(fault, () => hooked.graphql('{ note { id } }', { role: null }));
    expect(data).toBeUndefined();
    expect(errors).toMatchObject([{ extensions: { path: '$', code: expect.any(String) } }]);
    expect(JSON.stringify(errors)).not.toContain('secret');
  });
});
