/** A REST request's arguments as variables of the stored document: which source counts, and who is asked as. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { EngineError } from '../errors/engine-error.ts';
import type { ResolvedEndpoint } from '../resolve/routes.ts';

import { answerEndpoint } from './endpoint.ts';
import { bodyText } from './splice.ts';
import { openWorld, type World } from './testing/world.ts';

let world: World;
const columns = ['id', 'name'];
beforeAll(async () => {
  world = await openWorld(
    `drop schema public cascade; create schema public;
     create table author (id int primary key, name text not null, age int not null);
     insert into author values (1, 'Ada', 30), (2, 'Bo', 40);`,
    {
      tables: [
        {
          table: { schema: 'public', name: 'author' },
          select_permissions: [
            { role: 'user', permission: { columns, filter: { id: { _eq: 'X-Engine-User-Id' } } } },
          ],
        },
      ],
    },
  );
});
afterAll(() => world.close());

const DOCUMENT = `query ($ids: [Int!] = [1, 2], $limit: Int = 1, $__proto__: String = "Cy") {
  author(where: { id: { _in: $ids }, name: { _neq: $__proto__ } }, limit: $limit, order_by: { id: asc }) { name } }`;

async function asked(
  query: string,
  texts: Readonly<Record<string, readonly string[]>>,
  values: Readonly<Record<string, unknown>> = {},
  role = 'admin',
) {
  const segments = [] as const;
  const endpoint: ResolvedEndpoint = {
    ...{ name: 'e', url: 'e', methods: ['GET'], comment: null, segments, query, maxAgeSeconds: null },
  };
  const session = { role, variables: { 'x-engine-user-id': '1' }, mayUseBackendOnly: false };
  const given = { texts: new Map(Object.entries(texts)), values, parseJson: JSON.parse };
  const context = { model: world.model, session, databases: world.sources };
  try {
    return JSON.parse(bodyText(await answerEndpoint(endpoint, given, context)));
  } catch (error) {
    if (error instanceof EngineError) return error.messageIn('newer');
    throw error;
  }
}

test('the answer is the data alone', async () => {
  expect(await asked(DOCUMENT, {})).toEqual({ author: [{ name: 'Ada' }] });
});

test('text is read as the variable’s type', async () => {
  expect(await asked(DOCUMENT, { ids: ['2'] })).toEqual({ author: [{ name: 'Bo' }] });
  expect(await asked(DOCUMENT, { limit: ['two'] })).toBe(
    "expected a non-negative 32-bit integer for type 'Int', but found a string",
  );
});

test('a value of the body comes before a text with its name', async () => {
  expect(await asked(DOCUMENT, { ids: ['2'] }, { ids: [1], limit: 2 })).toEqual({
    author: [{ name: 'Ada' }],
  });
});

test('an empty text counts as absent, so that the default applies', async () => {
  expect(await asked(DOCUMENT, { limit: [''] })).toEqual({ author: [{ name: 'Ada' }] });
});

test('a name that nothing declares is refused like that of any request', async () => {
  expect(await asked(DOCUMENT, { nobody: ['1'] })).toMatch('nobody');
  expect(await asked(DOCUMENT, {}, { nobody: 1 })).toMatch('nobody');
});

test('__proto__ is a name like any other', async () => {
  expect(await asked(DOCUMENT, Object.fromEntries([['__proto__', ['Ada']]]))).toEqual({
    author: [{ name: 'Bo' }],
  });
});

test('a role reads its own rows and columns', async () => {
  expect(await asked('{ author { name } }', {}, {}, 'user')).toEqual({ author: [{ name: 'Ada' }] });
  expect(await asked('{ author { age } }', {}, {}, 'user')).toBe("field 'age' not found in type: 'author'");
});
