import { beforeEach, describe, expect, test } from 'vitest';
import { startTestEngine } from '../../testing/engine.ts';
import { openSocket } from '../../testing/websocket.ts';
import { testWorld } from '../../testing/world.ts';

const SCHEMA = `
  create type mood as enum ('good', 'bad');
  create table author (id int primary key, name text not null);
  create table article (
    id int primary key, title text not null, content text, author_id int not null references author, mood mood,
    tags text[] not null default '{}', written date not null default '2024-01-01');
  insert into author values (1, 'Ada'), (2, 'Bo');
  insert into article (id, title, content, author_id, mood, tags) values
    (1, 'One', 'first words', 1, 'good', '{a,b}'), (2, 'Two', 'second', 1, 'bad', '{}'), (3, 'Three', null, 2, null, '{c}');
  create function note() returns int language sql volatile as $$ insert into author values (99, 'x') returning id $$;`;

const MODEL = {
  name: 'excerpt',
  description: 'an article, cut short',
  fields: [
    { name: 'id', type: 'integer' },
    { name: 'title', type: 'text', description: 'as printed' },
    { name: 'excerpt', type: { scalar: 'text', nullable: true } },
    { name: 'author_id', type: 'integer' },
    { name: 'mood', type: 'mood', nullable: true },
    { name: 'tags', type: { array: 'text' } },
  ],
};
const QUERY = {
  root_field_name: 'excerpts',
  arguments: {
    length: { type: 'integer' },
    term: { type: 'text', nullable: true, description: 'in the title' },
  },
  code: `select *, left(content, {{length}}) as excerpt from article -- up to {{length}}
    where {{term}} is null or title like '%' || {{term}} || '%';`,
  returns: 'excerpt',
};
const INVALID = 'Failed to validate query: ';

const admin = (type: string, args: object) => engine.admin<{ error?: string; code?: string }>(type, args);
const ask = async (query: string, role = 'admin', headers = {}, variables = {}) =>
  engine.graphql<Record<string, unknown>>(query, { role, headers, variables });

const { database, engine } = testWorld(SCHEMA);
beforeEach(async () => {
  await admin('clear_metadata', {});
});

async function expectDone(...requests: readonly (readonly [string, object])[]): Promise<void> {
  for (const [type, args] of requests) expect(await admin(type, args)).toMatchObject({ status: 200 });
}
const trackBoth = () => expectDone(['pg_track_logical_model', MODEL], ['pg_track_native_query', QUERY]);

