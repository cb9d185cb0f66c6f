/** Custom types of actions: kinds of types × what may be declared twice, or not at all; names that no object may take. Rules:
 *  docs/reference/behaviour/actions.md, docs/reference/behaviour/schema.md, "Conflicts". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

let world: RuleWorld;
beforeAll(async () => {
  world = await startWorld({ sql: 'create table note (id int primary key)', tables: ['note'] });
});
afterAll(() => world?.close());

type Kind = {
  readonly list: string;
  /** The list of members of a type; absent for scalars. */
  readonly members?: string;
  readonly member?: (name: string) => object;
  /** The name of the kind in messages about its members. */
  readonly word?: string;
  readonly what?: string;
};
const field = (name: string) => ({ name, type: 'Int' });
const KINDS: readonly Kind[] = [
  { list: 'scalars' },
  { list: 'enums', members: 'values', member: (value) => ({ value }), word: 'enum type', what: 'values' },
  { list: 'input_objects', members: 'fields', member: field, word: 'input object', what: 'fields' },
  { list: 'objects', members: 'fields', member: field, word: 'object', what: 'fields' },
];

const declare = ({ members, member }: Kind, name: string, names: readonly string[] = ['a']) => ({
  name,
  ...(members && member ? { [members]: names.map(member) } : {}),
});
/** The document with the types, where a list may have several. */
const document = (types: readonly (readonly [Kind, object])[]) =>
  Object.fromEntries(
    KINDS.map(({ list }) => [list, types.flatMap(([kind, type]) => (kind.list === list ? [type] : []))]),
  );
const set = (types: object) => adminOutcome(world.engine, 'set_custom_types', types);
const refused = (reason: string) => ({
  code: 'invalid-configuration',
  path: '$.args',
  message: `Inconsistent object: validation for the given custom types failed because ${reason}`,
});

const PAIRS = KINDS.flatMap((one) => KINDS.map((other) => ({ one, other })));
test.each(PAIRS)('a name of $one.list and $other.list', async ({ one, other }) => {
  const twice = await set(
    document([
      [one, declare(one, 'Same')],
      [other, declare(other, 'Same')],
    ]),
  );
  expect(twice).toEqual(refused('duplicate type names: "Same"'));
  const apart = await set(
    document([
      [one, declare(one, 'One')],
      [other, declare(other, 'Other')],
    ]),
  );
  expect(apart).toEqual({ data: { message: 'success' } });
});

test.each(KINDS)('a name of $list that every schema has is refused', async (kind) => {
  for (const name of ['query_root', 'mutation_root', 'subscription_root', 'order_by', 'Int_comparison_exp']) {
    expect(await set(document([[kind, declare(kind, name)]]))).toEqual({
      code: 'unexpected',
      path: '$.args',
      message:
        `Encountered conflicting definitions of the type '${name}' in [custom types, the GraphQL schema]. ` +
        'Types must not be defined more than once across all sources.',
    });
  }
});

const ACTION = { handler: 'http://127.0.0.1:9/', output_type: 'String' };
test.each([
  ['create_action', { name: '__schema', definition: { ...ACTION, type: 'query' } }],
  ['create_action', { name: '__typename', definition: ACTION }],
  ['create_action', { name: 'query_root', definition: { ...ACTION, kind: 'asynchronous' } }],
  ['pg_track_native_query', { root_field_name: 'one', code: 'select 1 as id', returns: 'mutation_root' }],
  ['pg_track_native_query', { root_field_name: 'one', code: 'select 1 as id', returns: 'Int' }],
])('%s: %j takes a name that every schema has', async (type, args) => {
  const { returns } = args as { returns?: string };
  const fields = [{ name: 'id', type: 'integer' }];
  if (returns) await adminOutcome(world.engine, 'pg_track_logical_model', { name: returns, fields });
  expect(await adminOutcome(world.engine, type, args)).toMatchObject({
    code: 'unexpected',
    message: expect.stringMatching(/^Encountered conflicting definitions .*the GraphQL schema\]/),
  });
});

describe.each(KINDS.filter(({ members }) => members))('$list', (kind) => {
  test('members that are declared twice are refused by name', async () => {
    const type = declare(kind, 'It', ['a', 'b', 'a', 'c', 'b']);
    const reason = `the ${kind.word} "It" has duplicate ${kind.what}: "a", "b"`;
    expect(await set(document([[kind, type]]))).toEqual(refused(reason));
  });

  test('a type without members is refused', async () => {
    const reason = `the ${kind.word!.replace(' type', '')} "It" has no ${kind.what}`;
    expect(await set(document([[kind, declare(kind, 'It', [])]]))).toEqual(refused(reason));
  });

  test('an invalid name does not parse', async () => {
    for (const name of ['', 'a b', '1a', 5, null]) {
      const outcome = await set(document([[kind, { ...declare(kind, 'It'), name }]]));
      expect(outcome).toMatchObject({ code: 'parse-failed', path: `$.args.${kind.list}[0].name` });
    }
  });
});
