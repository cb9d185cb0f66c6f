/** Tests names end to end, over HTTP and two databases: sources with a namespace, a prefix and a naming convention,
 *  and tables with custom names.
 *  Not here: how names are built and checked (resolve/). */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { openSession } from '../../testing/websocket.ts';

const BLOG = `
  create table blog_author (id int primary key, full_name text not null, extra_data jsonb);
  create table blog_post (
    id int primary key, author_id int not null references blog_author, view_count int not null,
    constraint post_views check (view_count >= 0)
  );
  create table secret_note (id int primary key);
  create function find_authors(name_part text) returns setof blog_author language sql stable as
    $$ select * from blog_author where full_name like '%' || name_part || '%' $$;
  create function post_label(blog_post, sign_mark text) returns text language sql stable as
    $$ select $2 || $1.id $$;
  insert into blog_author values (1, 'Ada', '{"a": {"b": 1}}'), (2, 'Ben', null);
  insert into blog_post values (1, 1, 10), (2, 1, 30), (3, 2, 20);
`;
const SHOP = `
  create table item (id int primary key, name text not null);
  insert into item values (1, 'pen'), (2, 'ink');
`;

let databases: TestDatabase[] = [];
let engine: TestEngine;

beforeAll(async () => {
  databases = [await createDatabase(), await createDatabase()];
  const [blog, shop] = databases as [TestDatabase, TestDatabase];
  await blog.sql(BLOG);
  await shop.sql(SHOP);
  engine = await startTestEngine({
    databaseUrl: blog.url,
    experimentalFeatures: ['naming_convention'],
    defaultNamingConvention: 'graphql-default',
    liveQueriesMultiplexedRefetchInterval: 50,
  });
  await engine.must('pg_add_source', {
    name: 'shop',
    configuration: { connection_info: { database_url: shop.url } },
    customization: {
      naming_convention: 'hasura-default',
      root_fields: { namespace: 'shop', prefix: 'all_' },
      type_names: { prefix: 'Shop_' },
    },
  });
  await engine.must('pg_track_table', { source: 'shop', table: 'item' });
  const fields = [{ name: 'name', type: 'text' }];
  await engine.must('pg_track_logical_model', { source: 'shop', name: 'item_name', fields });
  const code = 'select name from item order by id';
  await engine.must('pg_track_native_query', {
    source: 'shop',
    root_field_name: 'names',
    code,
    returns: 'item_name',
  });
  for (const table of ['blog_author', 'blog_post', 'secret_note'])
    await engine.must('pg_track_table', { table });
  await engine.must('pg_create_array_relationship', {
    table: 'blog_author',
    name: 'own_posts',
    using: { foreign_key_constraint_on: { table: 'blog_post', columns: ['author_id'] } },
  });
  await engine.must('pg_track_function', { function: 'find_authors' });
  await engine.must('pg_add_computed_field', {
    table: 'blog_post',
    name: 'short_label',
    definition: { function: 'post_label' },
  });
  const permission = { columns: ['id', 'view_count'], filter: { view_count: { _gt: 15 } } };
  await engine.must('pg_create_select_permission', { table: 'blog_post', role: 'reader', permission });
});

afterAll(async () => {
  await engine?.close();
  for (const database of databases) await database.drop();
});

async function dataOf(query: string, options?: Parameters<TestEngine['graphql']>[1]): Promise<unknown> {
  const { data, errors } = await engine.graphql(query, options);
  expect(errors).toBeUndefined();
  return data;
}

async function errorOf(query: string, role = 'admin'): Promise<string | undefined> {
  const { errors } = await engine.graphql(query, { role });
  return errors?.map(({ message, extensions }) => `${extensions.path}: ${message}`).join();
}

async function typeNamesOf(role: string): Promise<string[]> {
  const data = await dataOf('{ __schema { types { name } } }', { role });
  return (data as { __schema: { types: { name: string }[] } }).__schema.types.map(({ name }) => name);
}

