/** The SDL of permissions on a remote schema: every kind of definition × everything that may differ from the remote schema. Each edit of a
 *  valid SDL has the reasons that the rule gives it; several edits together have all of them. Rule:
 *  docs/reference/behaviour/remote-schemas.md, "Permissions". */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RemoteService, startRemote } from '../../testing/remote.ts';
import { adminOutcome, graphqlOutcome, type RuleWorld, startWorld } from './testing/rules.ts';

const SDL = `
scalar Time
enum Color { RED GREEN }
interface Named { name: String at: Time }
type User implements Named { name: String at: Time id: ID! friends(first: Int! after: String size: Size order: Order): [User!]! }
type Bot implements Named { name: String at: Time model: Int }
union Anyone = User | Bot
enum Size { BIG SMALL }
input Range { gt: Int lt: Int color: Color }
input Order { by: String! range: Range ranges: [Range!] sizes: [Int] }
type Query { user(id: ID! only: Range at: Time tags: [String!] limit: Int = 10): User anyone(size: Size): [Anyone] named: Named secret: String }
`;

let world: RuleWorld;
let remote: RemoteService;
beforeAll(async () => {
  remote = await startRemote(SDL, {
    'Query.user': (_: unknown, { id }: { id: string }) => ({ id, name: 'Ada', at: 'now' }),
  });
  world = await startWorld({
    sql: 'select 1',
    tables: [],
    operations: [['add_remote_schema', { name: 'people', definition: { url: remote.url } }]],
  });
});
afterAll(async () => {
  await world?.close();
  await remote?.close();
});

let count = 0;
const permit = (schema: string, role = `role_${count++}`) =>
  adminOutcome(world.engine, 'add_remote_schema_permissions', {
    remote_schema: 'people',
    role,
    definition: { schema },
  });

function edited(...edits: readonly (readonly [from: string, to: string])[]): string {
  return edits.reduce((text, [from, to]) => {
    if (!text.includes(from)) throw new Error(`${from} is not in the SDL`);
    return text.replace(from, to);
  }, SDL);
}

const refusal = (reasons: readonly string[]) => ({
  code: 'validation-failed',
  path: '$.args',
  message: `validation for the given role-based schema failed ${
    reasons.length === 1
      ? `because ${reasons[0]}`
      : `for the following reasons:\n${reasons.map((reason) => ` • ${reason}\n`).join('')}`
  }`,
});

/** Edits that leave out what may be left out. */
const PARTS: readonly (readonly [string, string])[] = [
  ['secret: String', ''],
  [' | Bot', ''],
  ['BIG SMALL', 'BIG'],
  [' after: String', ''],
  ['gt: Int ', ''],
  [' limit: Int = 10', ''],
];

const PLACE = 'Preset directives can be defined only on INPUT_FIELD_DEFINITION or ARGUMENT_DEFINITION';

