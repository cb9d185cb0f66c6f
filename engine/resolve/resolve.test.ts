/** The stages together: over hand-made catalogs, and over a real Postgres that introspection read. */
import pg from 'pg';
import { expect, test } from 'vitest';
import { createDatabase } from '../../testing/database.ts';
import { introspect } from '../catalog/introspect.ts';
import type { Metadata } from '../metadata/schema/metadata.ts';
import { accessOf, targetOf } from './access.ts';
import { resolve } from './resolve.ts';
import { AUTHORS, catalogOf, metadataOf, resolveTables, tableIn } from './testing/small-world.ts';

const OPTIONS = { stringifyNumericTypes: false };
const publicTable = (name: string) => ({ schema: 'public', name });

test('an unreachable source is one inconsistency, and none of its tables is in the model', () => {
  const metadata = metadataOf([{ table: publicTable('author') }, { table: publicTable('article') }]);
  const { model, inconsistencies } = resolve(
    metadata,
    new Map([['default', { error: 'connection refused' }]]),
    OPTIONS,
  );
  expect(model.sources.size).toBe(0);
  expect(inconsistencies).toHaveLength(1);
  expect(inconsistencies[0]).toMatchObject({
    type: 'source',
    name: 'source default',
    key: 'source/default',
    definition: 'default',
  });
  expect(inconsistencies[0]!.reason).toContain('connection refused');
});

test('a source nobody asked yet is unreachable too', () => {
  expect(resolve(metadataOf([]), new Map(), OPTIONS).inconsistencies).toHaveLength(1);
});

test('one broken source does not hold back another', () => {
  const { sources } = metadataOf([{ table: publicTable('author') }]);
  const metadata: Metadata = {
    version: 3,
    sources: [{ ...sources[0]!, name: 'gone', tables: [] }, ...sources],
  };
  const { model } = resolve(metadata, new Map([['default', AUTHORS]]), OPTIONS);
  expect([...model.sources.keys()]).toEqual(['default']);
});

test('tables of two sources cannot share their fields', () => {
  const { sources } = metadataOf([{ table: publicTable('author') }]);
  const metadata: Metadata = { version: 3, sources: [...sources, { ...sources[0]!, name: 'other' }] };
  const catalogs = new Map([
    ['default', AUTHORS],
    ['other', AUTHORS],
  ]);
  const { inconsistencies, model } = resolve(metadata, catalogs, OPTIONS);
  expect(inconsistencies.map((i) => i.key)).toEqual(['table/other/public/author']);
  expect(model.sources.get('other')!.tables.size).toBe(0);
});

test('what stands on a table that gave way falls with it', () => {
  const { inconsistencies } = resolveTables({
    profile: {},
    author: { configuration: { custom_name: 'profile' } },
    article: {
      object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: ['author_id'] } }],
      select_permissions: [
        { role: 'user', permission: { columns: '*', filter: { author: { name: 'x' } } } },
        { role: 'guest', permission: { columns: '*', filter: { is_published: true } } },
      ],
    },
  });
  expect(inconsistencies.map((i) => i.key)).toEqual([
    'table/default/public/author',
    'object_relationship/default/public/article/author',
    'select_permission/default/public/article/user',
  ]);
});

test('tables are reported before relationships, relationships before permissions', () => {
  const { inconsistencies } = resolveTables({
    article: {
      object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: ['author_id'] } }],
      select_permissions: [{ role: 'user', permission: { columns: ['nope'], filter: {} } }],
    },
    foobar: {},
  });
  expect(inconsistencies.map((i) => i.type)).toEqual(['table', 'object_relation', 'select_permission']);
});

test('every role some permission names is known, also a broken one’s', () => {
  const { model } = resolveTables({
    author: {
      select_permissions: [{ role: 'user', permission: { columns: ['nope'], filter: {} } }],
      delete_permissions: [{ role: 'cleaner', permission: { filter: {} } }],
    },
  });
  expect([...model.roles]).toEqual(['admin', 'user', 'cleaner']);
});

test('kinds of objects that have no runtime yet are neither served nor reported', () => {
  const metadata: Metadata = {
    ...metadataOf([
      {
        table: publicTable('author'),
        event_triggers: [{ name: 'e', definition: {}, webhook: 'http://example' }],
      },
    ]),
    actions: [{ name: 'act', definition: { handler: 'http://example', output_type: 'String' } }],
  };
  expect(resolve(metadata, new Map([['default', AUTHORS]]), OPTIONS).inconsistencies).toEqual([]);
});