describe('graphql-default', () => {
  test('fields, arguments and enum values follow the convention; custom names do not', async () => {
    const query = `{
      blogAuthor(where: {fullName: {_isNull: false}}, orderBy: {own_postsAggregate: {count: DESC_NULLS_LAST}}) {
        __typename fullName
        own_posts(distinctOn: [authorId], orderBy: [{authorId: ASC}, {viewCount: DESC}]) { viewCount }
        own_postsAggregate { __typename aggregate { __typename count stddevPop { viewCount } } }
      }
      findAuthors(args: {name_part: "en"}) { id }
      blogPostByPk(id: 2) { short_label(args: {sign_mark: "#"}) }
    }`;
    expect(await dataOf(query)).toEqual({
      blogAuthor: [
        {
          __typename: 'BlogAuthor',
          fullName: 'Ada',
          own_posts: [{ viewCount: 30 }],
          own_postsAggregate: {
            __typename: 'BlogPostAggregate',
            aggregate: {
              __typename: 'BlogPostAggregateFields',
              count: 2,
              stddevPop: { viewCount: 10 },
            },
          },
        },
        {
          __typename: 'BlogAuthor',
          fullName: 'Ben',
          own_posts: [{ viewCount: 20 }],
          own_postsAggregate: {
            __typename: 'BlogPostAggregate',
            aggregate: { __typename: 'BlogPostAggregateFields', count: 1, stddevPop: { viewCount: 0 } },
          },
        },
      ],
      findAuthors: [{ id: 2 }],
      blogPostByPk: { short_label: '#2' },
    });
  });

  test('mutations follow it too', async () => {
    const insert = `mutation ($rows: [BlogAuthorInsertInput!]!) {
      insertBlogAuthor(objects: $rows, onConflict: {constraint: blog_author_pkey, updateColumns: [fullName]}) {
        __typename affectedRows returning { fullName }
      }
      updateBlogAuthorByPk(pkColumns: {id: 1}, _deleteAtPath: {extraData: ["a", "b"]}) { extraData }
      updateBlogPostMany(updates: [{where: {id: {_eq: 3}}, _inc: {viewCount: 1}}]) { affectedRows }
    }`;
    expect(await dataOf(insert, { variables: { rows: [{ id: 2, fullName: 'Bea' }] } })).toEqual({
      insertBlogAuthor: {
        __typename: 'BlogAuthorMutationResponse',
        affectedRows: 1,
        returning: [{ fullName: 'Bea' }],
      },
      updateBlogAuthorByPk: { extraData: { a: {} } },
      updateBlogPostMany: [{ affectedRows: 1 }],
    });
  });

  test('errors have the path of the request', async () => {
    const path = '$.selectionSet.blogPost.args';
    expect(await errorOf('{ blogPost(orderBy: {viewCount: asc}) { id } }')).toContain(
      `${path}.orderBy[0].viewCount: expected one of the values ['ASC', 'ASC_NULLS_FIRST'`,
    );
    expect(await errorOf('{ blogPost(order_by: {id: ASC}) { id } }')).toContain("'order_by'");
    const nothing = 'mutation { updateBlogPost(where: {}) { affectedRows } }';
    expect(await errorOf(nothing)).toMatch(
      /^\$\.selectionSet\.updateBlogPost\.args: at least any one of .*_deleteAtPath/,
    );
  });

  test('a role sees its part and no more', async () => {
    expect(await dataOf('{ blogPost(orderBy: {id: ASC}) { id viewCount } }', { role: 'reader' })).toEqual({
      blogPost: [
        { id: 2, viewCount: 30 },
        { id: 3, viewCount: 21 },
      ],
    });
    expect(await errorOf('{ blogPost { authorId } }', 'reader')).toContain(
      "field 'authorId' not found in type: 'BlogPost'",
    );
    expect(await errorOf('{ secretNote { id } }', 'reader')).toContain("field 'secretNote' not found");
    const types = await typeNamesOf('reader');
    expect(types).toContain('BlogPostBoolExp');
    expect(types.filter((name) => /secret|author|shop/i.test(name))).toEqual([]);
  });

  test('types are in PascalCase, scalars are unchanged', async () => {
    const types = await typeNamesOf('admin');
    for (const name of [
      'BlogAuthorOnConflict',
      'BlogAuthorSetInput',
      'BlogAuthorDeleteAtPathInput',
      'BlogPostStddevPopFields',
      'FindAuthorsArgs',
      'ShortLabelBlogPostArgs',
      'IntComparisonExp',
      'JsonbCastExp',
      'OrderBy',
      'jsonb',
    ]) {
      expect(types).toContain(name);
    }
    const ours = types.filter((name) => name.includes('_') && !/^(__|Shop_|shop_)/.test(name));
    // The last ones are of the source with the other convention.
    expect(ours).toEqual(
      expect.arrayContaining([
        'query_root',
        'mutation_root',
        'subscription_root',
        'Int_comparison_exp',
        'order_by',
      ]),
    );
    expect(ours.filter((name) => /blog|author|post/i.test(name))).toEqual([]);
  });
});

