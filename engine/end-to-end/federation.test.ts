/** Tests the engine as a subgraph of a federated graph: its schema, rows by keys, and what roles must not see. */
import { buildSchema, type DefinitionNode, Kind, parse, print } from 'graphql';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createDatabase, type TestDatabase } from '../../testing/database.ts';
import { startTestEngine } from '../../testing/engine.ts';
import { startRemote } from '../../testing/remote.ts';
import { testWorld } from '../../testing/world.ts';

let other: TestDatabase;
const admin = (type: string, args: object) => engine.admin<{ error?: string }>(type, args);
const ENTITY = { apollo_federation_config: { enable: 'v1' } };

afterAll(() => other?.drop());

const { database, engine } = testWorld(
  async (database) => {
    other = await createDatabase();
    await database.sql(`
    create table author (id int primary key, name text not null, secret text);
    create table book (isbn text, edition bigint, title text, author_id int references author, primary key (isbn, edition));
    create table note (body text);
    insert into author values (1, 'Ada', 'x'), (2, 'Bo', 'y');
    insert into book values ('a', 1, 'A', 1), ('a', 9007199254740993, 'A2', 1), ('b', 1, 'B', 2);`);
    await other.sql(
      "create table film (id uuid primary key, title text); insert into film values ('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'M')",
    );
  },
  () => ({ enableApolloFederation: true }),
);
beforeEach(async () => {
  await admin('clear_metadata', {});
  await admin('pg_track_table', { table: 'author', ...ENTITY });
  await admin('pg_track_table', { table: 'book', ...ENTITY });
  await admin('pg_track_table', { table: 'note', ...ENTITY });
  await admin('pg_create_array_relationship', {
    table: 'author',
    name: 'books',
    using: { foreign_key_constraint_on: { table: 'book', column: 'author_id' } },
  });
});

const permit = (table: string, permission: object) =>
  admin('pg_create_select_permission', { table, role: 'user', permission });
const sdlFor = async (role = 'admin') => {
  const { data } = await engine.graphql<{ _service: { sdl: string } }>('{ _service { sdl } }', { role });
  return data!._service.sdl;
};
const ENTITIES = `query ($them: [_Any!]!) { _entities(representations: $them) {
  __typename ... on author { name books(order_by: { isbn: asc, edition: asc }) { title } } ... on book { t: title } } }`;
const find = (them: unknown, options: object = {}) =>
  engine.graphql(ENTITIES, { variables: { them }, ...options });

