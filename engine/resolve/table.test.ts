/** Tables against the catalog: columns, keys and the database's own limits. */
import { expect, test } from 'vitest';
import { resolve } from './resolve.ts';
import { AUTHORS, catalogOf, metadataOf, resolveTables, tableIn } from './testing/small-world.ts';

test('columns keep the database’s order and know their scalar', () => {
  const { columns } = resolveTables({ author: {} }).table('author');
  expect(columns.map((c) => [c.name, c.scalar.name, c.json, c.isNullable])).toEqual([
    ['id', 'Int', 'bare', false],
    ['name', 'String', 'quoted', false],
    ['email', 'String', 'quoted', true],
    ['tags', '_text', 'quoted', true],
    ['meta', 'jsonb', 'bare', true],
    ['joined', 'date', 'quoted', true],
  ]);
});

test('column_config names a column before custom_column_names does', () => {
  const { table } = resolveTables({
    author: {
      configuration: {
        custom_column_names: { id: 'a', name: 'b' },
        column_config: { id: { custom_name: 'AuthorId', comment: 'the key' } },
      },
    },
  });
  const names = table('author').columns.map((c) => [c.name, c.graphqlName, c.description]);
  expect(names.slice(0, 3)).toEqual([
    ['id', 'AuthorId', 'the key'],
    ['name', 'b', null],
    ['email', 'email', null],
  ]);
});

test('columns may swap their names but not share one', () => {
  const named = (column_config: Record<string, { custom_name: string }>) =>
    resolveTables({ author: { configuration: { column_config } } }).reasons;
  expect(named({ id: { custom_name: 'name' }, name: { custom_name: 'id' } })).toEqual([]);
  expect(named({ id: { custom_name: 'name' } })).toEqual([
    'Inconsistent object: the definitions of columns "id" and "name" are in conflict: ' +
      'they are mapped to the same field name, "name"',
  ]);
});

test('a column GraphQL cannot name is not offered, but conditions may use it', () => {
  const catalog = catalogOf(tableIn('t', { 'a b': 'int4!', c: 'int4' }, { primaryKey: ['a b'] }));
  const t = resolveTables({ t: {} }, catalog).table('t');
  expect(t.columns.map((c) => c.name)).toEqual(['c']);
  expect(t.columnByName.has('a b')).toBe(true);
  expect(t.primaryKey).toBeNull();
});

test('generated and always-identity columns cannot be written', () => {
  const catalog = catalogOf(
    tableIn('t', {
      a: { identity: 'always' },
      b: { identity: 'by default' },
      c: { isGenerated: true },
      d: {},
    }),
  );
  const { columns } = resolveTables({ t: {} }, catalog).table('t');
  expect(columns.filter((c) => c.isWritable).map((c) => c.name)).toEqual(['b', 'd']);
});

test('the primary key leads the unique keys', () => {
  const { uniqueKeys, primaryKey } = resolveTables({ author: {} }).table('author');
  expect(uniqueKeys.map((key) => key.name)).toEqual(['author_pkey', 'author_email_key']);
  expect(primaryKey!.map((column) => column.name)).toEqual(['id']);
});

test('a comment in the metadata replaces the database’s, an empty one hides it', () => {
  const catalog = catalogOf({ ...tableIn('t', { id: 'int4' }), comment: 'in the database' });
  const described = (comment?: string | null) =>
    resolveTables({ t: { configuration: comment === undefined ? {} : { comment } } }, catalog).table('t')
      .description;
  expect([described(), described(null), described('mine'), described('')]).toEqual([
    'in the database',
    'in the database',
    'mine',
    null,
  ]);
});

test('large numbers become strings only when asked for', () => {
  const catalog = catalogOf(tableIn('t', { a: 'int8', b: 'numeric', c: 'int4', d: 'float8', e: 'text' }));
  const metadata = metadataOf([{ table: { schema: 'public', name: 't' } }]);
  const forms = (stringifyNumericTypes: boolean) => {
    const { model } = resolve(metadata, new Map([['default', catalog]]), { stringifyNumericTypes });
    return [...model.sources.get('default')!.tables.values()][0]!.columns.map((c) => c.json);
  };
  expect(forms(false)).toEqual(['bare', 'quoted', 'bare', 'quoted', 'quoted']);
  expect(forms(true)).toEqual(['stringified', 'stringified', 'bare', 'stringified', 'quoted']);
});

test('a table the database does not have is inconsistent and not in the model', () => {
  const { inconsistencies, model } = resolveTables({ foobar: {}, author: {} });
  expect(inconsistencies).toMatchObject([
    {
      type: 'table',
      name: 'table foobar in source default',
      reason: 'Inconsistent object: no such table/view exists in source: "foobar"',
      definition: { schema: 'public', name: 'foobar' },
      key: 'table/default/public/foobar',
    },
  ]);
  const { cause } = inconsistencies[0]!;
  expect([cause!.codeIn('specification'), cause!.messageIn('specification')]).toEqual([
    'not-exists',
    'no such table/view exists in the database: foobar',
  ]);
  expect(cause!.codeIn('newer')).toBe('invalid-configuration');
  expect(model.sources.get('default')!.tables.size).toBe(1);
});

test('what hangs on an absent table is not reported beside it', () => {
  const { reasons } = resolveTables({
    foobar: {
      object_relationships: [{ name: 'x', using: { foreign_key_constraint_on: ['nope'] } }],
      select_permissions: [{ role: 'user', permission: { columns: ['nope'], filter: {} } }],
    },
  });
  expect(reasons).toHaveLength(1);
});

test('the same table twice is tracked once', () => {
  const author = { table: { schema: 'public', name: 'author' } };
  const { inconsistencies } = resolve(metadataOf([author, author]), new Map([['default', AUTHORS]]), {
    stringifyNumericTypes: false,
  });
  expect(inconsistencies.map((i) => i.cause!.codeIn('specification'))).toEqual(['already-tracked']);
});

test('unique indexes are offered to upserts only where the metadata names them', () => {
  const index = { name: 't_a_open', on: ['a'], where: '(b > 0)' };
  const odd = { name: 't a', on: ['a'], where: null };
  const catalog = catalogOf(tableIn('t', { a: 'int4', b: 'int4' }, { indexes: [index, odd] }));
  const named = (...conflict_indexes: string[]) =>
    resolveTables({ t: { configuration: { conflict_indexes } } }, catalog);
  expect(resolveTables({ t: {} }, catalog).table('t').conflictIndexes).toEqual([]);
  expect(named('t_a_open').table('t').conflictIndexes).toEqual([index]);
  expect([...named('gone').reasons, ...named('t a').reasons]).toEqual([
    'Inconsistent object: "gone" in conflict_indexes of table "t" is no unique index of the table',
    'Inconsistent object: "t a" in conflict_indexes of table "t" has a name that GraphQL cannot spell',
  ]);
});
