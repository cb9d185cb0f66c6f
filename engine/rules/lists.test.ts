/** Lists of tables and functions: what can be done is done, each failure is a warning, and when all items fail or warnings are not allowed
 *  the request is refused and changes nothing. The cases are generated from operations and reasons to fail, on both endpoints.
 *  Rule: docs/reference/behaviour/metadata-api.md, "Lists of tables and functions". */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RuleWorld, startWorld } from './testing/rules.ts';

const SQL = `
  create table author (id int primary key);
  create table article (id int primary key, author_id int references author);
  create table free (id int primary key);
  create table other (id int primary key);
  create table late (id int primary key);
  create function listed() returns setof author language sql stable as $$ select * from author $$;
  create function found() returns setof author language sql stable as $$ select * from author $$;
  create function scalar() returns int language sql stable as $$ select 1 $$;
`;

let world: RuleWorld;
let document: unknown;
beforeAll(async () => {
  world = await startWorld({
    sql: SQL,
    tables: ['author', 'article', 'free', 'other'],
    operations: [
      ['pg_track_function', { function: 'listed' }],
      [
        'pg_create_object_relationship',
        { table: 'article', name: 'author', using: { foreign_key_constraint_on: 'author_id' } },
      ],
      [
        'pg_create_array_relationship',
        {
          table: 'author',
          name: 'articles',
          using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
        },
      ],
    ],
  });
  document = await exported();
});
afterAll(() => world.close());
beforeEach(async () => {
  await world.engine.admin('replace_metadata', document);
});

const exported = async () => (await world.engine.admin('export_metadata', {})).body;
const table = (name: string) => ({ table: { schema: 'public', name } });
const fn = (name: string) => ({ function: { schema: 'public', name } });

type Case = {
  readonly type: string;
  readonly list: 'tables' | 'functions';
  readonly works: object;
  readonly fails: object;
  readonly name: string;
  /** The message, first of `/v1/query`. */
  readonly message: readonly [specified: string, newer: string];
};

const CASES: readonly Case[] = [
  {
    type: 'track_tables',
    list: 'tables',
    works: table('late'),
    fails: table('author'),
    name: 'author',
    message: ['view/table already tracked : author', 'view/table already tracked: "author"'],
  },
  {
    type: 'track_tables',
    list: 'tables',
    works: table('late'),
    fails: table('absent'),
    name: 'absent',
    message: [
      'no such table/view exists in the database: absent',
      'Inconsistent object: no such table/view exists in source: "absent"',
    ],
  },
  {
    type: 'untrack_tables',
    list: 'tables',
    works: table('free'),
    fails: table('late'),
    name: 'late',
    message: ['view/table already untracked : late', 'view/table already untracked: "late"'],
  },
  {
    type: 'untrack_tables',
    list: 'tables',
    works: table('free'),
    fails: table('article'),
    name: 'article',
    message: [
      'cannot drop due to the following dependent objects : relationship author.articles in source "default"',
      'cannot drop due to the following dependent objects: relationship author.articles in source "default"',
    ],
  },
  {
    type: 'track_functions',
    list: 'functions',
    works: fn('found'),
    fails: fn('listed'),
    name: 'listed',
    message: ['function already tracked : listed', 'function already tracked: "listed"'],
  },
  {
    type: 'track_functions',
    list: 'functions',
    works: fn('found'),
    fails: fn('scalar'),
    name: 'scalar',
    message: [
      'the function "scalar" cannot be tracked because the function does not return a "COMPOSITE" type',
      'Inconsistent object: in function "scalar": the function "scalar" cannot be tracked because the function does not return a "COMPOSITE" type',
    ],
  },
  {
    type: 'untrack_functions',
    list: 'functions',
    works: fn('listed'),
    fails: fn('found'),
    name: 'found',
    message: ['function found does not exist', 'function "found" does not exist'],
  },
];

const onEach = CASES.flatMap((row) =>
  (['/v1/query', '/v1/metadata'] as const).map((endpoint) => ({ ...row, endpoint })),
);

describe.each(onEach)(
  '$type at $endpoint: $name',
  ({ type, list, works, fails, name, message, endpoint }) => {
    const kind = list.slice(0, -1);
    const send = (items: readonly object[], more: object = {}) =>
      world.engine.admin(
        endpoint === '/v1/query' ? type : `pg_${type}`,
        { [list]: items, ...more },
        { endpoint },
      );
    const warning = {
      code: type.replace(/s$/, '-failed').replace('_', '-'),
      message: message[endpoint === '/v1/query' ? 0 : 1],
      type: kind,
      name: `${kind} ${name} in source default`,
    };

    test.each([
      ['first', [fails, works]],
      ['last', [works, fails]],
    ])('a failure that is %s is a warning', async (_position, items) => {
      expect(await send(items)).toEqual({ status: 200, body: { message: 'success', warnings: [warning] } });
      const changed = await exported();
      await world.engine.admin('replace_metadata', document);
      expect(await send([works])).toEqual({ status: 200, body: { message: 'success' } });
      expect(changed).toEqual(await exported());
    });

    test('warnings that are not allowed change nothing', async () => {
      expect(await send([works, fails], { allow_warnings: false })).toMatchObject({
        status: 400,
        body: { code: 'metadata-warnings', path: '$.args', internal: [warning] },
      });
      expect(await exported()).toEqual(document);
    });

    test('nothing but failures is refused', async () => {
      const verb = type.split('_')[0];
      expect(await send([fails])).toEqual({
        status: 400,
        body: {
          code: 'invalid-configuration',
          path: '$.args',
          error: `all ${list} failed to ${verb}`,
          internal: [warning],
        },
      });
      expect(await exported()).toEqual(document);
    });

    test('an item that is repeated is refused', async () => {
      expect(await send([works, fails, works, works])).toMatchObject({
        status: 400,
        body: {
          code: 'bad-request',
          path: `$.args.${list}`,
          error: expect.stringMatching(
            new RegExp(`^The following ${list} occur more than once in the request: "\\w+"$`),
          ),
        },
      });
      expect(await exported()).toEqual(document);
    });

    test('a missing source and an empty list', async () => {
      expect(await send([works], { source: 'absent' })).toMatchObject({ body: { code: 'not-exists' } });
      expect(await send([])).toEqual({ status: 200, body: { message: 'success' } });
    });
  },
);

test('tables that only each other depend on are untracked together', async () => {
  const tables = [table('author'), table('article'), table('other')];
  const answer = await world.engine.admin('pg_untrack_tables', { tables });
  const inUse = 'function listed in source "default"';
  expect(answer.body).toMatchObject({
    warnings: [
      { name: 'table author in source default', message: expect.stringContaining(inUse) },
      { name: 'table article in source default', message: expect.stringContaining('author.articles') },
    ],
  });
  await world.engine.admin('pg_untrack_function', { function: 'listed' });
  expect(await world.engine.admin('pg_untrack_tables', { tables: tables.slice(0, 2) })).toEqual({
    status: 200,
    body: { message: 'success' },
  });
});