/** Edits, and the reason against each. */
const WRONG: readonly (readonly [from: string, to: string, reason: string])[] = [
  ['scalar Time', 'scalar Time scalar Date', '"Scalar": "Date" does not exist in the upstream remote schema'],
  ['enum Color', 'enum Hue { RED } enum Color', '"Enum": "Hue" does not exist in the upstream remote schema'],
  ['union Any', 'union All = User union Any', '"Union": "All" does not exist in the upstream remote schema'],
  [
    'input Range',
    'input Span { a: Int } input Range',
    '"Input object": "Span" does not exist in the upstream remote schema',
  ],
  [
    'type Query',
    'type Cat { id: ID } type Query',
    '"Object": "Cat" does not exist in the upstream remote schema',
  ],
  [
    'interface Named',
    'interface Old { a: Int } interface Named',
    '"Interface": "Old" does not exist in the upstream remote schema',
  ],
  ['enum Size', 'enum Size { BIG } enum Size', 'duplicate type names found: "Size"'],
  [
    'RED GREEN',
    'RED BLUE PINK',
    'enum "Color" contains the following enum values that do not exist in the corresponding upstream remote enum: "BLUE" and "PINK"',
  ],
  ['RED GREEN', 'RED RED', 'duplicate enum values: "RED" found in the "Color" enum'],
  [
    'User | Bot',
    'User | Query',
    'union "Anyone" contains members which do not exist in the members of the remote schema union :"Query"',
  ],
  ['model: Int', 'model: Int!', 'expected type of "model"("Object field") to be Int but received Int!'],
  [
    'named: Named',
    'named: [Named]',
    'expected type of "named"("Object field") to be Named but received [Named]',
  ],
  [
    'Named { name: String at: Time }',
    'Named { name: Int at: Time }',
    'expected type of "name"("Interface field") to be String but received Int',
  ],
  ['model: Int', 'model: Int age: Int', 'field "age" does not exist in the "Object": "Bot"'],
  [
    'Named { name: String at: Time }',
    'Named { name: String at: Time x: Int }',
    'field "x" does not exist in the "Interface": "Named"',
  ],
  ['model: Int', 'model: Int model: Int', 'duplicate fields: "model"found in the "Object" "Bot"'],
  ['gt: Int', 'gt: Boolean', 'expected type of "gt"("Input object argument") to be Int but received Boolean'],
  ['gt: Int', 'gt: Int eq: Int', 'input argument "eq" does not exist in the input object:"Range"'],
  [
    'first: Int! ',
    '',
    'field: "friends" expects the following non nullable arguments to be present: "first"',
  ],
  ['by: String!', '', 'field: "Order" expects the following non nullable arguments to be present: "by"'],
  [
    'first: Int!',
    'first: Int',
    'field: "friends" expects the following non nullable arguments to be present: "first"',
  ],
  [
    'first: Int!',
    'first: String!',
    'expected type of "first"("Input object argument") to be Int! but received String!',
  ],
  [
    'after: String',
    'after: String before: String',
    'input argument "before" does not exist in the input object:"friends"',
  ],
  [
    'after: String',
    'after: String after: String',
    'duplicate arguments: "after"found in the field: "friends"',
  ],
  [
    'limit: Int = 10',
    'limit: Int = 11',
    'expected default value of input value: "limit"of input object "user" to be 10 but received 11',
  ],
  [
    'limit: Int = 10',
    'limit: Int',
    'expected default value of input value: "limit"of input object "user" to be 10 but received ',
  ],
  [
    'after: String',
    'after: String = "a"',
    'expected default value of input value: "after"of input object "friends" to be  but received "a"',
  ],
  [
    'scalar Time',
    'scalar Time @secret',
    '"Directive": "secret" does not exist in the upstream remote schema',
  ],
  ['enum Color', 'enum Color @secret', '"Directive": "secret" does not exist in the upstream remote schema'],
  ['model: Int', 'model: Int @secret', '"Directive": "secret" does not exist in the upstream remote schema'],
  ['gt: Int', 'gt: Int @secret', '"Directive": "secret" does not exist in the upstream remote schema'],
  [
    'type Bot implements Named',
    'type Bot implements Named @a @a',
    'duplicate directives: "a"found in the "Object" "Bot"',
  ],
  [
    'model: Int',
    'model: Int @deprecated @deprecated',
    'duplicate directives: "deprecated"found in the "Object field" "Bot"',
  ],
  ['input Range', 'input Range @preset(value: 1)', PLACE],
  ['union Anyone', 'union Anyone @preset(value: 1)', PLACE],
  [
    'gt: Int',
    'gt: Int @preset(value: 1) @preset(value: 2)',
    'found multiple preset directives at "Input object argument" "Range"',
  ],
  [
    'after: String',
    'after: String @preset(value: "1") @preset(value: "2")',
    'found multiple preset directives at "Input object argument" "friends"',
  ],
  [
    'interface Named',
    'interface Named2 { a: Int } interface Named',
    '"Interface": "Named2" does not exist in the upstream remote schema',
  ],
  [
    'type Query',
    'type Query implements Named',
    'custom interfaces are not supported. Object"Query" implements the following custom interfaces: "Named"',
  ],
  [
    'RED GREEN',
    'A B C',
    'enum "Color" contains the following enum values that do not exist in the corresponding upstream remote enum: "A", "B", and "C"',
  ],
  ['type Bot implements Named', 'type Bot implements Named @preset(value: 1)', PLACE],
  ['model: Int', 'model: Int @preset(value: 1)', PLACE],
  ['GREEN', 'GREEN @preset(value: 1)', PLACE],
  ['gt: Int', 'gt: Int @preset', 'no arguments found in the preset directive'],
  ['gt: Int', 'gt: Int @preset(static: true)', 'preset argument "value" not found at "gt"'],
  [
    'gt: Int',
    'gt: Int @preset(value: ONE)',
    'expected preset value "ONE" of type "Int" to be a scalar value',
  ],
  [
    'at: Time tags',
    'at: Time @preset(value: ONE) tags',
    'expected preset value "ONE" of type "Time" to be a scalar value',
  ],
  ['gt: Int', 'gt: Int @preset(static: "yes")', 'preset argument "value" not found at "gt"'],
  [
    'gt: Int',
    'gt: Int @preset(value: 1, static: "yes")',
    'expected preset static value to be a Boolean value',
  ],
  [
    'gt: Int',
    'gt: Int @preset(value: {a: 1})',
    'expected preset value "{ a: 1 }" of type "Int" to be a scalar value',
  ],
  [
    'color: Color',
    'color: Color @preset(value: "RED")',
    'expected preset value ""RED"" of type "Color" to be an enum value',
  ],
  ['color: Color', 'color: Color @preset(value: BLACK)', '"BLACK" not found in the enum: "Color"'],
  [
    'only: Range',
    'only: Range @preset(value: 2)',
    'expected preset value "2" of type "Range" to be an input object value',
  ],
  ['only: Range', 'only: Range @preset(value: {lte: 2})', '"lte" does not exist in the input object "Range"'],
  [
    'tags: [String!]',
    'tags: [String!] @preset(value: "X-Engine-Tags")',
    'illegal preset value at "tags". Session arguments can only be set for singleton values',
  ],
];