describe('a native query is a root field', () => {
  beforeEach(trackBoth);

  test('its arguments are bound, and its rows are filtered, ordered, made distinct and limited', async () => {
    const fields = '{ id title excerpt mood tags }';
    const one = { id: 1, title: 'One', excerpt: 'first', mood: 'good', tags: ['a', 'b'] };
    const all = await ask(
      `{ excerpts(args: {length: 5}, where: {id: {_lt: 3}}, order_by: {id: desc}) ${fields} }`,
    );
    expect(all.data?.['excerpts']).toEqual([
      { id: 2, title: 'Two', excerpt: 'secon', mood: 'bad', tags: [] },
      one,
    ]);
    const term = await ask(
      'query ($t: String) { excerpts(args: {length: 5, term: $t}) { id } }',
      'admin',
      {},
      { t: 'T' },
    );
    expect(term.data).toEqual({ excerpts: [{ id: 2 }, { id: 3 }] });
    const distinct = await ask(
      '{ excerpts(args: {length: 1}, distinct_on: author_id, order_by: [{author_id: asc}, {id: desc}], limit: 1) { id } }',
    );
    expect(distinct.data).toEqual({ excerpts: [{ id: 2 }] });
    const offset = await ask(
      '{ excerpts(args: {length: 1}, order_by: {id: asc}, offset: 2) { id __typename } }',
    );
    expect(offset.data).toEqual({ excerpts: [{ id: 3, __typename: 'excerpt' }] });
  });

  test('a hostile argument is only a value', async () => {
    const term = "x'; drop table article; -- {{length}}";
    const answer = await ask(
      'query ($t: String) { excerpts(args: {length: 1, term: $t}) { id } }',
      'admin',
      {},
      { t: term },
    );
    expect(answer.data).toEqual({ excerpts: [] });
    expect(await database.sql('select count(*)::int from article')).toEqual([{ count: 3 }]);
  });

  test('an argument that is not nullable is required', async () => {
    const missing = await ask('{ excerpts(args: {term: "x"}) { id } }');
    expect(missing.errors?.[0]?.message).toBe("missing required field 'length'");
    const without = await ask('{ excerpts { id } }');
    expect(without.errors?.[0]?.message).toBe("missing required field 'args'");
  });

  test('introspection shows the model and its descriptions, and no aggregate', async () => {
    const type = await ask(
      '{ __type(name: "excerpt") { description fields { name description type { kind } } } }',
    );
    expect(type.data?.['__type']).toMatchObject({
      description: 'an article, cut short',
      fields: expect.arrayContaining([
        { name: 'excerpt', description: null, type: { kind: 'SCALAR' } },
        { name: 'title', description: 'as printed', type: { kind: 'NON_NULL' } },
      ]),
    });
    const roots = await ask(
      '{ __schema { queryType { fields { name } } subscriptionType { fields { name } } } }',
    );
    expect(roots.data?.['__schema']).toEqual({
      queryType: { fields: [{ name: 'excerpts' }] },
      subscriptionType: { fields: [{ name: 'excerpts' }] },
    });
    const aggregate = await ask('{ excerpts_aggregate { aggregate { count } } }');
    expect(aggregate.errors?.[0]?.message).toBe("field 'excerpts_aggregate' not found in type: 'query_root'");
  });

  test('a subscription to it sends changes', async () => {
    const secret = { 'x-engine-admin-secret': engine.adminSecret };
    const socket = await openSocket(engine.url, 'graphql-transport-ws', secret);
    socket.send({ type: 'connection_init' });
    await socket.next();
    const query = 'subscription { excerpts(args: {length: 2}, where: {id: {_eq: 3}}) { excerpt } }';
    socket.send({ type: 'subscribe', id: '1', payload: { query } });
    expect(await socket.next()).toMatchObject({ payload: { data: { excerpts: [{ excerpt: null }] } } });
    await database.sql("update article set content = 'new' where id = 3");
    expect(await socket.next()).toMatchObject({ payload: { data: { excerpts: [{ excerpt: 'ne' }] } } });
    await database.sql('update article set content = null where id = 3');
    socket.close();
  });

  test('two native queries and a table are one statement', async () => {
    await expectDone(['pg_track_table', { table: 'author' }]);
    const answer = await ask(
      '{ a: excerpts(args: {length: 1}, limit: 1) { id } author(order_by: {id: asc}) { id } b: excerpts(args: {length: 2}) { id } }',
    );
    expect(answer.data).toEqual({
      a: [{ id: 1 }],
      author: [{ id: 1 }, { id: 2 }],
      b: [{ id: 1 }, { id: 2 }, { id: 3 }],
    });
  });
});