describe('the schema', () => {
  test('is returned as SDL with the keys of entities, without the fields of federation itself', async () => {
    const sdl = await sdlFor();
    expect(sdl).toContain('type author @key(fields: "id") {');
    expect(sdl).toContain('type book @key(fields: "isbn edition") {');
    expect(sdl).toContain('type note {');
    expect(sdl).not.toMatch(/_Any|_Entity|_Service|_service|_entities/);
    const schema = buildSchema(sdl.replaceAll(/@key\(.*?\)/g, ''));
    expect(schema.getQueryType()?.name).toBe('query_root');
    expect(Object.keys(schema.getMutationType()!.getFields())).toContain('insert_author_one');
  });

  test('of two engines has nothing in common but scalars, and enums and inputs that are equal', async () => {
    const theirs = await createDatabase();
    await theirs.sql('create table shelf (id int primary key, label text, at timestamptz, data jsonb)');
    const second = await startTestEngine({ databaseUrl: theirs.url, enableApolloFederation: true });
    await second.admin('pg_track_table', { table: 'shelf', apollo_federation_config: { enable: 'v1' } });
    const { data } = await second.graphql<{ _service: { sdl: string } }>('{ _service { sdl } }');
    const definitionsIn = (sdl: string) => parse(sdl, { noLocation: true }).definitions;
    const nameOf = (node: DefinitionNode) => ('name' in node ? node.name?.value : undefined);
    const mine = new Map(definitionsIn(await sdlFor()).map((node) => [nameOf(node), node]));
    for (const node of definitionsIn(data!._service.sdl)) {
      const same = mine.get(nameOf(node));
      if (!same || node.kind === Kind.SCHEMA_DEFINITION) continue;
      if (node.kind === Kind.OBJECT_TYPE_DEFINITION) {
        const fieldsOf = (type: DefinitionNode) =>
          'fields' in type ? (type.fields ?? []).map((field) => field.name.value) : [];
        expect(nameOf(node)).toMatch(/_root$/);
        expect(fieldsOf(node).filter((field) => fieldsOf(same).includes(field))).toEqual([]);
        continue;
      }
      expect([node.kind, print(node)]).toEqual([expect.stringMatching(/^(Scalar|Enum|Input)/), print(same)]);
    }
    await second.close();
    await theirs.drop();
  });

  test('contains what the role may read', async () => {
    await permit('author', { columns: ['id', 'name'], filter: {} });
    await permit('book', { columns: ['isbn', 'title'], filter: {} });
    const sdl = await sdlFor('user');
    expect(sdl).toContain('type author @key(fields: "id")');
    // Part of a composite key is not a key.
    expect(sdl).toContain('type book {');
    expect(sdl).not.toMatch(/secret|edition|note|mutation_root/);
    const { data } = await engine.graphql('{ __type(name: "_Entity") { possibleTypes { name } } }', {
      role: 'user',
    });
    expect(data).toEqual({ __type: { possibleTypes: [{ name: 'author' }] } });
  });

  test('is not returned when introspection is disabled, and a role without any rows has no such fields', async () => {
    await permit('author', { columns: ['id'], filter: {} });
    await admin('set_graphql_schema_introspection_options', { disabled_for_roles: ['user'] });
    const { errors } = await engine.graphql('{ _service { sdl } }', { role: 'user' });
    expect(errors).toMatchObject([{ extensions: { code: 'not-supported' } }]);
    const wrong = await engine.graphql('{ _service { sdl @include(if: 1) } }');
    expect(wrong.errors?.[0]?.extensions.path).toBe('$.selectionSet._service.selectionSet.include.args.if');
    const nobody = await engine.graphql('{ _service { sdl } }', { role: 'nobody' });
    expect(nobody.errors?.[0]?.message).toBe("field '_service' not found in type: 'query_root'");
  });

  test('has entities while at least one table has a key', async () => {
    const fields = async () => {
      const { data } = await engine.graphql<{ __type: { fields: { name: string }[] } }>(
        '{ __type(name: "query_root") { fields { name } } }',
      );
      return data!.__type.fields.map(({ name }) => name).filter((name) => name.startsWith('_'));
    };
    expect(await fields()).toEqual(['_entities', '_service']);
    for (const table of ['author', 'book'])
      await admin('pg_set_apollo_federation_config', { table, apollo_federation_config: null });
    expect(await fields()).toEqual(['_service']);
  });

  test('does not include a remote schema that is a subgraph itself', async () => {
    const remote = await startRemote('type _Service { sdl: String } type Query { _service: _Service }');
    const { status, body } = await admin('add_remote_schema', {
      name: 'sub',
      definition: { url: remote.url },
    });
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain("'_Service' in [federation, remote schema sub]");
    await remote.close();
  });
});