describe('a source with a namespace', () => {
  test('has its root fields in one field, beside those of other sources', async () => {
    const query = `query ($id: Int!) {
      s: shop { __typename items: all_item(order_by: {id: asc}) { __typename name } all_item_by_pk(id: $id) { name } }
      blogPostByPk(id: 1) { viewCount }
      shop { ...Count } ...Again
    }
    fragment Count on Shop_shop_query { all_item_aggregate { aggregate { count } } }
    fragment Again on query_root { shop { first: all_item(limit: 1, order_by: {id: asc}) { id } } }`;
    expect(await dataOf(query, { variables: { id: 2 } })).toEqual({
      s: {
        __typename: 'Shop_shop_query',
        items: [
          { __typename: 'Shop_item', name: 'pen' },
          { __typename: 'Shop_item', name: 'ink' },
        ],
        all_item_by_pk: { name: 'ink' },
      },
      blogPostByPk: { viewCount: 10 },
      shop: { all_item_aggregate: { aggregate: { count: 2 } }, first: [{ id: 1 }] },
    });
  });

  test('a native query is named like its tables', async () => {
    expect(await dataOf('{ shop { all_names(limit: 1) { __typename name } } }')).toEqual({
      shop: { all_names: [{ __typename: 'Shop_item_name', name: 'pen' }] },
    });
  });

  test('is invisible to a role without permissions in it', async () => {
    expect(await errorOf('{ shop { all_item { id } } }', 'reader')).toBe(
      "$.selectionSet.shop: field 'shop' not found in type: 'query_root'",
    );
    expect(await errorOf('{ shop }')).toContain("missing selection set for 'Shop_shop_query'");
    expect(await errorOf('{ shop { item { id } } }')).toBe(
      "$.selectionSet.shop.selectionSet.item: field 'item' not found in type: 'Shop_shop_query'",
    );
  });

  test('runs its mutations in order, in one transaction', async () => {
    const insert = (id: number) => `all_insert_item_one(object: {id: ${id}, name: "new"}) { id }`;
    const both = `mutation { shop { a: ${insert(3)} all_delete_item_by_pk(id: 3) { name } b: ${insert(3)} } }`;
    expect(await dataOf(both)).toEqual({
      shop: { a: { id: 3 }, all_delete_item_by_pk: { name: 'new' }, b: { id: 3 } },
    });
    expect(await errorOf(`mutation { shop { ${insert(4)} again: ${insert(3)} } }`)).toBe(
      '$.selectionSet.shop.selectionSet.again.args.object: ' +
        'Uniqueness violation. duplicate key value violates unique constraint "item_pkey"',
    );
    expect(await dataOf('{ shop { all_item(where: {id: {_gt: 2}}) { id } } }')).toEqual({
      shop: { all_item: [{ id: 3 }] },
    });
  });

  test('explains a root field by both names', async () => {
    const answer = await engine.fetch('/v1/graphql/explain', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: { query: '{ shop { i: all_item { id } } blogPost { id } }' } }),
    });
    const fields = (await answer.json()) as { field: string; sql: string }[];
    expect(fields.map(({ field }) => field)).toEqual(['shop.i', 'blogPost']);
    expect(fields[0]!.sql).toContain('"item"');
  });

  test('a subscription selects one namespace, and receives changes in it', async () => {
    const socket = await openSession(engine);
    const subscribe = (id: string, query: string) =>
      socket.send({ type: 'subscribe', id, payload: { query } });
    subscribe('1', 'subscription { shop { all_item_by_pk(id: 1) { name } } }');
    expect(await socket.next()).toMatchObject({
      payload: { data: { shop: { all_item_by_pk: { name: 'pen' } } } },
    });
    await databases[1]!.sql("update item set name = 'pencil' where id = 1");
    expect(await socket.next()).toMatchObject({
      payload: { data: { shop: { all_item_by_pk: { name: 'pencil' } } } },
    });
    socket.send({ type: 'complete', id: '1' });
    const two = '{ a: shop { all_item { id } } b: shop { all_item { id } } }';
    for (const directive of ['', '@_multiple_top_level_fields']) {
      subscribe('2', `subscription ${directive} ${two}`);
      expect(JSON.stringify(await socket.next())).toContain('subscriptions must select one top level field');
    }
    socket.close();
  });

  test('is customized again by pg_update_source, and exported as written', async () => {
    const customization = { root_fields: { prefix: 'x_' }, naming_convention: 'default' };
    await engine.must('pg_update_source', { name: 'shop', customization });
    expect(await dataOf('{ x_item_by_pk(id: 2) { __typename } }')).toEqual({
      x_item_by_pk: { __typename: 'item' },
    });
    const exported = (await engine.must('export_metadata', {})) as { sources: { name: string }[] };
    expect(exported.sources.find(({ name }) => name === 'shop')).toMatchObject({ customization });
  });

  test('refuses invalid GraphQL names, without any change', async () => {
    const customization = { root_fields: { prefix: '1 ' } };
    const { status, body } = await engine.admin('pg_update_source', { name: 'shop', customization });
    expect([status, JSON.stringify(body)]).toEqual([
      400,
      expect.stringContaining('is not a valid GraphQL identifier'),
    ]);
    expect(await dataOf('{ x_item_by_pk(id: 2) { name } }')).toEqual({ x_item_by_pk: { name: 'ink' } });
  });
});