describe('permissions belong to the logical model', () => {
  beforeEach(async () => {
    await trackBoth();
    const permission = {
      columns: ['id', 'title'],
      filter: { author_id: { _eq: 'x-engine-user-id' } },
      limit: 5,
    };
    await expectDone([
      'pg_create_logical_model_select_permission',
      { name: 'excerpt', role: 'user', permission },
    ]);
  });
  const as1 = { 'x-engine-user-id': '1' };

  test('a role reads its rows and columns only', async () => {
    const answer = await ask('{ excerpts(args: {length: 1}) { id title } }', 'user', as1);
    expect(answer.data).toEqual({
      excerpts: [
        { id: 1, title: 'One' },
        { id: 2, title: 'Two' },
      ],
    });
    const hidden = await ask('{ excerpts(args: {length: 1}) { excerpt } }', 'user', as1);
    expect(hidden.errors?.[0]?.message).toBe("field 'excerpt' not found in type: 'excerpt'");
    const filtered = await ask(
      '{ excerpts(args: {length: 1}, where: {mood: {_eq: "bad"}}) { id } }',
      'user',
      as1,
    );
    expect(filtered.errors?.[0]?.message).toBe("field 'mood' not found in type: 'excerpt_bool_exp'");
    const ordered = await ask(
      '{ excerpts(args: {length: 1}, order_by: {author_id: asc}) { id } }',
      'user',
      as1,
    );
    expect(ordered.errors?.[0]?.message).toBe("field 'author_id' not found in type: 'excerpt_order_by'");
  });

  test('a role without a permission does not see the field', async () => {
    const answer = await ask('{ excerpts(args: {length: 1}) { id } }', 'other', as1);
    expect(answer.errors?.[0]?.message).toBe("field 'excerpts' not found in type: 'query_root'");
  });

  test('dropping the permission removes the field, and dropping it twice is an error', async () => {
    const args = { name: 'excerpt', role: 'user' };
    await expectDone(['pg_drop_logical_model_select_permission', args]);
    const answer = await ask('{ excerpts(args: {length: 1}) { id } }', 'user', as1);
    expect(answer.errors?.[0]?.message).toBe("field 'excerpts' not found in type: 'query_root'");
    const again = await admin('pg_drop_logical_model_select_permission', args);
    expect(again).toMatchObject({ status: 400, body: { code: 'not-found' } });
  });

  test('a condition on a column outside the model is refused', async () => {
    const permission = { columns: '*', filter: { content: { _eq: 1 } } };
    const answer = await admin('pg_create_logical_model_select_permission', {
      name: 'excerpt',
      role: 'x',
      permission,
    });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain('"content" does not exist');
  });
});

describe('an invalid native query is refused', () => {
  test.each([
    [
      'a table that is not there',
      { code: 'select * from nowhere' },
      `${INVALID}relation "nowhere" does not exist`,
    ],
    ['a column that is not returned', { code: 'select 1 as id' }, `${INVALID}column "title" does not exist`],
    [
      'a type that cannot become the declared one',
      {
        code: `select now() as id, '' as title, '' as excerpt, 1 as author_id, null::mood as mood, '{}'::text[] as tags`,
      },
      `${INVALID}cannot cast type timestamp with time zone to integer`,
    ],
    [
      'an argument nobody declared',
      { code: 'select {{who}}' },
      `${INVALID}the argument "who" is used but not declared`,
    ],
    [
      'a statement that writes',
      { code: 'with x as (delete from author returning *) select * from x' },
      `${INVALID}WITH clause containing a data-modifying statement must be at the top level`,
    ],
    [
      'a model nobody tracked',
      { returns: 'nothing' },
      'Logical model "nothing" not found in source "default".',
    ],
    [
      'a type the database does not have',
      { arguments: { length: { type: 'inch' } } },
      'argument "length" of native query "excerpts" is of type "inch", which the database does not have',
    ],
  ])('%s', async (_, change, error) => {
    await expectDone(['pg_track_logical_model', MODEL]);
    const answer = await admin('pg_track_native_query', { ...QUERY, ...change });
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain(error);
    expect(await admin('pg_get_native_query', {})).toMatchObject({ body: [] });
  });

  test('SQL that calls a function that writes is not run', async () => {
    const model = { name: 'noted', fields: [{ name: 'n', type: 'int' }] };
    const query = { root_field_name: 'noting', code: 'select note() as n', returns: 'noted' };
    await expectDone(['pg_track_logical_model', model], ['pg_track_native_query', query]);
    const answer = await ask('{ noting { n } }');
    expect(answer.errors).toHaveLength(1);
    expect(await database.sql('select 1 from author where id = 99')).toEqual([]);
  });

  test('names in use are refused, and so are objects that are in use or unknown', async () => {
    await trackBoth();
    const refused = async (type: string, args: object) => (await admin(type, args)).body;
    expect(await refused('pg_track_logical_model', MODEL)).toMatchObject({
      code: 'already-tracked',
      error: "Logical model 'excerpt' is already tracked.",
    });
    expect(await refused('pg_track_native_query', QUERY)).toMatchObject({
      code: 'already-tracked',
      error: "Native query 'excerpts' is already tracked.",
    });
    expect(await refused('pg_untrack_logical_model', { name: 'excerpt' })).toMatchObject({
      code: 'constraint-violation',
      error: 'Logical model "excerpt" still being used by native query "excerpts".',
    });
    expect(await refused('pg_untrack_native_query', { root_field_name: 'no' })).toMatchObject({
      code: 'not-found',
      error: 'Native query "no" not found in source "default".',
    });
    expect(await refused('pg_untrack_logical_model', { name: 'no' })).toMatchObject({
      code: 'not-found',
      error: 'Logical model "no" not found in source "default".',
    });
    const rival = { ...QUERY, root_field_name: 'author' };
    await expectDone(['pg_track_table', { table: 'author' }]);
    expect(await refused('pg_track_native_query', rival)).toMatchObject({
      code: 'unexpected',
      error:
        "Encountered conflicting definitions in the selection set for 'subscription_root' for field 'author' defined in " +
        '[native_query author in source default, table author in source default]. ' +
        'Fields must not be defined more than once across all sources.',
    });
    await expectDone(
      ['pg_untrack_native_query', { root_field_name: 'excerpts' }],
      ['pg_untrack_logical_model', { name: 'excerpt' }],
    );
  });
});

