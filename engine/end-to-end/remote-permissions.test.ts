/** Tests permissions on remote schemas: what a role sees, presets, inheritance; and what a role must not see. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { startTestEngine, type TestEngine } from '../../testing/engine.ts';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { testWorld } from '../../testing/world.ts';
import { parseMetadata } from '../metadata/parse.ts';
import { writeDirectory } from '../store/directory.ts';

const SDL = `
  type User { id: Int name(upper: Boolean): String secret: String messages(where: Where, limit: Int): [Message] }
  type Message { id: Int text: String }
  input Where { id: Compare text: Compare owner: Owner kind: Kind }
  input Compare { eq: Int in: [Int!] }
  input Owner { id: Int! role: String }
  enum Kind { OPEN CLOSED }
  interface Named { name(upper: Boolean): String }
  union Either = User | Message
  type Query {
    user(id: Int!): User
    messages(where: Where, tags: [String!]): String
    either: Either
    hidden: String
  }
  type Mutation { remove(id: Int!): Boolean }`;

let remote: RemoteService;
const admin = (type: string, args: object) => engine.admin<{ error?: string; code?: string }>(type, args);
const permit = (schema: string, role = 'user') =>
  admin('add_remote_schema_permissions', { remote_schema: 'far', role, definition: { schema } });
const ask = (query: string, options: { role?: string; headers?: object; variables?: object } = {}) =>
  engine.graphql(query, { role: 'user', ...options } as never);
const lastAsked = () => remote.asked.at(-1)!;
const failed = 'validation for the given role-based schema failed';

afterAll(() => remote?.close());

const { database, engine } = testWorld(async () => {
  remote = await startRemote(SDL, {
    'Query.user': (_: unknown, { id }: { id: number }) => ({
      __typename: 'User',
      id,
      name: `u${id}`,
      secret: 's',
    }),
    'Query.messages': (_: unknown, args: object) => JSON.stringify(args),
    'Query.either': () => ({ __typename: 'User', id: 1, name: 'u1', secret: 's' }),
    'Query.hidden': () => 'hidden',
    'Mutation.remove': () => true,
  });
});
beforeEach(async () => {
  await admin('clear_metadata', {});
  await admin('add_remote_schema', { name: 'far', definition: { url: remote.url } });
});

describe('a role sees what its permission says', () => {
  test('and nothing without one', async () => {
    const { errors } = await ask('{ hidden }');
    expect(errors?.[0]?.message).toBe("field 'hidden' not found in type: 'query_root'");
    const { data } = await ask('{ __schema { types { name } } }');
    expect(JSON.stringify(data)).not.toMatch(/User|Message|Where/);
    expect(await engine.graphql('{ hidden }')).toEqual({ data: { hidden: 'hidden' } });
  });

  test('fields, arguments, members and values that are left out do not exist', async () => {
    expect(
      (
        await permit(`
      type User { id: Int name: String }
      union Either = User
      type Query { user(id: Int!): User either: Either }`)
      ).status,
    ).toBe(200);
    expect(await ask('{ user(id: 3) { id name } either { ... on User { name } } }')).toEqual({
      data: { user: { id: 3, name: 'u3' }, either: { name: 'u1' } },
    });
    const before = remote.asked.length;
    for (const [query, message] of [
      ['{ user(id: 1) { secret } }', "field 'secret' not found in type: 'User'"],
      ['{ user(id: 1) { name(upper: true) } }', "'name' has no argument named 'upper'"],
      ['{ either { ... on User { secret } } }', "field 'secret' not found in type: 'User'"],
      ['{ ...q } fragment q on query_root { hidden }', "field 'hidden' not found"],
      ['mutation { remove(id: 1) }', 'no mutations exist'],
    ] as const) {
      const { data, errors } = await ask(query);
      expect(data).toBeUndefined();
      expect(errors?.[0]?.message).toContain(message);
    }
    expect(remote.asked).toHaveLength(before);
    const { data } = await ask(
      '{ __schema { types { name } } user: __type(name: "User") { fields { name args { name } } } }',
    );
    expect(JSON.stringify(data)).not.toMatch(/Message|Where|secret|Mutation/);
    expect(data).toMatchObject({ user: { fields: [{ name: 'id' }, { name: 'name', args: [] }] } });
  });

  test('roles do not share permissions', async () => {
    await permit('type Query { hidden: String }', 'first');
    await permit('type User { id: Int } type Query { user(id: Int!): User }', 'second');
    expect(await ask('{ hidden }', { role: 'first' })).toEqual({ data: { hidden: 'hidden' } });
    expect((await ask('{ hidden }', { role: 'second' })).errors).toBeDefined();
    expect((await ask('{ user(id: 1) { id } }', { role: 'first' })).errors).toBeDefined();
  });

  test('a dropped permission gives no access', async () => {
    await permit('type Query { hidden: String }');
    expect(await permit('type Query { hidden: String }')).toMatchObject({
      status: 400,
      body: { code: 'already-exists' },
    });
    const drop = { remote_schema: 'far', role: 'user' };
    expect((await admin('drop_remote_schema_permissions', drop)).status).toBe(200);
    expect((await ask('{ hidden }')).errors).toBeDefined();
    expect(await admin('drop_remote_schema_permissions', drop)).toMatchObject({
      status: 400,
      body: { code: 'not-exists' },
    });
  });

  test('administrators need no permission, and cannot have one', async () => {
    expect(await permit('type Query { hidden: String }', 'admin')).toMatchObject({
      status: 400,
      body: { code: 'constraint-violation' },
    });
  });
});

describe('presets', () => {
  const PART = `
    type User { id: Int }
    input Compare { eq: Int in: [Int!] }
    input Owner { id: Int! @preset(value: "x-engine-user-id") role: String @preset(value: "x-engine-role", static: true) }
    enum Kind { OPEN CLOSED }
    input Where { id: Compare @preset(value: {eq: 5, in: [1, 2]}) text: Compare owner: Owner kind: Kind @preset(value: OPEN) }
    type Query {
      user(id: Int! @preset(value: "X-Engine-User-Id")): User
      messages(where: Where, tags: [String!] @preset(value: ["a"])): String
    }`;
  beforeEach(async () => {
    expect(await permit(PART)).toMatchObject({ status: 200 });
  });

  test('session variables are parsed as the type of their position', async () => {
    expect(await ask('{ user { id } }', { headers: { 'x-engine-user-id': '7' } })).toEqual({
      data: { user: { id: 7 } },
    });
    expect((await ask('{ user { id } }')).errors).toEqual([
      {
        message: '"x-engine-user-id" session variable expected, but not found',
        extensions: { code: 'not-found', path: '$' },
      },
    ]);
    expect((await ask('{ user { id } }', { headers: { 'x-engine-user-id': 'x1' } })).errors).toEqual([
      {
        message: '"x1" cannot be coerced into an Int value',
        extensions: { code: 'coercion-error', path: '$' },
      },
    ]);
  });

  test('a session variable is never part of the document', async () => {
    await ask('{ user { id } }', { headers: { 'x-engine-user-id': '4711' } });
    expect(lastAsked().query).not.toContain('4711');
    expect(Object.values(lastAsked().variables)).toEqual([4711]);
  });

  const filled = {
    where: {
      id: { eq: 5, in: [1, 2] },
      text: { eq: 1 },
      owner: { id: 7, role: 'x-engine-role' },
      kind: 'OPEN',
    },
    tags: ['a'],
  };
  test.each([
    ['as a literal', '{ messages(where: {text: {eq: 1}}) }', {}],
    ['with a variable inside', 'query ($t: Compare) { messages(where: {text: $t}) }', { t: { eq: 1 } }],
    ['as a variable', 'query ($w: Where) { messages(where: $w) }', { w: { text: { eq: 1 } } }],
  ])('go into an input object that is given %s', async (_, query, variables) => {
    const { data, errors } = await ask(query, { variables, headers: { 'x-engine-user-id': '7' } });
    expect(errors).toBeUndefined();
    expect(JSON.parse(data!['messages'] as string)).toEqual(filled);
  });

  test('an object that is not given is sent with its presets', async () => {
    const { data } = await ask('{ messages }', { headers: { 'x-engine-user-id': '7' } });
    expect(JSON.parse(data!['messages'] as string)).toEqual({
      tags: ['a'],
      where: { id: { eq: 5, in: [1, 2] }, kind: 'OPEN', owner: { id: 7, role: 'x-engine-role' } },
    });
  });

  test('a client cannot set a preset value', async () => {
    const headers = { 'x-engine-user-id': '7' };
    for (const [query, variables, message] of [
      ['{ user(id: 1) { id } }', {}, "'user' has no argument named 'id'"],
      ['{ messages(tags: ["b"]) }', {}, "'messages' has no argument named 'tags'"],
      ['{ messages(where: {kind: CLOSED}) }', {}, "field 'kind' not found in type: 'Where'"],
      ['{ messages(where: {owner: {id: 1}}) }', {}, "field 'owner' not found in type: 'Where'"],
      [
        'query ($w: Where) { messages(where: $w) }',
        { w: { kind: 'CLOSED' } },
        "field 'kind' not found in type: 'Where'",
      ],
    ] as const) {
      const { errors } = await ask(query, { headers, variables });
      expect(errors?.[0]?.message).toBe(message);
    }
  });
});

test.each([
  [
    'type Query { hidden: Int }',
    'because expected type of "hidden"("Object field") to be String but received Int',
  ],
  ['type Query { hidden: String more: Int }', 'because field "more" does not exist in the "Object": "Query"'],
  [
    'type Query { user: User } type User { id: Int }',
    'because field: "user" expects the following non nullable arguments to be present: "id"',
  ],
  [
    'type Query { hidden(x: Int): String }',
    'because input argument "x" does not exist in the input object:"hidden"',
  ],
  [
    'type Query { hidden: String } scalar Time',
    'because "Scalar": "Time" does not exist in the upstream remote schema',
  ],
  [
    'type Query { hidden: String } enum Kind { OPEN SHUT }',
    'because enum "Kind" contains the following enum values that do not exist in the corresponding upstream remote enum: "SHUT"',
  ],
  [
    'type Query { hidden: String } union Either = User | Query type User { id: Int }',
    'because union "Either" contains members which do not exist in the members of the remote schema union :"Query"',
  ],
  [
    'type Query { user(id: Int!): User }',
    'because Could not find type with name "User", which "Query" refers to',
  ],
  [
    'type Query { user(id: Int!): User hidden: Int }',
    'for the following reasons:\n' +
      ' • expected type of "hidden"("Object field") to be String but received Int\n' +
      ' • Could not find type with name "User", which "Query" refers to\n',
  ],
  ['type User { id: Int }', 'because query root does not exist in the schema definition'],
  [
    'type Query { user(id: Int! @preset(value: [1])): User } type User { id: Int }',
    'because expected preset value "[1]" of type "Int" to be a scalar value',
  ],
  [
    'type Query { hidden: String @preset(value: 1) }',
    'because Preset directives can be defined only on INPUT_FIELD_DEFINITION or ARGUMENT_DEFINITION',
  ],
  [
    'type Query { messages(tags: [String!] @preset(value: "x-engine-tags")): String }',
    'because illegal preset value at "tags". Session arguments can only be set for singleton values',
  ],
  [
    'type Query { hidden: Int more: Int }',
    'for the following reasons:\n • expected type of "hidden"("Object field") to be String but received Int\n • field "more" does not exist in the "Object": "Query"\n',
  ],
  ['type Query {', 'because Syntax Error: Expected Name, found <EOF>.'],
])('a permission that does not fit is refused: %s', async (schema, why) => {
  expect(await permit(schema)).toMatchObject({
    status: 400,
    body: { code: 'validation-failed', error: `${failed} ${why}`, path: '$.args' },
  });
});

test('a permission that no longer fits affects only its role', async () => {
  await permit('type Query { hidden: String }');
  await permit('type User { id: Int } type Query { user(id: Int!): User }', 'other');
  remote.serve('type Query { user(id: Int!): User } type User { id: Int }', {
    'Query.user': () => ({ id: 1 }),
  });
  const { body } = await admin('reload_metadata', {});
  remote.serve(SDL, { 'Query.hidden': () => 'hidden' });
  expect(body).toMatchObject({
    is_consistent: false,
    inconsistent_objects: [{ type: 'remote_schema_permission' }],
  });
  expect((await ask('{ hidden }')).errors).toBeDefined();
  await admin('reload_metadata', {});
  expect(await ask('{ hidden }')).toEqual({ data: { hidden: 'hidden' } });
});

test('a role inherits what its parents have in common, unless it has its own permission', async () => {
  await permit('type User { id: Int name: String } type Query { hidden: String user(id: Int!): User }', 'a');
  await permit('type Query { user(id: Int!): User hidden: String } type User { name: String id: Int }', 'b');
  await permit('type Query { hidden: String }', 'c');
  await admin('add_inherited_role', { role_name: 'both', role_set: ['a', 'b'] });
  await admin('add_inherited_role', { role_name: 'torn', role_set: ['a', 'c'] });
  expect(await ask('{ hidden user(id: 1) { id } }', { role: 'both' })).not.toHaveProperty('errors');
  expect((await ask('{ user(id: 1) { secret } }', { role: 'both' })).errors).toBeDefined();
  expect((await ask('{ hidden }', { role: 'torn' })).errors).toBeDefined();
  expect(await admin('get_inconsistent_metadata', {})).toMatchObject({
    body: {
      inconsistent_objects: [
        {
          type: 'inherited role permission inconsistency',
          name: 'torn',
          reason: "Could not inherit permission for the role 'torn' for the entity: 'remote schema: 'far''",
          entity: { remote_schema: 'far' },
        },
      ],
    },
  });
  await permit('type Query { hidden: String }', 'torn');
  expect(await ask('{ hidden }', { role: 'torn' })).toEqual({ data: { hidden: 'hidden' } });
  expect((await ask('{ user(id: 1) { id } }', { role: 'torn' })).errors).toBeDefined();
});

describe('with --enable-remote-schema-permissions=false', () => {
  const permission = { role: 'user', definition: { schema: 'type Query { hidden: String }' } };
  const declared = () => ({
    name: 'far',
    definition: { url: remote.url },
    permissions: [permission],
  });
  const off = () =>
    startTestEngine({
      databaseUrl: database.url,
      adminSecret: engine.adminSecret,
      enableRemoteSchemaPermissions: false,
    });
  const document = async () => {
    const { body } = await engine.admin<{ sources: unknown[] }>('export_metadata', {});
    return { ...body, version: 3, remote_schemas: [declared()] };
  };
  /** Only administrators may see a remote schema whose permissions are not enforced. */
  const expectClosed = async (open: TestEngine) => {
    for (const role of ['user', 'anyone']) {
      expect((await open.graphql('{ hidden }', { role })).errors, role).toBeDefined();
    }
    expect(await open.graphql('{ hidden }')).toEqual({ data: { hidden: 'hidden' } });
    expect((await open.admin('get_inconsistent_metadata', {})).body).toMatchObject({
      is_consistent: false,
      inconsistent_objects: [
        {
          type: 'remote_schema_permission',
          reason: expect.stringContaining('start the engine with --enable-remote-schema-permissions'),
        },
      ],
    });
  };

  test('every role sees all of a remote schema without permissions', async () => {
    const open = await off();
    expect(await open.graphql('{ hidden }', { role: 'anyone' })).toEqual({ data: { hidden: 'hidden' } });
    await open.close();
  });

  test.each([
    [
      'add_remote_schema_permissions',
      () => ({ remote_schema: 'far', ...permission }),
      'constraint-violation',
    ],
    ['replace_metadata', document, 'unexpected'],
    [
      'patch_metadata',
      () => ({ put: [{ key: 'remote_schema_permission/far/user', definition: permission }] }),
      'unexpected',
    ],
  ])('%s refuses a permission', async (type, args, code) => {
    const open = await off();
    expect(await open.admin(type, await args())).toMatchObject({ status: 400, body: { code } });
    expect(await open.graphql('{ hidden }', { role: 'anyone' })).toEqual({ data: { hidden: 'hidden' } });
    await open.close();
  });

  test.each([
    ['replace_metadata', async () => ({ allow_inconsistent_metadata: true, metadata: await document() })],
    [
      'patch_metadata',
      async () => ({
        allow_inconsistent_metadata: true,
        put: [{ key: 'remote_schema_permission/far/user', definition: permission }],
      }),
    ],
  ])(
    '%s that allows inconsistent metadata leaves the remote schema to administrators',
    async (type, args) => {
      const open = await off();
      const version = type === 'replace_metadata' ? 2 : 1;
      await open.must(type, await args(), { version });
      await expectClosed(open);
      await open.close();
    },
  );

  test('a stored permission is inconsistent after the start', async () => {
    await permit(permission.definition.schema);
    const open = await off();
    await expectClosed(open);
    await open.close();
  });

  test('a metadata directory with a permission is refused at the start', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'remote-permissions-'));
    await writeDirectory(folder, parseMetadata(await document()));
    await expect(
      startTestEngine({
        databaseUrl: database.url,
        enableRemoteSchemaPermissions: false,
        metadataDir: folder,
      }),
    ).rejects.toThrow('--enable-remote-schema-permissions');
    await rm(folder, { recursive: true });
  });
});

