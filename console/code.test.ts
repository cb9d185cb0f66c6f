/** Tests the code for curl, fetch and Apollo Client: it runs, as the role and with the session variables that the page has, and has no secret. */
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../testing/database.ts';
import { startTestEngine, type TestEngine } from '../testing/engine.ts';
import { LANGUAGES } from './page/code.js';
import { trackTable } from './testing/console.ts';

const run = promisify(execFile);
/** The folder of client libraries, which the tests of clients install. */
const CLIENTS = fileURLToPath(new URL('../testing/clients/', import.meta.url));
const HAS_APOLLO = existsSync(join(CLIENTS, 'node_modules/@apollo/client'));
const ODD = `o'Neil "$(id)" \`\\ \${x} ü`;

describe('code that runs', () => {
  let database: TestDatabase;
  let engine: TestEngine;
  let folder: string;

  beforeAll(async () => {
    database = await createDatabase();
    await database.sql('create table book (id int primary key, title text, owner text)');
    await database.sql(`insert into book values (1, $odd$${ODD}$odd$, $odd$${ODD}$odd$), (2, 'Two', 'bob')`);
    engine = await startTestEngine({ databaseUrl: database.url });
    await trackTable(engine, 'book', { reader: ['id', 'title'] });
    folder = mkdtempSync(HAS_APOLLO ? join(CLIENTS, 'node_modules/.code-') : '/tmp/code-');
  }, 60_000);

  afterAll(async () => {
    await engine?.close();
    await database?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  const codeIn = (language: keyof typeof LANGUAGES) =>
    LANGUAGES[language]({
      url: `${engine.url}/v1/graphql`,
      headers: {
        'x-engine-admin-secret': engine.adminSecret,
        'x-engine-role': 'reader',
        // The header is sent as Latin-1.
        'x-engine-user-id': ODD,
        'x-empty': '',
      },
      operation: {
        query: `query Other { __typename } query Mine($title: String) { book(where: {title: {_eq: $title}, id: {_neq: 9}, _not: {title: {_eq: "\\\\ \`\${no}'"}}}) { title } }`,
        variables: { title: ODD },
        operationName: 'Mine',
      },
    });
  const env = () => ({ ...process.env, ADMIN_SECRET: engine.adminSecret });

  test('curl in a shell', async () => {
    const code = codeIn('curl');
    expect(code).not.toContain(engine.adminSecret);
    const { stdout } = await run('sh', ['-c', code], { env: env() });
    expect(JSON.parse(stdout)).toEqual({ data: { book: [{ title: ODD }] } });
  });

  test.each(['fetch', 'Apollo Client'] as const)('%s in Node', async (language) => {
    if (language === 'Apollo Client' && !HAS_APOLLO)
      return console.log('skipped: testing/clients is not installed');
    const code = codeIn(language);
    expect(code).not.toContain(engine.adminSecret);
    const file = join(folder, 'code.mjs');
    // The code prints objects for people.
    writeFileSync(file, `console.log = (value) => process.stdout.write(JSON.stringify(value));\n${code}`);
    const { stdout } = await run(process.execPath, [file], { env: env() });
    const answer = JSON.parse(stdout);
    expect(answer.data ?? answer).toMatchObject({ book: [{ title: ODD }] });
  });
});

const URL_OF = 'https://api.example.com/v1/graphql';

test('secrets of every kind are variables, and other headers are not', () => {
  const headers = {
    authorization: 'Bearer hush',
    'x-engine-console-secret': 'hush',
    cookie: 'hush',
    'x-api-key': 'hush',
    'x-engine-role': 'reader',
  };
  for (const codeFor of Object.values(LANGUAGES)) {
    const code = codeFor({ url: URL_OF, headers, operation: { query: '{ book { id } }' } });
    expect(code).not.toContain('hush');
    expect(code).toContain('reader');
    for (const name of ['TOKEN', 'CONSOLE_SECRET', 'COOKIE', 'X_API_KEY']) expect(code).toContain(name);
  }
});

test('a subscription is code for a WebSocket, and a mutation is one for Apollo Client', () => {
  const of = (language: keyof typeof LANGUAGES, query: string) =>
    LANGUAGES[language]({ url: URL_OF, headers: { 'x-engine-role': 'reader' }, operation: { query } });
  for (const language of ['curl', 'fetch'] as const)
    expect(of(language, 'subscription { book { id } }')).toMatch(
      /^(#|\/\/) A subscription needs a WebSocket/,
    );
  const live = of('Apollo Client', 'subscription { book { id } }');
  for (const part of ['wss://api.example.com/v1/graphql', "'x-engine-role': 'reader'", 'client.subscribe'])
    expect(live).toContain(part);
  expect(of('Apollo Client', 'mutation { delete_book(where: {}) { affected_rows } }')).toContain(
    'client.mutate({\n  mutation: gql`',
  );
});