describe('custom names', () => {
  test('are kept; only prefixes and suffixes follow the convention', async () => {
    const configuration = {
      custom_name: 'the_note',
      comment: 'of nobody',
      column_config: { id: { custom_name: 'note_id', comment: 'its number' } },
      custom_root_fields: {
        select: { name: 'notes_all', comment: 'every one' },
        update_many: 'change_notes',
        select_stream: 'note_news',
      },
    };
    await engine.must('pg_set_table_customization', { table: 'secret_note', configuration });
    const mutation = 'mutation { insertThe_noteOne(object: {note_id: 7}) { note_id __typename } }';
    expect(await dataOf(mutation)).toEqual({ insertThe_noteOne: { note_id: 7, __typename: 'the_note' } });
    expect(await dataOf('{ notes_all { note_id } the_noteByPk(note_id: 7) { note_id } }')).toEqual({
      notes_all: [{ note_id: 7 }],
      the_noteByPk: { note_id: 7 },
    });
    const type = '{ __type(name: "the_note") { description fields { name description } } }';
    expect(await dataOf(type)).toEqual({
      __type: { description: 'of nobody', fields: [{ name: 'note_id', description: 'its number' }] },
    });
    const fields = JSON.stringify(await dataOf('{ __schema { mutationType { fields { name } } } }'));
    expect(fields).toContain('"change_notes"');
    expect(fields).not.toMatch(/secretNote|updateThe_noteMany/);
  });

  test('are replaced by the older operation, which keeps the name of the table', async () => {
    const args = {
      table: 'secret_note',
      custom_root_fields: { select: 'old_notes' },
      custom_column_names: { id: 'nr' },
    };
    const { status } = await engine.admin('set_table_custom_fields', args, {
      endpoint: '/v1/query',
      version: 2,
    });
    expect(status).toBe(200);
    expect(await dataOf('{ old_notes { nr __typename } }')).toEqual({
      old_notes: [{ nr: 7, __typename: 'the_note' }],
    });
    expect(await errorOf('{ notes_all { nr } }')).toContain("field 'notes_all' not found");
  });
});
