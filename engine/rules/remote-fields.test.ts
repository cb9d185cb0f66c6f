/** Remote schemas beside tables: which names conflict and what is refused then, which values are forwarded without a check,
 *  and which selections cannot be merged. Rule: docs/reference/behaviour/remote-schemas.md, "Names" and "Requests". */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
const services: RemoteService[] = [];
beforeAll(async () => {
  world = await startWorld({
    sql: `create table person (id int primary key, name text, created timestamptz);
      create schema other; create table other.thing (id int primary key);
      create table seen (id int primary key); insert into seen values (1);
      insert into person values (1, 'Ada', '2024-01-01T00:00:00Z');`,
    tables: [],
    options: { enableRemoteSchemaPermissions: false },
  });
});
afterAll(async () => {
  await world?.close();
  for (const service of services) await service.close();
});
beforeEach(() => admin('clear_metadata', {}));

const admin = (type: string, args: object) => adminOutcome(world.engine, type, args);
const SUCCESS = { data: { message: 'success' } };

async function serve(sdl: string, resolvers: Parameters<typeof startRemote>[1] = {}): Promise<RemoteService> {
  const service = await startRemote(sdl, resolvers);
  services.push(service);
  return service;
}

async function add(name: string, sdl: string, more: object = {}) {
  const { url } = await serve(sdl);
  return admin('add_remote_schema', { name, definition: { url, ...more } });
}

describe('a remote schema with a field that exists', () => {
  test.each([
    [
      'a query of a table',
      'type Query { person: Int }',
      ["Field cannot be overwritten by remote field 'person'"],
    ],
    [
      'several queries of a table',
      'type Query { person_by_pk: Int person_aggregate: Int free: Int }',
      ['person_aggregate', 'person_by_pk'].map(
        (name) => `Field cannot be overwritten by remote field '${name}'`,
      ),
    ],
    [
      'a mutation of a table',
      'type Query { free: Int } type Mutation { delete_person: Int }',
      ["Field cannot be overwritten by remote field 'delete_person'"],
    ],
  ])('%s is inconsistent when it is added, and not stored', async (_, sdl, reasons) => {
    await admin('pg_track_table', { table: 'person' });
    const refused = await add('second', sdl);
    expect(refused).toMatchObject({ code: 'invalid-configuration', path: '$.args' });
    expect((refused as { message: string }).message.split(', ').sort()).toEqual(reasons);
    expect(await admin('remove_remote_schema', { name: 'second' })).toMatchObject({ code: 'not-exists' });
  });

  test.each([
    ['a query', 'type Query { taken: Int }'],
    ['a mutation', 'type Query { other: Int } type Mutation { act: Int }'],
    ['a type that is defined otherwise', 'type Query { other: T } type T { b: Int }'],
  ])('%s of another remote schema makes the metadata inconsistent, which is refused', async (_, sdl) => {
    expect(
      await add('first', 'type Query { taken: Int t: T } type Mutation { act: Int } type T { a: Int }'),
    ).toEqual(SUCCESS);
    expect(await add('second', sdl)).toMatchObject({
      code: 'unexpected',
      path: '$.args',
      message: 'cannot continue due to new inconsistent metadata',
    });
  });

  test.each([
    ['with a namespace', { root_fields_namespace: 'away' }],
    ['with a prefix', { field_names: [{ parent_type: 'Query', prefix: 'away_' }] }],
  ])('%s is added', async (_, customization) => {
    await admin('pg_track_table', { table: 'person' });
    expect(await add('one', 'type Query { person: Int }', { customization })).toEqual(SUCCESS);
  });
});