test('tracked native queries are listed as they are exported', async () => {
  await trackBoth();
  const models = await admin('pg_get_logical_model', { source: 'default' });
  expect(models.body).toEqual([MODEL]);
  expect((await admin('pg_get_native_query', { source: 'default' })).body).toEqual([QUERY]);
  expect(await admin('pg_get_native_query', { source: 'no' })).toMatchObject({ status: 400 });
});

describe('when the database changes', () => {
  beforeEach(trackBoth);

  test('a column the query needs cannot be dropped without the query', async () => {
    const sql = 'alter table article add extra int; alter table article drop column mood';
    const refused = await admin('pg_run_sql', { sql: 'alter table article drop column mood' });
    expect(refused.body).toMatchObject({
      code: 'dependency-error',
      error: 'cannot drop due to the following dependent objects: native query excerpts in source "default"',
    });
    await expectDone(['pg_run_sql', { sql, cascade: true }]);
    expect((await admin('pg_get_native_query', {})).body).toEqual([]);
    await database.sql('alter table article add mood mood');
  });

  test('a change outside the engine makes it inconsistent until it is undone', async () => {
    await database.sql('alter table article rename to articles');
    await admin('reload_metadata', {});
    const found = await admin('get_inconsistent_metadata', {});
    expect(found.body).toMatchObject({
      is_consistent: false,
      inconsistent_objects: [
        {
          type: 'native_query',
          name: 'native_query excerpts in source default',
          reason:
            'Inconsistent object: in native query "excerpts": Failed to validate query: relation "article" does not exist',
        },
      ],
    });
    expect((await ask('{ excerpts(args: {length: 1}) { id } }')).errors).toHaveLength(1);
    await database.sql('alter table articles rename to article');
    await admin('reload_metadata', {});
    expect((await admin('get_inconsistent_metadata', {})).body).toMatchObject({ is_consistent: true });
  });
});

test('validation can be disabled', async () => {
  const trusting = await startTestEngine({ databaseUrl: database.url, disableNativeQueryValidation: true });
  await trusting.admin('pg_track_logical_model', MODEL);
  const query = { ...QUERY, code: 'select * from nowhere where {{length}} > 1 or {{term}} is null' };
  await trusting.must('pg_track_native_query', query);
  const answer = await trusting.graphql('{ excerpts(args: {length: 1}) { id } }');
  expect(answer.errors).toHaveLength(1);
  await trusting.close();
});