describe('presets inside an input object hold whether or not the client sends the object', () => {
  /** Input types of permissions, and what the service receives where the client gives nothing. */
  const INPUTS = {
    field: ['input Where { id: Compare kind: Kind @preset(value: OPEN) }', { kind: 'OPEN' }],
    session: [
      'input Where { id: Compare owner: Owner } input Owner { id: Int! @preset(value: "x-engine-user-id") role: String }',
      { owner: { id: 7 } },
    ],
    nested: ['input Where { id: Compare text: Compare }', { id: { eq: 5 }, text: { eq: 5 } }],
  } as const;
  beforeEach(async () => {
    remote.serve(SDL, {
      'Query.messages': (_: unknown, args: object) => JSON.stringify(args),
      'Query.user': () => ({ id: 1 }),
    });
    await admin('reload_remote_schema', { name: 'far' });
  });
  const compare = (name: string) =>
    `input Compare { ${name === 'nested' ? 'eq: Int @preset(value: 5)' : 'eq: Int'} in: [Int!] }`;
  const kind = (name: string) => (name === 'field' ? 'enum Kind { OPEN CLOSED }' : '');
  const FORMS: readonly (readonly [head: string, args: string, variables: object])[] = [
    ['query', '', {}],
    ['query', '(where: null)', {}],
    ['query', '(where: {})', {}],
    ['query', '(where: {id: null})', {}],
    ['query($w: Where)', '(where: $w)', {}],
    ['query($w: Where)', '(where: $w)', { w: null }],
    ['query($w: Where)', '(where: $w)', { w: {} }],
    ['query($w: Where)', '(where: $w)', { w: { id: null } }],
    ['query($w: Where = null)', '(where: $w)', {}],
    ['query($i: Compare)', '(where: {id: $i})', {}],
  ];

  test.each(Object.entries(INPUTS))('%s', async (name, [inputs, expected]) => {
    const { status, body } = await permit(`${inputs} ${compare(name)} ${kind(name)}
      type Query { messages(where: Where, tags: [String!]): String user(id: Int!): User }
      type User { id: Int messages(where: Where): [Message] } type Message { id: Int }`);
    expect([status, body]).toEqual([200, { message: 'success' }]);
    for (const [head, args, variables] of FORMS) {
      const about = `${head} ${args} ${JSON.stringify(variables)}`;
      const headers = { 'x-engine-user-id': '7' };
      const { data, errors } = await ask(`${head} { messages${args} }`, { headers, variables });
      expect(errors, about).toBeUndefined();
      const { where } = JSON.parse((data as { messages: string }).messages) as { where: object };
      // A null that the client writes is sent, but not for an object with presets.
      const sent = Object.fromEntries(Object.entries(where).filter(([, value]) => value !== null));
      expect(sent, about).toEqual(expected);
      await ask(`${head} { user(id: 1) { messages${args} { id } } }`, { headers, variables });
      const { query, variables: own } = lastAsked();
      expect(query, about).toContain('messages(where:');
      if (query.includes('where:$w')) {
        const filled = (own as { w: Record<string, unknown> }).w;
        expect(Object.fromEntries(Object.entries(filled).filter(([, value]) => value !== null))).toEqual(
          expected,
        );
      }
    }
  });

  test('an input type inside itself is filled once, and a list that is left out has no objects', async () => {
    remote.serve(
      'input Tree { of: Tree all: [Tree!] id: Int } type Query { find(tree: Tree, trees: [Tree!]): String }',
      { 'Query.find': (_: unknown, args: object) => JSON.stringify(args) },
    );
    await admin('reload_remote_schema', { name: 'far' });
    await permit(`input Tree { of: Tree all: [Tree!] id: Int @preset(value: 3) }
      type Query { find(tree: Tree, trees: [Tree!]): String }`);
    const found = async (args: string) => {
      const { data } = await ask(`{ find${args} }`);
      return JSON.parse((data as { find: string }).find) as unknown;
    };
    expect(await found('')).toEqual({ tree: { id: 3 } });
    expect(await found('(tree: {of: {}, all: [{}]}, trees: [{}])')).toEqual({
      tree: { id: 3, of: { id: 3 }, all: [{ id: 3 }] },
      trees: [{ id: 3 }],
    });
    remote.serve(SDL);
  });
});
