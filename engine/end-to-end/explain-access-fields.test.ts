/** `explain_access` with `fields`: for every role and every field of a table, the answer agrees with the schema of the role, and a field that is
 *  absent has the reason that keeps it away.
 *  Not here: rows (explain-access.test.ts). */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { testDatabase } from '../../testing/world.ts';

const database = testDatabase();
const elsewhere = testDatabase();
let engine: TestEngine;

const SCHEMA = `
  create table author (id int primary key, name text);
  create table book (id int primary key, author_id int references author, title text, price int);
  create function label(book) returns text language sql stable as 'select $1.title';
  create function rivals(book) returns setof author language sql stable as 'select * from author';
  create function cheap_books() returns setof book language sql stable as 'select * from book where price < 5';
  create function new_books() returns setof book language sql stable as 'select * from book where id > 5';
  create function print_books() returns setof book language sql volatile as 'select * from book';
`;

/** The permissions of each role on \`book\`, and its select permission on \`author\`. */
const ROLES: Readonly<
  Record<string, { book: Readonly<Record<string, object>>; author?: object; loan?: object }>
> = {
  nobody: { book: {} },
  reader: {
    book: { select: { columns: '*', filter: {}, allow_aggregations: true, computed_fields: ['label'] } },
    author: { columns: '*', filter: {}, allow_aggregations: true },
    loan: { columns: '*', filter: {}, allow_aggregations: true },
  },
  narrow: { book: { select: { columns: ['title'], filter: {} } }, author: { columns: ['id'], filter: {} } },
  keyed: {
    book: {
      select: { columns: '*', filter: {}, query_root_fields: ['select_by_pk'], subscription_root_fields: [] },
    },
  },
  writer: {
    book: {
      insert: { columns: '*', check: {} },
      update: { columns: ['title'], filter: {} },
      delete: { filter: {} },
    },
  },
  editor: {
    book: {
      select: { columns: ['id', 'title'], filter: {} },
      insert: { columns: '*', check: {}, backend_only: true },
      update: { columns: ['title'], filter: {}, set: { title: 'x' } },
      delete: { filter: {} },
    },
  },
  other: {
    book: {
      insert: { columns: ['id'], check: {} },
      update: { columns: ['price'], filter: { id: { _gt: 1 } } },
    },
  },
};

const on = (operation: string) =>
  Object.entries(ROLES).flatMap(([role, { book }]) =>
    book[operation] ? [{ role, permission: book[operation] }] : [],
  );
const selects = (table: 'author' | 'loan') =>
  Object.entries(ROLES).flatMap(([role, given]) =>
    given[table] ? [{ role, permission: given[table] }] : [],
  );

beforeAll(async () => {
  await database.sql(SCHEMA);
  await elsewhere.sql('create table loan (id int primary key, book_id int)');
  engine = await startTestEngine({ databaseUrl: database.url });
  const { body } = await engine.admin<{ sources: { configuration: object }[] }>('export_metadata', {});
  const book = {
    table: 'book',
    object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: 'author_id' } }],
    computed_fields: [
      { name: 'label', definition: { function: 'label' } },
      { name: 'rivals', definition: { function: 'rivals' } },
    ],
    remote_relationships: [
      {
        name: 'loans',
        definition: {
          to_source: {
            source: 'other',
            table: 'loan',
            relationship_type: 'array',
            field_mapping: { id: 'book_id' },
          },
        },
      },
    ],
    ...Object.fromEntries(
      ['select', 'insert', 'update', 'delete'].map((operation) => [
        `${operation}_permissions`,
        on(operation),
      ]),
    ),
  };
  const author = {
    table: 'author',
    array_relationships: [
      { name: 'books', using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } } },
    ],
    select_permissions: selects('author'),
  };
  const sources = [
    {
      name: 'default',
      kind: 'postgres',
      configuration: body.sources[0]!.configuration,
      tables: [book, author],
      functions: [
        { function: 'cheap_books' },
        { function: 'new_books', permissions: [{ role: 'narrow' }] },
        { function: 'print_books' },
      ],
    },
    {
      name: 'other',
      kind: 'postgres',
      configuration: { connection_info: { database_url: elsewhere.url } },
      tables: [{ table: 'loan', select_permissions: selects('loan') }],
    },
  ];
  const inherited_roles = [{ role_name: 'torn', role_set: ['writer', 'other'] }];
  const metadata = { version: 3, sources, inherited_roles };
  const replaced = await engine.admin(
    'replace_metadata',
    { metadata, allow_inconsistent_metadata: true },
    { version: 2 },
  );
  expect(replaced).toMatchObject({ status: 200 });
}, 180_000);
afterAll(() => engine?.close());

type Field = {
  readonly field: string;
  readonly type: string;
  readonly is_present: boolean;
  readonly reason?: string;
};
type Answer = {
  readonly verdict: string;
  readonly reasons: readonly object[];
  readonly fields: readonly Field[];
};

async function explain(role: string, fields: readonly string[], more: object = {}): Promise<Answer> {
  const args = { table: 'book', role, fields, ...more };
  return engine.must<Answer>('pg_explain_access', args);
}