describe('relationships', () => {
  const authors = {
    root_field_name: 'authors',
    code: 'select * from author',
    returns: 'writer',
    array_relationships: [
      { name: 'excerpts', using: { column_mapping: { id: 'author_id' }, remote_native_query: 'excerpts' } },
      { name: 'articles', using: { column_mapping: { id: 'author_id' }, remote_table: 'article' } },
    ],
  };
  const writer = {
    name: 'writer',
    fields: [
      { name: 'id', type: 'int' },
      { name: 'name', type: 'text' },
      { name: 'excerpts', type: { array: { logical_model: 'excerpt' } } },
    ],
  };
  const related = {
    ...QUERY,
    object_relationships: [
      { name: 'author', using: { column_mapping: { author_id: 'id' }, remote_native_query: 'authors' } },
      { name: 'row', using: { column_mapping: { id: 'id' }, remote_table: 'article' } },
    ],
  };
  const similar = {
    table: 'article',
    name: 'similar',
    using: {
      manual_configuration: { remote_native_query: 'excerpts', column_mapping: { author_id: 'author_id' } },
    },
  };
  beforeEach(() =>
    expectDone(
      ['pg_track_table', { table: 'article' }],
      [
        'bulk_atomic',
        [
          { type: 'pg_track_logical_model', args: writer },
          { type: 'pg_track_logical_model', args: MODEL },
          { type: 'pg_track_native_query', args: related },
          { type: 'pg_track_native_query', args: authors },
        ],
      ],
      ['pg_create_array_relationship', similar],
    ),
  );

  test('lead from query to query and to tables, each with its own arguments', async () => {
    const answer = await ask(`{ authors(order_by: {id: asc}, limit: 1) {
      name short: excerpts(args: {length: 1}, order_by: {id: asc}) { excerpt row { title } author { name } }
      long: excerpts(args: {length: 3}, where: {id: {_eq: 2}}) { excerpt }
      articles(order_by: {id: desc}, limit: 1) { title similar(args: {length: 2}, limit: 1) { excerpt } } } }`);
    const ada = { name: 'Ada' };
    expect(answer.data?.['authors']).toEqual([
      {
        ...ada,
        short: [
          { excerpt: 'f', row: { title: 'One' }, author: ada },
          { excerpt: 's', row: { title: 'Two' }, author: ada },
        ],
        long: [{ excerpt: 'sec' }],
        articles: [{ title: 'Two', similar: [{ excerpt: 'fi' }] }],
      },
    ]);
  });

  test('show nothing a role may not read on the other side', async () => {
    const permission = { columns: '*', filter: {} };
    await expectDone(
      ['pg_create_logical_model_select_permission', { name: 'writer', role: 'user', permission }],
      [
        'pg_create_select_permission',
        { table: 'article', role: 'user', permission: { ...permission, filter: { id: { _gt: 1 } } } },
      ],
    );
    const seen = await ask('{ authors(where: {id: {_eq: 1}}) { id articles { id } } }', 'user');
    expect(seen.data).toEqual({ authors: [{ id: 1, articles: [{ id: 2 }] }] });
    const hidden = await ask('{ authors { excerpts(args: {length: 1}) { id } } }', 'user');
    expect(hidden.errors?.[0]?.message).toBe("field 'excerpts' not found in type: 'authors'");
    const similarHidden = await ask('{ article { similar(args: {length: 1}) { id } } }', 'user');
    expect(similarHidden.errors?.[0]?.message).toBe("field 'similar' not found in type: 'article'");
  });

  test('cannot be used to filter or order', async () => {
    const filtered = await ask('{ article(where: {similar: {}}) { id } }');
    expect(filtered.errors?.[0]?.message).toBe("field 'similar' not found in type: 'article_bool_exp'");
    const permission = { columns: '*', filter: { similar: {} } };
    const refused = await admin('pg_create_select_permission', { table: 'article', role: 'x', permission });
    expect(refused.body.error).toContain('leads to a native query');
  });

  test('keep their target tracked', async () => {
    const query = await admin('pg_untrack_native_query', { root_field_name: 'excerpts' });
    expect(query.body).toMatchObject({ code: 'dependency-error' });
    expect(query.body.error).toContain('relationship article.similar in source "default"');
    const table = await admin('pg_untrack_table', { table: 'article' });
    expect(table.body.error).toContain('native query authors in source "default"');
  });

  test('a field of another model needs a relationship', async () => {
    const bare = { ...authors, root_field_name: 'bare', array_relationships: [] };
    const refused = await admin('pg_track_native_query', bare);
    expect(refused.body.error).toContain('native query "bare" has no array relationship "excerpts"');
  });
});