describe('tracking a table whose name a remote schema has as a query', () => {
  test.each([
    ['person', 'person', {}],
    [{ schema: 'other', name: 'thing' }, 'other_thing', {}],
    ['person', 'away', { customization: { root_fields_namespace: 'person' } }],
    [
      'person',
      'people',
      { customization: { field_names: [{ parent_type: 'Query', mapping: { people: 'person' } }] } },
    ],
  ])('%j beside %s is a conflict of remote schemas', async (table, field, definition) => {
    expect(await add('one', `type Query { ${field}: Int }`, definition)).toEqual(SUCCESS);
    const name = typeof table === 'string' ? table : `${table.schema}_${table.name}`;
    expect(await admin('pg_track_table', { table })).toEqual({
      code: 'remote-schema-conflicts',
      path: '$.args',
      message: `node ${name} already exists in current graphql schema`,
    });
    expect(await admin('pg_track_table', { table: 'seen' })).toEqual(SUCCESS);
  });

  test('any other field makes the metadata inconsistent, which is refused', async () => {
    await add('one', 'type Query { person_by_pk: Int }');
    expect(await admin('pg_track_table', { table: 'person' })).toMatchObject({
      code: 'unexpected',
      path: '$.args',
      message: 'cannot continue due to new inconsistent metadata',
    });
  });
});

describe('a type of a name that exists', () => {
  const PERSON = 'scalar timestamptz';
  const query = (sdl: string) => `${PERSON} schema { query: Q } type Q { person_: person } ${sdl}`;

  test.each([
    ['in the same order', 'type person { id: Int! name: String created: timestamptz }'],
    ['in another order', 'type person { created: timestamptz name: String id: Int! }'],
    ['with descriptions', '"Someone" type person { "The key" id: Int! name: String created: timestamptz }'],
  ])('is no conflict when the definitions are equal: %s', async (_, sdl) => {
    await admin('pg_track_table', { table: 'person' });
    const service = await serve(query(sdl), {
      'Q.person_': () => ({ id: 42, name: 'Bo', created: 'today' }),
    });
    expect(await admin('add_remote_schema', { name: 'people', definition: { url: service.url } })).toEqual(
      SUCCESS,
    );
    const text = '{ person { id name created } person_ { __typename id id name created } }';
    expect(await graphqlOutcome(world.engine, text)).toEqual({
      data: {
        person: [{ id: 1, name: 'Ada', created: '2024-01-01T00:00:00+00:00' }],
        person_: { __typename: 'person', id: 42, name: 'Bo', created: 'today' },
      },
    });
    const fields = '{ __type(name: "person") { fields { name } } }';
    expect(await graphqlOutcome(world.engine, fields)).toHaveProperty('data.__type.fields.length', 3);
  });

  test.each([
    ['another nullability', 'type person { id: Int name: String created: timestamptz }'],
    ['another type', 'type person { id: Int! name: Int created: timestamptz }'],
    ['a field less', 'type person { id: Int! name: String }'],
    ['a field more', 'type person { id: Int! name: String created: timestamptz more: Int }'],
    ['an argument', 'type person { id(a: Int): Int! name: String created: timestamptz }'],
    [
      'an interface',
      'interface I { id: Int! } type person implements I { id: Int! name: String created: timestamptz }',
    ],
    ['another kind', 'enum person { A }'],
  ])('is a conflict with %s', async (_, sdl) => {
    await admin('pg_track_table', { table: 'person' });
    expect(await add('people', query(sdl))).toMatchObject({
      code: 'invalid-configuration',
      path: '$.args',
      message: expect.stringContaining("conflicting definitions of the type 'person'"),
    });
  });

  const KINDS = {
    object: (name: string) => `type ${name} { a: Int }`,
    interface: (name: string) => `interface ${name} { a: Int } type A implements ${name} { a: Int }`,
    union: (name: string) => `type A { a: Int } union ${name} = A`,
    enum: (name: string) => `enum ${name} { a }`,
    scalar: (name: string) => `scalar ${name}`,
  };
  test.each(
    Object.entries(KINDS).flatMap(([kind, declare]) =>
      ['query_root', 'mutation_root', 'subscription_root', 'order_by', 'Int_comparison_exp'].map((name) => {
        return [kind, name, declare(name)] as const;
      }),
    ),
  )('is a conflict when every schema has it: the %s %s', async (_, name, sdl) => {
    await admin('pg_track_table', { table: 'person' });
    expect(await add('people', `schema { query: Q } type Q { it: ${name} } ${sdl}`)).toMatchObject({
      code: 'invalid-configuration',
      path: '$.args',
      message: expect.stringContaining(`the type '${name}' in [remote schema people, the GraphQL schema]`),
    });
    expect(await graphqlOutcome(world.engine, '{ __schema { queryType { name } } }')).toHaveProperty('data');
  });

  test('is no conflict when every schema has it with an equal definition, to compare values, or as a root type', async () => {
    await admin('pg_track_table', { table: 'person' });
    const order =
      'enum order_by { asc asc_nulls_first asc_nulls_last desc desc_nulls_first desc_nulls_last }';
    expect(
      await add('one', `schema { query: query_root } type query_root { a(by: order_by): Int } ${order}`),
    ).toEqual(SUCCESS);
    const compares =
      'type Query { c(it: Int_comparison_exp): Int } input Int_comparison_exp { _eq: Int _near: Int }';
    expect(await add('three', compares)).toEqual(SUCCESS);
    const itself = 'schema { query: query_root } type query_root { b: Int itself: query_root }';
    expect(await add('two', itself)).toMatchObject({ code: 'invalid-configuration' });
    expect(await add('two', itself, { customization: { root_fields_namespace: 'two' } })).toEqual(SUCCESS);
    expect(await graphqlOutcome(world.engine, '{ __schema { queryType { name } } }')).toHaveProperty('data');
  });

  test('is no conflict between remote schemas with equal definitions, descriptions aside', async () => {
    expect(await add('one', 'type Query { a: T } "one" type T { x(n: Int = 1): Int y: [T!] }')).toEqual(
      SUCCESS,
    );
    expect(await add('two', 'type Query { b: T } type T { y: [T!] x(n: Int = 1): Int }')).toEqual(SUCCESS);
    expect(await add('three', 'type Query { c: T } type T { x(n: Int = 2): Int y: [T!] }')).toMatchObject({
      code: 'unexpected',
    });
  });
});

