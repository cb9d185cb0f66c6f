/** The specification's table of errors, row by row: a request that ends with it, or why no request can.
 *  Not here: the texts of all rows (errors/errors.test.ts). Spec: "Errors". */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { testWorld } from '../../testing/world.ts';
import type { ErrorName } from '../errors/errors.ts';
import { SPECIFIED_ERRORS } from '../errors/testing/specified-errors.ts';

const SCHEMA = `
  create table author (id int primary key, name text not null, email text);
  create table article (id int primary key, author_id int references author (id), title text, tags jsonb, notes json);
  create table person (id int primary key);
  create table twice (id int primary key references author (id));
  alter table twice add foreign key (id) references person (id)`;
const select = (role: string, filter: unknown, columns: unknown = ['id']) => ({
  table: 'author',
  role,
  permission: { columns, filter },
});
const byForeignKey = (table: string, name: string, column: string) => ({
  table,
  name,
  using: { foreign_key_constraint_on: column },
});

const { engine } = testWorld(SCHEMA);

beforeAll(async () => {
  const op = (type: string, args: unknown) => ({ type, args });
  const made = await engine.admin(
    'bulk',
    [
      ...['author', 'article', 'person', 'twice'].map((table) => op('track_table', table)),
      op('create_object_relationship', byForeignKey('article', 'author', 'author_id')),
      op('create_array_relationship', {
        table: 'author',
        name: 'articles',
        using: { foreign_key_constraint_on: { table: 'article', column: 'author_id' } },
      }),
      op('create_insert_permission', {
        table: 'author',
        role: 'writer',
        permission: { check: {}, columns: '*' },
      }),
      op('create_select_permission', select('user', { email: { _eq: 'a' } })),
    ],
    { endpoint: '/v1/query' },
  );
  expect(made.status).toBe(200);
});

type Answer = { readonly status: number; readonly body: unknown };
/** A request, the words it ends with, and the place; where not said, that of the arguments. */
type Reached = { readonly ask: () => Promise<Answer>; readonly error: string; readonly path?: string };

const ask =
  (type: string, args: unknown, headers: Record<string, string> = {}) =>
  () =>
    engine.admin(type, args, { endpoint: '/v1/query', headers });
const fetched = (path: string, init: RequestInit) => async (): Promise<Answer> => {
  const response = await engine.fetch(path, init);
  return { status: response.status, body: await response.json() };
};
const asUser = { 'x-engine-role': 'user' };
const oneAuthor = { table: 'author', objects: [{ id: 1, name: 'a' }] };
const articles = { name: 'articles', columns: ['id'] };
const unreachableSource = {
  name: 'far',
  kind: 'postgres',
  configuration: { connection_info: { database_url: 'postgres://nobody@127.0.0.1:1/x' } },
  tables: [],
};