describe('entities', () => {
  test('of several types are returned in the requested order, with null for unknown keys', async () => {
    const { data, errors } = await find([
      { __typename: 'book', isbn: 'b', edition: 1 },
      { __typename: 'author', id: 2 },
      { __typename: 'author', id: 99 },
      { __typename: 'author', id: 1 },
      { __typename: 'author', id: 2, name: 'whoever' },
    ]);
    expect(errors).toBeUndefined();
    const bo = { __typename: 'author', name: 'Bo', books: [{ title: 'B' }] };
    expect(data).toEqual({
      _entities: [
        { __typename: 'book', t: 'B' },
        bo,
        null,
        { __typename: 'author', name: 'Ada', books: [{ title: 'A' }, { title: 'A2' }] },
        bo,
      ],
    });
  });

  test('may be written as literals, with more digits than a double has, or as one object', async () => {
    const both = `query ($isbn: String) { _entities(representations: [
      { __typename: "book", isbn: "a", edition: 9007199254740993 }, { __typename: "author", id: 1 }]) { ... on book { title } } }`;
    expect((await engine.graphql(both.replace('($isbn: String)', ''))).data).toEqual({
      _entities: [{ title: 'A2' }, {}],
    });
    const alone =
      '{ all: _entities(representations: { __typename: "author", id: 1 }) { ...a } author { id } } fragment a on author { id }';
    expect((await engine.graphql(alone)).data).toEqual({ all: [{ id: 1 }], author: [{ id: 1 }, { id: 2 }] });
  });

  test('of several sources', async () => {
    await admin('pg_add_source', {
      name: 'films',
      configuration: { connection_info: { database_url: other.url } },
    });
    await admin('pg_track_table', { source: 'films', table: 'film', ...ENTITY });
    const them = [
      { __typename: 'film', id: '6ba7b810-9dad-11d1-80b4-00c04fd430c8' },
      { __typename: 'author', id: 1 },
    ];
    const query = `query ($them: [_Any!]!) { _entities(representations: $them) { ... on film { title } ... on author { name } } }`;
    expect((await engine.graphql(query, { variables: { them } })).data).toEqual({
      _entities: [{ title: 'M' }, { name: 'Ada' }],
    });
  });

  test('have their relationships, each type its own', async () => {
    const service = await startRemote('type Query { far(id: Int): String }', {
      'Query.far': (_: unknown, { id }: { id: number }) => `far ${id}`,
    });
    await admin('add_remote_schema', { name: 'service', definition: { url: service.url } });
    await admin('pg_add_source', {
      name: 'films',
      configuration: { connection_info: { database_url: other.url } },
    });
    await admin('pg_track_table', { source: 'films', table: 'film' });
    const relate = (table: string, definition: object) =>
      admin('pg_create_remote_relationship', { table, name: 'far', definition });
    const remote_field = { far: { arguments: { id: '$id' } } };
    await relate('author', {
      to_remote_schema: { remote_schema: 'service', lhs_fields: ['id'], remote_field },
    });
    const field_mapping = { title: 'title' };
    const to_source = { source: 'films', table: 'film', relationship_type: 'array', field_mapping };
    await relate('book', { to_source });
    await other.sql("insert into film values ('6ba7b810-9dad-11d1-80b4-00c04fd430c9', 'A')");
    const them = [
      { __typename: 'author', id: 2 },
      { __typename: 'book', isbn: 'a', edition: 1 },
      { __typename: 'author', id: 99 },
      { __typename: 'author', id: 1 },
      { __typename: 'book', isbn: 'b', edition: 1 },
    ];
    const query = `query ($them: [_Any!]!) {
      all: _entities(representations: $them) { ... on author { far books { far { title } } } ... on book { far { title } } } }`;
    const ask = () => engine.graphql(query, { variables: { them } });
    const books = (...found: (string | null)[]) =>
      found.map((title) => ({ far: title === null ? [] : [{ title }] }));
    expect(await ask()).toEqual({
      data: {
        all: [
          { far: 'far 2', books: books(null) },
          ...books('A'),
          null,
          { far: 'far 1', books: books('A', null) },
          ...books(null),
        ],
      },
    });
    expect(service.asked).toHaveLength(1);
    service.misbehave((_, response) => response.end('nonsense'));
    const { data, errors } = await ask();
    expect(data).toMatchObject({ all: [{ far: null }, ...books('A'), null, { far: null }, ...books(null)] });
    expect(errors).toMatchObject([{ path: ['all', 'far'] }]);
    await service.close();
  });

  test('are those the role may read, without other rows, columns or tables', async () => {
    await permit('author', { columns: ['id', 'name'], filter: { id: { _eq: 'X-Engine-User-Id' } } });
    const user = { role: 'user', headers: { 'x-engine-user-id': '1' } };
    const query = (fields: string) =>
      `query ($them: [_Any!]!) { _entities(representations: $them) { ... on author { ${fields} } } }`;
    const them = [1, 2].map((id) => ({ __typename: 'author', id }));
    const ask = (fields: string, variables: object = { them }) =>
      engine.graphql(query(fields), { ...user, variables: variables as never });
    expect(await ask('name')).toEqual({ data: { _entities: [{ name: 'Ada' }, null] } });
    expect((await ask('secret')).errors?.[0]?.message).toBe("field 'secret' not found in type: 'author'");
    const hidden = await ask('name', { them: [{ __typename: 'book', isbn: 'a', edition: 1 }] });
    const unknown = await ask('name', { them: [{ __typename: 'nothing', isbn: 'a', edition: 1 }] });
    expect(hidden).toEqual(JSON.parse(JSON.stringify(unknown).replaceAll('nothing', 'book')));
  });

  test.each([
    [[{ __typename: 'note', body: 'x' }], "'note' is no entity"],
    [[{ id: 1 }], 'a representation is an object with a "__typename"'],
    [['author'], 'a representation is an object with a "__typename"'],
    [[{ __typename: 'book', isbn: 'a' }], "a representation of 'book' needs its key field 'edition'"],
  ])('%j is no representation', async (them, message) => {
    expect(await find(them)).toMatchObject({
      errors: [
        {
          message,
          extensions: { code: 'validation-failed', path: '$.selectionSet._entities.args.representations[0]' },
        },
      ],
    });
  });

  test('a key of a wrong type is refused by the database', async () => {
    const { errors } = await find([{ __typename: 'author', id: 'one' }]);
    expect(errors).toMatchObject([{ extensions: { code: 'data-exception' } }]);
  });
});

test('without the feature, none of it exists', async () => {
  const plain = await startTestEngine({ databaseUrl: database.url });
  const { errors } = await plain.graphql('{ _service { sdl } }');
  expect(errors?.[0]?.message).toBe("field '_service' not found in type: 'query_root'");
  await plain.close();
});