describe('values of scalar arguments', () => {
  const SDL = `scalar uuid scalar Odd input In { n: Int! s: String } enum E { A }
    type Query { echo(int: Int float: Float text: String yes: Boolean id: ID key: uuid odd: Odd list: [Int!] in: In e: E): String
      limited(limit: Int): String }`;
  const SCALARS = ['int', 'float', 'text', 'yes', 'id', 'key', 'odd', 'list'] as const;
  const LITERALS = ['1', '1.5', '12345678901', '"text"', 'true', 'WORD', '{ a: 1 }'];
  let service: RemoteService;

  beforeAll(async () => {
    service = await serve(SDL, { 'Query.echo': () => 'ok' });
  });
  beforeEach(() => admin('add_remote_schema', { name: 'echo', definition: { url: service.url } }));

  test.each(SCALARS.flatMap((name) => LITERALS.map((literal) => [name, literal])))(
    'the literal %s: %s is sent as it is written',
    async (name, literal) => {
      const before = service.asked.length;
      const outcome = await graphqlOutcome(world.engine, `{ echo(${name}: ${literal}) }`);
      expect(service.asked.length).toBe(before + 1);
      const sent = service.asked.at(-1)!.query.replaceAll(' ', '');
      expect(sent).toContain(`${name}:${literal.replaceAll(' ', '')}`);
      // Either the service accepted it, or the error is its own.
      if (!('data' in outcome)) expect(outcome.code).toBeUndefined();
    },
  );

  test.each([
    ['{ echo(in: { n: 1, z: 2 }) }', '.in.z', "field 'z' not found in type: 'In'"],
    ['{ echo(in: { s: "x" }) }', '.in.n', "missing required field 'n'"],
    ['{ echo(in: 1) }', '.in', "expected an object for type 'In', but found an integer"],
    ['{ echo(e: B) }', '.e', "expected one of the values ['A'] for type 'E', but found 'B'"],
    ['{ echo(e: "A") }', '.e', "expected an enum value for type 'E', but found a string"],
    [
      'query ($n: String) { echo(int: $n) }',
      '.int',
      "variable 'n' is declared as 'String', but used where 'Int' is expected",
    ],
  ])('%s is refused, because the schema decides it', async (query, at, message) => {
    const before = service.asked.length;
    expect(await graphqlOutcome(world.engine, query)).toEqual({
      code: 'validation-failed',
      path: `$.selectionSet.echo.args${at}`,
      message,
    });
    expect(service.asked.length).toBe(before);
  });

  test('a variable is checked where a table uses it, whichever position comes first', async () => {
    await admin('pg_track_table', { table: 'seen' });
    const query =
      'query ($n: Int) { echo(int: $n) seen(where: { id: { _eq: $n } }) { id } limited(limit: $n) }';
    expect(await graphqlOutcome(world.engine, query, { variables: { n: true } })).toMatchObject({
      path: '$.selectionSet.seen.args.where.id._eq',
    });
  });
});