test('250 tables with 5,000 permissions resolve in linear time', () => {
  const columns = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`c${i}`, 'text']));
  const names = Array.from({ length: 250 }, (_, i) => `t${i}`);
  const catalog = catalogOf(
    ...names.map((name) => tableIn(name, { id: 'int4!', ...columns }, { primaryKey: ['id'] })),
  );
  const metadata = metadataOf(
    names.map((name, i) => ({
      table: publicTable(name),
      object_relationships: [
        {
          name: 'next',
          using: {
            manual_configuration: {
              remote_table: publicTable(`t${(i + 1) % 250}`),
              column_mapping: { c0: 'id' },
            },
          },
        },
      ],
      select_permissions: Array.from({ length: 20 }, (_, role) => ({
        role: `role${role}`,
        permission: {
          columns: Object.keys(columns),
          filter: { _or: [{ c1: 'X-Engine-User-Id' }, { next: { next: { c2: { _in: ['a', 'b'] } } } }] },
        },
      })),
    })),
  );
  const start = performance.now();
  const { inconsistencies } = resolve(metadata, new Map([['default', catalog]]), OPTIONS);
  const took = performance.now() - start;
  expect(inconsistencies).toEqual([]);
  // Some 150 ms on an idle machine; the bound only has to tell linear from quadratic.
  expect(took).toBeLessThan(5000);
});

test('a real database: a reader sees published articles, an author their own, a stranger nothing', async () => {
  const database = await createDatabase();
  await database.sql(`
    create table author (id serial primary key, name text not null, secret text);
    create table article (
      id serial primary key, title text not null, author_id int not null references author (id),
      is_published boolean not null default false
    );
    create view published as select * from article where is_published;
  `);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const catalog = await introspect(client).finally(() => client.end());
  await database.drop();

  const metadata = metadataOf([
    {
      table: publicTable('author'),
      array_relationships: [
        {
          name: 'articles',
          using: { foreign_key_constraint_on: { table: publicTable('article'), columns: ['author_id'] } },
        },
      ],
      select_permissions: [{ role: 'reader', permission: { columns: ['id', 'name'], filter: {} } }],
    },
    {
      table: publicTable('article'),
      object_relationships: [{ name: 'author', using: { foreign_key_constraint_on: ['author_id'] } }],
      select_permissions: [
        { role: 'reader', permission: { columns: '*', filter: { is_published: true } } },
        { role: 'author', permission: { columns: '*', filter: { author: { id: 'X-Engine-User-Id' } } } },
      ],
      insert_permissions: [
        {
          role: 'author',
          permission: { columns: ['title'], check: {}, set: { author_id: 'X-Engine-User-Id' } },
        },
      ],
    },
    { table: publicTable('published') },
    { table: publicTable('gone') },
  ]);
  const { model, inconsistencies } = resolve(metadata, new Map([['default', catalog]]), OPTIONS);
  const table = (name: string) => targetOf(model, 'default', publicTable(name));

  expect(inconsistencies.map((i) => i.key)).toEqual(['table/default/public/gone']);
  const reader = accessOf(table('author'), 'reader');
  expect([...reader.select!.columns]).toEqual(['id', 'name']);
  expect(reader.insert).toBeNull();
  expect(accessOf(table('article'), 'stranger').select).toBeNull();
  expect(accessOf(table('published'), 'reader').select).toBeNull();
  expect([...accessOf(table('article'), 'author').insert!.columns]).toEqual(['title']);

  const { join, isNullable } = table('article').relationships.get('author')!;
  expect([join.isUnique, isNullable]).toEqual([true, false]);
  expect(targetOf(model, 'default', join.table)).toBe(table('author'));
  expect(accessOf(table('article'), 'author').select!.filter).toMatchObject({
    kind: 'related',
    where: { right: { kind: 'session', variable: 'x-engine-user-id', type: { name: 'int4' } } },
  });
  expect(table('published').primaryKey).toBeNull();
  expect(table('published').columns.every((column) => column.isNullable)).toBe(true);
});