const REACHED: Partial<Record<ErrorName, Reached>> = {
  notNullViolation: {
    ask: ask('insert', { table: 'author', objects: [{ id: 1 }] }),
    error: 'Not-NULL violation. null value in column name violates not-null constraint',
  },
  selectNotPermitted: {
    ask: ask('select', { table: 'person', columns: ['id'] }, asUser),
    error: 'select on person for role user is not allowed.',
  },
  tableNotTracked: {
    ask: ask('select', { table: 'nobody', columns: ['id'] }),
    error: 'table nobody does not exist',
    path: '$.args.table',
  },
  tableNotInDatabase: {
    ask: ask('track_table', 'nobody'),
    error: 'no such table/view exists in the database: nobody',
  },
  fieldNotExists: {
    ask: ask('create_select_permission', select('editor', { shoe: 1 })),
    error: 'shoe does not exist',
  },
  alreadyTracked: { ask: ask('track_table', 'author'), error: 'view/table already tracked : author' },
  adminOnly: { ask: ask('export_metadata', {}, asUser), error: 'restricted access : admin only' },
  accessDenied: {
    ask: fetched('/v1alpha1/config', { headers: asUser }),
    error: 'You have to be admin to access this endpoint',
    path: '$',
  },
  columnNotExists: {
    ask: ask('create_select_permission', select('editor', {}, ['shoe'])),
    error: 'shoe does not exist',
  },
  columnNamedLikeRelationship: {
    ask: ask('run_sql', { sql: 'alter table article add column author text' }),
    error: 'cannot add column author in table article as a relationship with the name already exists',
  },
  invalidJson: {
    ask: fetched('/v1/query', { method: 'POST', body: '{"type": ' }),
    error: 'invalid json',
    path: '$',
  },
  cannotChangeType: {
    ask: ask('run_sql', { sql: 'alter table author alter column email type int using null' }),
    error:
      'cannot change type of column email in table author because of the following dependencies : ' +
      'permission author.user.select in source "default"',
  },
  cannotDropDependents: {
    ask: ask('run_sql', { sql: 'alter table author drop column email' }),
    error:
      'cannot drop due to the following dependent objects : permission author.user.select in source "default"',
  },
  multipleDeclarations: {
    ask: ask('replace_metadata', {
      version: 3,
      sources: [{ ...unreachableSource, tables: [{ table: 'author' }, { table: 'author' }] }],
    }),
    error: 'multiple declarations exist for the following tables : author',
  },
  fieldConflict: {
    ask: ask('create_object_relationship', byForeignKey('article', 'title', 'author_id')),
    error: 'column/relationship of table article already exists',
  },
  noForeignKey: {
    ask: ask('create_object_relationship', byForeignKey('article', 'writer', 'title')),
    error: 'no foreign constraint exists on the given column',
  },
  severalForeignKeys: {
    ask: ask('create_object_relationship', byForeignKey('twice', 'writer', 'id')),
    error: 'more than one foreign key constraint exists on the given column',
  },
  permissionExists: {
    ask: ask('create_select_permission', select('user', {})),
    error: 'select permission on author for role user already exists',
  },
  permissionNotExists: {
    ask: ask('drop_select_permission', { table: 'author', role: 'editor' }),
    error: 'select permission on author for role editor does not exist',
  },
  unknownOperator: {
    ask: ask('create_select_permission', select('editor', { id: { $foo: 1 } })),
    error: 'Unknown operator : $foo',
  },
  columnOperandNotText: {
    ask: ask('create_select_permission', select('editor', { id: { _ceq: 1 } })),
    error: 'expecting a string for column operator',
  },
  incompatibleColumns: {
    ask: ask('create_select_permission', select('editor', { id: { _ceq: 'email' } })),
    error: 'incompatible column types : id, email',
  },
  operatorNotForType: {
    ask: ask('create_select_permission', select('editor', { id: { _like: 'a' } })),
    error: 'is of type int4; this operator works only on column of types [text]',
  },
  conflictTargetMissing: {
    ask: ask('insert', { ...oneAuthor, on_conflict: { action: 'update' } }),
    error: 'Expecting constraint or constraint_on when the action is update',
    path: '$.args.on_conflict',
  },
  conflictTargetTwice: {
    ask: ask('insert', {
      ...oneAuthor,
      on_conflict: { action: 'ignore', constraint: 'author_pkey', constraint_on: ['id'] },
    }),
    error: 'constraint and constraint_on cannot be set at a time',
    path: '$.args.on_conflict',
  },
  upsertNotPermitted: {
    ask: ask(
      'insert',
      { ...oneAuthor, on_conflict: { action: 'update', constraint: 'author_pkey' } },
      { 'x-engine-role': 'writer' },
    ),
    error: 'upsert is not allowed for role writer',
    path: '$.args.on_conflict',
  },
  noObjects: {
    ask: ask('insert', { table: 'author', objects: [] }),
    error: 'objects should not be empty',
    path: '$.args.objects',
  },
  empty: {
    ask: ask('select', { table: 'author', columns: [] }),
    error: "can't be empty",
    path: '$.args.columns',
  },
  relationshipNotExpanded: {
    ask: ask('select', { table: 'article', columns: ['id', 'author'] }),
    error: 'author is a relationship and should be expanded',
    path: '$.args.columns[1]',
  },
  columnNotIncluded: {
    ask: ask('select', { table: 'article', columns: ['id'], order_by: 'author.name' }),
    error: 'author should be included in columns',
    path: '$.args.order_by',
  },
  orderByArrayRelationship: {
    ask: ask('select', { table: 'author', columns: ['id', articles], order_by: ['articles.id'] }),
    error: "articles is an array relationship and can't be used in order_by",
    path: '$.args.order_by[0]',
  },
  columnChained: {
    ask: ask('select', { table: 'author', columns: ['id'], order_by: 'name.first' }),
    error: 'name is a database column and cannot be chained further',
    path: '$.args.order_by',
  },
  emptyOrderBy: {
    ask: ask('select', { table: 'author', columns: ['id'], order_by: [] }),
    error: 'order_by array should not be empty',
    path: '$.args.order_by',
  },
  argumentsOnObjectRelationship: {
    ask: ask('select', { table: 'article', columns: [{ name: 'author', columns: ['id'], limit: 1 }] }),
    error: "when selecting an obj_relationship where, order_by, limit and offset can't be used",
    path: '$.args.columns[0]',
  },
  nothingToUpdate: {
    ask: ask('update', { table: 'author', where: {} }),
    error: 'atleast one of $set, $inc, $mul has to be present',
  },
  operationNotPermitted: {
    ask: ask('delete', { table: 'author', where: {} }, asUser),
    error: 'delete on author for role user is not allowed',
  },
  noSuchColumn: {
    ask: ask('update', { table: 'author', where: {}, $set: { shoe: 1 } }),
    error: 'no such column exists : shoe',
    path: '$.args["$set"]',
  },
  columnNotPermitted: {
    ask: ask('select', { table: 'author', columns: ['id', 'name'] }, asUser),
    error: 'role user does not have permission to select column name',
    path: '$.args.columns[1]',
  },
  columnExpected: {
    ask: ask('insert', { table: 'author', objects: [{ id: 1, articles: [] }] }),
    error: 'expecting a database column; but, articles is relationship',
    path: '$.args.objects[0]',
  },
  jsonColumnInWhere: {
    ask: ask('delete', { table: 'article', where: { notes: { a: 1 } } }),
    error: 'JSON column can not be part of where clause',
    path: '$.args.where.notes',
  },
  queryExecutionFailed: { ask: ask('run_sql', { sql: 'select' + ' 1/0' }), error: 'query execution failed' },
  sourceUnreachable: {
    ask: ask('bulk', [
      {
        type: 'replace_metadata',
        args: { metadata: { version: 3, sources: [unreachableSource] }, allow_inconsistent_metadata: true },
      },
      { type: 'run_sql', args: { source: 'far', sql: 'select 1' } },
    ]),
    error: 'connection error',
    path: '$.args[1].args',
  },
  resourceNotFound: {
    ask: fetched('/v1/query/more', { method: 'POST', body: '{}' }),
    error: 'No such resource exists',
    path: '$',
  },
};