/** Returns the names of the fields of a type in the schema of a role. */
async function fieldsOf(role: string, type: string): Promise<ReadonlySet<string>> {
  const query = 'query ($name: String!) { __type(name: $name) { fields { name } } }';
  const answer = await engine.graphql<{ __type: { fields: { name: string }[] } | null }>(query, {
    role,
    variables: { name: type },
  });
  expect(answer.errors).toBeUndefined();
  return new Set(answer.data!.__type?.fields.map(({ name }) => name));
}

const OF_BOOK = [
  ...['id', 'title', 'price', 'author', 'label', 'rivals', 'loans'],
  ...['book', 'book_by_pk', 'book_aggregate', 'book_stream'],
  ...['insert_book', 'insert_book_one', 'update_book', 'update_book_by_pk', 'update_book_many'],
  ...['delete_book', 'delete_book_by_pk'],
  ...['cheap_books', 'cheap_books_aggregate', 'new_books', 'new_books_aggregate', 'print_books'],
];
const OF_AUTHOR = ['books', 'books_aggregate', 'author_aggregate'];

test.each([...Object.keys(ROLES), 'torn', 'admin'])('fields of %s are those of its schema', async (role) => {
  for (const [table, names] of [
    ['book', OF_BOOK],
    ['author', OF_AUTHOR],
  ] as const) {
    const { fields } = await explain(role, names, { table });
    expect(fields.map(({ field }) => field)).toEqual(names);
    for (const { field, type, is_present, reason } of fields) {
      const isThere = (await fieldsOf(role, type)).has(field);
      expect({ field, type, is_present }).toEqual({ field, type, is_present: isThere });
      // The last resort of the reasons says only that the field is absent.
      const expected = isThere ? undefined : expect.not.stringMatching(/does not have it/);
      expect({ field, reason }).toEqual({ field, reason: expected });
    }
  }
});

test.each([
  ['nobody', 'title', 'role "nobody" has no select permission on book'],
  ['narrow', 'price', 'role "narrow" may not select column "price"'],
  [
    'narrow',
    'label',
    'role "narrow" may not select computed field "label": computed_fields of its permission lacks it',
  ],
  ['narrow', 'book_aggregate', 'allow_aggregations of the select permission of role "narrow" on book is off'],
  ['narrow', 'book_by_pk', 'role "narrow" may not select column "id", which is part of the primary key'],
  ['narrow', 'loans', 'role "narrow" has no select permission on loan'],
  ['keyed', 'author', 'role "keyed" has no select permission on author'],
  ['keyed', 'book', 'query_root_fields of the select permission of role "keyed" is [select_by_pk]'],
  ['keyed', 'book_stream', 'subscription_root_fields of the select permission of role "keyed" is []'],
  ['writer', 'insert_book_one', 'it returns the row: role "writer" has no select permission on book'],
  ['nobody', 'cheap_books', 'role "nobody" has no select permission on book'],
  [
    'narrow',
    'cheap_books_aggregate',
    'allow_aggregations of the select permission of role "narrow" on book is off',
  ],
  ['reader', 'new_books', 'role "reader" has no permission on function new_books'],
  [
    'reader',
    'print_books',
    'role "reader" has no permission on function print_books; a VOLATILE function needs one',
  ],
  [
    'torn',
    'insert_book',
    'role "torn" inherits no insert permission on book, because those of "writer", "other" differ',
  ],
])('%s: %s is absent because %s', async (role, field, reason) => {
  expect(await explain(role, [field])).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'field_not_permitted', message: `field "${field}": ${reason}` }],
    fields: [{ field, is_present: false, reason }],
  });
});

test('a backend_only mutation is present for a request that may use it', async () => {
  const { fields } = await explain('editor', ['insert_book']);
  expect(fields[0]!.reason).toContain('is backend_only');
  const session_variables = { 'x-engine-use-backend-only-permissions': 'true' };
  expect(await explain('editor', ['insert_book'], { session_variables })).toMatchObject({
    verdict: 'allowed',
  });
});

test('a read of a row with a field that the role lacks is refused', async () => {
  await database.sql(`insert into book values (1, null, 'a', 1)`);
  expect(await explain('narrow', ['title'], { key: { id: 1 } })).toMatchObject({ verdict: 'visible' });
  expect(await explain('narrow', ['price'], { key: { id: 1 } })).toMatchObject({
    verdict: 'refused',
    reasons: [{ kind: 'field_not_permitted' }],
  });
});

test('a name that is no field for any role, and fields of a write, are refused', async () => {
  const send = (args: object) =>
    engine.admin('pg_explain_access', { table: 'book', role: 'reader', ...args });
  expect(await send({ fields: ['id', 'nope'] })).toMatchObject({
    status: 400,
    body: { error: '"nope" is no field of book in the schema of any role', path: '$.args.fields[1]' },
  });
  expect(await send({ operation: 'delete', key: { id: 1 }, fields: ['id'] })).toMatchObject({
    status: 400,
    body: { error: 'a delete takes no fields' },
  });
});