test('the whole schema, and every part of it, is a permission', async () => {
  const success = { data: { message: 'success' } };
  expect(await permit(SDL)).toEqual(success);
  for (const edit of PARTS) expect(await permit(edited(edit)), edit[0]).toEqual(success);
  expect(await permit(edited(...PARTS))).toEqual(success);
});

describe.each(WRONG)('%s → %s', (from, to, reason) => {
  test('is refused with its reason, and the role sees nothing', async () => {
    const role = `wrong_${count++}`;
    expect(await permit(edited([from, to]), role)).toEqual(refusal([reason]));
    expect(await graphqlOutcome(world.engine, '{ user(id: 1) { name } }', { role })).toMatchObject({
      message: "field 'user' not found in type: 'query_root'",
    });
  });
});

/** Returns the line of the SDL, and so the definition, that a text is in. */
const lineOf = (text: string) => SDL.split('\n').findIndex((line) => line.includes(text));

test('reasons of neighbours are all listed, in the order of the document', async () => {
  const schema = edited(
    ['model: Int', 'model: Int! age: Int'],
    ['color: Color', 'color: Color @preset(value: BLACK) eq: Int'],
  );
  expect(await permit(schema)).toEqual(
    refusal([
      'expected type of "model"("Object field") to be Int but received Int!',
      'field "age" does not exist in the "Object": "Bot"',
      '"BLACK" not found in the enum: "Color"',
      'input argument "eq" does not exist in the input object:"Range"',
    ]),
  );
});

test('a preset fits the types of the document, not those of the remote schema', async () => {
  const partly = edited(['RED GREEN', 'RED'], ['color: Color', 'color: Color @preset(value: GREEN)']);
  expect(await permit(partly)).toEqual(refusal(['"GREEN" not found in the enum: "Color"']));
  const undeclared = edited(
    ['enum Color { RED GREEN }', ''],
    ['color: Color', 'color: Color @preset(value: RED)'],
  );
  expect(await permit(undeclared)).toEqual(
    refusal(['expected "Color" to be an input type, but it\'s an output type']),
  );
});

test('directives of GraphQL that only describe are accepted', async () => {
  const described = edited(
    ['model: Int', 'model: Int @deprecated'],
    ['scalar Time', 'scalar Time @specifiedBy(url: "https://a")'],
  );
  expect(await permit(described)).toEqual({ data: { message: 'success' } });
});

test('several reasons are listed together', async () => {
  // Duplicate types end the check of the document.
  const local = WRONG.filter(([, , reason]) => !reason.startsWith('duplicate type names'));
  const apart = local.filter(([from], i) => local.findIndex(([first]) => first === from) === i);
  let count = 0;
  for (let i = 0; i + 1 < apart.length; i++) {
    const two = [apart[i]!, apart[i + 1]!];
    // A reason may end the check of its definition.
    if (lineOf(two[0]![0]) === lineOf(two[1]![0])) continue;
    const schema = edited(...two.map(([from, to]) => [from, to] as const));
    count++;
    const { message } = (await permit(schema)) as { message: string };
    expect(message).toContain('for the following reasons:');
    for (const [, , reason] of two) expect(message).toContain(` • ${reason}\n`);
  }
  expect(count).toBeGreaterThan(8);
});

test.each([
  ['text that is no SDL', 'type Query {', /^validation for the given role-based schema failed because/],
  ['no query root', 'type User { id: ID! }', /query root does not exist in the schema definition/],
  [
    'two schema definitions',
    `schema { query: Query } schema { query: Query } ${SDL}`,
    /multiple schema definitions found/,
  ],
])('%s is refused', async (_, schema, message) => {
  expect(await permit(schema)).toEqual({
    code: 'validation-failed',
    path: '$.args',
    message: expect.stringMatching(message),
  });
});