const TEMPLATES = 'query templates and their transactions, which the specification lists no operation for';
const INTERNAL =
  'an assertion of the reference about its own cache; ours is a model made anew from the document';

/** Rows no request ends with, and why. */
const UNREACHABLE: Partial<Record<ErrorName, string>> = {
  tableRenameNotSupported: 'a renamed table is followed by the metadata instead',
  columnRenameNotSupported: 'a renamed column is followed by the metadata instead',
  missingHeader:
    'a session variable that is missing is told by the GraphQL request that needs it, in its words',
  userIdNotInteger:
    'session variables have the type of the column they are compared with, whatever their name',
  dottedTable: 'names of tables are objects or bare names; a dot is part of the name',
  transactionDenied: TEMPLATES,
  transactionNotExists: TEMPLATES,
  templateExists: TEMPLATES,
  missingParameter: TEMPLATES,
  alreadyInitialised: 'the metadata database is migrated at the start; there is no request to initialise it',
  unsupportedCatalogVersion: 'ends the start of the engine (store/store.test.ts), which then answers nothing',
  relationshipDependency: INTERNAL,
  unexpectedDependent: INTERNAL,
  fieldAlreadyThere: INTERNAL,
  fieldNotThere: INTERNAL,
  permissionNotThere: INTERNAL,
  transactionFailed:
    'a transaction that cannot begin or commit is told as its cause: connection, statement or constraint',
  postgresQueryFailed:
    'a statement that fails is `query execution failed`, or told by its SQLSTATE in GraphQL',
};

test('every row of the specification is here, once', () => {
  const rows = SPECIFIED_ERRORS.map(([, , , name]) => name).sort();
  expect([...Object.keys(REACHED), ...Object.keys(UNREACHABLE)].sort()).toEqual(rows);
});

test.each(SPECIFIED_ERRORS.filter(([, , , name]) => REACHED[name]))(
  'a request ends with %i %s: %s',
  async (status, code, _message, name) => {
    const { ask: send, error, path = '$.args' } = REACHED[name]!;
    const before = await engine.admin('export_metadata', {});
    const answer = await send();
    // What the table shows no code of has that of its neighbours.
    const expected = { code: code ?? 'unexpected-payload', error, path };
    expect([answer.status, answer.body]).toMatchObject([status, expected]);
    expect((await engine.admin('export_metadata', {})).body).toEqual(before.body);
  },
);

test('rows that no request reaches are raised nowhere', () => {
  const folder = new URL('../', import.meta.url).pathname;
  const code = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/test\.ts$|testing\/|errors\/errors\.ts$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n');
  const raised = Object.keys(UNREACHABLE).filter((name) =>
    new RegExp(`(fail|EngineError)\\('${name}'`).test(code),
  );
  expect(raised).toEqual(['unsupportedCatalogVersion']);
});