describe('two selections of one response name', () => {
  const SDL = `interface Named { name(short: Boolean): String other: String }
    type Cat implements Named { name(short: Boolean): String other: String friend: Named }
    type Dog implements Named { name(short: Boolean): String other: String bark: String }
    union Pet = Cat | Dog
    type Query { cat: Cat pet: Pet named: Named }`;
  const CAT = { __typename: 'Cat', name: 'Tom', other: 'T', friend: { __typename: 'Dog', name: 'Rex' } };
  let service: RemoteService;

  beforeAll(async () => {
    const cat = () => CAT;
    service = await serve(SDL, { 'Query.cat': cat, 'Query.pet': cat, 'Query.named': cat });
  });
  beforeEach(() => admin('add_remote_schema', { name: 'pets', definition: { url: service.url } }));

  const twoFields = "selection of both 'name' and 'other' specify the same response name, 'x'";
  const twoArguments = "inconsistent arguments between multiple selections of field 'name'";
  test.each([
    ['{ cat { x: name x: other } }', '', twoFields],
    ['{ cat { x: name } cat { x: other } }', '', twoFields],
    ['{ cat { ...F x: other } } fragment F on Cat { x: name }', '', twoFields],
    ['{ named { x: name x: other } }', '', twoFields],
    ['{ pet { ... on Dog { x: name x: other } } }', '', twoFields],
    ['{ named { x: name ... on Cat { x: other } } }', '', twoFields],
    ['{ pet { ... on Cat { x: name } ... on Named { x: other } } }', '', twoFields],
    ['{ cat { friend { x: name x: other } } }', '.friend.selectionSet', twoFields],
    ['{ cat { name name(short: true) } }', '', twoArguments],
    ['{ cat { x: name x: __typename } }', '', twoFields.replace('other', '__typename')],
  ])('%s is refused, as for a table', async (query, at, message) => {
    const before = service.asked.length;
    const root = query.match(/\w+/)![0];
    expect(await graphqlOutcome(world.engine, query)).toEqual({
      code: 'validation-failed',
      path: `$.selectionSet.${root}.selectionSet${at}`,
      message,
    });
    expect(service.asked.length).toBe(before);
  });

  test.each([
    '{ cat { x: name x: name } }',
    '{ pet { ... on Cat { x: name } ... on Dog { x: other } } }',
    '{ pet { ... on Cat { x: name } ... on Dog { x: bark } } }',
  ])('%s is sent: objects of different types may differ', async (query) => {
    expect(await graphqlOutcome(world.engine, query)).toMatchObject({ data: {} });
  });
});
